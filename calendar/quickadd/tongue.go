package quickadd

import (
	"embed"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// tongue is a language: its words, and its habits that decide how they are read.
type tongue struct {
	// words and phrases have the vocabulary for a word and for several words; the phrases by their first word.
	words   map[string]string
	phrases map[string][]phrase
	// places lead to a place, articles may follow them.
	places, articles map[string]bool
	// german: "morgen" is tomorrow and the morning, and the 3. is a day.
	german bool
	// own: words outside the table mean nothing, since English ones are other words here ("sun", "mon"). Dates are
	// 3/5/2027, and "at" also leads to an end ("de 13h à 15h").
	own bool
	// half: "half 4" is 3:30, not 4:30.
	half bool
}

type phrase struct {
	tokens []string
	means  []string
}

//go:embed words
var files embed.FS

// tongues are read when they are first used.
var tongues = map[string]func() *tongue{
	"en": english, "de": deutsch,
	"es": written("es", false), "fr": written("fr", false), "it": written("it", false), "pt": written("pt", false),
	"nl": written("nl", true), "pl": written("pl", true),
}

func tongueOf(language string) *tongue {
	name, _, _ := strings.Cut(strings.ToLower(language), "-")
	if read := tongues[name]; read != nil {
		return read()
	}
	return english()
}

// exact reports whether a time without a half of the day is on the 24-hour clock.
func (t *tongue) exact() bool { return t.german || t.own }

// written reads the table of a language from its file.
func written(name string, half bool) func() *tongue {
	return sync.OnceValue(func() *tongue {
		rows, err := files.ReadFile("words/" + name + ".txt")
		if err != nil {
			panic(err) // the file is part of the program
		}
		t := lexicon(string(rows))
		t.own, t.half = true, half
		return t
	})
}

// lexicon makes a tongue from rows "meaning: word, several words". {d} stands for each weekday. The rows (place) and
// (article) list words that have no meaning otherwise.
func lexicon(rows string) *tongue {
	t := &tongue{
		words: map[string]string{}, phrases: map[string][]phrase{}, places: map[string]bool{},
		articles: map[string]bool{},
	}
	var patterns [][2]string
	for row := range strings.Lines(rows) {
		means, words, ok := strings.Cut(strings.TrimSpace(row), ": ")
		if !ok {
			continue
		}
		for w := range strings.SplitSeq(words, ", ") {
			switch {
			case means == "(place)":
				t.places[w] = true
			case means == "(article)":
				t.articles[w] = true
			case strings.Contains(w, "{d}"):
				patterns = append(patterns, [2]string{means, w})
			default:
				t.add(means, w)
			}
		}
	}
	for _, pattern := range patterns {
		for _, word := range slices.Sorted(maps.Keys(t.words)) {
			if means := t.words[word]; weekdays[means] && !shortDays[means] {
				t.add(strings.ReplaceAll(pattern[0], "{d}", means), strings.ReplaceAll(pattern[1], "{d}", word))
			}
		}
	}
	t.fold()
	return t
}

func (t *tongue) add(means, text string) {
	parts := tokens().FindAllString(text, -1)
	if len(parts) == 1 {
		t.words[text] = means
		return
	}
	t.phrases[parts[0]] = append(t.phrases[parts[0]], phrase{parts, strings.Fields(means)})
}

// plain replaces letters with marks, which people leave out.
var plain = strings.NewReplacer(
	"á", "a", "à", "a", "â", "a", "ã", "a", "ä", "a", "ç", "c", "é", "e", "è", "e", "ê", "e", "ë", "e",
	"í", "i", "ì", "i", "î", "i", "ï", "i", "ñ", "n", "ó", "o", "ò", "o", "ô", "o", "õ", "o", "ö", "o",
	"ú", "u", "ù", "u", "û", "u", "ü", "u", "ą", "a", "ć", "c", "ę", "e", "ł", "l", "ń", "n", "ś", "s",
	"ź", "z", "ż", "z",
)

// fold adds the words of languages with their own file without marks. Short ones are other words then.
func (t *tongue) fold() {
	for _, word := range slices.Sorted(maps.Keys(t.words)) {
		folded := plain.Replace(word)
		if _, known := t.words[folded]; !known && utf8.RuneCountInString(word) >= 4 {
			t.words[folded] = t.words[word]
		}
	}
}

// phrase returns the vocabulary for the longest phrase at the start of some tokens, and its number of tokens.
func (t *tongue) phrase(text string, found [][]int) ([]string, int) {
	var best phrase
	for _, one := range t.phrases[plainToken(text, found[0])] {
		if len(one.tokens) > len(found) || len(one.tokens) <= len(best.tokens) {
			continue
		}
		same := true
		for i, token := range one.tokens {
			same = same && plainToken(text, found[i]) == token
		}
		if same {
			best = one
		}
	}
	return best.means, len(best.tokens)
}

func plainToken(text string, at []int) string {
	lower := strings.ReplaceAll(strings.ToLower(text[at[0]:at[1]]), "’", "'")
	if len(lower) > 1 {
		lower = strings.TrimSuffix(lower, ".")
	}
	return lower
}

// ordinalMark is the number of a day with the mark of a language.
var ordinalMark = regexp.MustCompile(`^(\d{1,2})(?:er|e|º|ª)$`)

// meaning returns the words of the vocabulary for a word.
func (t *tongue) meaning(lower string) string {
	if means, ok := t.words[lower]; ok {
		return means
	}
	if !t.own {
		return lower
	}
	if m := ordinalMark.FindStringSubmatch(lower); m != nil {
		return m[1] + "th"
	}
	if first, _ := utf8.DecodeRuneInString(lower); unicode.IsLetter(first) {
		return "~" + lower // no word of the vocabulary
	}
	return lower
}

var slashDate = regexp.MustCompile(`^(\d{1,2})[/-](\d{1,2})(?:[/-](\d{4}|\d{2}))?$`)

// date returns 3.5.2027 for 3/5/2027 in languages that write so. 24/7 is no date.
func (t *tongue) date(lower string) string {
	m := slashDate.FindStringSubmatch(lower)
	if !t.own || m == nil || lower == "24/7" {
		return ""
	}
	day, _ := strconv.Atoi(m[1])
	if month, _ := strconv.Atoi(m[2]); day < 1 || day > 31 || month < 1 || month > 12 {
		return ""
	}
	return m[1] + "." + m[2] + "." + m[3]
}
