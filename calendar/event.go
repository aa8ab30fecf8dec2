package calendar

import (
	"context"
	"time"

	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// EventDraft is what it takes to make an event from values instead of from a client's text.
// Whatever is empty is left out.
type EventDraft struct {
	Title       string
	Description string
	Location    string
	// Start and End are moments; Zone is the zone whose wall clock the event keeps (any name
	// that zone knows; "" or "UTC" for none). An all-day event takes the dates of Start and
	// End in UTC, End exclusive. A floating one takes their clocks in UTC for any zone's.
	Start, End time.Time
	Zone       string
	AllDay     bool
	Floating   bool

	// Rule is the value of an RRULE.
	Rule         string
	Organizer    *edit.Attendee
	Attendees    []edit.Attendee
	Alarms       []edit.Alarm
	Status       edit.Status
	Transparency edit.Transparency
	Class        edit.Class
	URL          string
	Categories   []string
}

// CreateEvent makes an event of the caller's own making, through the same save as a PUT.
func (s *Service) CreateEvent(ctx context.Context, c Caller, cal Calendar, e EventDraft) (Saved, error) {
	times, err := e.times(s.zones)
	if err != nil {
		return Saved{}, err
	}
	return s.Create(ctx, c, cal, edit.Draft{Kind: string(Event), Times: times, Fields: e.fields()})
}

// Create makes an event or a task. Its UID is of our making, unless the draft has one of a
// [Service.BeginAttempt].
func (s *Service) Create(ctx context.Context, c Caller, cal Calendar, d edit.Draft) (Saved, error) {
	if err := c.May(WriteObjects, cal); err != nil {
		return Saved{}, err
	}
	if d.UID == "" {
		d.UID = s.newUID()
	}
	doc, err := s.editor(cal).New(ctx, d)
	if err != nil {
		return Saved{}, editError(err)
	}
	return s.save(ctx, c, cal, Draft{Name: nameFor(d.UID), Data: doc.Bytes(), When: Precondition{NoneMatchAny: true}})
}

func (s *Service) newUID() string { return s.newID() + "@caldav-server" }

// nameFor is the address of an object that we make.
func nameFor(uid string) ObjectName { return ObjectName(uid + ".ics") }

// times are the draft's, each in the form in which the event is to have it.
func (e EventDraft) times(zones *zone.DB) (edit.Times, error) {
	if e.End.Before(e.Start) {
		return edit.Times{}, Errorf(Invalid, "", "the event ends before it begins")
	}
	write := ical.Instant
	if e.AllDay {
		write = func(t time.Time) ical.Time { return ical.Date(ical.Instant(t).Civil) }
	} else if e.Floating {
		write = func(t time.Time) ical.Time { return ical.Floating(ical.Instant(t).Civil) }
	} else if e.Zone != "" {
		z, err := zones.Lookup(e.Zone)
		if err != nil {
			return edit.Times{}, Errorf(Invalid, "", "%v", err)
		}
		write = func(t time.Time) ical.Time { return zoned(t, z) }
	}
	return edit.Times{Start: edit.To(write(e.Start)), End: edit.To(write(e.End))}, nil
}

// zoned writes a moment on the clock of a zone. The second of two equal hours is on no clock
// that iCalendar can write (RFC 5545 §3.3.5), and stays in UTC.
func zoned(t time.Time, z *zone.Zone) ical.Time {
	civil := z.Civil(t)
	if at, _ := z.Resolve(civil); z.Name() == zone.UTC().Name() || at.Unix() != t.Unix() {
		return ical.Instant(t)
	}
	return ical.Zoned(civil, z.Name())
}

func (e EventDraft) fields() edit.Fields {
	f := edit.Fields{
		Summary: edit.To(e.Title), Description: given(e.Description), Location: given(e.Location),
		URL: given(e.URL), Rule: given(e.Rule),
		Status: given(e.Status), Transparency: given(e.Transparency), Class: given(e.Class),
		Categories: givenList(e.Categories), Attendees: givenList(e.Attendees), Alarms: givenList(e.Alarms),
	}
	if e.Organizer != nil {
		f.Organizer = edit.To(*e.Organizer)
	}
	return f
}

// given sets a field unless its value is empty.
func given[T ~string](value T) edit.Field[T] {
	if value == "" {
		return edit.Field[T]{}
	}
	return edit.To(value)
}

func givenList[T any](list []T) edit.Field[[]T] {
	if len(list) == 0 {
		return edit.Field[[]T]{}
	}
	return edit.To(list)
}
