package dav

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// walk reads all tokens that a guard passes on.
func walk(document string, l Limits) error {
	d := xml.NewTokenDecoder(NewGuard(strings.NewReader(document), l))
	for {
		if _, err := d.Token(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func TestGuardKeepsTheLimits(t *testing.T) {
	t.Parallel()
	limits := Limits{TokenBytes: 100, Depth: 3, Elements: 5, Attributes: 2}
	for _, c := range []struct {
		name, document string
		want           int
	}{
		{"as deep as may be", "<a><b><c/></b></a>", 0},
		{"too deep", "<a><b><c><d/></c></b></a>", http.StatusBadRequest},
		{"as many as may be", "<a><b/><b/><b/><b/></a>", 0},
		{"too many", "<a><b/><b/><b/><b/><b/></a>", http.StatusRequestEntityTooLarge},
		{"attributes", `<a b="" c=""/>`, 0},
		{"too many attributes", `<a b="" c="" d=""/>`, http.StatusBadRequest},
		{"a tag too long", "<a " + strings.Repeat(`b="" `, 30) + "/>", http.StatusRequestEntityTooLarge},
		{"a text too long", "<a>" + strings.Repeat("b", 101) + "</a>", http.StatusRequestEntityTooLarge},
		{"a comment too long", "<a><!--" + strings.Repeat("b", 101) + "--></a>", http.StatusRequestEntityTooLarge},
		{"texts that are long together", "<a>" + strings.Repeat(strings.Repeat("b", 60)+"<!-- -->", 10) + "</a>", 0},
		{"a document type", "<!DOCTYPE a><a/>", http.StatusForbidden},
		{"an instruction", `<?xml version="1.0"?><?php x?><a/>`, 0},
		{"a byte order mark", "\uFEFF <a/>\r\n", 0},
		{"text in front", "x<a/>", http.StatusBadRequest},
		{"text behind", "<a/>x", http.StatusBadRequest},
		{"two roots", "<a/><a/>", http.StatusBadRequest},
		{"a prefix", `<x:a xmlns:x="y"><x:b x:c=""/></x:a>`, 0},
		{"a prefix out of scope", `<a><b xmlns:x="y"/><x:c/></a>`, http.StatusBadRequest},
		{"a prefix of an attribute", `<a x:b=""/>`, http.StatusBadRequest},
		{"a prefix undeclared again", `<x:a xmlns:x="y"><b xmlns:x=""/></x:a>`, http.StatusBadRequest},
		{"the prefix xml", `<a xml:lang="en"/>`, 0},
		{"names of other alphabets", `<x:дело xmlns:x="y"><_/><x:名 é=""/></x:дело>`, 0},
		{"a colon alone", `<a><: xmlns="0"/></a>`, http.StatusBadRequest},
		{"a colon behind", `<a: xmlns:a="y"/>`, http.StatusBadRequest},
		{"a colon in front of an attribute", `<a :b=""/>`, http.StatusBadRequest},
		{"a digit behind a prefix", `<x:a xmlns:x="y"><x:1/></x:a>`, http.StatusBadRequest},
	} {
		err := walk(c.document, limits)
		var f *StatusError
		if got := 0; errors.As(err, &f) || err == nil {
			if f != nil {
				got = f.Status
			}
			if got != c.want {
				t.Errorf("%s: %v; want the status %d", c.name, err, c.want)
			}
		} else {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestGuardBoundsThePrefixesInScope(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5 {
		b.WriteString("<a")
		for j := range 60 {
			b.WriteString(" xmlns:p" + strings.Repeat("x", i*60+j) + `="y"`)
		}
		b.WriteString(">")
	}
	l := DefaultLimits()
	if err := walk(b.String(), l); err == nil || !strings.Contains(err.Error(), "prefixes") {
		t.Errorf("300 prefixes: %v", err)
	}
}

// FuzzGuard: for any input, a guard keeps its limits and returns the same tokens as encoding/xml.
func FuzzGuard(f *testing.F) {
	for _, document := range []string{
		"<a/>", `<D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>`, "<a><b></a></b>", "<!DOCTYPE a><a/>",
		"<a>&lt;</a>",
		"</a>", "<a b='", "<![CDATA[x]]>", "<?xml version='1.0' encoding='utf-16'?><a/>",
	} {
		f.Add(document)
	}
	l := Limits{TokenBytes: 1000, Depth: 5, Elements: 50, Attributes: 5}
	f.Fuzz(func(t *testing.T, document string) {
		if walk(document, l) != nil {
			return
		}
		// encoding/xml must accept everything that passed: the guard may only be stricter.
		plain := xml.NewDecoder(strings.NewReader(document))
		for depth := 0; ; {
			token, err := plain.Token()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("%q passes, but: %v", document, err)
			}
			switch token.(type) {
			case xml.StartElement:
				if depth++; depth > l.Depth {
					t.Fatalf("%q passes with a depth of %d", document, depth)
				}
			case xml.EndElement:
				depth--
			}
		}
	})
}
