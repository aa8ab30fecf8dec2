package describe

import (
	"cmp"
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
			edits = []string{d.lang.Text("did.instance-again")}
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
			details = append(details,
				d.lang.Text("did.instance", "when", d.stamp(at), "edits", strings.Join(edits, ", ")))
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
	for _, f := range facts {
		if before, after := d.valuesOf(f, old), d.valuesOf(f, now); !slices.Equal(before, after) {
			details = append(details, d.fact(f, before, after))
		}
	}
	if old.Property("RECURRENCE-ID") == nil && now.Property("RECURRENCE-ID") == nil {
		for _, f := range seriesFacts {
			if !slices.Equal(d.valuesOf(f, old), d.valuesOf(f, now)) {
				details = append(details, d.lang.Text(f.id))
			}
		}
	}
	return append(details, d.people(old, now)...)
}

// fact describes how the values of a property differ.
func (d describer) fact(f fact, before, after []string) string {
	switch {
	case f.shown, f.long && d.full:
		return d.from("did.field."+f.id, strings.Join(before, ", "), strings.Join(after, ", "))
	case len(before) == 0:
		return d.lang.Text("did.added." + f.id)
	case len(after) == 0:
		return d.lang.Text("did.removed." + f.id)
	}
	return d.lang.Text("did.edited." + f.id)
}

// fact is a property of a component that users see.
type fact struct {
	// id ends the ids of its texts.
	id    string
	names []string
	// shown is set when the values themselves are shown.
	shown bool
	// long is set when the values are shown only where there is room for long texts.
	long bool
	// words are the texts of values for people.
	words map[string]string
}

var facts = []fact{
	{id: "title", names: []string{"SUMMARY"}, shown: true},
	{id: "place", names: []string{"LOCATION"}, shown: true},
	{id: "status", names: []string{"STATUS"}, shown: true, words: map[string]string{
		"TENTATIVE": "did.status.tentative", "CONFIRMED": "did.status.confirmed", "CANCELLED": "did.status.cancelled",
		"NEEDS-ACTION": "did.status.open", "IN-PROCESS": "did.status.begun", "COMPLETED": "did.status.completed",
		"DRAFT": "did.status.draft", "FINAL": "did.status.final",
	}},
	{id: "progress", names: []string{"PERCENT-COMPLETE"}, shown: true},
	{id: "notes", names: []string{"DESCRIPTION"}, long: true},
	{id: "categories", names: []string{"CATEGORIES"}, shown: true},
	{id: "link", names: []string{"URL", "CONFERENCE"}, shown: true},
	{id: "priority", names: []string{"PRIORITY"}, shown: true, words: map[string]string{
		"1": "planner.priority-high", "5": "planner.priority-normal", "9": "planner.priority-low", // as the form has it
	}},
	{id: "visibility", names: []string{"CLASS"}, shown: true, words: map[string]string{
		"PUBLIC": "did.visibility.public", "PRIVATE": "did.visibility.private",
		"CONFIDENTIAL": "did.visibility.confidential",
	}},
	{id: "busy", names: []string{"TRANSP"}, shown: true, words: map[string]string{
		"OPAQUE": "did.busy.busy", "TRANSPARENT": "did.busy.free",
	}},
	{id: "colour", names: []string{"COLOR"}, shown: true},
	{id: "attachments", names: []string{"ATTACH"}},
	{id: "organizer", names: []string{"ORGANIZER"}},
	{id: "reminders", names: []string{"VALARM"}},
}

// seriesFacts concern the whole series. Their ids are whole.
var seriesFacts = []fact{
	{id: "did.repeats", names: []string{"RRULE", "RDATE"}},
	{id: "did.dates", names: []string{"EXDATE"}},
}

