package caldav

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
)

func TestEntityTags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines []string
		want  []calendar.ETag
		any   bool
	}{
		{nil, nil, false},
		{[]string{" * "}, nil, true},
		{[]string{`"a"`}, []calendar.ETag{`"a"`}, false},
		{[]string{`"a,b" , W/"c"`, `"d"`}, []calendar.ETag{`"a,b"`, `W/"c"`, `"d"`}, false},
		{[]string{`,, "a",`}, []calendar.ETag{`"a"`}, false},
		// An invalid tag equals none, so the condition must fail.
		{[]string{`a, "b`}, []calendar.ETag{`a`, `"b`}, false},
		{[]string{`*, "a"`}, []calendar.ETag{`*`, `"a"`}, false},
		{[]string{`"a""b"`}, []calendar.ETag{`"a"`, `"b"`}, false},
	} {
		got, any, err := entityTags(c.lines)
		if err != nil || any != c.any || !cmp.Equal(c.want, got) {
			t.Errorf("%q: %q, %v, %v; want %q, %v", c.lines, got, any, err, c.want, c.any)
		}
	}
	for _, line := range []string{"", " ", ",", ", ,"} {
		if tags, _, err := entityTags([]string{line}); err == nil {
			t.Errorf("%q is taken for %q", line, tags)
		}
	}
}
