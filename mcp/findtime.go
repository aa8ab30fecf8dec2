package mcp

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/mcp/views"
	"caldav-mcp-server/mcp/wire"
)

const (
	// A slot lasts from five minutes to a day.
	shortestSlot, longestSlot = 5, 24 * 60
	// longestBuffer limits the free time around a slot.
	longestBuffer         = 240
	usualSlots, mostSlots = 5, 20
	// mostSlotDays is the longest time range that is searched for a slot.
	mostSlotDays = 92
)

// findRows returns the tool that finds a time to meet.
func (b busyTools) findRows() []tool {
	return []tool{reading(tool{
		name: "find_time", title: "Find a time",
		description: "Finds times when the user and everyone named are free, in working hours, best first; default: " +
			"next 7 days.",
		begin: doing(b.findTime), gives: slotsView{}, view: views.Times,
	})}
}

// slotQuestion holds the arguments of find_time.
type slotQuestion struct {
	minutes, buffer int
	inRange
	whose
	withoutMe       bool
	hours           string
	elsewhere, days []string
	limit           int
}

func (in *slotQuestion) takes() []field {
	within := in.inRange.takes()
	within[0].doc = "As in list_events."
	return slices.Concat([]field{
		numberTo(&in.minutes, "duration_minutes", "5 to 1440.").needed().between(shortestSlot, longestSlot),
		numberTo(&in.buffer, "buffer_minutes", "Free before and after.").between(0, longestBuffer),
	}, within, in.whose.takes(), []field{
		yesTo(&in.withoutMe, "without_me", "Leave the user out."),
		wordTo(&in.hours, "working_hours", "Default: the user's."),
		listTo(&in.elsewhere, "hours_elsewhere",
			"Such as bob 09:00-17:00 America/New_York (mon tue).").
			items(mostAsked).upTo(longestTitle),
		listTo(&in.days, "days", "Default: the user's.").items(len(slot.Weekdays)).oneOf(slot.Weekdays[:]...),
		numberTo(&in.limit, "limit", "Default 5.").between(1, mostSlots),
	})
}

// slotsView is the result of find_time.
type slotsView struct {
	Slots []slotView `json:"slots"`
	windowView
	Hours     string   `json:"working_hours"`
	Days      []string `json:"days"`
	Theirs    []shown  `json:"hours_elsewhere,omitempty"`
	Why       slot.Why `json:"why,omitempty"`
	Calendars []shown  `json:"calendars,omitempty" doc:"Searched, if someone is busy."`
	Truncated bool     `json:"truncated"`
	Unread    int      `json:"unread,omitempty" doc:"Events not fully read or followed."`
}

type slotView struct {
	Start     string `json:"start"`
	End       string `json:"end"`
	Weekday   string `json:"weekday"`
	Tentative bool   `json:"tentative,omitempty" doc:"Someone may be busy."`

	Elsewhere []shown `json:"elsewhere,omitempty" doc:"In the zones of others."`
	Outside   []shown `json:"outside_hours_of,omitempty"`
	Busy      []shown `json:"busy,omitempty" doc:"Not free then."`
}

