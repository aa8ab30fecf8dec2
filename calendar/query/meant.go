package query

import (
	"context"
	"strings"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/meter"
)

// meantMost bounds the objects that are searched for similar words.
const meantMost = 20_000

// meant returns corrections for misspelled search words: each word itself if it occurs, else the most similar one. It
// returns nil if a word has no correction, or all words occur.
func meant(ctx context.Context, m *meter.Meter, from calendar.ObjectReader, q calendar.SearchQuery) ([]string, error) {
	best, nearness := make([]string, len(q.Words)), make([]content.Nearness, len(q.Words))
	seen := map[string]bool{}
	err := from.SearchTexts(ctx, q.Calendars, q.Kind, meantMost, func(text string) error {
		for word := range strings.FieldsSeq(text) {
			if seen[word] {
				continue
			}
			seen[strings.Clone(word)] = true
			for i, asked := range q.Words {
				near := content.Near(asked, word)
				if near > nearness[i] || near == nearness[i] && near > content.Other && closer(asked, word, best[i]) {
					best[i], nearness[i] = strings.Clone(word), near
				}
			}
		}
		return m.Text(len(text))
	})
	if err != nil {
		return nil, err
	}
	other := false
	for i, near := range nearness {
		switch near {
		case content.Other:
			return nil, nil
		case content.Same:
			best[i] = q.Words[i]
		default:
			other = true
		}
	}
	if !other {
		return nil, nil
	}
	return best, nil
}

// closer breaks ties between two equally similar words, deterministically.
func closer(asked, a, b string) bool {
	n := utf8.RuneCountInString(asked)
	x, y := apart(utf8.RuneCountInString(a), n), apart(utf8.RuneCountInString(b), n)
	return x < y || x == y && a < b
}

func apart(a, b int) int { return max(a-b, b-a) }
