package google

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/vevent"
)

// Text returns a series as an iCalendar object.
func Text(s *Series, cal Calendar, zones *zone.DB) ([]byte, error) {
	w := writer{cal: cal, zones: zones}
	var all []*ical.Component
	if s.Master != nil {
		master, err := w.event(s.Master, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, master)
	}
	for _, e := range sorted(s.Exceptions) {
		if e.Status == cancelled {
			if err := w.cancel(all, s.Master, e); err != nil {
				return nil, err
			}
			continue
		}
		c, err := w.event(e, s.first())
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return vevent.Write(zones, all...), nil
}

// sorted orders exceptions by their original start.
func sorted(list []*Event) []*Event {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *Event) int { return cmp.Compare(originalOf(a), originalOf(b)) })
	return list
}

func originalOf(e *Event) string {
	if e.Original == nil {
		return ""
	}
	if at, err := time.Parse(time.RFC3339, e.Original.DateTime); err == nil {
		return at.UTC().Format(time.RFC3339)
	}
	return e.Original.Date
}

type writer struct {
	cal   Calendar
	zones *zone.DB
}

// event writes a component; of is the master of an exception.
func (w writer) event(e, of *Event) (*ical.Component, error) {
	c := ical.NewComponent("VEVENT")
	uid := cmp.Or(e.UID, e.SeriesID, e.ID)
	if of != nil {
		uid = cmp.Or(of.UID, uid)
	}
	c.Add(ical.NewText("UID", uid))
	w.stamps(c, e)
	for _, step := range []func(*ical.Component, *Event) error{w.times, w.words, w.people, w.links, w.rest} {
		if err := step(c, e); err != nil {
			return nil, err
		}
	}
	if of != nil {
		if err := w.instance(c, e, of); err != nil {
			return nil, err
		}
	}
	w.extras(c, e)
	return c, nil
}

func (w writer) stamps(c *ical.Component, e *Event) {
	vevent.Stamp(c, e.Created, e.Updated)
	if e.Sequence > 0 {
		c.Add(ical.NewProperty("SEQUENCE", strconv.Itoa(e.Sequence)))
	}
}

func (w writer) times(c *ical.Component, e *Event) error {
	start, err := w.time("DTSTART", e.Start)
	if err != nil {
		return err
	}
	c.Add(start)
	if e.End != nil && *e.End != *e.Start {
		end, err := w.time("DTEND", e.End)
		if err != nil {
			return err
		}
		c.Add(end)
	}
	if len(e.Recurrence) == 0 {
		return nil
	}
	lines, err := vevent.Lines(strings.Join(e.Recurrence, "\r\n"))
	if err != nil {
		return fmt.Errorf("the event's recurrence cannot be read: %w", err)
	}
	for p := range lines.Properties() {
		if !slices.Contains(recurrenceNames, p.Name()) {
			return fmt.Errorf("the event's recurrence has a %s", p.Name())
		}
		c.Add(p.Clone())
	}
	return nil
}

var recurrenceNames = []string{"RRULE", "EXRULE", "RDATE", "EXDATE"}

// time writes a time.
func (w writer) time(name string, m *Moment) (*ical.Property, error) {
	if m == nil {
		return nil, fmt.Errorf("the event has no %s", name)
	}
	if m.Date != "" {
		day, err := time.Parse(time.DateOnly, m.Date)
		if err != nil {
			return nil, fmt.Errorf("%q is no day", m.Date)
		}
		return ical.NewTime(name, ical.Date(ical.CivilDate(day.Date()))), nil
	}
	z := w.zone(m.Zone)
	at, err := moment(m.DateTime, z)
	if err != nil {
		return nil, err
	}
	t := vevent.In(at, z)
	p := ical.NewTime(name, t)
	if t.Form == ical.FormUTC && m.Zone != "" && m.Zone != "UTC" {
		p.SetParam(zoneParam, m.Zone)
	}
	return p, nil
}

// zone returns the zone with Google's name, or UTC if it is unknown.
func (w writer) zone(name string) *zone.Zone {
	return vevent.Known(w.zones, cmp.Or(name, w.cal.Zone, "UTC"))
}

