package microsoft

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/vevent"
)

// Read converts an iCalendar object to a Microsoft series. If Microsoft cannot store it, the error is a
// *mirror.Refusal.
func Read(data []byte, zones *zone.DB) (*Series, error) {
	object, clock, err := vevent.Read(data, zones)
	if err != nil {
		return nil, err
	}
	r := &reader{zones: zones, clock: clock}
	s := &Series{}
	if object.Master != nil {
		if s.Master, err = r.event(object.Master); err != nil {
			return nil, err
		}
		if s.Cancelled, err = r.cancelled(object.Master); err != nil {
			return nil, err
		}
	}
	for _, c := range object.Overrides {
		e, err := r.instance(c, s.Master)
		if err != nil {
			return nil, err
		}
		s.Exceptions = append(s.Exceptions, e)
	}
	s.Exceptions = sorted(s.Exceptions)
	return s, s.extend()
}

type reader struct {
	zones *zone.DB
	clock vevent.Clock
}

func (r *reader) event(c *ical.Component) (*Event, error) {
	for p := range c.Properties() {
		if slices.Contains(unheld, p.Name()) {
			return nil, mirror.Refusef("Microsoft has no field for an event's %s. Take it out.", p.Name())
		}
	}
	e := &Event{Transaction: ours + vevent.TextOf(c, "UID"), Comment: vevent.TextOf(c, "COMMENT")}
	steps := []func(*ical.Component, *Event) error{r.times, r.rest, r.words, r.people, r.reminder}
	for _, step := range steps {
		if err := step(c, e); err != nil {
			return nil, err
		}
	}
	e.Kept = r.surplus(c, e)
	return e, nil
}

func (r *reader) instance(c *ical.Component, of *Event) (*Event, error) {
	e, err := r.event(c)
	if err != nil {
		return nil, err
	}
	if e.Recurrence != nil {
		return nil, mirror.Refusef("An instance of a series has a rule of its own, which Microsoft cannot keep.")
	}
	t, err := c.Property("RECURRENCE-ID").Time()
	if err != nil {
		return nil, err
	}
	if of != nil && of.AllDay != t.IsDate() {
		return nil, vevent.OtherForm()
	}
	if of != nil && of.AllDay != e.AllDay {
		return nil, mirror.Refusef("At Microsoft, an instance must last whole days if its series does, and only then.")
	}
	e.Type = exceptional
	if t.IsDate() {
		e.Original = dayOf(t.Civil) + "T00:00:00Z"
		return e, nil
	}
	at, err := r.clock.Instant(t)
	if err != nil {
		return nil, err
	}
	e.Original = at.UTC().Format(time.RFC3339)
	return e, nil
}

// cancelled lists the days of the excluded instances.
func (r *reader) cancelled(c *ical.Component) (days []string, err error) {
	start, err := c.Property("DTSTART").Time()
	if err != nil {
		return nil, err
	}
	for _, p := range c.All("EXDATE") {
		times, err := p.Times()
		if err != nil {
			return nil, err
		}
		for _, t := range times {
			shown, err := r.like(t, start)
			if err != nil {
				return nil, err
			}
			// An EXDATE at another time of day excludes nothing.
			if shown.SecondOfDay() == start.Civil.SecondOfDay() && !slices.Contains(days, dayOf(shown)) {
				days = append(days, dayOf(shown))
			}
		}
	}
	slices.Sort(days)
	return days, nil
}

// like returns a time in the zone of another one.
func (r *reader) like(t, start ical.Time) (ical.Civil, error) {
	if t.IsDate() || start.IsDate() || t.TZID == start.TZID && t.Form == start.Form {
		return t.Civil, nil
	}
	at, err := r.clock.Instant(t)
	if err != nil {
		return ical.Civil{}, err
	}
	z, err := r.clock.Zone(start)
	if err != nil {
		return ical.Civil{}, err
	}
	return z.Civil(at), nil
}

func (r *reader) times(c *ical.Component, e *Event) error {
	p := c.Property("DTSTART")
	if p == nil {
		return vevent.NoStart()
	}
	start, err := p.Time()
	if err != nil {
		return err
	}
	end, err := vevent.Ends(c, start)
	if err != nil {
		return err
	}
	if start.IsDate() != end.IsDate() {
		return vevent.Mixed()
	}
	e.AllDay = start.IsDate()
	last := p
	if written := c.Property("DTEND"); written != nil {
		last = written
	}
	if e.Start, e.StartZone, err = r.moment(start, p); err != nil {
		return err
	}
	if e.End, e.EndZone, err = r.moment(end, last); err != nil {
		return err
	}
	e.Recurrence, err = r.recurrence(c, start)
	return err
}

// moment converts a time and returns the name of its zone.
func (r *reader) moment(t ical.Time, p *ical.Property) (*Moment, string, error) {
	if t.IsDate() {
		return &Moment{DateTime: dayOf(t.Civil) + "T00:00:00", Zone: "UTC"}, "", nil
	}
	z, err := r.clock.Zone(t)
	if err != nil {
		return nil, "", err
	}
	at, _ := z.Resolve(t.Civil)
	made := z.Name()
	if t.Form == ical.FormUTC {
		if said, given := p.Param(zoneParam); given {
			made = said
		}
	}
	return &Moment{DateTime: z.Civil(at).String(), Zone: z.Name()}, made, nil
}

