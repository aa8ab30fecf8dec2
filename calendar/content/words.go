package content

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"caldav-mcp-server/ical"
)

// longestWord limits a word, in bytes. Users neither type nor search for longer ones.
const longestWord = 64

// Words splits text into words for the search index and for search terms. They contain only letters and digits, in
// one case and without accents, so that "Café-Termin" is found as "cafe termin". Words are in the order of the text
// and may repeat.
func Words(text string) []string { return slices.Collect(allWords(text)) }

// allWords is an iterator for Words: an event has about a hundred words, and most of them repeat.
func allWords(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(plain(text), betweenWords) {
			if !yield(cut(w, longestWord)) {
				return
			}
		}
	}
}

func betweenWords(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// plain folds case and removes accents. In scripts without spaces it adds some: each character is a word, because
// the word boundaries are unknown.
func plain(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(cases.Fold().String(text)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			if base, ok := undecomposed[r]; ok {
				b.WriteString(base)
				continue
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// undecomposed are letters that Unicode does not decompose, such as letters with a stroke. Users whose keyboard
// lacks them type the plain letters.
var undecomposed = map[rune]string{
	'ø': "o", 'ł': "l", 'đ': "d", 'ħ': "h", 'ı': "i", 'æ': "ae", 'œ': "oe", 'ð': "d", 'þ': "th",
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Found reports whether each term is a prefix of one of the words.
func Found(terms, words []string) bool {
	for _, term := range terms {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, term) }) {
			return false
		}
	}
	return true
}

// searched limits the part of an object's text that words are extracted from. Folding and decomposing can make it
// eighteen times as long, and far less is stored.
const searched = 256 << 10

// WordsOf returns the words to find a component by: from titles, places, texts and people.
func WordsOf(c *ical.Component) []string {
	left := searched
	return append(slices.Collect(textWords(c, &left)), slices.Collect(peopleWords(c, &left))...)
}

// some cuts text to the remaining bytes, and subtracts its length from them.
func some(text string, left *int) string {
	text = cut(text, *left)
	*left -= len(text)
	return text
}

// textWords yields the words of a component's texts, within the remaining bytes.
func textWords(c *ical.Component, left *int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := range c.Properties() {
			switch p.Name() {
			case "SUMMARY", "LOCATION", "DESCRIPTION", "COMMENT", "CATEGORIES", "CONTACT":
				for w := range allWords(some(p.Text(), left)) {
					if !yield(w) {
						return
					}
				}
			}
		}
	}
}

// PeopleWords returns the words in the names and addresses of a component's people.
func PeopleWords(c *ical.Component) []string {
	left := searched
	return slices.Collect(peopleWords(c, &left))
}

// peopleWords yields the words of a component's people, within the remaining bytes.
func peopleWords(c *ical.Component, left *int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := range c.Properties() {
			if p.Name() != "ORGANIZER" && p.Name() != "ATTENDEE" {
				continue
			}
			name, _ := p.Param("CN")
			address := p.Value()
			if scheme, rest, ok := strings.Cut(address, ":"); ok && strings.EqualFold(scheme, "mailto") {
				address = rest
			}
			for _, text := range [...]string{some(name, left), some(address, left)} {
				for w := range allWords(text) {
					if !yield(w) {
						return
					}
				}
			}
		}
	}
}

// SearchText returns the words to find an object by, separated by spaces and without duplicates. It includes the
// overrides.
func (o *Object) SearchText() string {
	var b strings.Builder
	seen, left := map[string]bool{}, searched
	for _, c := range o.Components() {
		for _, words := range [...]iter.Seq[string]{textWords(c, &left), peopleWords(c, &left)} {
			for w := range words {
				if seen[w] || b.Len()+len(w) >= maxSearch {
					continue
				}
				seen[w] = true
				if b.Len() > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(w)
			}
		}
	}
	return b.String()
}
