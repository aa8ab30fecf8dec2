package describe

import (
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// objectText is a parsed object: its main component, and its overrides by their RECURRENCE-ID.
type objectText struct {
	zones     *zone.Resolver
	main      *ical.Component
	instances map[string]*ical.Component
	order     []string
}

func readObject(data []byte) (*objectText, error) {
	doc, err := ical.Parse(data, ical.Limits{})
	if err != nil {
		return nil, err
	}
	cal, err := doc.Calendar()
	if err != nil {
		return nil, err
	}
	o := &objectText{
		zones: zone.FromDocument(cal), main: ical.NewComponent("VEVENT"), instances: map[string]*ical.Component{},
	}
	for c := range cal.Components() {
		switch id := c.Property("RECURRENCE-ID"); {
		case c.Name() == "VTIMEZONE":
		case id == nil:
			o.main = c
		default:
			o.order = append(o.order, id.String())
			o.instances[id.String()] = c
		}
	}
	return o, nil
}

// object lists the differences between two versions of an object: the main component first, then the overrides.
func (d describer) object(before, after []byte) ([]string, error) {
	old, err := readObject(before)
	if err != nil {
		return nil, err
	}
	now, err := readObject(after)
	if err != nil {
		return nil, err
	}
	details := d.component(d.extent(old, old.main), d.extent(now, now.main), old.main, now.main)
	ids := slices.Concat(old.order, now.order)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		a, b := old.instances[id], now.instances[id]
		var edits []string
		switch {
		case b == nil && now.excludes(a.Property("RECURRENCE-ID")):
			continue // EXDATE says it
		case b == nil:
			edits = []string{"as in the series again"}
		case a == nil:
			edits = d.component(d.instance(now, b), d.extent(now, b), now.main, b)
		default:
			edits = d.component(d.extent(old, a), d.extent(now, b), a, b)
		}
		if len(edits) > 0 {
			o, c := now, b
			if c == nil {
				o, c = old, a
			}
			at := d.point(o, c.Property("RECURRENCE-ID"))
			details = append(details, "on "+d.stamp(at)+" "+strings.Join(edits, ", "))
		}
	}
	return details, nil
}

func (o *objectText) excludes(id *ical.Property) bool {
	return slices.ContainsFunc(o.main.All("EXDATE"), func(p *ical.Property) bool {
		return slices.Contains(strings.Split(p.Value(), ","), id.Value())
	})
}

// component lists the differences between two components, in time and in content.
func (d describer) component(from, to extent, old, now *ical.Component) []string {
	var details []string
	if moved := d.moved(from, to); moved != "" {
		details = append(details, moved)
	}
	for _, fact := range facts {
		before, after := fact.of(old), fact.of(now)
		switch {
		case slices.Equal(before, after):
		case fact.shown, fact.long && d.full:
			details = append(details, d.from(fact.what, strings.Join(before, ", "), strings.Join(after, ", ")))
		case len(before) == 0:
			details = append(details, fact.what+" added")
		case len(after) == 0:
			details = append(details, fact.what+" removed")
		default:
			details = append(details, fact.what+" changed")
		}
	}
	if old.Property("RECURRENCE-ID") == nil && now.Property("RECURRENCE-ID") == nil {
		for _, fact := range seriesFacts {
			if before, after := fact.of(old), fact.of(now); !slices.Equal(before, after) {
				details = append(details, fact.what)
			}
		}
	}
	return append(details, d.people(old, now)...)
}

// fact is a property of a component that users see.
type fact struct {
	what  string
	names []string
	// shown is set when the values themselves are shown.
	shown bool
	// long is set when the values are shown only where there is room for long texts.
	long bool
}

