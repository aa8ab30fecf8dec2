package query

import (
	"context"
	"strings"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/meter"
)

// meantMost is how many objects are looked through for words like those that were asked for and that none has.
const meantMost = 20_000

// meant are the words that somebody must have meant who asked for words that no object has: each as it is where it is there, or else
// the nearest that is. Nil where there is none, or all are there.
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

// closer decides between two words that are as near, always alike.
func closer(asked, a, b string) bool {
	n := utf8.RuneCountInString(asked)
	x, y := apart(utf8.RuneCountInString(a), n), apart(utf8.RuneCountInString(b), n)
	return x < y || x == y && a < b
}

func apart(a, b int) int { return max(a-b, b-a) }
