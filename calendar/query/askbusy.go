package query

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// BusyAnswer is the response for one recipient of a free/busy request (RFC 6638 §5).
type BusyAnswer struct {
	// Recipient is the address as given in the request.
	Recipient string
	// Status is a REQUEST-STATUS; Data is a VCALENDAR with the response, or nil.
	Status string
	Data   []byte
}

// busyQuestion is a VFREEBUSY request from an organizer to attendees.
type busyQuestion struct {
	*ical.Component
	from, until time.Time
}

// AskBusy answers a free/busy request for its attendees (RFC 5546 §3.3.2). Every user may ask about every other user
// whose address they know: people find a time for meetings this way. The response contains only busy times.
func (s *Queries) AskBusy(ctx context.Context, c calendar.Caller, m *meter.Meter, data []byte) ([]BusyAnswer, error) {
	if err := c.MayOwn(calendar.SeeBusy); err != nil {
		return nil, err
	}
	q, err := s.readBusyQuestion(data)
	if err != nil {
		return nil, err
	}
	asked := q.All("ATTENDEE")
	if len(asked) > s.limits.Attendees {
		return nil, calendar.Errorf(calendar.TooLarge, calendar.RuleMaxAttendees,
			"this asks for %d people; this server answers for %d at once", len(asked), s.limits.Attendees)
	}
	named := []schedule.Address{}
	for _, p := range append(q.All("ORGANIZER"), asked...) {
		named = append(named, schedule.AddressOf(p.Value()))
	}
	found, err := s.FindParties(ctx, s.store, named)
	if err != nil {
		return nil, err
	}
	if org := q.Property("ORGANIZER"); org == nil || !found.Are(c.User.ID)(named[0]) {
		return nil, calendar.Errorf(calendar.Forbidden, calendar.RuleValidOrganizer,
			"the ORGANIZER must be the user who asks")
	}
	uids, err := q.masked()
	if err != nil {
		return nil, err
	}
	masked, err := s.maskOf(ctx, c, uids)
	if err != nil {
		return nil, err
	}
	ask := BusyQuery{From: q.from, Until: q.until, ByType: true, Meter: m, mask: masked}
	var answers []BusyAnswer
	for _, p := range asked {
		answer, err := s.answerBusy(ctx, c, q, p, found, ask)
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

func (s *Queries) readBusyQuestion(data []byte) (busyQuestion, error) {
	invalid := func(format string, args ...any) (busyQuestion, error) {
		return busyQuestion{}, calendar.Errorf(calendar.Invalid, calendar.RuleValidMessage, format, args...)
	}
	lim := ical.DefaultLimits()
	lim.Bytes = int(s.limits.ObjectBytes)
	o, err := content.Read(data, lim)
	if err != nil {
		return busyQuestion{}, calendar.Errorf(calendar.Invalid, calendar.RuleValidData, "%v", err)
	}
	if o.Kind != content.FreeBusy || content.WordOf(o.Calendar, "METHOD") != "REQUEST" || o.Master == nil {
		return invalid("expected a VFREEBUSY with the METHOD REQUEST: to send invitations, store an event")
	}
	clock := o.Clock(s.zones, nil)
	start, end, err := clock.Bounds(o.Master)
	if err != nil || o.Master.Property("DTSTART") == nil || end <= start {
		return invalid("the request has no time range from DTSTART to DTEND")
	}
	return busyQuestion{o.Master, time.Unix(start, 0).UTC(), time.Unix(end, 0).UTC()}, nil
}

// answerBusy answers for one attendee.
func (s *Queries) answerBusy(
	ctx context.Context, c calendar.Caller, q busyQuestion, p *ical.Property, found lookup.Parties, ask BusyQuery,
) (BusyAnswer, error) {
	answer := BusyAnswer{Recipient: p.Value(), Status: "3.7;Invalid calendar user"}
	who, here := found[schedule.AddressOf(p.Value())]
	if !here {
		return answer, nil
	}
	ask.People = []calendar.User{who}
	busy, err := s.FreeBusy(ctx, c, ask)
	if err != nil {
		return answer, err
	}
	text := freebusy.Answer{
		From: q.from, Until: q.until, Stamp: s.now(), UID: content.TextOf(q.Component, "UID"), Unread: busy.Unread,
	}.Component(busy.Periods)
	text.Add(q.Property("ORGANIZER").Clone())
	text.Add(p.Clone())
	root := content.Root()
	root.Add(ical.NewText("METHOD", "REPLY"))
	root.AddComponent(text)
	answer.Status, answer.Data = "2.0;Success", ical.NewDocument(root).Bytes()
	return answer, nil
}
