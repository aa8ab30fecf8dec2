package digest

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail/letter"
)

// Maker composes digests.
type Maker struct {
	Service *service.Service
	// Journal is the page for reviewing and undoing changes, Suggestions for accepting and declining them.
	Journal, Suggestions *url.URL
}

const (
	// eventsMost limits the events of a day, deedsMost the changes per assistant, assistantsMost the assistants.
	eventsMost, deedsMost, assistantsMost = 60, 10, 10
	// journalPage and pagesMost limit how much of the journal is read.
	journalPage, pagesMost = 100, 5
	// textMost limits the length of an item.
	textMost = 200
)

// Note returns a user's digest for a moment, in their zone. It has no parts if there is nothing to report.
func (m *Maker) Note(ctx context.Context, u calendar.User, d calendar.Digest, at time.Time) (letter.Note, error) {
	c := calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "digest"}
	n := letter.Note{Language: locale.Match(u.Languages()...)}
	var subject []string
	if d.Agenda {
		part, events, err := m.tomorrow(ctx, c, n.Language, at)
		if err != nil {
			return n, fmt.Errorf("the agenda: %w", err)
		}
		if events > 0 {
			n.Parts = append(n.Parts, part)
			subject = append(subject, n.T("digest.events", "count", events, "day", n.Language.ShortDate(tomorrow(at))))
		}
	}
	if d.Changes {
		parts, said, err := m.deeds(ctx, c, n.Language, at)
		if err != nil {
			return n, fmt.Errorf("the changes: %w", err)
		}
		if len(parts) > 0 {
			n.Parts = append(n.Parts, parts...)
			subject = append(subject, said)
		}
	}
	if d.Changes {
		part, fresh, open, err := m.suggestions(ctx, c, n.Language, at)
		if err != nil {
			return n, fmt.Errorf("the suggestions: %w", err)
		}
		if open > 0 && (fresh || len(n.Parts) > 0) {
			n.Parts = append(n.Parts, part)
			subject = append(subject, n.T("digest.suggestions", "count", open))
		}
	}
	n.Subject = strings.Join(subject, ", ")
	return n, nil
}

// tomorrow returns the next midnight.
func tomorrow(at time.Time) time.Time {
	y, m, d := at.Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, at.Location())
}