var facts = []fact{
	{what: "title", names: []string{"SUMMARY"}, shown: true},
	{what: "place", names: []string{"LOCATION"}, shown: true},
	{what: "status", names: []string{"STATUS"}, shown: true},
	{what: "progress", names: []string{"PERCENT-COMPLETE"}, shown: true},
	{what: "notes", names: []string{"DESCRIPTION"}, long: true},
	{what: "categories", names: []string{"CATEGORIES"}, shown: true},
	{what: "link", names: []string{"URL", "CONFERENCE"}, shown: true},
	{what: "priority", names: []string{"PRIORITY"}, shown: true},
	{what: "visibility", names: []string{"CLASS"}, shown: true},
	{what: "busy status", names: []string{"TRANSP"}, shown: true},
	{what: "colour", names: []string{"COLOR"}, shown: true},
	{what: "attachments", names: []string{"ATTACH"}},
	{what: "organizer", names: []string{"ORGANIZER"}},
	{what: "reminders", names: []string{"VALARM"}},
}

// seriesFacts concern the whole series.
var seriesFacts = []fact{
	{what: "repeats differently", names: []string{"RRULE", "RDATE"}},
	{what: "some dates left out or put back", names: []string{"EXDATE"}},
}

// of returns the values of the fact in a component.
func (f fact) of(c *ical.Component) []string {
	var values []string
	for _, name := range f.names {
		for _, p := range c.All(name) {
			switch {
			case f.long:
				values = append(values, p.Text())
			case name == "ORGANIZER" || !f.shown:
				values = append(values, p.Value())
			default:
				values = append(values, strings.ReplaceAll(p.Text(), "\n", " "))
			}
		}
		for _, sub := range c.AllComponents(name) {
			values = append(values, ical.NewDocument(sub).String())
		}
	}
	return values
}

// answers are the words for PARTSTAT values.
var answers = map[string]string{
	"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "tentatively accepted", "DELEGATED": "delegated",
}

// people lists attendees that were added or removed, and their new answers.
func (d describer) people(old, now *ical.Component) []string {
	find := func(c *ical.Component, like *ical.Property) *ical.Property {
		all := c.All("ATTENDEE")
		i := slices.IndexFunc(all, func(p *ical.Property) bool { return strings.EqualFold(p.Value(), like.Value()) })
		if i < 0 {
			return nil
		}
		return all[i]
	}
	answer := func(p *ical.Property) string {
		word, _ := p.Param("PARTSTAT")
		return answers[strings.ToUpper(word)]
	}
	var details []string
	for _, p := range now.All("ATTENDEE") {
		switch before := find(old, p); {
		case before == nil:
			details = append(details, "invited "+d.person(p))
		case answer(before) != answer(p) && answer(p) != "":
			details = append(details, d.person(p)+" "+answer(p))
		}
	}
	for _, p := range old.All("ATTENDEE") {
		if find(now, p) == nil {
			details = append(details, "took "+d.person(p)+" off")
		}
	}
	return details
}

func (d describer) person(p *ical.Property) string {
	if name, ok := p.Param("CN"); ok && name != "" {
		return d.quote(name)
	}
	address := p.Value()
	if i := strings.IndexByte(address, ':'); i >= 0 {
		address = address[i+1:]
	}
	return d.quote(address)
}

// extent is the start and the end of a component. Both are nil without a start, except that a task may have only a
// due time.
type extent struct {
	start, end *moment
	task       bool
}

// moment is a time or a date.
type moment struct {
	time.Time
	day bool
}

// point reads a time. A floating time is taken to be in the describer's location.
func (d describer) point(o *objectText, p *ical.Property) *moment {
	if p == nil {
		return nil
	}
	at, err := p.Time()
	if err != nil {
		return nil
	}
	if at.IsDate() {
		return &moment{time.Unix(at.Civil.Seconds(), 0).UTC(), true}
	}
	in := zone.In(d.in)
	if at.Form == ical.FormUTC {
		in = zone.UTC()
	} else if named, err := o.zones.Zone(at.TZID); at.TZID != "" && err == nil {
		in = named
	}
	instant, _ := in.Resolve(at.Civil)
	return &moment{instant.In(d.in), false}
}

