package google

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/vevent"
)

// Read converts an iCalendar object to a Google series. current is Google's present series, or nil: an instance that is
// cancelled there stays cancelled instead of being excluded a second time. If Google cannot store the object, the error
// is a *mirror.Refusal.
func Read(data []byte, current *Series, cal Calendar, zones *zone.DB) (*Series, error) {
	object, clock, err := vevent.Read(data, zones)
	if err != nil {
		return nil, err
	}
	r := &reader{cal: cal, zones: zones, clock: clock, cancelled: map[string]*Event{}}
	if current != nil {
		if err := r.remember(current); err != nil {
			return nil, err
		}
	}
	s := &Series{}
	if object.Master != nil {
		if s.Master, err = r.event(object.Master); err != nil {
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
	s.Exceptions = sorted(append(s.Exceptions, r.still...))
	return s, nil
}

type reader struct {
	cal   Calendar
	zones *zone.DB
	clock vevent.Clock
	// cancelled are the instances that Google stores as cancelled, by key; still are the ones to keep cancelled.
	cancelled map[string]*Event
	still     []*Event
	ref       string
}

func (r *reader) remember(current *Series) error {
	w := writer{cal: r.cal, zones: r.zones}
	r.ref = current.ref()
	for _, e := range current.Exceptions {
		if e.Status != cancelled {
			continue
		}
		key, err := w.key(e)
		if err != nil {
			return err
		}
		if current.Master == nil || !excluded(current.Master, key, r.zones) {
			r.cancelled[key] = e
		}
	}
	return nil
}

// key returns the key of an instance.
func (w writer) key(e *Event) (string, error) {
	at, err := w.original(e, nil)
	if err != nil {
		return "", err
	}
	return vevent.NewClock(w.zones).Key(at)
}

func (r *reader) event(c *ical.Component) (*Event, error) {
	e := &Event{UID: vevent.TextOf(c, "UID")}
	steps := []func(*ical.Component, *Event) error{
		r.times, r.recurrence, r.words, r.people, r.rest, r.links, r.reminders,
	}
	for _, step := range steps {
		if err := step(c, e); err != nil {
			return nil, err
		}
	}
	lines, err := r.surplus(c, e)
	if err != nil {
		return nil, err
	}
	return e, e.keep(lines)
}

func (r *reader) instance(c *ical.Component, master *Event) (*Event, error) {
	e, err := r.event(c)
	if err != nil {
		return nil, err
	}
	if e.Original, err = r.moment(c.Property("RECURRENCE-ID")); err != nil {
		return nil, err
	}
	if master != nil && (master.Start.Date == "") != (e.Original.Date == "") {
		return nil, vevent.OtherForm()
	}
	e.SeriesID = r.ref
	return e, nil
}

func (r *reader) times(c *ical.Component, e *Event) error {
	p := c.Property("DTSTART")
	if p == nil {
		return vevent.NoStart()
	}
	var err error
	if e.Start, err = r.moment(p); err != nil {
		return err
	}
	if end := c.Property("DTEND"); end != nil {
		e.End, err = r.moment(end)
	} else {
		e.End, err = r.ends(c, p)
	}
	if err != nil {
		return err
	}
	if (e.Start.Date == "") != (e.End.Date == "") {
		return vevent.Mixed()
	}
	if p := c.Property("SEQUENCE"); p != nil {
		e.Sequence, _ = strconv.Atoi(p.Value())
	}
	return nil
}

// ends returns the end of an event that has only a duration, or neither.
func (r *reader) ends(c *ical.Component, start *ical.Property) (*Moment, error) {
	from, err := start.Time()
	if err != nil {
		return nil, err
	}
	to, err := vevent.Ends(c, from)
	if err != nil {
		return nil, err
	}
	end := start.Clone()
	end.SetTime(to)
	return r.moment(end)
}

// moment converts a time.
func (r *reader) moment(p *ical.Property) (*Moment, error) {
	t, err := p.Time()
	if err != nil {
		return nil, err
	}
	if t.IsDate() {
		return &Moment{Date: fmt.Sprintf("%04d-%02d-%02d", t.Civil.Year, t.Civil.Month, t.Civil.Day)}, nil
	}
	z, err := r.clock.Zone(t)
	if err != nil {
		return nil, err
	}
	at, _ := z.Resolve(t.Civil)
	name := z.Name()
	if t.Form == ical.FormUTC {
		if said, given := p.Param(zoneParam); given {
			name = said
			if known, err := r.zones.Lookup(said); err == nil {
				z = known
			}
		}
	}
	return &Moment{DateTime: at.In(z.Location()).Format(time.RFC3339), Zone: name}, nil
}

// recurrence copies the recurrence properties line by line. An instance that Google stores as cancelled stays so.
func (r *reader) recurrence(c *ical.Component, e *Event) error {
	for p := range c.Properties() {
		if !slices.Contains(recurrenceNames, p.Name()) {
			continue
		}
		line, err := r.line(p.Clone())
		if err != nil {
			return err
		}
		if line != "" {
			e.Recurrence = append(e.Recurrence, line)
		}
	}
	return nil
}

func (r *reader) line(p *ical.Property) (string, error) {
	switch p.Name() {
	case "RRULE", "EXRULE":
		rule, err := p.Recur()
		if err != nil {
			return "", err
		}
		if rule.RScale != "" || rule.Skip != "" {
			return "",
				mirror.Refusef("Google keeps no rule with RSCALE or SKIP.")
		}
		return p.String(), nil
	case "RDATE":
		if p.IsPeriods() {
			return "", mirror.Refusef("Google keeps no further dates with a length of their own (RDATE with a " +
				"PERIOD).")
		}
	}
	times, err := p.Times()
	if err != nil {
		return "", err
	}
	var left []ical.Time
	for _, t := range times {
		if t.Form == ical.FormZoned {
			z, err := r.clock.Zone(t)
			if err != nil {
				return "", err
			}
			t.TZID = z.Name()
		}
		key, err := r.clock.Key(t)
		if err != nil {
			return "", err
		}
		if gone := r.cancelled[key]; p.Name() == "EXDATE" && gone != nil {
			r.still = append(r.still, gone)
			delete(r.cancelled, key)
			continue
		}
		left = append(left, t)
	}
	switch {
	case len(left) == 0:
		return "", nil
	case !slices.Equal(left, times):
		p.SetTimes(left...)
	}
	return p.String(), nil
}

func (r *reader) words(c *ical.Component, e *Event) error {
	e.Summary, e.Location = vevent.TextOf(c, "SUMMARY"), vevent.TextOf(c, "LOCATION")
	described, isHTML := vevent.Description(c)
	if !isHTML && vevent.Marked(described) {
		described = vevent.Markup(described)
	}
	e.Description = described
	state := strings.ToUpper(vevent.TextOf(c, "STATUS"))
	e.Status = cmp.Or(states.In(state), confirmed)
	if e.Status == cancelled {
		return mirror.Refusef("Google keeps no cancelled event: a cancelled one is deleted there. Delete it, or the " +
			"instance, instead.")
	}
	if strings.EqualFold(vevent.TextOf(c, "TRANSP"), "TRANSPARENT") {
		e.Transparency = transparent
	}
	class := strings.ToUpper(vevent.TextOf(c, "CLASS"))
	if e.Visibility = visibilities.In(class); class != "" && e.Visibility == "" {
		// RFC 5545 §3.8.1.3: treat unknown values as private.
		e.Visibility = "private"
	}
	e.Color = colors.In(strings.ToLower(vevent.TextOf(c, "COLOR")))
	e.Type = cmp.Or(vevent.TextOf(c, typeName), usualEvent)
	return nil
}

func (r *reader) people(c *ical.Component, e *Event) error {
	for _, p := range c.All("ATTENDEE") {
		a, err := attendeeOf(p)
		if err != nil {
			return err
		}
		e.Attendees = append(e.Attendees, a)
	}
	if p := c.Property("ORGANIZER"); p != nil {
		address, err := vevent.Address(p)
		if err != nil {
			return err
		}
		e.Organizer = &Person{Email: address}
		e.Organizer.Name, _ = p.Param("CN")
	}
	if mine := r.cal.guest(e); mine != nil {
		mine.Comment = vevent.TextOf(c, "COMMENT")
	}
	return nil
}

const mostAttachments = 25

func (r *reader) links(c *ical.Component, e *Event) error {
	if p := c.Property("URL"); p != nil {
		if !web(p.Value()) {
			return mirror.Refusef("At Google, the URL of an event begins with https:// or http://.")
		}
		e.Source = &Link{URL: p.Value()}
		e.Source.Title, _ = p.Param(titleParam)
	}
	for _, p := range c.All("ATTACH") {
		if !web(p.Value()) {
			return mirror.Refusef("Google keeps only links to files (https://). Take the attachment out.")
		}
		a := Attachment{URL: p.Value()}
		for name, field := range map[string]*string{
			"FMTTYPE": &a.Type, "FILENAME": &a.Title, iconParam: &a.Icon, fileParam: &a.FileID,
		} {
			*field, _ = p.Param(name)
		}
		e.Attachments = append(e.Attachments, a)
	}
	if len(e.Attachments) > mostAttachments {
		return mirror.Refusef("Google keeps %d attachments of an event, and this one has %d.", mostAttachments,
			len(e.Attachments))
	}
	switch link := vevent.TextOf(c, conferenceName); {
	case strings.EqualFold(link, newConference):
		e.Conference = asked(e.UID)
	case link != "":
		e.Meet = link
	}
	return nil
}

func web(address string) bool {
	lower := strings.ToLower(address)
	return strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://")
}