// moment parses a time, which may lack an offset if it has a zone.
func moment(written string, z *zone.Zone) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, written); err == nil {
		return at, nil
	}
	at, err := time.Parse("2006-01-02T15:04:05", written)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no time", written)
	}
	found, _ := z.Resolve(ical.CivilFromSeconds(at.Unix()))
	return found, nil
}

// instance writes the RECURRENCE-ID.
func (w writer) instance(c *ical.Component, e, of *Event) error {
	id, err := w.original(e, of)
	if err != nil {
		return err
	}
	c.Add(ical.NewTime("RECURRENCE-ID", id))
	return nil
}

// original returns an instance's original start, in the form of its series' start.
func (w writer) original(e, of *Event) (ical.Time, error) {
	if e.Original == nil {
		return ical.Time{}, fmt.Errorf("an instance does not say which one it is")
	}
	if e.Original.Date != "" {
		p, err := w.time("RECURRENCE-ID", e.Original)
		if err != nil {
			return ical.Time{}, err
		}
		return p.Time()
	}
	name := e.Original.Zone
	if of != nil && of.Start != nil && of.Start.Zone != "" {
		name = of.Start.Zone
	}
	z := w.zone(name)
	at, err := moment(e.Original.DateTime, z)
	if err != nil {
		return ical.Time{}, err
	}
	return vevent.In(at, z), nil
}

// cancel excludes an instance from its series. Without a master it does nothing.
func (w writer) cancel(all []*ical.Component, master, e *Event) error {
	if master == nil {
		return nil
	}
	at, err := w.original(e, master)
	if err != nil {
		return err
	}
	clock := vevent.NewClock(w.zones)
	key, err := clock.Key(at)
	if err != nil {
		return err
	}
	if !clock.LeavesOut(all[0], key) {
		all[0].Add(ical.NewTime("EXDATE", at))
	}
	return nil
}

func (w writer) words(c *ical.Component, e *Event) error {
	text := func(name, value string) { vevent.AddText(c, name, value) }
	text("SUMMARY", e.Summary)
	vevent.Describe(c, e.Description, vevent.Marked(e.Description))
	text("LOCATION", e.Location)
	text("STATUS", states.Out(cmp.Or(e.Status, confirmed)))
	if e.Transparency == transparent {
		text("TRANSP", "TRANSPARENT")
	}
	text("CLASS", visibilities.Out(e.Visibility))
	text("COLOR", colors.Out(e.Color))
	if e.Type != "" && e.Type != usualEvent {
		text(typeName, e.Type)
	}
	return nil
}

// links writes the URL and the attachments of an event.
func (w writer) links(c *ical.Component, e *Event) error {
	if e.Source != nil && e.Source.URL != "" {
		p := ical.NewProperty("URL", e.Source.URL)
		setParam(p, titleParam, e.Source.Title)
		c.Add(p)
	}
	for _, a := range e.Attachments {
		p := ical.NewProperty("ATTACH", a.URL)
		setParam(p, "FMTTYPE", a.Type)
		setParam(p, "FILENAME", a.Title)
		setParam(p, iconParam, a.Icon)
		setParam(p, fileParam, a.FileID)
		c.Add(p)
	}
	if e.Meet != "" {
		c.Add(ical.NewProperty(conferenceName, e.Meet))
	}
	for _, entry := range entries(e.Conference) {
		p := ical.NewProperty("CONFERENCE", entry.URI, ical.NewParam("VALUE", "URI"))
		if feature := features[entry.Type]; len(feature) != 0 {
			p.SetParam("FEATURE", feature...)
		}
		setParam(p, "LABEL", entry.Label)
		c.Add(p)
	}
	return nil
}

func setParam(p *ical.Property, name, value string) {
	if value != "" {
		p.SetParam(name, value)
	}
}

// entry is a way to join a conference.
type entry struct {
	Type  string `json:"entryPointType"`
	URI   string `json:"uri"`
	Label string `json:"label"`
}

var features = map[string][]string{"video": {"AUDIO", "VIDEO"}, "phone": {"AUDIO", "PHONE"}, "sip": {"AUDIO"}}

func entries(conference json.RawMessage) []entry {
	var data struct {
		Entries []entry `json:"entryPoints"`
	}
	if json.Unmarshal(conference, &data) != nil {
		return nil
	}
	return slices.DeleteFunc(data.Entries, func(e entry) bool { return e.URI == "" })
}
