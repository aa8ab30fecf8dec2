package wire

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Visible escapes hidden characters.
func Visible(s string) string {
	if !strings.ContainsFunc(s, Ignorable) {
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
		if !Ignorable(r) || inPlace(before, r, after) {
			b.WriteRune(r)
		} else {
			b.WriteString(escape(r))
		}
	}
	return b.String()
}

// escape returns the form in which a hidden character is shown.
func escape(r rune) string {
	if r > 0xFFFF {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Ignorable reports whether a character is invisible: controls, Unicode's default ignorable code points (as defined in
// DerivedCoreProperties.txt), and interlinear annotation marks. They can encode any bytes, and models read them.
func Ignorable(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n' && r != '\t'
	case r < 0x7F:
		return false
	case unicode.Is(unicode.Cf, r):
		// Signs around numbers, and hieroglyph format controls, are visible.
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && (r < 0x13430 || r > 0x1345F)
	default:
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point)
	}
}

// The ignorable characters that ordinary texts need.
const (
	nonJoiner, joiner        = '\u200C', '\u200D'
	leftToRight, rightToLeft = '\u200E', '\u200F'
	plainStyle, emojiStyle   = '\uFE0E', '\uFE0F'
	keycap                   = '\u20E3'
)

// inPlace reports whether an ignorable character has its normal purpose between its neighbors. Persian and Indic
// letters and emoji need joiners, Hebrew and Arabic need direction marks, and emoji need one style selector. In other
// places, or in sequences, they could encode hidden text.
func inPlace(before, r, after rune) bool {
	switch r {
	case joiner, nonJoiner:
		return joins(before)
	case leftToRight, rightToLeft:
		return !Ignorable(before) && (!isLatin(before) || !isLatin(after))
	case plainStyle, emojiStyle:
		return isEmoji(before) || strings.ContainsRune("#*0123456789", before) && after == keycap
	}
	return false
}

// joins reports whether a following joiner can change the form of a character.
func joins(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M) && !isLatin(r) && !Ignorable(r) || isEmoji(r) || r == emojiStyle
}

func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) }

// isEmoji reports whether a character can be an emoji: symbols, skin tone modifiers, and a few characters in other
// Unicode categories.
func isEmoji(r rune) bool {
	return r > 0x7F && (unicode.In(r, unicode.So, unicode.Sm, unicode.Sk) || strings.ContainsRune("‼⁉ℹ〰", r))
}

// MaxQuoted limits a value that an error quotes.
const MaxQuoted = 80

// Quote quotes a value in an error, truncated if it is long.
func Quote(s string) string {
	if runes := []rune(s); len(runes) > MaxQuoted {
		s = string(runes[:MaxQuoted]) + "…"
	}
	return Quoted(s)
}

// Escapes replaces characters that would end a quoted text or its line.
var Escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// Quoted puts a text into quotation marks that its content cannot end, so that readers can tell foreign text from ours.
func Quoted(s string) string { return `"` + Visible(Escapes.Replace(s)) + `"` }

// Lures match markup that makes a host fetch or follow something when it shows a text as Markdown or HTML: the middle
// of a link or image, and the start of an element. The URL of an image can leak data that a model was tricked into
// writing there.
var Lures = regexp.MustCompile(`\]\(|\]\[|<[A-Za-z/!?]`)

// Gap is the character that defuses a lure: a narrow no-break space, which people do not type in these places.
const Gap = "\u202f"

// Defused adds a gap to each lure in a foreign text. It still reads the same, and no host follows it.
func Defused(s string) string {
	return Lures.ReplaceAllStringFunc(s, func(lure string) string { return lure[:1] + Gap + lure[1:] })
}
