package mcp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// shown is text that people wrote into calendars. In results, characters that would be at
// work without being seen stand as escapes: an invitation must not be able to rearrange what
// a person sees, or to hide from them what a model reads.
type shown string

// MarshalText writes the text with nothing hidden in it.
func (s shown) MarshalText() ([]byte, error) { return []byte(visible(string(s))), nil }

// visible replaces hidden characters by their escapes.
func visible(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hidden tells whether a character acts unseen. Joiners and direction marks are not among
// them: Persian, Hebrew and emoji need these, and they reorder no more than their neighbours.
func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069: // UAX #9: embeddings, overrides, isolates
		return true
	default:
		return r >= 0xE0000 && r <= 0xE007F // tags: a whole alphabet without a glyph
	}
}

// maxQuoted is how much of a value an error repeats.
const maxQuoted = 80

// quote repeats a value in an error, cut where it is long.
func quote(s string) string {
	if runes := []rune(s); len(runes) > maxQuoted {
		s = string(runes[:maxQuoted]) + "…"
	}
	return strconv.Quote(s)
}
