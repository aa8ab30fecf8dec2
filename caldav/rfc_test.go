package caldav_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/internal/goldentest"
)

// TestRFCTable: docs/rfc.md matches the tables.
func TestRFCTable(t *testing.T) {
	t.Parallel()
	const file = "../docs/rfc.md"
	want := caldav.RFCTable()
	if *goldentest.Update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/rfc.md is not what the tables say (-tables +file); -update prints it anew:\n%s", diff)
	}
}
