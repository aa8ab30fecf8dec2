package transfer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFileName(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"a.ics": "a.ics", "wörk": "wörk", "": "_", ".": "_.", "..": "_..", "../x": "..%2Fx", "a b:c%": "a%20b%3Ac%25",
		"a\x00\n": "a%00%0A",
	} {
		if got := fileName(word); got != want {
			t.Errorf("%q becomes %q, want %q", word, got, want)
		}
	}
}

// TestFileNamesDiffer: a file that is written over another one is an object lost.
func TestFileNamesDiffer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 120)
	names := fileNames{}
	var got []string
	for _, word := range []string{
		"foo", "foo.ics", "FOO.ICS", "foo%2.ics", "b.txt", "\u00fc.ics", "u\u0308.ics", ".ics", "%\x10.ics",
		long + "1.ics", long + "2.ics",
	} {
		got = append(got, names.object(word))
	}
	cut := long[:mostStem]
	want := []string{
		"foo.ics", "foo%2.ics", "FOO%3.ICS", "foo%252.ics", "b.txt.ics", "\u00fc.ics", "u\u0308%2.ics", "_.ics",
		"%25%10.ics",
		cut + ".ics", cut + "%2.ics",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
