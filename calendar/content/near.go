package content

import "strings"

// Nearness is the similarity of a word to a search term.
type Nearness uint8

// The degrees, nearest last.
const (
	// Other words are not similar.
	Other Nearness = iota
	// Mistyped words have one letter added, missing or changed, or two letters swapped.
	Mistyped
	// Spelled words have another spelling, such as Mueller for Müller.
	Spelled
	// Same words start with the term.
	Same
)

// shortestTyped is the minimum length of a term to match mistyped words. Shorter words are too similar to each
// other.
const shortestTyped = 4

// Near returns the similarity of a word to a search term; both are in the form of [Words].
func Near(term, word string) Nearness {
	switch {
	case strings.HasPrefix(word, term):
		return Same
	case len(term) < shortestTyped || strings.ContainsAny(term, "0123456789"):
		return Other
	}
	a, b := spelled.Replace(term), spelled.Replace(word)
	if strings.HasPrefix(b, a) {
		return Spelled
	}
	if oneApart([]rune(a), []rune(b)) {
		return Mistyped
	}
	return Other
}

// spelled maps the usual replacements of umlauts to one form. Accents are already removed.
var spelled = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// oneApart reports whether a single typing error turns one word into the other.
func oneApart(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) < len(b):
		return string(a[i:]) == string(b[i+1:])
	case i == len(a):
		return true
	case string(a[i+1:]) == string(b[i+1:]):
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && string(a[i+2:]) == string(b[i+2:])
}
