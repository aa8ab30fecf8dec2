package dav

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEntityTags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines []string
		want  []string
		any   bool
	}{
		{nil, nil, false},
		{[]string{" * "}, nil, true},
		{[]string{`"a"`}, []string{`"a"`}, false},
		{[]string{`"a,b" , W/"c"`, `"d"`}, []string{`"a,b"`, `W/"c"`, `"d"`}, false},
		{[]string{`,, "a",`}, []string{`"a"`}, false},
		// An invalid tag equals none, so the condition must fail.
		{[]string{`a, "b`}, []string{`a`, `"b`}, false},
		{[]string{`*, "a"`}, []string{`*`, `"a"`}, false},
		{[]string{`"a""b"`}, []string{`"a"`, `"b"`}, false},
	} {
		got, any, err := EntityTags[string](c.lines)
		if err != nil || any != c.any || !cmp.Equal(c.want, got) {
			t.Errorf("%q: %q, %v, %v; want %q, %v", c.lines, got, any, err, c.want, c.any)
		}
	}
	for _, line := range []string{"", " ", ",", ", ,"} {
		if tags, _, err := EntityTags[string]([]string{line}); err == nil {
			t.Errorf("%q is taken for %q", line, tags)
		}
	}
}
