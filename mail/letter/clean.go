package letter

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine turns a text into one line without control or direction characters.
func oneLine(text string, most int) string {
	return cut(strings.Join(strings.Fields(strings.Map(visible, text)), " "), most)
}

// OneLine is oneLine for a text that is short already.
func OneLine(text string) string { return oneLine(text, len(text)) }

// lines keeps the line breaks of a text.
func lines(text string, most int) string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		out = append(out, strings.TrimRightFunc(strings.Map(visible, strings.TrimRight(line, "\n")), unicode.IsSpace))
	}
	return cut(strings.TrimSpace(strings.Join(out, "\n")), most)
}

// visible replaces invisible characters: control characters, and the direction marks that make an address look like
// another.
func visible(r rune) rune {
	switch {
	case r == '\t' || unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == utf8.RuneError, r == '\u200b', r == '\u2060',
		r == '\ufeff':
		return -1
	}
	return r
}

// cut shortens a text to so many runes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return strings.TrimSpace(string(runes[:most-1])) + "…"
}