func (b busyTools) findTime(ctx context.Context, c *call, in *slotQuestion) (answer, error) {
	meet, err := b.toMeet(ctx, c, in)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneOf(ctx, c, in.inZone, meet.seen)
	if err != nil {
		return answer{}, err
	}
	w, err := b.readRange(c, in.inRange, z, mostSlotDays)
	if err != nil {
		return answer{}, err
	}
	ask := slot.Ask{
		From: w.from, Until: w.until, Length: time.Duration(in.minutes) * time.Minute,
		Buffer: time.Duration(in.buffer) * time.Minute, Limit: cmp.Or(in.limit, usualSlots),
	}
	// Slots in the past are useless.
	if now := b.now(); ask.From.Before(now) {
		ask.From = now
	}
	hours, days := c.caller.User.Workweek()
	if hours = cmp.Or(in.hours, hours); len(in.days) > 0 {
		days = in.days
	}
	if ask.Hours, err = w.zone.hours("working_hours", hours, days); err != nil {
		return answer{}, err
	}
	theirs, err := b.hoursOfOthers(ctx, c, in, meet, z, days)
	if err != nil {
		return answer{}, err
	}
	for _, other := range theirs {
		ask.Others = append(ask.Others, other.Hours)
	}
	if ask.Hours.Longest() < ask.Length {
		return answer{}, errArgument(`"duration_minutes" (%d) is longer than "working_hours" (%s)`, in.minutes, hours)
	}
	if !ask.From.Before(ask.Until) {
		return answer{}, errArgument("the requested time (%s) is over", w)
	}
	// One more day at each end: how well a slot fits depends on the busy times around it.
	q := meet.query()
	q.From, q.Until = ask.From.AddDate(0, 0, -1), ask.Until.AddDate(0, 0, 1)
	q.Timezone, q.Meter = z.reader(), c.meter
	busy, err := b.service.FreeBusy(ctx, c.caller, q)
	if err != nil {
		return answer{}, err
	}
	v := slotsView{
		Slots: []slotView{}, windowView: w.view(), Hours: hours, Days: wordsOf(ask.Hours.Days), Unread: busy.Unread,
		Theirs: few(each(theirs, hoursOf.String)),
	}
	apart := each(busy.Each, func(one query.Busy) []freebusy.Period { return one.Periods })
	found, why, err := slot.Search(c.meter, ask, busy.Periods, apart, meet.required...)
	if err != nil {
		return answer{}, err
	}
	if v.Why = why; why == slot.Busy {
		v.Calendars = few(meet.names(c.caller))
	}
	v.Truncated = len(found) == ask.Limit
	for _, s := range found {
		one := w.zone.slotView(s, theirs)
		for _, i := range s.Busy {
			one.Busy = append(one.Busy, meet.labels[i])
		}
		v.Slots = append(v.Slots, one)
	}
	c.show(w.zone, func(m views.Maker) any {
		return m.Times(v.inView(found, w.zone, theirs), b.booking(m, c, z, meet))
	})
	return answer{v.prose(w, ask, found), v}, nil
}

// inView returns the slots for a view.
func (v slotsView) inView(found []slot.Slot, z zoned, theirs []hoursOf) (list []views.Slot) {
	for i, s := range found {
		one := views.Slot{
			Start: s.Start, End: s.End, Tentative: s.Tentative,
			Outside: texts(v.Slots[i].Outside), Busy: texts(v.Slots[i].Busy),
		}
		for _, other := range theirs {
			if other.Zone.String() != z.Location().String() {
				one.Elsewhere = append(one.Elsewhere, views.Person{Name: wire.Visible(other.name), Zone: other.Zone})
			}
		}
		list = append(list, one)
	}
	return list
}

// booking returns the call that books a slot, nil if the caller may not make it.
func (b busyTools) booking(m views.Maker, c *call, z zoned, meet busyTargets) *views.Booking {
	const tool = "create_event"
	if _, err := b.partOf(c, tool); err != nil {
		return nil
	}
	var names, addresses []string
	for _, u := range meet.people {
		if u.ID != c.caller.User.ID && u.Email != "" {
			names, addresses = append(names, wire.Visible(u.Title())), append(addresses, u.Email)
		}
	}
	call := map[string]any{"calendar_id": primary, "timezone": z.Name()}
	if addresses != nil {
		call["attendees"] = addresses
	}
	return m.Book(tool, call, names)
}

// hoursOf are another person's working hours.
type hoursOf struct {
	slot.Hours
	name, text string
	// days are their weekdays, if these are known.
	days string
}

// String formats the hours as the call takes them.
func (h hoursOf) String() string {
	words := []string{h.name, h.text, h.Zone.String()}
	if clockTimes.MatchString(h.name) || strings.HasPrefix(h.name, `"`) {
		words[0] = `"` + phraseEscapes.Replace(h.name) + `"`
	}
	if h.days != "" {
		words = append(words, "("+h.days+")")
	}
	return strings.Join(words, " ")
}

