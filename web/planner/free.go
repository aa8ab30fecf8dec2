package planner

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// FreeTimes shows the day of everyone who takes part, and the first times when all of them are free.
type FreeTimes struct {
	// Day is the shown day, Before and After are the dates around it.
	Day, Before, After string
	Rows               []FreeRow
	// Left is the number of further guests, who are not compared.
	Left int
	// Event is the time of the event on that day; nil if it takes place on other days.
	Event *FreeBar
	Slots []SlotChoice
	// Why says why there is no better slot, or none.
	Why string
	// Unread is the number of events that may take more time.
	Unread int
}

// FreeRow is the day of one person or room.
type FreeRow struct {
	Name string
	// Hours are their working hours in words, Words are their busy times.
	Hours, Words string
	// Unknown is set for guests without an account here.
	Unknown    bool
	Open, Bars []FreeBar
}

// FreeBar is a time range on a day, in minutes since midnight on the wall clock.
type FreeBar struct {
	At, Width int
	Kind      string
}

// SlotChoice is a button that sets the time of the event.
type SlotChoice struct{ Value, Words, But string }

const (
	// mostFree limits the people whose times are compared, mostFreeSlots the times on offer, and mostFreeWords the busy
	// times that a row has in words.
	mostFree, mostFreeSlots, mostFreeWords = 50, 6, 20
	// freeDays is how many days from the shown one are searched.
	freeDays = 14
)

// meeting is a comparison of everyone's times.
type meeting struct {
	*Planner
	form EventForm
	// start and end are the times of the form.
	start, end time.Time
	// all are the people who take part, users the accounts among them.
	all   []participant
	users []calendar.User
	// required are the indexes of the users who must be free, weeks the working hours of other users.
	required []int
	weeks    []query.Workweek
}

// participant is a person or a room that takes part, with the index of their account or -1.
type participant struct {
	name string
	user int
}

// Free compares the times of everyone that a form names. The subject is the event that is edited; nil for a new one.
func (p *Planner) Free(ctx context.Context, f EventForm, s *Subject, date string) (*FreeTimes, error) {
	m := &meeting{Planner: p, form: f}
	var err error
	if m.start, m.end, err = p.instants(f); err != nil {
		return nil, err
	}
	day, err := p.Day(cmp.Or(date, iso(p.here(m.start))))
	if err != nil {
		return nil, err
	}
	v := &FreeTimes{
		Day: p.Language.Date(day), Before: iso(grid.Midnight(day, -1)), After: iso(grid.Midnight(day, 1)),
		Event: p.bar(day, m.start, m.end, ""),
	}
	if v.Left, err = m.gather(ctx); err != nil {
		return nil, err
	}
	if m.weeks, err = p.Service.Workweeks(ctx, p.Caller, m.users, p.Zone); err != nil {
		return nil, err
	}
	ask := m.ask(day)
	q := query.BusyQuery{
		People: m.users, From: day.AddDate(0, 0, -1), Until: ask.Until.AddDate(0, 0, 1), Timezone: p.Zone, Apart: true,
		Meter: p.meter,
	}
	if s != nil && len(s.Object.UID) <= longestUID {
		q.Ignored = []calendar.UID{s.Object.UID}
	}
	busy, err := p.Service.FreeBusy(ctx, p.Caller, q)
	if err != nil {
		return nil, err
	}
	v.Unread = busy.Unread
	for _, one := range m.all {
		row := FreeRow{Name: one.name, Unknown: one.user < 0}
		if !row.Unknown {
			m.fill(&row, day, one.user, busy.Each[one.user].Periods, ask.Hours)
		}
		v.Rows = append(v.Rows, row)
	}
	return v, m.offer(v, ask, busy)
}

// longestUID is the longest UID that a search for busy times can ignore.
const longestUID = 1000

