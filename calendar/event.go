package calendar

import (
	"context"
	"time"

	"caldav-mcp-server/ical"
)

// EventDraft is what it takes to make an event from values instead of from a client's text.
type EventDraft struct {
	Title       string
	Description string
	Location    string
	// Start and End are moments; Zone is the zone whose wall clock the event keeps (IANA
	// name; "" or "UTC" for none). An all-day event takes the dates of Start and End in
	// UTC, End exclusive.
	Start, End time.Time
	Zone       string
	AllDay     bool
}

// CreateEvent makes an event of the caller's own making, through the same save as a PUT.
func (s *Service) CreateEvent(ctx context.Context, c Caller, cal Calendar, e EventDraft) (Saved, error) {
	uid := UID(s.newID() + "@caldav-server")
	data, err := s.buildEvent(uid, e)
	if err != nil {
		return Saved{}, err
	}
	return s.save(ctx, c, cal, Draft{Name: ObjectName(string(uid) + ".ics"), Data: data, When: Precondition{NoneMatchAny: true}})
}

const productID = "-//caldav-mcp-server//EN"

// buildEvent writes the iCalendar text of a new event.
func (s *Service) buildEvent(uid UID, e EventDraft) ([]byte, error) {
	start, end, err := e.times()
	if err != nil {
		return nil, err
	}
	event := ical.NewComponent(string(Event))
	event.Add(ical.NewText("UID", string(uid)))
	event.Add(ical.NewTime("DTSTAMP", ical.Instant(s.now())))
	event.Add(ical.NewTime("DTSTART", start))
	event.Add(ical.NewTime("DTEND", end))
	event.Add(ical.NewText("SUMMARY", e.Title))
	for _, p := range [...]struct{ name, text string }{{"DESCRIPTION", e.Description}, {"LOCATION", e.Location}} {
		if p.text != "" {
			event.Add(ical.NewText(p.name, p.text))
		}
	}
	root := ical.NewComponent("VCALENDAR")
	root.Add(ical.NewText("VERSION", "2.0"))
	root.Add(ical.NewText("PRODID", productID))
	root.AddComponent(event)
	return ical.NewDocument(root).Bytes(), nil
}

func (e EventDraft) times() (start, end ical.Time, err error) {
	if e.End.Before(e.Start) {
		return start, end, Errorf(Invalid, "", "the event ends before it begins")
	}
	if e.AllDay {
		return ical.Date(ical.Instant(e.Start).Civil), ical.Date(ical.Instant(e.End).Civil), nil
	}
	return ical.Instant(e.Start), ical.Instant(e.End), nil
}