// hoursOfOthers returns the working hours of the people of a call: the hours that the call gives, and for all others
// their own.
func (b busyTools) hoursOfOthers(
	ctx context.Context, c *call, in *slotQuestion, meet busyTargets, z zoned, days []string,
) ([]hoursOf, error) {
	var all []hoursOf
	for _, text := range in.elsewhere {
		theirs, err := b.hoursElsewhere(text, days)
		if err != nil {
			return nil, err
		}
		all = append(all, theirs)
	}
	if meet.others == nil {
		return all, nil
	}
	asked := slices.DeleteFunc(slices.Clone(meet.people), func(u calendar.User) bool {
		return slices.ContainsFunc(all, func(h hoursOf) bool {
			return slices.ContainsFunc([]string{u.Name, u.DisplayName, u.Email}, func(name string) bool {
				return name != "" && strings.EqualFold(h.name, name)
			})
		})
	})
	weeks, err := b.service.Workweeks(ctx, c.caller, asked, z.Zone)
	for _, week := range weeks {
		all = append(all, hoursOf{week.Hours, asked[week.Person].Title(), week.Text, week.Weekdays})
	}
	return all, err
}

// slotView formats a slot, also in the time zones of others.
func (z zoned) slotView(s slot.Slot, theirs []hoursOf) slotView {
	start, end := s.Start.In(z.Location()), s.End.In(z.Location())
	v := slotView{
		Start: start.Format(time.RFC3339), End: end.Format(time.RFC3339), Weekday: start.Weekday().String(),
		Tentative: s.Tentative,
	}
	for i, other := range theirs {
		if other.Zone.String() != z.Location().String() {
			v.Elsewhere = append(v.Elsewhere, shown(other.name+" "+inZoneOf(other.Zone, s.Start, s.End)))
		}
		if slices.Contains(s.Outside, i) {
			v.Outside = append(v.Outside, shown(other.name))
		}
	}
	return v
}

// inZoneOf formats a time on the clock of another zone.
func inZoneOf(loc *time.Location, start, end time.Time) string {
	return start.In(loc).Format("Mon 15:04") + "–" + end.In(loc).Format(clockForm) + " " + loc.String()
}

// toMeet finds the people and calendars that must be free, including the user unless the call leaves them out.
func (b busyTools) toMeet(ctx context.Context, c *call, in *slotQuestion) (busyTargets, error) {
	meet, err := b.timeOf(ctx, c, in.whose)
	if err != nil {
		return busyTargets{}, err
	}
	user := slices.IndexFunc(meet.people, func(u calendar.User) bool { return u.ID == c.caller.User.ID })
	if user >= 0 {
		meet.required = []int{user}
	}
	switch {
	case in.withoutMe && meet.people == nil && meet.calendars == nil:
		return busyTargets{}, errArgument(`"without_me" needs "usernames" or "calendar_ids"`)
	case !in.withoutMe && user < 0:
		own, err := b.ownCalendars(ctx, c)
		if err != nil {
			return busyTargets{}, err
		}
		meet.required = []int{len(meet.people)}
		meet.people = append(meet.people, c.caller.User)
		meet.labels = slices.Insert(meet.labels, meet.required[0], "the user")
		meet.seen = unique(append(own, meet.seen...))
	}
	return meet, nil
}

// wordsOf returns the words for weekdays, Monday first.
func wordsOf(days map[time.Weekday]bool) []string {
	words := []string{}
	for i := range len(slot.Weekdays) {
		if day := time.Weekday((i + 1) % len(slot.Weekdays)); days[day] {
			words = append(words, slot.Weekdays[day])
		}
	}
	return words
}

// reasons explain why there is no slot, and suggest how to find one.
var reasons = map[slot.Why]string{
	slot.Busy: "someone is busy or away at every possible time. Try fewer minutes, other hours or more days",
	slot.Elsewhere: "the working hours of the others leave none of these hours. Try other hours, or ask who can meet " +
		"outside theirs",
	slot.Days:    "none of these weekdays is in that time. Give other days",
	slot.Opening: "these hours have no slot that long left in that time. Give other working_hours, or more days",
}

// clockTimes matches the hours in hours_elsewhere; elsewhereForm matches all of it.
var (
	clockTimes    = regexp.MustCompile(`\d{1,2}:\d{2}`)
	elsewhereForm = regexp.MustCompile(`^(?:"((?:[^"\\]|\\.)*)"\s|(.*?\s))??` +
		`(\d{1,2}:\d{2}[\d:,;\s–-]*)\s(\S+)(?:\s*\(([\w,;\s]*)\))?$`)
	escapedQuote = regexp.MustCompile(`\\(.)`)
)

