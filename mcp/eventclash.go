package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
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
	Untrusted    shown               `json:"untrusted_text_by,omitempty" once:"true"`
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

// warningsView holds effects of a change that a user may not expect.
type warningsView struct {
	Warnings []string `json:"warnings,omitempty" doc:"Tell the user."`
}

// warnings are the unexpected effects of a new rule on a whole series.
func (b eventTools) warnings(ctx context.Context, c *call, s subject, f edit.Fields) (v warningsView) {
	rule, given := f.Rule.Value()
	if !given || rule == "" || !s.found.Object.Recurring || s.scope != edit.All {
		return v
	}
	whole, err := b.service.InstanceOf(ctx, c.meter, s.cal, s.found.Object, ical.Time{})
	if err != nil || whole.Start.Time.IsZero() {
		return v
	}
	if whole.Start.Time.Before(b.now()) {
		v.Warnings = append(v.Warnings, "the rule also applies to past instances; to keep those, change it with scope "+
			"following and the recurrence_id of the next instance instead")
	}
	start := whole.Start.Civil()
	days := strings.Split(ruleParts(rule)["BYDAY"], ",")
	if word := strings.ToUpper(start.Weekday().String()[:2]); days[0] != "" && !slices.Contains(days, word) &&
		ruleParts(rule)["FREQ"] == "WEEKLY" {
		v.Warnings = append(
			v.Warnings,
			fmt.Sprintf("the first instance stays on %s %s, a weekday that the rule leaves "+
				"out", start.Weekday(), start.Date().String()[:len(time.DateOnly)]),
		)
	}
	return v
}

// leapDays warns of a yearly series on 29 February.
func leapDays(c *ical.Component) (v warningsView) {
	rule, start := c.Property("RRULE"), c.Property("DTSTART")
	if rule == nil || start == nil {
		return v
	}
	at, err := start.Time()
	parts := ruleParts(rule.Value())
	if err == nil && parts["FREQ"] == "YEARLY" && parts["BYDAY"] == "" && parts["BYMONTHDAY"] == "" &&
		at.Civil.Month == time.February && at.Civil.Day == 29 {
		v.Warnings = []string{"29 February is only in leap years: the event is every four years; for every year, use " +
			"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1, the last day of February"}
	}
	return v
}

// ruleParts are the parts of a recurrence rule by name.
func ruleParts(rule string) map[string]string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.ToUpper(rule), ";") {
		name, value, _ := strings.Cut(part, "=")
		parts[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return parts
}

// checkLoss refuses a description that is only the beginning of the stored one, as results show it. The model may have
// removed the mark for the omitted text.
func checkLoss(f edit.Fields, stored *ical.Component) error {
	text, given := f.Description.Value()
	if !given || text == "" {
		return nil
	}
	onLine := func(s string) []rune { return []rune(strings.Join(strings.Fields(s), " ")) }
	raw := []rune(content.TextOf(stored, "DESCRIPTION"))
	was, now := onLine(string(raw)), onLine(text)
	same := 0
	for same < min(len(was), len(now)) && was[same] == now[same] {
		same++
	}
	const near, slack = 5, 100
	lost := len(was)-len(now) > slack && len(now) > slack && 10*len(now) <= len(was) && 10*same >= 9*len(now)
	for _, limit := range [...]int{longestListedText, len(onLine(string(raw[:min(len(raw), maxShown)])))} {
		lost = lost || len(was) > limit+slack && len(now) < len(was) && same >= limit-near && same <= limit+near
	}
	if !lost {
		return nil
	}
	return errArgument(`"description" is only the beginning of the stored one, which has %d characters: a result left `+
		`out the rest, which this would delete`, len(raw)).
		Advising("read the full text in ical_data of get_event and give all of it; if the user wants it shorter, " +
			"empty the description first")
}
