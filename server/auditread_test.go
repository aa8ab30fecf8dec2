package server_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/server"
)

// TestReadAudit: pages of the audit log have every matching event once, the latest first, also in a file that is larger
// than what one read looks at.
func TestReadAudit(t *testing.T) {
	t.Parallel()
	audit, err := server.OpenAudit(filepath.Join(t.TempDir(), "audit.jsonl"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = audit.Close() })
	const all = 6000
	for i := range all {
		user := "ann"
		if i%3 == 0 {
			user = "bob"
		}
		audit.Note(server.AuditEvent{
			At: time.Unix(int64(i), 0), ID: fmt.Sprint(i), User: user, Did: strings.Repeat("x", 200), Outcome: "ok",
		})
	}
	seen, reads, before := all, 0, int64(0)
	for {
		found, next, err := audit.Read(before, 50, func(d server.AuditEvent) bool { return d.User == "bob" })
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range found {
			if seen -= 3; d.ID != fmt.Sprint(seen) {
				t.Fatalf("event %s, want %d", d.ID, seen)
			}
		}
		if len(found) > 50 {
			t.Errorf("%d events at once", len(found))
		}
		if reads++; next == 0 {
			break
		}
		before = next
	}
	if seen != 0 || reads < all/3/50 {
		t.Errorf("%d reads ended at event %d", reads, seen)
	}
	if found, next, err := audit.Read(1, 50, func(server.AuditEvent) bool { return true }); err != nil ||
		len(found) != 0 || next != 0 {
		t.Errorf("before the first event: %v, %d, %v", found, next, err)
	}
}