// gather finds everyone who takes part: the visitor, the owner of the calendar, and the guests.
func (m *meeting) gather(ctx context.Context) (left int, err error) {
	cal, err := m.Service.Calendar(ctx, m.Caller, m.form.Calendar)
	if err != nil {
		return 0, err
	}
	m.add(m.text("planner.you"), []calendar.User{m.Caller.User}, true)
	var labels, addresses []string
	if cal.Owner != m.Caller.User.ID {
		labels, addresses = append(labels, clean(cal.OwnerTitle)), append(addresses, cal.OwnerName)
	}
	required := splitGuests(m.form.Guests)
	guests := slices.Concat(required, splitGuests(m.form.Optional))
	left = max(0, len(guests)-mostFree)
	guests = guests[:len(guests)-left]
	for i, line := range guests {
		field := "guests"
		if i >= len(required) {
			field = "optional"
		}
		a, err := m.guest(ctx, field, line)
		if err != nil {
			return 0, err
		}
		labels = append(labels, clean(cmp.Or(a.Name, a.Address)))
		addresses = append(addresses, strings.ToLower(a.Address))
	}
	found, err := m.Service.PeopleAt(ctx, m.Caller, addresses)
	if err != nil {
		return 0, err
	}
	// If no time suits everyone, optional guests are busy before the others.
	optional := max(0, len(guests)-len(required))
	for i, users := range found {
		m.add(labels[i], users, optional > 0 && i < len(found)-optional)
	}
	return left, nil
}

// add adds a person, with the account that was found, unless they take part already.
func (m *meeting) add(name string, found []calendar.User, required bool) {
	one := participant{name, -1}
	if len(found) == 1 {
		one.user = slices.IndexFunc(m.users, func(u calendar.User) bool { return u.ID == found[0].ID })
		if one.user >= 0 {
			return
		}
		one.user, m.users = len(m.users), append(m.users, found[0])
		if required {
			m.required = append(m.required, one.user)
		}
	}
	m.all = append(m.all, one)
}

// workingHours returns the visitor's working hours, or the usual ones if an older version stored others.
func (p *Planner) workingHours() slot.Hours {
	for _, u := range [...]calendar.User{p.Caller.User, {}} {
		text, days := u.Workweek()
		if hours, err := slot.ReadHours(p.Zone.Location(), text, days); err == nil {
			return hours
		}
	}
	return slot.Hours{Zone: p.Zone.Location()}
}

// ask returns the search for slots in the visitor's working hours.
func (m *meeting) ask(day time.Time) slot.Ask {
	a := slot.Ask{
		From: day, Until: day.AddDate(0, 0, freeDays), Length: m.end.Sub(m.start), Hours: m.workingHours(),
		Limit: mostFreeSlots,
	}
	if a.From.Before(m.Now) {
		a.From = m.Now
	}
	for _, week := range m.weeks {
		a.Others = append(a.Others, week.Hours)
	}
	return a
}

// fill describes the day of a user. Users whose hours are not known have none in their row.
func (m *meeting) fill(row *FreeRow, day time.Time, user int, busy []freebusy.Period, own slot.Hours) {
	next := grid.Midnight(day, 1)
	week := slices.IndexFunc(m.weeks, func(w query.Workweek) bool { return w.Person == user })
	switch {
	case week >= 0:
		own = m.weeks[week].Hours
		row.Hours = m.weeks[week].Text
		if there := own.Zone.String(); there != m.Zone.Location().String() {
			row.Hours += " " + there
		}
	case m.users[user].ID == m.Caller.User.ID:
		row.Hours, _ = m.Caller.User.Workweek()
	default:
		own = slot.Hours{}
	}
	if own.Zone != nil {
		for _, open := range own.Open(day, next) {
			if bar := m.bar(day, open.Start, open.End, "open"); bar != nil {
				row.Open = append(row.Open, *bar)
			}
		}
	}
	var words []string
	for _, period := range busy {
		kind := busyKinds[period.Type]
		bar := m.bar(day, period.Start, period.End, kind)
		if bar == nil {
			continue
		}
		row.Bars = append(row.Bars, *bar)
		if len(words) == mostFreeWords {
			words = append(words, "…")
		}
		if len(words) < mostFreeWords {
			start, end := later(period.Start, day), period.End
			if end.After(next) {
				end = next
			}
			words = append(words, m.text("planner.free."+kind, "times", m.clock(start)+"–"+m.clock(end)))
		}
	}
	if row.Words = strings.Join(words, ", "); words == nil {
		row.Words = m.text("planner.free-all-day")
	}
}

