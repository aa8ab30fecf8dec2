package content

import "strings"

// Nearness is how near a word is to one that somebody asks for.
type Nearness uint8

// The nearnesses there are, the nearest last.
const (
	// Other words have nothing to do with it.
	Other Nearness = iota
	// Mistyped words have one letter more, less or another, or two that changed places.
	Mistyped
	// Spelled words are written in another way, as Mueller is for Müller.
	Spelled
	// Same words begin with it.
	Same
)

// shortestTyped is from how many letters on a word can be one that was mistyped: short ones are too like each other.
const shortestTyped = 4

// Near tells how near a word is to the term of a search; both are as [Words] makes them.
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

// spelled makes alike what people write for letters that their keyboard lacks. Accents are off already.
var spelled = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// oneApart tells whether one slip of the fingers makes one word the other.
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
