package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/mcp/views"
	"caldav-mcp-server/mcp/wire"
)

const (
	// mostBusyDays is the longest time range for busy times.
	mostBusyDays = 366
	// mostAsked limits the calendars and the people that a call may name.
	mostAsked = 50
)

// whose names the calendars and people that a call asks about.
type whose struct {
	calendars []calendar.CalendarID
	users     []string
}

func (in *whose) takes() []field {
	return []field{
		listTo(&in.calendars, "calendar_ids", "Ids or names.").items(mostAsked),
		listTo(&in.users, "usernames", "Or full name, mail; rooms.").items(mostAsked),
	}
}

// busyTools are the tools for busy and free times.
type busyTools struct{ toolbox }

// rows returns the tool that shows busy times.
func (b busyTools) rows() []tool {
	return []tool{reading(tool{
		name: "get_free_busy", title: "Free and busy times",
		description: "Returns busy times of the user, or of calendars and people named.",
		begin:       doing(b.freeBusy), gives: busyView{}, view: views.Week,
	})}
}

// busyQuestion holds the arguments of get_free_busy.
type busyQuestion struct {
	start, end string
	whose
	inZone
}

func (in *busyQuestion) takes() []field {
	return slices.Concat([]field{
		wordTo(&in.start, "start_time", timeForm).needed(),
		wordTo(&in.end, "end_time", "A date counts whole.").needed(),
	}, in.whose.takes(), []field{in.takesZone()})
}

// busyView is the result of get_free_busy.
type busyView struct {
	Busy []blockView `json:"busy"`
	Free []shown     `json:"free,omitempty" doc:"Free all the time."`
	windowView
	Truncated  bool   `json:"truncated"`
	Unread     int    `json:"unread,omitempty" doc:"Events not fully read or followed."`
	NextCursor string `json:"next_cursor,omitempty" doc:"The start_time that continues the list."`
}

type blockView struct {
	Start   string `json:"start"`
	End     string `json:"end"`
	Weekday string `json:"weekday"`
	Type    string `json:"type"`
	Who     shown  `json:"who,omitempty" doc:"If several are asked about."`
}

// busyWords are the names of the types.
var busyWords = [...]string{
	freebusy.Free: "free", freebusy.Tentative: "tentative", freebusy.Unavailable: "unavailable", freebusy.Busy: "busy",
}

// mostBlocks limits the busy times in one result.
const mostBlocks = 200

func (b busyTools) freeBusy(ctx context.Context, c *call, in *busyQuestion) (answer, error) {
	asked, err := b.timeOf(ctx, c, in.whose)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneOf(ctx, c, in.inZone, asked.seen)
	if err != nil {
		return answer{}, err
	}
	w, err := z.between("start_time", in.start, "end_time", in.end, b.now())
	if err == nil {
		err = w.check(mostBusyDays)
	}
	if err != nil {
		return answer{}, err
	}
	q := asked.query()
	q.From, q.Until, q.Timezone, q.Meter = w.from, w.until, z.reader(), c.meter
	found, err := b.service.FreeBusy(ctx, c.caller, q)
	if err != nil {
		return answer{}, err
	}
	periods, free := asked.blocks(found)
	v := busyView{
		Busy: []blockView{}, Free: free, windowView: w.view(), Truncated: len(periods) > mostBlocks,
		Unread: found.Unread,
	}
	if v.Truncated {
		v.NextCursor = periods[mostBlocks].Start.In(z.Location()).Format(time.RFC3339)
		periods = periods[:mostBlocks]
	}
	for _, p := range periods {
		start, end := p.Start.In(z.Location()), p.End.In(z.Location())
		v.Busy = append(v.Busy, blockView{
			start.Format(time.RFC3339), end.Format(time.RFC3339),
			start.Weekday().String(), busyWords[p.Type], p.who,
		})
	}
	c.show(z, func(m views.Maker) any {
		return m.Week(each(periods, func(p block) views.Event {
			what := m.Text("public." + busyWords[p.Type])
			e := views.Event{Item: grid.Item{Start: p.Start, End: p.End}, Title: what}
			if p.who != "" {
				e.Title, e.Mark = wire.Visible(string(p.who)), what
			}
			return e
		}), w.from, v.Truncated || v.Unread > 0)
	})
	return answer{v.prose(w, periods), v}, nil
}

