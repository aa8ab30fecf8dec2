package web

import (
	"errors"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"

	"caldav-mcp-server/locale"
)

// functions are the functions available to templates. t returns a text of the language, and th one with markup in
// place of names. The address of a link must be ours.
//
//	{{t "invitation.count" "count" .N}}
//	{{th "invitation.from" "who" (bdi .Owner) "calendar" (strong .Calendar) "more" (link .Address (t "more"))}}
func functions(l *locale.Language) template.FuncMap {
	return template.FuncMap{
		"dict": dict,
		"t":    l.Text,
		"th": func(id string, pairs ...any) template.HTML {
			for i := 1; i < len(pairs); i += 2 {
				if pairs[i-1] != "count" {
					pairs[i] = html(pairs[i])
				}
			}
			return template.HTML(l.Text(id, pairs...)) //nolint:gosec // catalogs are ours; the values are escaped above
		},
		"bdi":    func(text any) template.HTML { return element("bdi", text) },
		"em":     func(text any) template.HTML { return element("em", text) },
		"code":   func(text any) template.HTML { return element("code", text) },
		"strong": func(text any) template.HTML { return element("strong", text) },
		"link": func(address, text any) template.HTML {
			return "<a href=\"" + html(address) + "\">" + html(text) + "</a>"
		},
	}
}

// html escapes a value for text and for attributes in quotes, unless it is markup already.
func html(value any) template.HTML {
	if marked, ok := value.(template.HTML); ok {
		return marked
	}
	return template.HTML(template.HTMLEscaper(value)) //nolint:gosec // it is escaped
}

// element puts a value into an element.
func element(name template.HTML, text any) template.HTML {
	return "<" + name + ">" + html(text) + "</" + name + ">"
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