func (r *reader) words(c *ical.Component, e *Event) error {
	e.Subject = vevent.TextOf(c, "SUMMARY")
	if described, isHTML := vevent.Description(c); isHTML {
		e.Body = &Body{Type: htmlBody, Content: described}
	} else if described != "" {
		e.Body = &Body{Type: textBody, Content: described}
	}
	if name := vevent.TextOf(c, "LOCATION"); name != placeName(e.Place) {
		e.Place = nil
		delete(e.Rest, "locations") // they always correspond to the location
		if name != "" {
			place, err := rest.Text(map[string]string{"displayName": name})
			if err != nil {
				return err
			}
			e.Place = place
		}
	}
	status := strings.ToUpper(vevent.TextOf(c, "STATUS"))
	e.Cancelled = status == "CANCELLED"
	e.ShowAs = showAs(c, status)
	class := strings.ToUpper(vevent.TextOf(c, "CLASS"))
	e.Sensitivity = cmp.Or(sensitivities.In(class), normal)
	if class != "" && class != "PUBLIC" && e.Sensitivity == normal {
		// RFC 5545 §3.8.1.3: treat unknown values as private.
		e.Sensitivity = "private"
	}
	e.Importance = importance(vevent.TextOf(c, "PRIORITY"))
	for _, p := range c.All("CATEGORIES") {
		e.Categories = append(e.Categories, p.TextList()...)
	}
	return nil
}

func showAs(c *ical.Component, status string) string {
	said := shown.In(strings.ToUpper(vevent.TextOf(c, busyName)))
	transparent := strings.EqualFold(vevent.TextOf(c, "TRANSP"), "TRANSPARENT")
	switch {
	case transparent && said == elsewhere:
		return elsewhere
	case transparent:
		return free
	case status == "TENTATIVE":
		return tentative
	case said == "oof", said == "unknown":
		return said
	default:
		return busy
	}
}

// importance maps a priority of 1 to 9 (RFC 5545 §3.8.1.9) to three levels.
func importance(priority string) string {
	n, err := strconv.Atoi(priority)
	switch {
	case err != nil || n < 1 || n == 5:
		return normal
	case n < 5:
		return "high"
	default:
		return "low"
	}
}

func (r *reader) people(c *ical.Component, e *Event) error {
	host := ""
	if p := c.Property("ORGANIZER"); p != nil {
		address, err := vevent.Address(p)
		if err != nil {
			return err
		}
		host = address
		e.Organizer = &Person{Address: Address{Address: address}}
		e.Organizer.Address.Name, _ = p.Param("CN")
	}
	for _, p := range c.All("ATTENDEE") {
		address, err := vevent.Address(p)
		if err != nil {
			return err
		}
		if strings.EqualFold(address, host) {
			// Microsoft keeps the organizer apart from the attendees.
			continue
		}
		a := Attendee{Type: required, Address: Address{Address: address}}
		a.Address.Name, _ = p.Param("CN")
		if kind := vevent.Word(p, "CUTYPE", "INDIVIDUAL"); kind == "ROOM" || kind == "RESOURCE" {
			a.Type = "resource"
		} else if role := vevent.Word(p, "ROLE", ""); role == "OPT-PARTICIPANT" || role == "NON-PARTICIPANT" {
			a.Type = "optional"
		}
		answer := responses.In(vevent.Word(p, "PARTSTAT", "NEEDS-ACTION"))
		a.Status = &Answer{Response: cmp.Or(answer, "notResponded")}
		e.Attendees = append(e.Attendees, a)
	}
	return nil
}

// reminder sets Microsoft's single reminder to the first alarm that it can be. The others are kept as lines.
func (r *reader) reminder(c *ical.Component, e *Event) error {
	for _, alarm := range c.AllComponents("VALARM") {
		if minutes, ok := reminderOf(alarm); ok {
			e.ReminderOn, e.Minutes = true, minutes
			return nil
		}
	}
	return nil
}

// reminderOf returns an alarm's minutes before the start; false if Graph has no such reminder.
func reminderOf(alarm *ical.Component) (int, bool) {
	minutes, ok := vevent.Before(alarm)
	mailed, noticed := vevent.Mailed(alarm)
	return minutes, ok && noticed && !mailed
}

// rest stores the fields without an iCalendar equivalent, so that a recreated event is complete again.
func (w writer) rest(c *ical.Component, e *Event) error {
	kept := map[string]any{}
	for name, value := range e.Rest {
		kept[name] = value
	}
	// Most locations consist only of their name.
	if name, err := rest.Text(map[string]string{"displayName": placeName(e.Place)}); err == nil && len(e.Place) != 0 &&
		string(name) != string(e.Place) {
		kept["location"] = e.Place
	}
	if e.Meeting != nil {
		kept["onlineMeeting"] = e.Meeting
	}
	if e.MeetingURL != "" {
		kept["onlineMeetingUrl"] = e.MeetingURL
	}
	if len(kept) == 0 {
		return nil
	}
	data, err := rest.Text(kept)
	if err != nil {
		return err
	}
	c.Add(ical.NewText(restName, string(data)))
	return nil
}

// rest restores them. It ignores fields that other properties define.
func (r *reader) rest(c *ical.Component, e *Event) error {
	p := c.Property(restName)
	if p == nil {
		return nil
	}
	var kept Event
	if err := json.Unmarshal([]byte(p.Text()), &kept); err != nil {
		return vevent.RestChanged(restName, "Microsoft")
	}
	e.Rest, e.Place, e.Meeting, e.MeetingURL = kept.Rest, kept.Place, kept.Meeting, kept.MeetingURL
	return nil
}
