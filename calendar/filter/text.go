package filter

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Collation is the name of a text comparison (RFC 4790).
type Collation string

// The supported collations. RFC 4791 §7.5.1 requires the first two.
const (
	ASCIICasemap   Collation = "i;ascii-casemap"
	Octet          Collation = "i;octet"
	UnicodeCasemap Collation = "i;unicode-casemap" // RFC 5051
)

// Collations lists them, for CALDAV:supported-collation-set.
func Collations() []Collation { return []Collation{ASCIICasemap, Octet, UnicodeCasemap} }

// TextMatch matches values that contain a text, or with Negate values that do not (RFC 4791 §9.7.5).
type TextMatch struct {
	Text string
	// Collation is ASCIICasemap if it is empty or "default" (RFC 4791 §7.5.1).
	Collation Collation
	Negate    bool
	// folded is Text after folding. check computes it once.
	folded string
	fold   func(string) string
}

// matches reports whether t matches a value; a nil t matches any.
func (t *TextMatch) matches(value string) bool {
	return t == nil || strings.Contains(t.fold(value), t.folded) != t.Negate
}

// check validates the collation and folds the text. Folding it again for each property would dominate the cost.
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

// cost returns the work of comparing a value, in steps of a meter. Decomposing takes about twenty times as long as
// scanning.
func (t *TextMatch) cost(value string) int64 {
	switch {
	case t == nil:
		return 1
	case t.Collation == UnicodeCasemap && !isASCII(value):
		return 1 + int64(len(value))/4
	}
	return 1 + int64(len(value))/64
}

// fold returns the function that maps equal texts to the same bytes; nil for an unknown collation.
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

// foldASCII implements RFC 4790 §9.2: it folds only ASCII letters.
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

// foldUnicode implements RFC 5051 §2: it maps each character to titlecase and decomposes it, including
// compatibility characters.
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
