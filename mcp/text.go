package mcp

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp/wire"
)

// shown is user-supplied text. In results, invisible characters are escaped. Otherwise an invitation could rearrange
// the text that a user sees, or hide text from them that a model reads.
type shown string

// MarshalText writes the text with hidden characters escaped.
func (s shown) MarshalText() ([]byte, error) { return []byte(wire.Visible(string(s))), nil }

// shownEscapes matches the form of hidden characters. Controls are not put back: no text needs them.
var shownEscapes = regexp.MustCompile(`\\u[0-9a-f]{4}|\\U[0-9a-f]{8}`)

// mostEscapes limits how many different hidden characters are put back into one text.
const mostEscapes = 64

// unescapedFrom puts the hidden characters of a stored text back into a text that replaces it. The model saw them as
// escapes. An escape that the stored text itself contains stays as it is.
func unescapedFrom(stored, s string) string {
	known := map[string]string{}
	return shownEscapes.ReplaceAllStringFunc(s, func(seen string) string {
		to, is := known[seen]
		if is || len(known) == mostEscapes {
			return cmp.Or(to, seen)
		}
		n, err := strconv.ParseInt(seen[2:], 16, 32)
		if r := rune(n); err == nil && wire.Ignorable(r) && !unicode.IsControl(r) && strings.ContainsRune(stored, r) &&
			!strings.Contains(stored, seen) {
			to = string(r)
		}
		known[seen] = to
		return cmp.Or(to, seen)
	})
}

// lures and gap are those of foreign texts in all results.
var lures = wire.Lures

const gap = wire.Gap

// defusedLures match lures with a gap. blankLures match lures with a plain space, which some models write for a gap.
var (
	defusedLures = regexp.MustCompile(`(\]|<)` + gap + `([\[(A-Za-z/!?])`)
	blankLures   = regexp.MustCompile(`(?:\] [(\[]|< [A-Za-z/!?])[^\s\]<]*`)
)

// defused adds a gap to each lure in a foreign text. It still reads the same, and no host follows it.
func defused(s string) string {
	return wire.Defused(s)
}

// restored removes our gaps from a text that a model wrote. restored(defused(s)) is s, unless s has such a gap itself.
func restored(s string) string { return defusedLures.ReplaceAllString(s, "$1$2") }

// restoredFrom works like restored for a text that replaces a stored one. A model may have copied the stored text with
// plain spaces for the gaps. Such a space is removed if the stored text contains the word without it, and not with it.
func restoredFrom(stored, s string) string {
	return blankLures.ReplaceAllStringFunc(unescapedFrom(stored, s), func(word string) string {
		if whole := word[:1] + word[2:]; strings.Contains(stored, whole) && !strings.Contains(stored, word) {
			return whole
		}
		return word
	})
}

// defusedJSON defuses a result in JSON, where lures occur in strings only. ical_data stays as it is stored.
func defusedJSON(value any, data []byte) string {
	text := defused(string(data))
	if raw, has := value.(interface{ stored() string }); has {
		as, _ := wire.EncodeJSON(raw.stored()) // strings always marshal
		const key = `"ical_data":`
		text = strings.Replace(text, key+defused(string(as)), key+string(as), 1)
	}
	return text
}

// foreigner is a result that may quote text by other people. Its text is defused; its structured content is not.
type foreigner interface{ foreign() bool }

func isForeign(v any) bool {
	f, ok := v.(foreigner)
	return ok && f.foreign()
}

func anyForeign[T foreigner](list []T) bool { return slices.ContainsFunc(list, T.foreign) }

// Marks in results stand for omitted text. People do not type them by chance, so tools that change data refuse them.
// Otherwise a model that writes a truncated text back would replace the rest with the mark.

// moreCharacters is the mark at the end of a truncated text.
func moreCharacters(n int) string { return fmt.Sprintf("… [%d more characters]", n) }

// moreItems is the last item of a truncated list.
func moreItems(n int) string { return fmt.Sprintf("… [%d more]", n) }

// marks match all of these, including the mark at the end of truncated iCalendar text.
var marks = regexp.MustCompile(`…\s*\[\d+ more( characters\b[^\]]*)?\]`)

const (
	// Lists truncate texts earlier than tools that show one event.
	longestListedTitle = 200
	longestListedText  = 500
	mostPeople         = 10
)

// quotedTitle is a title in text.
func quotedTitle(title string) string {
	if title == "" {
		return "(no title)"
	}
	return wire.Quoted(title)
}

// short puts a text on one line, and truncates it for a list.
func short(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + moreCharacters(len(runes)-most)
	}
	return text
}

// cut shortens a long text, and says so.
func cut(s string) string {
	n := utf8.RuneCountInString(s)
	if n <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown]) + moreCharacters(n-maxShown)
}

// Limits for the texts of an event that a tool creates. People write shorter texts. Longer ones are pasted, and every
// later read of the event would return them.
const (
	longestTitle = 1000
	longestText  = 50_000
	// longestID limits identifiers; clients choose their length.
	longestID = 1000
	// longestObject is larger than any stored object.
	longestObject = 1 << 30
	// longestList limits lists of attendees, alarms and categories.
	longestList = 200
)

// each maps a list.
func each[T, U any](list []T, as func(T) U) []U {
	values := make([]U, len(list))
	for i, value := range list {
		values[i] = as(value)
	}
	return values
}

// bareOrQuoted returns a value that should be one word, or quotes it if it is not.
func bareOrQuoted(value string) string {
	if strings.ContainsFunc(value, func(r rune) bool { return r > 'z' || r < '-' }) {
		return wire.Quote(value)
	}
	return value
}

func texts[T ~string](list []T) []string { return each(list, func(s T) string { return string(s) }) }

// mostItems limits each list of one event.
const mostItems = 100

// few shows the first items of a list, and says how many are left out.
func few(list []string) []shown {
	var items []shown
	for i, item := range list {
		if i == mostItems {
			return append(items, shown(moreItems(len(list)-i)))
		}
		items = append(items, shown(short(item, longestListedTitle)))
	}
	return items
}

// distinct removes duplicates.
func distinct(list []string) []string {
	said := map[string]bool{}
	return slices.DeleteFunc(list, func(item string) bool {
		again := said[item]
		said[item] = true
		return again
	})
}

// dayText formats a time with its weekday.
func dayText(weekday, local string) string {
	if local == "" {
		return "any time"
	}
	return weekday + " " + local
}

// longestTold limits each text that a change replaced.
const longestTold = 40

// maxShown limits a long text in results, in characters.
const maxShown = 2000

// longestListedUID limits a uid in text. RFC 7986 §5.3 asks for less than 255 bytes; structured content has longer ones
// in full.
const longestListedUID = 255

// quotedUID is a uid in text.
func quotedUID(uid calendar.UID) string { return wire.Quoted(short(string(uid), longestListedUID)) }

// quotedShort quotes user-supplied text in a question.
func quotedShort(s string) string { return wire.Quoted(short(s, longestTold)) }
