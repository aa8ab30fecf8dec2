package microsoft

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/vevent"
)

// Text returns a series as an iCalendar object.
func Text(s *Series, zones *zone.DB) ([]byte, error) {
	w := writer{zones: zones}
	s.spread()
	var all []*ical.Component
	if s.Master != nil {
		c, err := w.event(s.Master, s.Master)
		if err != nil {
			return nil, err
		}
		if err := w.cancelled(c, s); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	for _, e := range sorted(s.Exceptions) {
		c, err := w.event(e, s.first())
		if err != nil {
			return nil, err
		}
		id, err := w.original(e, s.first())
		if err != nil {
			return nil, err
		}
		c.Add(ical.NewTime("RECURRENCE-ID", id))
		all = append(all, c)
	}
	return vevent.Write(zones, all...), nil
}

func sorted(list []*Event) []*Event {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *Event) int { return cmp.Compare(a.Original, b.Original) })
	return list
}

type writer struct{ zones *zone.DB }

// event writes a component; of is the event with the UID.
func (w writer) event(e, of *Event) (*ical.Component, error) {
	c := ical.NewComponent("VEVENT")
	c.Add(ical.NewText("UID", of.uid()))
	w.stamps(c, e)
	if err := w.times(c, e); err != nil {
		return nil, err
	}
	w.words(c, e)
	w.people(c, e)
	w.meeting(c, e)
	if err := w.rest(c, e); err != nil {
		return nil, err
	}
	if e.ReminderOn {
		c.AddComponent(vevent.Alarm(e.Minutes, e.Subject, ""))
	}
	w.extras(c, e)
	return c, nil
}

func (w writer) stamps(c *ical.Component, e *Event) {
	vevent.Stamp(c, e.Created, e.Modified)
}

func (w writer) times(c *ical.Component, e *Event) error {
	start, err := w.time("DTSTART", e.Start, e.StartZone, e.AllDay)
	if err != nil {
		return err
	}
	c.Add(start)
	if e.End != nil && *e.End != *e.Start {
		end, err := w.time("DTEND", e.End, cmp.Or(e.EndZone, e.StartZone), e.AllDay)
		if err != nil {
			return err
		}
		c.Add(end)
	}
	if e.Recurrence == nil {
		return nil
	}
	from, err := start.Time()
	if err != nil {
		return err
	}
	rule, err := w.rule(e.Recurrence, from)
	if err != nil {
		return err
	}
	c.Add(ical.NewProperty("RRULE", rule.String()))
	return nil
}

const wall = "2006-01-02T15:04:05"

// time writes a time, in the zone where the event was created rather than in the requested one.
func (w writer) time(name string, m *Moment, made string, day bool) (*ical.Property, error) {
	if m == nil {
		return nil, fmt.Errorf("the event has no %s", name)
	}
	if day {
		t, err := time.Parse(wall, strip(m.DateTime))
		if err != nil {
			return nil, fmt.Errorf("%q is no time", m.DateTime)
		}
		return ical.NewTime(name, ical.Date(ical.CivilDate(t.Date()))), nil
	}
	at, err := w.instant(m)
	if err != nil {
		return nil, err
	}
	zoned := cmp.Or(made, m.Zone, "UTC")
	z := w.zone(zoned)
	t := vevent.In(at, z)
	p := ical.NewTime(name, t)
	if t.Form == ical.FormUTC && zoned != "UTC" {
		p.SetParam(zoneParam, zoned)
	}
	return p, nil
}

// strip removes fractions of a second; Graph writes seven digits.
func strip(written string) string {
	whole, _, _ := strings.Cut(strings.TrimSuffix(written, "Z"), ".")
	return whole
}

func (w writer) instant(m *Moment) (time.Time, error) {
	at, err := time.Parse(wall, strip(m.DateTime))
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no time", m.DateTime)
	}
	found, _ := w.zone(m.Zone).Resolve(ical.CivilFromSeconds(at.Unix()))
	return found, nil
}

// zone returns the zone with a Windows or IANA name, or UTC if it is unknown.
func (w writer) zone(name string) *zone.Zone {
	return vevent.Known(w.zones, cmp.Or(name, "UTC"))
}