// block is a busy time, of one of several people or calendars.
type block struct {
	freebusy.Period
	who shown
}

// blocks returns the busy times in order, and the people and calendars without any. Only if there are several, each
// block names one.
func (a busyTargets) blocks(found query.Busy) (all []block, free []shown) {
	if len(found.Each) < 2 {
		return each(found.Periods, func(p freebusy.Period) block { return block{Period: p} }), nil
	}
	for i, one := range found.Each {
		if len(one.Periods)+one.Unread == 0 {
			free = append(free, a.labels[i])
		}
		for _, p := range one.Periods {
			all = append(all, block{p, a.labels[i]})
		}
	}
	slices.SortStableFunc(all, func(p, q block) int { return p.Start.Compare(q.Start) })
	return all, free
}

func (v busyView) prose(w window, periods []block) prose {
	var b strings.Builder
	switch {
	case len(periods) > 0:
		fmt.Fprintf(&b, "Busy times (%s):\n", w)
	case v.Unread > 0:
		fmt.Fprintf(&b, "No busy times are known (%s).\n", w)
	default:
		return prose(fmt.Sprintf("Free all the time (%s).", w))
	}
	for _, p := range periods {
		fmt.Fprintf(&b, "- %s", w.zone.spellTimes(p.Start, p.End))
		if p.who != "" {
			b.WriteString(": " + defused(string(p.who)))
		}
		if p.Type != freebusy.Busy {
			fmt.Fprintf(&b, " (%s)", busyWords[p.Type])
		}
		b.WriteString("\n")
	}
	if v.Free != nil {
		fmt.Fprintf(&b, "Free all the time: %s\n", defused(strings.Join(texts(v.Free), "; ")))
	}
	if v.Truncated {
		fmt.Fprintf(&b, "There are more: ask again from %s on.\n", v.NextCursor)
	}
	b.WriteString(unreadProse(v.Unread))
	return prose(strings.TrimSpace(b.String()))
}

// unreadProse says in text that the result may be incomplete.
func unreadProse(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("There may be more: %s could not be read or followed to the end.\n",
		calendar.Counted(n, "event"))
}

// zoneOf returns the time zone of a free/busy call: the argument's, the user's, or the calendars' own if they share
// one. The time zones of other people are not revealed.
func (b busyTools) zoneOf(ctx context.Context, c *call, in inZone, whose []calendar.Calendar) (zoned, error) {
	if whose == nil {
		var err error
		if whose, err = b.ownCalendars(ctx, c); err != nil {
			return zoned{}, err
		}
	}
	var common calendar.Calendar
	for i, cal := range whose {
		if i > 0 && cal.Timezone != common.Timezone {
			return b.zoneFor(c, in, calendar.Calendar{})
		}
		common = cal
	}
	return b.zoneFor(c, in, common)
}

// reader is the time zone for the user's own all-day events. It is nil if no zone was chosen; each calendar then uses
// its own.
func (z zoned) reader() *zone.Zone {
	if z.source == zoneOfNobody {
		return nil
	}
	return z.Zone
}

// busyTargets holds the people and calendars of a call. If there are none, the call is about the user.
type busyTargets struct {
	people    []calendar.User
	calendars []calendar.Calendar
	// seen are the named calendars and, if the call is about the user, the user's own.
	seen []calendar.Calendar
	// others are the names of people as the call gave them.
	others []string
	// as are the callers for calendars of users who made the caller their delegate.
	as map[calendar.CalendarID]calendar.Caller
	// labels name the people, then the calendars.
	labels []shown
	// required are the indexes of the people who must be free: see slot.Compromise.
	required []int
}

// query asks for the busy times of the targets, apart if there are several.
func (a busyTargets) query() query.BusyQuery {
	return query.BusyQuery{
		People: a.people, Calendars: a.calendars, As: a.as, Apart: len(a.people)+len(a.calendars) > 1,
	}
}

// names lists the calendars and people for the result.
func (a busyTargets) names(who calendar.Caller) []string {
	return append(namesOf(who, a.seen), a.others...)
}

