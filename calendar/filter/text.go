package filter

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Collation names a way to compare text (RFC 4790).
type Collation string

// The collations that we know. RFC 4791 §7.5.1: a server has the first two at least.
const (
	ASCIICasemap   Collation = "i;ascii-casemap"
	Octet          Collation = "i;octet"
	UnicodeCasemap Collation = "i;unicode-casemap" // RFC 5051
)

// Collations lists them, for CALDAV:supported-collation-set.
func Collations() []Collation { return []Collation{ASCIICasemap, Octet, UnicodeCasemap} }

// TextMatch asks that a text contains another one, or with Negate that it does not
// (RFC 4791 §9.7.5).
type TextMatch struct {
	Text string
	// Collation is ASCIICasemap when empty, or "default" (RFC 4791 §7.5.1).
	Collation Collation
	Negate    bool
	// folded is Text as it is compared, made once by check with fold.
	folded string
	fold   func(string) string
}

// matches tells whether a value is one that t asks for; a nil t asks for any.
func (t *TextMatch) matches(value string) bool {
	return t == nil || strings.Contains(t.fold(value), t.folded) != t.Negate
}

// check makes the text ready to be compared: to fold it for each property would cost more than all else.
func (t *TextMatch) check() error {
	if t == nil || t.fold != nil {
		return nil
	}
	fold := t.Collation.fold()
	if fold == nil {
		return &CollationError{t.Collation}
	}
	t.fold, t.folded = fold, fold(t.Text)
	return nil
}

// cost is the work of comparing a value, in steps of a meter. To decompose it takes some twenty times as long as to look
// through it.
func (t *TextMatch) cost(value string) int64 {
	switch {
	case t == nil:
		return 1
	case t.Collation == UnicodeCasemap && !isASCII(value):
		return 1 + int64(len(value))/4
	}
	return 1 + int64(len(value))/64
}

// fold is what makes equal texts the same bytes; nil for an unknown collation.
func (c Collation) fold() func(string) string {
	switch c {
	case "", "default", ASCIICasemap:
		return foldASCII
	case Octet:
		return func(s string) string { return s }
	case UnicodeCasemap:
		return foldUnicode
	}
	return nil
}

// foldASCII is RFC 4790 §9.2: only letters of ASCII have a case.
func foldASCII(s string) string {
	i := 0
	for i < len(s) && (s[i] < 'A' || s[i] > 'Z') {
		i++
	}
	if i == len(s) {
		return s
	}
	folded := []byte(s)
	for ; i < len(folded); i++ {
		if c := folded[i]; 'A' <= c && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		}
	}
	return string(folded)
}

// foldUnicode is RFC 5051 §2: each character becomes its titlecase, then is decomposed,
// compatibility characters too.
func foldUnicode(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return norm.NFKD.String(strings.Map(unicode.ToTitle, s))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
