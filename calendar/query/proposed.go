package query

import (
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/locale"
)

// The calendar "Proposed" has one event for each suggested change of an object. Its text depends on the suggestion and
// the user's language, never on the present state or the time, so that ETags and versions agree. It has no attendees
// and no recurrence. See docs/decisions/0129-proposed-calendar.md.

// proposedView returns the objects of the caller's calendar "Proposed".
func (s *Queries) proposedView(ctx context.Context, m *meter.Meter, c calendar.Caller) (freeBusyView, error) {
	cal, parts, err := s.Proposed(ctx, c, s.now())
	if err != nil {
		return freeBusyView{}, err
	}
	at := freeBusyKey{calendar: cal.ID, epoch: cal.Epoch, version: cal.Version}
	if g, known := s.freeBusyCache.get(at); known {
		return g, nil
	}
	g := freeBusyView{version: cal.Version}
	for i, part := range parts {
		o, err := s.proposedObject(ctx, m, locale.Match(c.User.Languages()...), cal, part)
		if err != nil {
			return freeBusyView{}, err
		}
		o.Version = calendar.Version(i + 1)
		g.objects = append(g.objects, o)
	}
	s.freeBusyCache.put(at, g)
	return g, nil
}

// longestProposed limits the texts of a proposed event that assistants and others have written, in bytes.
const longestProposed = 2000

// proposedObject returns the event that shows a suggested change.
func (s *Queries) proposedObject(
	ctx context.Context, m *meter.Meter, l *locale.Language, cal calendar.Calendar, part lookup.ProposedPart,
) (calendar.Object, error) {
	one, err := s.proposedInstance(ctx, m, part)
	if err != nil {
		return calendar.Object{}, err
	}
	change := describe.Suggested(part.Suggestion, part.SuggestedPart, part.In)
	title := titleOf(l, part, change.Summary)
	quote := func(text string) string { return l.Text("mail.quoted", "text", brief(text)) }
	lines := []string{
		l.Text("suggestion.app-from", "who", quote(part.Maker.Agent), "calendar", quote(part.In.Name)),
	}
	wording := describe.For(l, "24", time.UTC, brief)
	if details := wording.Details(change); len(details) > 0 {
		lines = append(lines, details...)
	} else {
		lines = append(lines, wording.Change(change))
	}
	if n := len(part.Suggestion.Parts); n > 1 {
		lines = append(lines, l.Text("suggestion.app-bundle"))
	}
	lines = append(lines, l.Text("suggestion.app-how"))

	uid := string(part.ProposedUID(part.N))
	event := ical.NewComponent(content.Event)
	event.Add(ical.NewText("UID", uid))
	event.Add(ical.NewTime("DTSTAMP", ical.Instant(part.Created)))
	event.Add(ical.NewTime("DTSTART", one.start))
	event.Add(ical.NewTime("DTEND", one.end))
	event.Add(ical.NewText("SUMMARY", title))
	event.Add(ical.NewText("DESCRIPTION", strings.Join(lines, "\n")))
	if one.place != "" {
		event.Add(ical.NewText("LOCATION", brief(one.place)))
	}
	event.Add(ical.NewText("STATUS", "TENTATIVE"))
	event.Add(ical.NewText("TRANSP", "TRANSPARENT"))
	event.Add(ical.NewText("CLASS", "PRIVATE"))
	data := ical.NewDocument(content.Root(event)).Bytes()
	return calendar.Object{
		Calendar: cal.ID, Name: calendar.ObjectName(uid + ".ics"), ETag: calendar.ETagOf(data), Size: int64(len(data)),
		Data: data, Created: part.Created, Modified: part.Created,
		Derived: calendar.Derived{
			UID: calendar.UID(uid), Kind: calendar.Event, Summary: title, Span: one.span, Status: "TENTATIVE",
			Transparent: true,
		},
	}, nil
}

// brief cuts a text at a whole character.
func brief(text string) string {
	if len(text) <= longestProposed {
		return text
	}
	return strings.ToValidUTF8(text[:longestProposed], "") + "…"
}

// titleOf describes the suggestion in a title.
func titleOf(l *locale.Language, part lookup.ProposedPart, summary string) string {
	if summary == "" {
		summary = l.Text("planner.untitled")
	}
	switch {
	case part.After == nil:
		return l.Text("suggestion.app-delete", "title", brief(summary))
	case part.Before == nil:
		return l.Text("suggestion.app-new", "title", brief(summary))
	}
	return l.Text("suggestion.app-change", "title", brief(summary))
}

// proposedTime is when and where a proposed event is shown.
type proposedTime struct {
	start, end ical.Time
	span       calendar.Span
	place      string
}

// proposedInstance returns the first time that a suggestion adds or, if it adds none, removes. A change without times
// is shown on the day of the suggestion.
func (s *Queries) proposedInstance(
	ctx context.Context, m *meter.Meter, part lookup.ProposedPart,
) (proposedTime, error) {
	during := InstanceQuery{Kind: part.Kind, Most: 200, Meter: m, During: filter.TimeRange{
		Start: part.Created.AddDate(-1, 0, 0), End: part.Created.AddDate(2, 0, 0),
	}}
	var sides [2][]Instance
	for i, text := range [...][]byte{part.Before, part.After} {
		if text == nil {
			continue
		}
		o := calendar.Object{Calendar: part.Calendar, Name: part.SuggestedPart.Name, Data: text}
		o.UID, o.Kind = part.UID, part.Kind
		all, err := s.InstancesIn(ctx, part.In, o, during)
		if ctx.Err() != nil || calendar.ReasonOf(err) == calendar.Unavailable && err != nil {
			return proposedTime{}, err
		}
		sides[i] = slices.DeleteFunc(all, func(one Instance) bool { return one.Unclear || one.Start.Time.IsZero() })
	}
	for i, side := range [...][]Instance{sides[1], sides[0]} {
		other := sides[i]
		for _, one := range side {
			if !slices.ContainsFunc(other, func(o Instance) bool {
				return o.Looks(one)
			}) {
				return timeOf(one), nil
			}
		}
	}
	for _, side := range sides {
		if len(side) > 0 {
			return timeOf(side[0]), nil
		}
	}
	day := part.Created.UTC().Truncate(24 * time.Hour)
	return spanning(day, day.AddDate(0, 0, 1), true), nil
}

// timeOf returns the time and place of an instance.
func timeOf(one Instance) proposedTime {
	start, end := one.Start, one.End
	if start.Time.IsZero() {
		start = recur.Moment{Time: end.Time, AllDay: end.AllDay}
	}
	if !end.Time.After(start.Time) {
		end.Time = start.Time.Add(30 * time.Minute)
		if start.AllDay {
			end.Time = start.Time.AddDate(0, 0, 1)
		}
	}
	t := spanning(start.Time, end.Time, start.AllDay)
	t.place = content.TextOf(one.Component, "LOCATION")
	return t
}

// spanning returns a time as it is written. Days are days in the zone of the times.
func spanning(start, end time.Time, days bool) proposedTime {
	from, until := start.Unix(), end.Unix()
	t := proposedTime{
		start: ical.Instant(start), end: ical.Instant(end), span: calendar.Span{Start: &from, End: &until},
	}
	if days {
		t.start = ical.Date(recur.Moment{Time: start, AllDay: true}.Civil())
		t.end = ical.Date(recur.Moment{Time: end, AllDay: true}.Civil())
	}
	return t
}