// busyKinds are the kinds of busy times, in the ids of texts and the names of classes.
var busyKinds = [...]string{
	freebusy.Free: "free", freebusy.Tentative: "tentative", freebusy.Unavailable: "unavailable",
	freebusy.Busy: "busy",
}

// noSlots are the reasons for no slot, in the ids of texts.
var noSlots = map[slot.Why]string{
	slot.Busy: "busy", slot.Elsewhere: "elsewhere", slot.Days: "days", slot.Opening: "hours",
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// bar returns the part of a time range that is on a day; nil if there is none.
func (p *Planner) bar(day, start, end time.Time, kind string) *FreeBar {
	next := grid.Midnight(day, 1)
	if !start.Before(next) || !end.After(day) {
		return nil
	}
	wall := func(t time.Time) int { t = p.here(t); return t.Hour()*60 + t.Minute() }
	from, to := 0, 24*60
	if start.After(day) {
		from = wall(start)
	}
	if end.Before(next) {
		to = wall(end)
	}
	return &FreeBar{from, max(1, to-from), kind} // the clocks may go back meanwhile
}

// offer searches for slots, and describes them.
func (m *meeting) offer(v *FreeTimes, ask slot.Ask, busy query.Busy) error {
	switch {
	case m.form.AllDay || ask.Length <= 0 || ask.Hours.Longest() < ask.Length:
		v.Why = m.text("planner.free-too-long")
		return nil
	case !ask.From.Before(ask.Until):
		v.Why = m.text("planner.free-past")
		return nil
	}
	each := make([][]freebusy.Period, len(busy.Each))
	for i, one := range busy.Each {
		each[i] = one.Periods
	}
	found, why, err := slot.Search(m.meter, ask, busy.Periods, each, m.required...)
	if err != nil {
		return err
	}
	if why != "" {
		v.Why = m.text("planner.free-none."+noSlots[why], "days", freeDays)
	}
	nameOf := func(user int) string {
		return m.all[slices.IndexFunc(m.all, func(one participant) bool { return one.user == user })].name
	}
	for _, s := range found {
		var outside, taken []string
		for _, i := range s.Outside {
			outside = append(outside, nameOf(m.weeks[i].Person))
		}
		for _, i := range s.Busy {
			taken = append(taken, nameOf(i))
		}
		c := SlotChoice{s.Start.UTC().Format(time.RFC3339), m.moment(s.Start) + "–" + m.clock(s.End), ""}
		switch {
		case taken != nil:
			c.But = m.text("planner.slot-busy", "names", strings.Join(taken, ", "))
		case outside != nil:
			c.But = m.text("planner.slot-outside", "names", strings.Join(outside, ", "))
		case s.Tentative:
			c.But = m.text("planner.slot-tentative")
		}
		v.Slots = append(v.Slots, c)
	}
	return nil
}

// Take sets the time of a slot in a form. The event keeps its length and its zones.
func (p *Planner) Take(f *EventForm, value string) error {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return p.invalid("planner.bad-day", "day", clean(value), "example", p.today().Format(time.DateOnly))
	}
	start, end, err := p.instants(*f)
	if err != nil {
		return err
	}
	until := at.Add(end.Sub(start))
	f.setTimes(at.In(start.Location()), until.In(start.Location()))
	if f.EndZone != "" {
		there := until.In(end.Location())
		f.End, f.EndTime = there.Format(time.DateOnly), there.Format(clockForm)
	}
	return nil
}

// instants returns the start and the end of a form, in their zones. Floating times are in the visitor's zone.
func (p *Planner) instants(f EventForm) (start, end time.Time, err error) {
	from, to, err := p.times(f)
	if err != nil {
		return start, end, err
	}
	return p.instant(from), p.instant(to), nil
}

// instant returns a time in its zone.
func (p *Planner) instant(t ical.Time) time.Time {
	z := p.Zone
	if t.Form == ical.FormUTC {
		z = zone.UTC()
	} else if there, err := zone.Lookup(t.TZID); t.Form == ical.FormZoned && err == nil {
		z = there
	}
	at, _ := z.Resolve(t.Civil)
	return at
}

// AsksForTimes reports whether a form asks for free times instead of being saved, or takes one.
func AsksForTimes(form url.Values) bool { return form.Has("times") || form.Has("take") }