// hoursElsewhere parses one attendee's working hours, such as bob 09:00-17:00 America/New_York, optionally with
// weekdays, as results show them: (mon tue). Without weekdays, the call's weekdays apply.
func (b busyTools) hoursElsewhere(text string, days []string) (hoursOf, error) {
	m := elsewhereForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return hoursOf{}, errArgument(`"hours_elsewhere" must be like bob 09:00-17:00 America/New_York (mon tue), `+
			`not %s`, wire.Quote(text))
	}
	z, err := b.zones.Ask(m[4])
	if err != nil {
		return hoursOf{}, errArgument(`"hours_elsewhere", %s: %s`, wire.Quote(text), err)
	}
	name := cmp.Or(escapedQuote.ReplaceAllString(m[1], "$1"), strings.TrimSpace(m[2]), "others")
	h := hoursOf{name: name, text: strings.TrimSpace(m[3])}
	if m[5] != "" {
		days = strings.FieldsFunc(strings.ToLower(m[5]), func(r rune) bool { return strings.ContainsRune(" ,;\t", r) })
		for _, day := range days {
			if !slices.Contains(slot.Weekdays[:], day) {
				return h, errArgument(`"hours_elsewhere", %s: %s must be one of %s`, wire.Quote(text), wire.Quote(day),
					strings.Join(slot.Weekdays[:], ", "))
			}
		}
		h.days = strings.Join(days, " ")
	}
	h.Hours, err = zoned{Zone: z}.hours("hours_elsewhere", h.text, days)
	return h, err
}

// hours reads working hours on the given weekdays. name is the argument's.
func (z zoned) hours(name, text string, days []string) (slot.Hours, error) {
	h, err := slot.ReadHours(z.Location(), text, days)
	if err != nil {
		return h, errArgument("%q %v, not %s", name, err, wire.Quote(text))
	}
	return h, nil
}

func (v slotsView) prose(w window, ask slot.Ask, found []slot.Slot) prose {
	minutes := int(ask.Length / time.Minute)
	var b strings.Builder
	if v.Why != "" {
		fmt.Fprintf(&b, "No slot of %d minutes is free for everyone (%s, within %s on %s): %s.", minutes, w,
			v.Hours, strings.Join(v.Days, ", "), reasons[v.Why])
		if v.Calendars != nil {
			b.WriteString(" Searched: " + defused(strings.Join(texts(v.Calendars), "; ")) + ".")
		}
	}
	switch {
	case len(found) == 0:
		return prose(strings.TrimSpace(b.String() + " " + unreadProse(v.Unread)))
	case found[0].Busy != nil:
		b.WriteString("\n\nTimes when the fewest are busy:\n\n")
	case v.Why != "":
		b.WriteString("\n\nFree, but outside the working hours of some, the least first:\n\n")
	default:
		fmt.Fprintf(&b, "Free for %d minutes, the best first (%s, within %s):\n\n", minutes, w, v.Hours)
	}
	for i, s := range found {
		fmt.Fprintf(&b, "%d. %s", i+1, w.zone.spellTimes(s.Start, s.End))
		v.Slots[i].write(&b)
	}
	if v.Theirs != nil {
		fmt.Fprintf(&b, "\nWorking hours of others: %s\n", defused(strings.Join(texts(v.Theirs), "; ")))
	}
	if v.Truncated {
		b.WriteString("\nThere may be more: ask for more with limit.\n")
	}
	b.WriteString(unreadProse(v.Unread))
	return prose(strings.TrimSpace(b.String()))
}

// write appends the text after the time.
func (v slotView) write(b *strings.Builder) {
	if v.Elsewhere != nil {
		fmt.Fprintf(b, " (%s)", defused(strings.Join(texts(v.Elsewhere), "; ")))
	}
	if v.Outside != nil {
		fmt.Fprintf(b, " (outside the working hours of %s)", defused(strings.Join(texts(v.Outside), ", ")))
	}
	if v.Busy != nil {
		fmt.Fprintf(b, " (busy: %s)", defused(strings.Join(texts(v.Busy), ", ")))
	}
	if v.Tentative {
		b.WriteString(" (someone has a tentative event then)")
	}
	b.WriteString("\n")
}
