package google

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/vevent"
)

// difference returns the PATCH body that changes an event from one state to another. Fields without an iCalendar
// equivalent stay as they are.
func (w *write) difference(now, want *Event) (map[string]any, error) {
	changes := map[string]any{}
	w.fields(now, want, changes)
	w.moments(now, want, changes)
	if notes := notes(now.Extended, want.Extended); len(notes) != 0 {
		changes["extendedProperties"] = map[string]any{"private": notes}
	}
	if len(now.Conference) == 0 && strings.Contains(string(want.Conference), `"createRequest"`) {
		changes["conferenceData"] = want.Conference
	}
	if !reflect.DeepEqual(guests(now.Attendees), guests(want.Attendees)) {
		if now.Omitted {
			return nil,
				mirror.Refusef("Google does not show us all guests of this event, so they cannot be changed from here.")
		}
		changes["attendees"] = orNull(want.Attendees)
	}
	return changes, nil
}

// fields compares the fields with a single value.
func (w *write) fields(now, want *Event, changes map[string]any) {
	text := func(name, from, to string) {
		if from != to {
			changes[name] = to
		}
	}
	text("summary", now.Summary, want.Summary)
	if !sameDescription(now.Description, want.Description) {
		changes["description"] = want.Description
	}
	text("location", now.Location, want.Location)
	text("status", cmp.Or(now.Status, confirmed), cmp.Or(want.Status, confirmed))
	text("transparency", cmp.Or(now.Transparency, "opaque"), cmp.Or(want.Transparency, "opaque"))
	text("visibility", cmp.Or(now.Visibility, "default"), cmp.Or(want.Visibility, "default"))
	if now.Color != want.Color {
		changes["colorId"] = orNull(want.Color)
	}
	if !slices.Equal(plainRules(now.Recurrence), plainRules(want.Recurrence)) {
		changes["recurrence"] = orNull(want.Recurrence)
	}
	if !reflect.DeepEqual(plainReminders(now.Reminders), plainReminders(want.Reminders)) {
		changes["reminders"] = want.Reminders
	}
	if !reflect.DeepEqual(now.Source, want.Source) {
		changes["source"] = want.Source
	}
	if !slices.Equal(now.Attachments, want.Attachments) {
		changes["attachments"] = orNull(want.Attachments)
	}
}

// plainRules returns the lines of a recurrence with each rule in one form: parts that say nothing are left out.
func plainRules(lines []string) []string {
	plain := slices.Clone(lines)
	for i, line := range lines {
		value, isRule := strings.CutPrefix(line, "RRULE:")
		if rule, err := ical.ParseRecur(value); isRule && err == nil {
			plain[i] = "RRULE:" + rule.String()
		}
	}
	return plain
}

// sameDescription reports whether a description is the one that Google has, or the plain text of it: then Google's
// keeps its formatting.
func sameDescription(now, want string) bool {
	if strings.ReplaceAll(now, "\r\n", "\n") == want {
		return true
	}
	return vevent.Marked(now) && (vevent.SameText(now, want) || want == vevent.Markup(vevent.Plain(now)))
}

// orNull returns a value, or PATCH's null if it is empty.
func orNull[T any](value T) any {
	v := reflect.ValueOf(value)
	if v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
		return json.RawMessage("null")
	}
	return value
}

func plainReminders(r *Reminders) Reminders {
	if r == nil || r.Default {
		return Reminders{Default: r != nil}
	}
	if len(r.Overrides) == 0 {
		return Reminders{}
	}
	return *r
}

// guests returns the attendees without the fields that only Google writes.
func guests(list []Attendee) []Attendee {
	out := make([]Attendee, 0, len(list))
	for _, a := range list {
		a.Self, a.Organizer, a.ID = false, false, ""
		a.Answer = cmp.Or(a.Answer, "needsAction")
		out = append(out, a)
	}
	return out
}

// moments compares start and end. If a date replaces a time, it clears the time.
func (w *write) moments(now, want *Event, changes map[string]any) {
	for name, pair := range map[string][2]*Moment{"start": {now.Start, want.Start}, "end": {now.End, want.End}} {
		if w.moment(pair[0]) == w.moment(pair[1]) {
			continue
		}
		value := map[string]any{
			"date": orNull(pair[1].Date), "dateTime": orNull(pair[1].DateTime), "timeZone": orNull(pair[1].Zone),
		}
		changes[name] = value
	}
}

// moment normalizes a time.
func (w *write) moment(m *Moment) Moment {
	if m == nil || m.Date != "" {
		return Moment{Date: cmp.Or(m, &Moment{}).Date}
	}
	out := writer{cal: w.cal, zones: w.account.zones}
	z := out.zone(m.Zone)
	at, err := moment(m.DateTime, z)
	if err != nil {
		return *m
	}
	return Moment{DateTime: at.UTC().Format(time.RFC3339), Zone: z.Name()}
}

// notes compares our extended properties.
func notes(now, want *Extended) map[string]any {
	changes := map[string]any{}
	had, wanted := ourNotes(now), ourNotes(want)
	for name := range had {
		if _, stays := wanted[name]; !stays {
			changes[name] = json.RawMessage("null")
		}
	}
	for name, value := range wanted {
		if had[name] != value {
			changes[name] = value
		}
	}
	return changes
}

func ourNotes(x *Extended) map[string]string {
	out := map[string]string{}
	if x == nil {
		return out
	}
	for name, value := range x.Private {
		if strings.HasPrefix(name, linesKey) {
			out[name] = value
		}
	}
	return out
}

// excluded reports whether a series excludes the instance of a key.
func excluded(master *Event, key string, zones *zone.DB) bool {
	lines, err := vevent.Lines(strings.Join(master.Recurrence, "\r\n"))
	if err != nil {
		return false
	}
	return vevent.NewClock(zones).LeavesOut(lines, key)
}