func (d describer) extent(o *objectText, c *ical.Component) extent {
	e := extent{start: d.point(o, c.Property("DTSTART")), task: c.Name() == "VTODO"}
	if e.task {
		e.end = d.point(o, c.Property("DUE"))
	} else {
		e.end = d.point(o, c.Property("DTEND"))
	}
	if p := c.Property("DURATION"); p != nil && e.start != nil && e.end == nil {
		if d, err := p.Duration(); err == nil {
			at := e.start.AddDate(0, 0, d.NominalDays()).Add(time.Duration(d.ExactSeconds()) * time.Second)
			e.end = &moment{at, e.start.day}
		}
	}
	return e
}

// instance returns the time that an override would have if it followed its series.
func (d describer) instance(o *objectText, c *ical.Component) extent {
	e, at := d.extent(o, o.main), d.point(o, c.Property("RECURRENCE-ID"))
	if at == nil || e.start == nil {
		return e
	}
	if e.end != nil {
		e.end = &moment{at.Add(e.end.Sub(e.start.Time)), e.end.day}
	}
	e.start = at
	return e
}

func (m *moment) same(other *moment) bool {
	if m == nil || other == nil {
		return m == other
	}
	return m.day == other.day && m.Equal(other.Time)
}

// moved describes how two extents differ; "" if they do not.
func (d describer) moved(from, to extent) string {
	begins, ends := !from.start.same(to.start), !from.end.same(to.end)
	switch {
	case !begins && !ends:
		return ""
	case from.task || to.task:
		return d.replanned(from, to)
	case from.start == nil || to.start == nil || from.end == nil || to.end == nil || from.start.day != to.start.day:
		return "moved from " + d.span(from) + " to " + d.span(to)
	case !begins:
		return "ends " + d.last(to, to.start) + " instead of " + d.last(from, to.start)
	case from.end.Sub(from.start.Time) == to.end.Sub(to.start.Time):
		return "moved from " + d.stamp(from.start) + " to " + d.after(from.start, to.start)
	}
	return "moved from " + d.span(from) + " to " + d.span(to)
}

// replanned is moved for tasks, which have a due time.
func (d describer) replanned(from, to extent) string {
	var details []string
	for _, p := range [...]struct {
		word   string
		before *moment
		after  *moment
	}{{"due", from.end, to.end}, {"to be begun", from.start, to.start}} {
		switch {
		case p.before.same(p.after):
		case p.after == nil:
			details = append(details, "no longer "+p.word+" "+d.stamp(p.before))
		case p.before == nil:
			details = append(details, p.word+" "+d.stamp(p.after))
		default:
			details = append(details, p.word+" "+d.stamp(p.after)+" instead of "+d.stamp(p.before))
		}
	}
	return strings.Join(details, ", ")
}

func (d describer) span(e extent) string {
	switch {
	case e.start == nil:
		return "no time"
	case e.end == nil || e.start.day && !e.end.After(e.start.AddDate(0, 0, 1)):
		return d.stamp(e.start)
	}
	return d.stamp(e.start) + "–" + d.last(e, e.start)
}

// last formats the end of an extent: the last day for dates, and without its day if known is on the same day.
func (d describer) last(e extent, known *moment) string {
	if e.end.day {
		return d.stamp(&moment{e.end.AddDate(0, 0, -1), true})
	}
	return d.after(known, e.end)
}

// after formats a moment after a known one, without the day if both are on the same day.
func (d describer) after(known, m *moment) string {
	if !m.day && !known.day && known.Format(time.DateOnly) == m.Format(time.DateOnly) {
		return m.Format("15:04")
	}
	return d.stamp(m)
}

func (d describer) stamp(m *moment) string {
	if m == nil {
		return "some day"
	}
	layout := "Mon 2 Jan"
	if m.Year() != d.year {
		layout += " 2006"
	}
	if !m.day {
		layout += " 15:04"
	}
	return m.Format(layout)
}
