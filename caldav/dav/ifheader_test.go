package dav

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIfHeadersAreUnderstood(t *testing.T) {
	t.Parallel()
	none, tag := stateCondition{token: "DAV:no-lock"}, stateCondition{tag: `"a"`}
	not := func(c stateCondition) stateCondition {
		c.not = true
		return c
	}
	list := func(on string, conditions ...stateCondition) stateList { return stateList{on, conditions} }
	for header, want := range map[string][]stateList{
		`(["a"])`:                          {list("", tag)},
		` ( [ "a" ] ) `:                    {list("", tag)},
		`(<DAV:no-lock> ["a"])`:            {list("", none, tag)},
		`(Not <DAV:no-lock>NOT["a"])`:      {list("", not(none), not(tag))},
		`(["a"])(<DAV:no-lock>)`:           {list("", tag), list("", none)},
		`</x> (["a"]) (["a"])`:             {list("/x", tag), list("/x", tag)},
		`</x> (["a"]) <http://y/> (["a"])`: {list("/x", tag), list("http://y/", tag)},
		`([W/"a"])`:                        {list("", stateCondition{tag: `W/"a"`})},
		`(["a)]("])`:                       {list("", stateCondition{tag: `"a)]("`})},
		`(<urn:)>)`:                        {list("", stateCondition{token: "urn:)"})},
		`([bare])`:                         {list("", stateCondition{tag: "bare"})},
	} {
		got, err := parseIf(header)
		if err != nil || !cmp.Equal(want, got, cmp.AllowUnexported(stateList{}, stateCondition{})) {
			t.Errorf("%s: %+v, %v; want %+v", header, got, err, want)
		}
	}
}

func TestIfHeadersAreRefused(t *testing.T) {
	t.Parallel()
	for _, header := range []string{
		`x`, `()`, `(`, `(["a"]`, `(["a")`, `([])`, `(<>)`, `<>(["a"])`, `</x>`, `</x`, `(["a"]) x`, `(Not)`, `("a")`,
		`(["a"]])`,
	} {
		if got, err := parseIf(header); err == nil {
			t.Errorf("%s is taken for %+v", header, got)
		}
	}
}
