package mcp

import (
	"context"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
)

// clash is an event that overlaps another.
type clash struct {
	Calendar     calendar.CalendarID `json:"calendar_id"`
	CalendarName shown               `json:"calendar"`
	UID          shown               `json:"uid"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
	Title        shown               `json:"title"`
	StartLocal   string              `json:"start_local"`
	StartWeekday string              `json:"start_weekday"`
	EndLocal     string              `json:"end_local"`
	Untrusted    shown               `json:"untrusted_text_by,omitempty"`
}

// clashes are the conflicts and likely duplicates of an event.
type clashes struct {
	Conflicts  []clash `json:"conflicts,omitempty"`
	Duplicates []clash `json:"duplicates,omitempty"`
	More       int     `json:"more_conflicts,omitempty"`
}

func (v clashes) foreign() bool { return v.Conflicts != nil || v.Duplicates != nil }

// createdView is a new event.
type createdView struct {
	eventView
	warningsView
	detailsView
	clashes
	toldView
}

// The conflicts of a new or moved event may be events that others wrote.
func (v createdView) foreign() bool { return v.detailsView.foreign() || v.clashes.foreign() }

const (
	// maxClashes limits the conflicts and the duplicates in a result.
	maxClashes = 5
	// mostCompared limits the number of events that a new one is compared with.
	mostCompared = 1000
	// foresight is how far ahead a new series is compared.
	foresight = 8 * 7 * 24 * time.Hour
)

// clashesOf returns the conflicts of a moved event, or of the one instance that was moved.
func (b toolbox) clashesOf(ctx context.Context, c *call, s subject, now query.Instance) (clashes, error) {
	if s.scope == edit.This {
		now.Object.Recurring = false
	}
	return b.clashes(ctx, c, s.cal, now, s.zone)
}

// clashes compares an event with the calendar it is in, the user's own calendars, and shared ones that count as busy
// for the user. A token without the read scope gets no conflicts.
func (b toolbox) clashes(
	ctx context.Context, c *call, cal calendar.Calendar, made query.Instance, z zoned,
) (clashes, error) {
	if c.comparing != nil {
		*c.comparing = true // change_many compares once all its changes are planned
		return clashes{}, nil
	}
	all, err := b.service.Calendars(ctx, c.caller)
	if err != nil && calendar.ReasonOf(err) == calendar.Forbidden {
		return clashes{}, nil
	}
	if err != nil {
		return clashes{}, err
	}
	during := query.AgendaQuery{
		Calendars: slices.DeleteFunc(all, func(other calendar.Calendar) bool {
			concerns := other.ID == cal.ID || other.Access == calendar.OwnerAccess ||
				other.Access >= calendar.ReadAccess && !other.Transparent
			return !concerns || !other.Kinds.Has(calendar.Event)
		}),
		From: made.Start.Time, Until: made.End.Time, Timezone: z.Zone, Limit: mostCompared, Meter: c.meter,
	}
	if made.Object.Recurring {
		during.Until = during.From.Add(foresight)
	}
	if !during.Until.After(during.From) {
		during.Until = during.From.Add(time.Second)
	}
	agenda, err := b.service.Agenda(ctx, c.caller, during)
	if err != nil && calendar.ReasonOf(err) == calendar.TooLarge {
		// the event exists, and the result must say so even if the calendar is too full to compare
		return clashes{}, nil
	}
	m := comparison{who: c.caller, made: made, zone: z}
	m.compare(b.replan(ctx, c, agenda.Occurrences, during))
	return m.result(), err
}

// comparison compares other events with a new one.
type comparison struct {
	who                   calendar.Caller
	made                  query.Instance
	zone                  zoned
	conflicts, duplicates []query.Occurrence
}

func (m *comparison) compare(all []query.Occurrence) {
	var mine []query.Occurrence
	for _, o := range all {
		if m.self(o) && (m.made.Object.Recurring || o.Start.Time.Equal(m.made.Start.Time)) {
			mine = append(mine, o)
		}
	}
	title := content.Words(m.made.Object.Summary)
	for _, o := range all {
		if m.self(o) || !slices.ContainsFunc(mine, func(own query.Occurrence) bool { return meet(own, o) }) {
			continue
		}
		if len(title) > 0 && slices.Equal(content.Words(content.TextOf(o.Component, "SUMMARY")), title) {
			m.duplicates = append(m.duplicates, o)
		} else if blocksTime(m.made) && blocksTime(o.Instance) && !o.Calendar.Transparent {
			m.conflicts = append(m.conflicts, o)
		}
	}
}

func (m *comparison) self(o query.Occurrence) bool {
	return o.Calendar.ID == m.made.Object.Calendar && o.Object.UID == m.made.Object.UID
}

// meet reports whether two events overlap. Events without a duration overlap if they start together.
func meet(a, b query.Occurrence) bool {
	return a.Start.Time.Equal(b.Start.Time) || a.Start.Time.Before(b.End.Time) && b.Start.Time.Before(a.End.Time)
}

func blocksTime(i query.Instance) bool {
	return !content.Transparent(i.Component) && content.WordOf(i.Component, "STATUS") != string(edit.Cancelled)
}

func (m *comparison) result() clashes {
	return clashes{
		Conflicts: m.views(m.conflicts), Duplicates: m.views(m.duplicates),
		More: max(0, len(m.conflicts)-maxClashes),
	}
}

// views shows the first maxClashes events of a list.
func (m *comparison) views(list []query.Occurrence) []clash {
	var views []clash
	for _, o := range list[:min(len(list), maxClashes)] {
		v, at := readViewOf(o.Instance), m.zone.times(o.Instance)
		views = append(views, clash{
			v.Calendar, shown(o.Calendar.Name), v.UID, v.RecurrenceID, v.Summary, at.StartLocal,
			at.StartWeekday, at.EndLocal, standing(m.who, o.Calendar, o.Component).Untrusted,
		})
	}
	return views
}
