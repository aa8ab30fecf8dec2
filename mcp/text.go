package mcp

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"

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
		if r := rune(n); err == nil && wire.Ignorable(r) && !unicode.IsControl(r) && strings.ContainsRune(stored, r) && !strings.Contains(stored, seen) {
			to = string(r)
		}
		known[seen] = to
		return cmp.Or(to, seen)
	})
}