// otherFields are the texts for properties that no fact has.
var otherFields = map[string]string{
	"DTSTART": "did.field.time", "DTEND": "did.field.time", "DURATION": "did.field.time", "DUE": "did.field.time",
	"RRULE": "did.field.repeat", "RDATE": "did.field.repeat", "EXDATE": "did.field.repeat",
	"ATTENDEE": "did.field.guests", "VEVENT": "did.field.instances", "VTODO": "did.field.instances",
}

// fieldOf returns the text for the name of a property or of a part of an object.
func fieldOf(name string) string {
	for _, f := range facts {
		if slices.Contains(f.names, name) {
			return "did.field." + f.id
		}
	}
	return cmp.Or(otherFields[name], "did.field.other")
}

// valuesOf returns the values of a fact in a component.
func (d describer) valuesOf(f fact, c *ical.Component) []string {
	var values []string
	for _, name := range f.names {
		for _, p := range c.All(name) {
			values = append(values, d.valueOf(f, p))
		}
		for _, sub := range c.AllComponents(name) {
			values = append(values, ical.NewDocument(sub).String())
		}
	}
	return values
}

func (d describer) valueOf(f fact, p *ical.Property) string {
	word, known := f.words[strings.ToUpper(p.Value())]
	switch {
	case f.long:
		return p.Text()
	case !f.shown:
		return p.Value()
	case known && !d.raw:
		return d.lang.Text(word)
	}
	return strings.ReplaceAll(p.Text(), "\n", " ")
}

// answers are the texts for PARTSTAT values.
var answers = map[string]string{
	"ACCEPTED": "did.guest.accepted", "DECLINED": "did.guest.declined", "TENTATIVE": "did.guest.tentative",
	"DELEGATED": "did.guest.delegated",
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
			details = append(details, d.lang.Text("did.guest.invited", "who", d.person(p)))
		case answer(before) != answer(p) && answer(p) != "":
			details = append(details, d.lang.Text(answer(p), "who", d.person(p)))
		}
	}
	for _, p := range old.All("ATTENDEE") {
		if find(now, p) == nil {
			details = append(details, d.lang.Text("did.guest.removed", "who", d.person(p)))
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
		return d.lang.Text("did.moved", "from", d.span(from), "to", d.span(to))
	case !begins:
		return d.lang.Text("did.ends", "from", d.last(from, to.start), "to", d.last(to, to.start))
	case from.end.Sub(from.start.Time) == to.end.Sub(to.start.Time):
		return d.lang.Text("did.moved", "from", d.stamp(from.start), "to", d.after(from.start, to.start))
	}
	return d.lang.Text("did.moved", "from", d.span(from), "to", d.span(to))
}

// replanned is moved for tasks, which have a due time.
func (d describer) replanned(from, to extent) string {
	var details []string
	for _, p := range [...]struct {
		set, changed, removed string
		before, after         *moment
	}{
		{"did.due.set", "did.due.changed", "did.due.removed", from.end, to.end},
		{"did.begin.set", "did.begin.changed", "did.begin.removed", from.start, to.start},
	} {
		switch {
		case p.before.same(p.after):
		case p.after == nil:
			details = append(details, d.lang.Text(p.removed, "from", d.stamp(p.before)))
		case p.before == nil:
			details = append(details, d.lang.Text(p.set, "to", d.stamp(p.after)))
		default:
			details = append(details, d.lang.Text(p.changed, "from", d.stamp(p.before), "to", d.stamp(p.after)))
		}
	}
	return strings.Join(details, ", ")
}

func (d describer) span(e extent) string {
	switch {
	case e.start == nil:
		return d.lang.Text("did.no-time")
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
		return d.lang.Time(m.Time, d.clock)
	}
	return d.stamp(m)
}

func (d describer) stamp(m *moment) string {
	if m == nil {
		return d.lang.Text("did.some-day")
	}
	day := d.lang.ShortDate(m.Time)
	if m.Year() != d.year {
		day = d.lang.ShortDateYear(m.Time)
	}
	if m.day {
		return day
	}
	return d.lang.Text("did.moment", "day", day, "time", d.lang.Time(m.Time, d.clock))
}
