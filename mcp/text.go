package mcp

import (
	"cmp"
	"fmt"
	"regexp"
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
	if !strings.ContainsFunc(s, ignorable) {
		return s
	}
	var b strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		before, after := ' ', ' '
		if i > 0 {
			before = runes[i-1]
		}
		if i < len(runes)-1 {
			after = runes[i+1]
		}
		if !ignorable(r) || inPlace(before, r, after) {
			b.WriteRune(r)
		} else {
			b.WriteString(escape(r))
		}
	}
	return b.String()
}

// escape is how a hidden character is shown.
func escape(r rune) string {
	if r > 0xFFFF {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// shownEscapes are hidden characters as they are shown. Controls are none of them: no text needs those.
var shownEscapes = regexp.MustCompile(`\\u[0-9a-f]{4}|\\U[0-9a-f]{8}`)

// mostEscapes is how many different hidden characters are put back into one text.
const mostEscapes = 64

// unescapedFrom puts hidden characters back into a text that replaces a stored one: those of the stored text, of which the model saw
// the escapes. A stored text that has an escape itself keeps it.
func unescapedFrom(stored, s string) string {
	known := map[string]string{}
	return shownEscapes.ReplaceAllStringFunc(s, func(seen string) string {
		to, is := known[seen]
		if is || len(known) == mostEscapes {
			return cmp.Or(to, seen)
		}
		n, err := strconv.ParseInt(seen[2:], 16, 32)
		if r := rune(n); err == nil && ignorable(r) && !unicode.IsControl(r) && strings.ContainsRune(stored, r) && !strings.Contains(stored, seen) {
			to = string(r)
		}
		known[seen] = to
		return cmp.Or(to, seen)
	})
}

// ignorable tells whether nothing is seen of a character: controls, and what Unicode calls default
// ignorable code points (DerivedCoreProperties.txt, by whose definition this goes) with the marks
// of interlinear annotation. Any bytes can be written in those, and models read them.
func ignorable(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n' && r != '\t'
	case r < 0x7F:
		return false
	case unicode.Is(unicode.Cf, r):
		// Signs that stand around numbers, and those that place hieroglyphs, are seen.
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && (r < 0x13430 || r > 0x1345F)
	default:
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
	}
}

// The ignorable characters that texts cannot do without.
const (
	nonJoiner, joiner        = '\u200C', '\u200D'
	leftToRight, rightToLeft = '\u200E', '\u200F'
	plainStyle, emojiStyle   = '\uFE0E', '\uFE0F'
	keycap                   = '\u20E3'
)

// inPlace tells whether an ignorable character does between its neighbours what it is for. Persian
// and Indic letters and emoji need joiners, Hebrew and Arabic marks of direction, and emoji one
// choice of their style. Elsewhere, or several together, they could spell something.
func inPlace(before, r, after rune) bool {
	switch r {
	case joiner, nonJoiner:
		return joins(before)
	case leftToRight, rightToLeft:
		return !ignorable(before) && (!isLatin(before) || !isLatin(after))
	case plainStyle, emojiStyle:
		return isEmoji(before) || strings.ContainsRune("#*0123456789", before) && after == keycap
	}
	return false
}

// joins tells whether a character has forms that a joiner behind it chooses from.
func joins(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M) && !isLatin(r) && !ignorable(r) || isEmoji(r) || r == emojiStyle
}

func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) }

// isEmoji tells whether a character has a form as emoji, at least: symbols, the modifiers that give
// them a colour, and the few that Unicode counts elsewhere.
func isEmoji(r rune) bool {
	return r > 0x7F && (unicode.In(r, unicode.So, unicode.Sm, unicode.Sk) || strings.ContainsRune("‼⁉ℹ〰", r))
}

// maxQuoted is how much of a value an error repeats.
const maxQuoted = 80

// quote repeats a value in an error, cut where it is long.
func quote(s string) string {
	if runes := []rune(s); len(runes) > maxQuoted {
		s = string(runes[:maxQuoted]) + "…"
	}
	return quoted(s)
}

// escapes are of what would end a quoted text or its line.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// quoted puts a text into quotation marks that nothing in it can end, so that a reader sees what
// others wrote from what we say of it.
func quoted(s string) string { return `"` + visible(escapes.Replace(s)) + `"` }
