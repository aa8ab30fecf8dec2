package web

import (
	"errors"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"
)

// functions are those that templates may call beside their own content.
func functions() template.FuncMap {
	return template.FuncMap{"dict": dict}
}

// dict gives a part of a page several values: names and values in turn.
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

// excerpt is as much of somebody's text as a list shows of it: one line, without what would turn round or hide what
// stands beside it.
func excerpt(text string) string { return within(text, longestTitle) }

// within is an excerpt of a length.
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

// zeroWidthJoiner puts pictures together.
const zeroWidthJoiner = '\u200d'
