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

// longestWord bounds a word, in bytes: what is longer was not typed by a person, and will
// not be by a person who looks for it.
const longestWord = 64

// Words cuts text into the words by which it is found: of only letters and digits, in one
// case and without accents, so that "Café-Termin" is found as "cafe termin". The same goes
// for what people look for. The order is that of the text, and words may come twice.
func Words(text string) []string { return slices.Collect(allWords(text)) }

// allWords yields what Words returns: an event's text has a hundred words, of which most come twice.
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

// plain folds the case and takes the accents off. Scripts that are written without spaces
// get some: each of their characters is a word, since nobody could tell where one ends.
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

// undecomposed are letters with a stroke or in one, which Unicode takes for letters of their
// own, and people who lack the key for plain ones.
var undecomposed = map[rune]string{'ø': "o", 'ł': "l", 'đ': "d", 'ħ': "h", 'ı': "i", 'æ': "ae", 'œ': "oe", 'ð': "d", 'þ': "th"}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Found tells whether each of the terms is the beginning of one of the words.
func Found(terms, words []string) bool {
	for _, term := range terms {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, term) }) {
			return false
		}
	}
	return true
}

// searched bounds the text of an object in which words are looked for. Folding and decomposing can make it eighteen times as
// long, and what is kept of it is far less.
const searched = 256 << 10

// WordsOf returns the words by which a component is found: titles, places, texts and people.
func WordsOf(c *ical.Component) []string {
	left := searched
	return append(slices.Collect(textWords(c, &left)), slices.Collect(peopleWords(c, &left))...)
}

// some cuts text to what is left, and takes that away.
func some(text string, left *int) string {
	text = cut(text, *left)
	*left -= len(text)
	return text
}

// textWords yields the words of a component's texts, of so many bytes as are left.
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

// peopleWords yields the words of a component's people, of so many bytes as are left.
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

// SearchText returns the words by which an object is found, each once, with a space between:
// those of the master and its overrides.
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