// timeOf finds the calendars and people that a call names.
func (b busyTools) timeOf(ctx context.Context, c *call, in whose) (busyTargets, error) {
	found := busyTargets{as: map[calendar.CalendarID]calendar.Caller{}}
	for _, id := range in.calendars {
		cal, as, err := b.calendarAs(ctx, c, id)
		if err != nil {
			return busyTargets{}, err
		}
		found.calendars = append(found.calendars, cal)
		if as.ActsFor() {
			found.as[cal.ID] = as
		}
	}
	found.calendars = unique(found.calendars)
	found.seen = found.calendars
	if len(in.users) > 0 {
		if err := b.addPeople(ctx, c, in.users, &found); err != nil {
			return found, err
		}
	}
	for _, cal := range found.calendars {
		found.labels = append(found.labels, shown(markedName(c.caller, cal)))
	}
	return found, nil
}

// calendarAs finds a calendar, and the caller for it: a delegate of its owner, if the caller is one.
func (b toolbox) calendarAs(
	ctx context.Context, c *call, id calendar.CalendarID,
) (cal calendar.Calendar, as calendar.Caller, err error) {
	self := c.caller
	defer func() { c.caller = self }()
	if c.caller, err = b.service.ActAt(ctx, self, id); err != nil {
		return cal, self, err
	}
	cal, err = b.calendarBy(ctx, c, id)
	return cal, c.caller, err
}

// addPeople adds people by name. Busy times of other users follow the rules of the CalDAV outbox.
func (b busyTools) addPeople(ctx context.Context, c *call, names []string, to *busyTargets) error {
	bare := each(names, bareAddress)
	all, err := b.service.PeopleAt(ctx, c.caller, bare)
	if err != nil {
		return err
	}
	for i, people := range all {
		switch {
		case len(people) == 0:
			return b.errNobody(ctx, c, bare[i])
		case len(people) > 1:
			return errSeveral(bare[i], people)
		}
		if !slices.ContainsFunc(to.people, func(u calendar.User) bool { return u.ID == people[0].ID }) {
			to.people = append(to.people, people[0])
			to.labels = append(to.labels, shown(wire.Quote(bare[i])))
			to.others = append(to.others, "all calendars of "+wire.Quote(bare[i]))
		}
	}
	return nil
}

// unique removes duplicates from a list of calendars.
func unique(list []calendar.Calendar) []calendar.Calendar {
	seen := map[calendar.CalendarID]bool{}
	return slices.DeleteFunc(list, func(cal calendar.Calendar) bool {
		twice := seen[cal.ID]
		seen[cal.ID] = true
		return twice
	})
}

func errSeveral(name string, people []calendar.User) error {
	logins := each(people[:min(len(people), maxNamed)], func(u calendar.User) string { return wire.Quote(u.Name) })
	return errArgument("%d people are called %s: say which by login name, such as %s", len(people), wire.Quote(name),
		strings.Join(logins, ", "))
}

// roomFor says how many people fit into a room.
func roomFor(room calendar.User) string {
	if room.Room.Capacity == 0 {
		return ""
	}
	return fmt.Sprintf(" for %d", room.Room.Capacity)
}

func (b busyTools) errNobody(ctx context.Context, c *call, name string) error {
	people, err := b.service.People(ctx, c.caller)
	if err != nil {
		return err
	}
	var known, rooms []string
	for _, u := range people {
		switch {
		case u.Group:
		case u.Room.Bookable():
			rooms = append(rooms, wire.Quote(u.Name)+" <"+u.Email+">"+roomFor(u))
		default:
			known = append(known, wire.Quote(u.Name))
		}
	}
	e := calendar.Errorf(calendar.NotFound, "", "no user here has the login name or mail address %s; you know: %s",
		wire.Quote(name), strings.Join(known[:min(len(known), maxNamed)], ", "))
	if len(rooms) > 0 {
		e.Message += "; rooms and resources: " + strings.Join(rooms[:min(len(rooms), maxNamed)], ", ")
	}
	e.Hint = "give a login name or a mail address: a full name is enough only for people you share a calendar with " +
		"(see list_people)"
	return e
}

// namesOf names calendars, each with its owner.
func namesOf(who calendar.Caller, all []calendar.Calendar) []string {
	return each(all, func(cal calendar.Calendar) string { return markedName(who, cal) + " of " + cal.OwnerName })
}

// ownCalendars returns the calendars that count as busy for the user; there may be none.
func (b busyTools) ownCalendars(ctx context.Context, c *call) ([]calendar.Calendar, error) {
	all, err := b.service.Calendars(ctx, c.caller)
	return slices.DeleteFunc(all, func(cal calendar.Calendar) bool { return cal.Transparent }), err
}
