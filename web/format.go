package web

import (
	"errors"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"
)

// functions are the functions available to templates.
func functions() template.FuncMap {
	return template.FuncMap{"dict": dict}
}

// dict passes several values to a sub-template: names and values in turn.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("dict needs names and values in turn")
	}
	values := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, errors.New("dict needs names that are texts")
		}
		values[name] = pairs[i+1]
	}
	return values, nil
}

// excerpt shortens a user's text for a list to one line. It replaces control characters, which could reverse or hide
// neighbouring text.
func excerpt(text string) string { return within(text, longestTitle) }

// within is excerpt with a given length.
func within(text string, longest int) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.TrimSpace(text) {
		if n++; n > longest {
			b.WriteString("…")
			break
		}
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsControl(r), r == utf8.RuneError, unicode.Is(unicode.Cf, r) && r != zeroWidthJoiner:
			b.WriteRune('·')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// zeroWidthJoiner combines emoji.
const zeroWidthJoiner = '\u200d'