// original returns an instance's original start, in the form of its series' start.
func (w writer) original(e, of *Event) (ical.Time, error) {
	at, err := time.Parse(time.RFC3339, e.Original)
	if err != nil {
		return ical.Time{}, fmt.Errorf("an instance does not say which one it is")
	}
	z := w.zone(of.StartZone)
	if of.AllDay {
		if at.UTC().Hour() == 0 && at.UTC().Minute() == 0 {
			z = zone.UTC()
		}
		return ical.Date(z.Civil(at).Date()), nil
	}
	return vevent.In(at, z), nil
}

// cancelled writes the excluded instances.
func (w writer) cancelled(c *ical.Component, s *Series) error {
	start, err := c.Property("DTSTART").Time()
	if err != nil {
		return err
	}
	for _, day := range slices.Sorted(slices.Values(s.Cancelled)) {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return fmt.Errorf("%q is no day of a cancelled instance", day)
		}
		gone := start
		gone.Civil.Year, gone.Civil.Month, gone.Civil.Day = at.Date()
		c.Add(ical.NewTime("EXDATE", gone))
	}
	return nil
}

func (w writer) words(c *ical.Component, e *Event) {
	text := func(name, value string) { vevent.AddText(c, name, value) }
	text("SUMMARY", e.Subject)
	if e.Body.isHTML() {
		vevent.Describe(c, e.Body.Content, true)
	} else {
		vevent.Describe(c, e.Body.text(), false)
	}
	text("LOCATION", placeName(e.Place))
	switch {
	case e.Cancelled:
		text("STATUS", "CANCELLED")
	case e.ShowAs == tentative:
		text("STATUS", "TENTATIVE")
	default:
		text("STATUS", "CONFIRMED")
	}
	if e.ShowAs == free || e.ShowAs == elsewhere {
		text("TRANSP", "TRANSPARENT")
	}
	text(busyName, shown.Out(e.ShowAs))
	text("CLASS", sensitivities.Out(e.Sensitivity))
	switch e.Importance {
	case "high":
		text("PRIORITY", "1")
	case "low":
		text("PRIORITY", "9")
	}
	if len(e.Categories) != 0 {
		p := ical.NewProperty("CATEGORIES", "")
		p.SetTextList(e.Categories...)
		c.Add(p)
	}
}

func placeName(place json.RawMessage) string {
	var named struct {
		Name string `json:"displayName"`
	}
	if json.Unmarshal(place, &named) != nil {
		return ""
	}
	return named.Name
}

// people writes the attendees. An event without any has no organizer either: it is not a meeting.
func (w writer) people(c *ical.Component, e *Event) {
	if len(e.Attendees) == 0 && (e.IsOrganizer || e.Organizer == nil || e.Answer == nil) {
		return
	}
	if o := e.Organizer; o != nil && o.Address.Address != "" {
		c.Add(vevent.Person("ORGANIZER", o.Address.Address, o.Address.Name))
	}
	for _, a := range e.Attendees {
		p := vevent.Person("ATTENDEE", a.Address.Address, a.Address.Name)
		if a.Type == "resource" {
			p.SetParam("CUTYPE", "ROOM")
		}
		if role := kinds.Out(a.Type); role != "" {
			p.SetParam("ROLE", role)
		}
		answer := ""
		if a.Status != nil {
			answer = responses.Out(a.Status.Response)
		}
		p.SetParam("PARTSTAT", cmp.Or(answer, "NEEDS-ACTION"))
		c.Add(p)
	}
}

// meeting writes the link for joining.
func (w writer) meeting(c *ical.Component, e *Event) {
	link := joins(e)
	if link == "" {
		return
	}
	c.Add(ical.NewProperty(meetingName, link))
	c.Add(ical.NewProperty("CONFERENCE", link, ical.NewParam("VALUE", "URI"),
		ical.NewParam("FEATURE", "AUDIO", "VIDEO")))
}

func joins(e *Event) string {
	if e.Meeting != nil && e.Meeting.JoinURL != "" {
		return e.Meeting.JoinURL
	}
	return e.MeetingURL
}
