package letter

import (
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// repeated are the properties of the event that a reply repeats: the required ones (RFC 5546 §3.2.3), and others that
// some programs need.
var repeated = []string{
	"UID", "RECURRENCE-ID", "SEQUENCE", "DTSTART", "DTEND", "DURATION", "DUE", "SUMMARY", "ORGANIZER",
}

// Reply makes the recipient's reply to a letter.
func Reply(to calendar.Letter, status, comment string, now time.Time) ([]byte, error) {
	s, err := read(to.Data, nil, nil)
	if err != nil {
		return nil, err
	}
	return s.answer(to, "REPLY", comment, now, func(_ *ical.Component, mine *ical.Property) {
		mine.SetParam("PARTSTAT", status)
		mine.RemoveParam("RSVP")
	})
}

// answer makes a message from a letter's recipient back to its sender: the event, their own ATTENDEE line, and their
// comment.
func (s *source) answer(to calendar.Letter, method, comment string, now time.Time,
	says func(event *ical.Component, mine *ical.Property),
) ([]byte, error) {
	asked := s.main()
	c := ical.NewComponent(asked.Name())
	for p := range asked.Properties() {
		if slices.Contains(repeated, p.Name()) {
			c.Add(p.Clone())
		}
	}
	c.Set(ical.NewTime("DTSTAMP", ical.Instant(now)))
	mine, err := attendee(asked, to.To)
	if err != nil {
		return nil, err
	}
	p := mine.Clone()
	says(c, p)
	c.Add(p)
	if comment = lines(comment, fieldMost); comment != "" {
		c.SetText("COMMENT", comment)
	}
	calendar := ical.NewComponent("VCALENDAR")
	calendar.Add(ical.NewProperty("VERSION", "2.0"))
	calendar.Add(ical.NewProperty("PRODID", content.ProductID))
	calendar.Add(ical.NewProperty("METHOD", method))
	for _, zone := range s.zones {
		calendar.AddComponent(zone.Clone())
	}
	calendar.AddComponent(c)
	return ical.NewDocument(calendar).Bytes(), nil
}

// attendee returns an attendee's line.
func attendee(c *ical.Component, who calendar.MailAddress) (*ical.Property, error) {
	for _, p := range c.All("ATTENDEE") {
		if a, err := Address(p.Value()); err == nil && a == who {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%s is not an attendee", who)
}
