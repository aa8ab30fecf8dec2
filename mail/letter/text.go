package letter

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine makes a line of a text, without what could end the line, hide text or turn its direction.
func oneLine(text string, most int) string {
	return cut(strings.Join(strings.Fields(strings.Map(visible, text)), " "), most)
}

// OneLine is oneLine for a text that is cut already.
func OneLine(text string) string { return oneLine(text, len(text)) }

// lines keeps the lines of a text.
func lines(text string, most int) string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		out = append(out, strings.TrimRightFunc(strings.Map(visible, strings.TrimRight(line, "\n")), unicode.IsSpace))
	}
	return cut(strings.TrimSpace(strings.Join(out, "\n")), most)
}

// visible replaces characters that are not there to be seen: controls, and those that order text from right to
// left, which make an address look like another one.
func visible(r rune) rune {
	switch {
	case r == '\t' || unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == utf8.RuneError, r == '\u200b', r == '\u2060', r == '\ufeff':
		return -1
	}
	return r
}

// cut shortens text to so many runes.
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
