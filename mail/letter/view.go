package letter

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/locale"
)

// view is the description of an event for people.
type view struct {
	Title, Where, Description string
	// When is the time of the message's event or instance, Day its day, Repeats its recurrence.
	When, Day, Repeats string
	// Cancelled are the cancelled instances.
	Cancelled []string
	// Moved are the overridden instances that differ from the series, each with its original time.
	Moved     []moved
	Organizer Person
	Attendees []Person
	// Others is the number of attendees that the message does not name.
	Others int
	// Comment is the comment of an answer.
	Comment string
	// Instance is set if the message is about one instance only.
	Instance bool
	// End is when the event is over; zero if it never ends or the end is unknown.
	End time.Time
}

// moved is an instance that differs from its series.
type moved struct{ Of, When, Where, Title string }

// Person is an attendee or the organizer.
type Person struct {
	Name, Address string
	// Status is the PARTSTAT.
	Status string
}

// String returns the person's name, or their address.
func (p Person) String() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Address
}

// source is a parsed message.
type source struct {
	series content.Series
	clock  content.Clock
	// zones are the VTIMEZONEs.
	zones []*ical.Component
	// local is the zone of times without one.
	local *zone.Zone
	// lang is the language of texts; nil if none are made.
	lang *locale.Language
}

// limits for parsing a message: it was composed here or came from a stranger.
var limits = ical.Limits{Bytes: 4 << 20, LineBytes: 1 << 20, Lines: 50_000, Depth: 8, Properties: 20_000}

// read parses a message. It uses the first series; there must be one.
func read(data []byte, local *time.Location, l *locale.Language) (*source, error) {
	doc, err := ical.Parse(data, limits)
	if err != nil {
		return nil, fmt.Errorf("reading a scheduling message: %w", err)
	}
	cal, err := doc.Calendar()
	if err != nil {
		return nil, fmt.Errorf("reading a scheduling message: %w", err)
	}
	if local == nil {
		local = time.UTC
	}
	s := &source{
		clock: content.Clock{Zones: zone.FromDocument(cal), Floating: zone.In(local)},
		zones: cal.AllComponents("VTIMEZONE"), local: zone.In(local), lang: l,
	}
	for _, kind := range [...]string{content.Event, content.Todo} {
		if all := content.SeriesIn(cal, kind); len(all) > 0 {
			s.series = all[0]
			return s, nil
		}
	}
	return nil, fmt.Errorf("a scheduling message has no event")
}

// main returns the component that the message is about.
func (s *source) main() *ical.Component {
	if s.series.Master != nil {
		return s.series.Master
	}
	return s.series.Overrides[0]
}

// view returns the description of the message.
func (s *source) view() view {
	c := s.main()
	v := view{
		Title:       oneLine(content.TextOf(c, "SUMMARY"), titleMost),
		Where:       oneLine(content.TextOf(c, "LOCATION"), fieldMost),
		Description: lines(content.TextOf(c, "DESCRIPTION"), descriptionMost),
		Comment:     lines(content.TextOf(c, "COMMENT"), fieldMost),
		Organizer:   organizer(c), Attendees: attendees(c), Instance: s.series.Master == nil,
	}
	if p := c.Property(content.OtherGuests); p != nil {
		v.Others, _ = strconv.Atoi(p.Value())
	}
	when, _ := s.when(c)
	v.When, v.Day = when.String(), when.day()
	v.Repeats, v.End = s.repeats(c, when)
	for _, p := range c.All("EXDATE") {
		times, _ := p.Times()
		for _, t := range times {
			v.Cancelled = append(v.Cancelled, s.moment(t))
		}
	}
	if s.series.Master != nil {
		s.apart(&v)
	}
	v.Cancelled = bounded(s.lang, v.Cancelled)
	return v
}

// apart adds the overridden instances.
func (s *source) apart(v *view) {
	for _, c := range s.series.Overrides {
		t, err := c.Property("RECURRENCE-ID").Time()
		if err != nil {
			continue
		}
		of := s.moment(t)
		if content.WordOf(c, "STATUS") == "CANCELLED" {
			v.Cancelled = append(v.Cancelled, of)
			continue
		}
		when, _ := s.when(c)
		m := moved{
			Of: of, When: when.String(), Where: oneLine(content.TextOf(c, "LOCATION"), fieldMost),
			Title: oneLine(content.TextOf(c, "SUMMARY"), titleMost),
		}
		if len(v.Moved) < listMost {
			v.Moved = append(v.Moved, m)
		}
	}
}

func organizer(c *ical.Component) Person {
	if p := c.Property("ORGANIZER"); p != nil {
		return personOf(p)
	}
	return Person{}
}

func attendees(c *ical.Component) []Person {
	var all []Person
	for _, p := range c.All("ATTENDEE") {
		all = append(all, personOf(p))
	}
	return all
}

func personOf(p *ical.Property) Person {
	address, err := Address(p.Value())
	person := Person{Address: string(address)}
	if err != nil {
		person.Address = oneLine(p.Value(), fieldMost)
	}
	name, _ := p.Param("CN")
	if person.Name = oneLine(name, nameMost); strings.EqualFold(person.Name, person.Address) {
		person.Name = ""
	}
	status, _ := p.Param("PARTSTAT")
	person.Status = strings.ToUpper(status)
	return person
}

// How much of each text is shown; the calendar file has all of it.
const (
	titleMost       = 200
	nameMost        = 100
	fieldMost       = 500
	descriptionMost = 4000
	listMost        = 20
)

// bounded cuts a list that is too long to read.
func bounded(l *locale.Language, list []string) []string {
	if len(list) <= listMost {
		return list
	}
	return append(list[:listMost:listMost], l.Text("mail.others", "count", len(list)-listMost))
}
