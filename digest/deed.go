package digest

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail/letter"
)

// deeds lists the changes by a user's assistants in the 24 hours up to a moment, with a link for each assistant to
// undo them. It also returns a short summary. An assistant is a program that uses MCP. Changes that other users'
// assistants made in a shared calendar are left out. If more was changed than fits, the last part links to the whole
// journal.
func (m *Maker) deeds(
	ctx context.Context, c calendar.Caller, l *locale.Language, at time.Time,
) ([]letter.NotePart, string, error) {
	q := calendar.HistoryQuery{
		User: c.User.ID, Assistant: true, Since: at.AddDate(0, 0, -1), Limit: journalPage, Described: true,
	}
	var parts []letter.NotePart
	of := map[calendar.TokenID]int{}
	all, untold := 0, false
	for range pagesMost {
		page, err := m.Service.History(ctx, c, q)
		if err != nil {
			return nil, "", err
		}
		for _, one := range page.Changes {
			if one.UndoneBy > 0 || !one.At.Before(at) {
				continue
			}
			all++
			i, known := of[one.Token]
			if !known {
				if i = len(parts); i == assistantsMost {
					untold = true
					continue
				}
				of[one.Token] = i
				parts = append(parts, m.by(l, one))
			}
			parts[i] = with(l, c.User.View.Clock, parts[i], one, at.Location())
		}
		if q.Cursor = page.Cursor; q.Cursor == "" {
			break
		}
	}
	for i := range parts {
		slices.Reverse(parts[i].Lines)
	}
	said := l.Text("digest.changes", "count", all)
	if untold || q.Cursor != "" {
		said = l.Text("digest.many-changes")
		parts = append(parts, letter.NotePart{
			Title: l.Text("digest.more"), Link: m.Journal.String(), Do: l.Text("digest.review-all"),
		})
	}
	return parts, said, nil
}

// suggestions lists the open suggestions of assistants, the latest first. Each has a link to its page, which only the
// signed-in user can open and which changes nothing by itself. It also returns whether one of them is of the last 24
// hours, and their number. Older ones alone are no reason for a mail.
func (m *Maker) suggestions(
	ctx context.Context, c calendar.Caller, l *locale.Language, at time.Time,
) (part letter.NotePart, fresh bool, open int, err error) {
	if m.Suggestions == nil {
		return part, false, 0, nil
	}
	all, err := m.Service.Suggestions(ctx, c)
	if err != nil {
		return part, false, 0, err
	}
	wording := describe.For(l, c.User.View.Clock, at.Location(), short)
	part = letter.NotePart{
		Title: l.Text("digest.suggested"), Link: m.Suggestions.String(), Do: l.Text("digest.decide"),
	}
	for _, one := range slices.Backward(all) {
		if one.State != calendar.SuggestionOpen {
			continue
		}
		changes, err := m.Service.SuggestedChanges(ctx, c, one)
		if err != nil {
			return part, false, 0, err
		}
		if len(changes) == 0 {
			continue
		}
		open++
		fresh = fresh || one.Created.After(at.AddDate(0, 0, -1))
		if len(part.Lines) == deedsMost {
			part.More++
			continue
		}
		part.Lines = append(part.Lines, letter.NoteLine{
			When: short(describe.Program(one.Maker.Agent)), Text: wording.Change(changes[0]),
			Place: cmp.Or(changes[0].In.Name, string(changes[0].In.Segment)),
			Link:  m.Suggestions.JoinPath(string(one.ID)).String(),
		})
	}
	return part, fresh, open, nil
}

// by makes the empty list of an assistant.
func (m *Maker) by(l *locale.Language, one calendar.Change) letter.NotePart {
	page := *m.Journal
	if one.Token != "" { // an assistant on this machine has none
		page.RawQuery = url.Values{"app": {string(one.Token)}}.Encode()
	}
	return letter.NotePart{
		Title: l.Text("digest.by", "who", short(cmp.Or(describe.Program(one.Agent), string(one.Token)))),
		Link:  page.String(),
		Do:    l.Text("digest.review"),
	}
}

// with adds a change to a list, if there is room; the latest comes first.
func with(
	l *locale.Language, clock string, p letter.NotePart, one calendar.Change, local *time.Location,
) letter.NotePart {
	if len(p.Lines) == deedsMost {
		p.More++
		return p
	}
	p.Lines = append(p.Lines, letter.NoteLine{
		When: l.Time(one.At.In(local), clock), Text: describe.For(l, clock, local, short).Change(one),
		Place: cmp.Or(one.In.Name, string(one.In.Segment)),
	})
	return p
}
