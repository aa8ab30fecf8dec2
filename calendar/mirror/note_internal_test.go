package mirror

import "testing"

// TestSameFeed: of an address the scheme and the host are read in any case, and nothing else.
func TestSameFeed(t *testing.T) {
	t.Parallel()
	const one = "https://ann:Pass@school.example/A?key=B"
	for other, want := range map[string]bool{
		one: true, " webcal://ann:Pass@School.Example/A?key=B ": true, "HTTPS://ann:Pass@SCHOOL.example/A?key=B": true,
		"https://ann:pass@school.example/A?key=B": false, "https://ann:Pass@school.example/a?key=B": false,
		"https://ann:Pass@school.example/A?key=b": false,
		"http://ann:Pass@school.example/A?key=B":  false, "https://school.example/A?key=B": false,
	} {
		if sameFeed(one, other) != want {
			t.Errorf("%q and %q: %v", one, other, !want)
		}
	}
	for _, c := range []struct {
		one, other string
		want       bool
	}{
		{"https://a.example?Key=B", "https://A.example/?Key=B", true},
		{"https://a.example?Key=B", "https://a.example?key=b", false},
		{"https://a.example", "webcal://a.example/", true},
		{"https://a.example?next=x@Y.example", "https://a.example?next=x@y.example", false},
		{"a.ics", "A.ics", false},
	} {
		if sameFeed(c.one, c.other) != c.want {
			t.Errorf("%q and %q: %v", c.one, c.other, !c.want)
		}
	}
}
