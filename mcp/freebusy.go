package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/zone"
)

const (
	// mostBusyDays is the longest time that busy times are told of.
	mostBusyDays = 366
	// mostAsked is how many calendars or people a question may name.
	mostAsked = 50
)

// whose says whose time a question is about.
type whose struct {
	calendars []calendar.CalendarID
	users     []string
}

func (in *whose) takes() []field {
	return []field{
		listTo(&in.calendars, "calendar_ids", "").items(mostAsked),
		listTo(&in.users, "usernames", "Or full name, mail; rooms.").items(mostAsked),
	}
}

// busyTools tell when people are busy.
func (b toolbox) busyTools() []tool {
	return []tool{reading(tool{
		name: "get_free_busy", title: "Free and busy times",
		description: "Tells when the user, or calendars and people named, are busy, without titles. To find a time for all: find_time.",
		begin:       doing(b.freeBusy), gives: busyView{},
	})}
}

// busyQuestion is what get_free_busy takes.
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

// busyView is what get_free_busy returns.
type busyView struct {
	Busy []blockView `json:"busy"`
	windowView
	Truncated  bool   `json:"truncated"`
	Unread     int    `json:"unread,omitempty" doc:"So many events may take more time, since they can't be read or followed to their end."`
	NextCursor string `json:"next_cursor,omitempty" doc:"The start_time to ask with for the rest."`
}

type blockView struct {
	Start   string `json:"start"`
	End     string `json:"end"`
	Weekday string `json:"weekday"`
	Type    string `json:"type"`
}

// busyWords are the words for the types.
var busyWords = [...]string{
	freebusy.Free: "free", freebusy.Tentative: "tentative", freebusy.Unavailable: "unavailable", freebusy.Busy: "busy",
}

// mostBlocks is how many busy times one answer has.
const mostBlocks = 200

func (b toolbox) freeBusy(ctx context.Context, c *call, in *busyQuestion) (answer, error) {
	whose, err := b.calendarsOf(ctx, c, in.whose)
	if err != nil {
		return answer{}, err
	}
	z, err := b.zoneOf(ctx, c, in.inZone, whose)
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
	found, err := b.service.FreeBusy(ctx, c.caller, query.BusyQuery{Calendars: whose, From: w.from, Until: w.until, Timezone: z.reader(), Meter: c.meter})
	if err != nil {
		return answer{}, err
	}
	periods := found.Periods
	v := busyView{Busy: []blockView{}, windowView: w.view(), Truncated: len(periods) > mostBlocks, Unread: found.Unread}
	if v.Truncated {
		v.NextCursor = periods[mostBlocks].Start.In(z.Location()).Format(time.RFC3339)
		periods = periods[:mostBlocks]
	}
	for _, p := range periods {
		start, end := p.Start.In(z.Location()), p.End.In(z.Location())
		v.Busy = append(v.Busy, blockView{start.Format(time.RFC3339), end.Format(time.RFC3339), start.Weekday().String(), busyWords[p.Type]})
	}
	return answer{v.prose(w, periods), v}, nil
}

func (v busyView) prose(w window, periods []freebusy.Period) prose {
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
		if p.Type != freebusy.Busy {
			fmt.Fprintf(&b, " (%s)", busyWords[p.Type])
		}
		b.WriteString("\n")
	}
	if v.Truncated {
		fmt.Fprintf(&b, "There are more: ask again from %s on.\n", v.NextCursor)
	}
	b.WriteString(unreadProse(v.Unread))
	return prose(strings.TrimSpace(b.String()))
}

// unreadProse says for reading that a tool may not know all.
func unreadProse(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Perhaps there is more: %s could not be read or followed to the end.\n", calendar.Counted(n, "event"))
}

// zoneOf decides on the zone of a call about whose time: an argument's, the user's, or that of
// the calendars where they have one.
func (b toolbox) zoneOf(ctx context.Context, c *call, in inZone, whose []calendar.Calendar) (zoned, error) {
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

// reader is the zone in which the user reads their own whole days; nil, that of each calendar,
// where nobody said any.
func (z zoned) reader() *zone.Zone {
	if z.source == zoneOfNobody {
		return nil
	}
	return z.Zone
}

// calendarsOf finds the calendars that a question about busy times names; nil, if it names none,
// means the user's own.
func (b toolbox) calendarsOf(ctx context.Context, c *call, in whose) ([]calendar.Calendar, error) {
	var named []calendar.Calendar
	for _, id := range in.calendars {
		cal, err := b.calendarBy(ctx, c, id)
		if err != nil {
			return nil, err
		}
		named = append(named, cal)
	}
	if len(in.users) > 0 {
		theirs, err := b.calendarsOfUsers(ctx, c, in.users)
		if err != nil {
			return nil, err
		}
		named = append(named, theirs...)
	}
	return unique(named), nil
}

// unique leaves out calendars that were named twice.
func unique(list []calendar.Calendar) []calendar.Calendar {
	seen := map[calendar.CalendarID]bool{}
	return slices.DeleteFunc(list, func(cal calendar.Calendar) bool {
		twice := seen[cal.ID]
		seen[cal.ID] = true
		return twice
	})
}

// calendarsOfUsers finds the calendars that take people's own time, as far as the caller sees them.
// Anyone who shares none might as well not exist, but for rooms: whether they are taken everybody may know.
func (b toolbox) calendarsOfUsers(ctx context.Context, c *call, names []string) ([]calendar.Calendar, error) {
	all, err := b.service.Calendars(ctx, c.caller)
	if err != nil {
		return nil, err
	}
	var found []calendar.Calendar
	for _, name := range names {
		before := len(found)
		theirs, err := b.ownedBy(ctx, c, all, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		for _, cal := range all {
			if theirs(cal) && !cal.OwnerFree {
				found = append(found, cal)
			}
		}
		if len(found) > before {
			continue
		}
		room, err := b.service.RoomCalendars(ctx, c.caller, bareAddress(strings.TrimSpace(name)))
		if err != nil {
			return nil, err
		}
		if len(room) == 0 {
			return nil, b.errNobody(ctx, c, name, all)
		}
		found = append(found, room...)
	}
	return found, nil
}

// ownedBy tells which calendars are those of the person who has a login name, a mail address, or a full name that nobody else has.
// Only a person who shares something with the caller counts, so that nobody learns of others.
func (b toolbox) ownedBy(ctx context.Context, c *call, all []calendar.Calendar, name string) (func(calendar.Calendar) bool, error) {
	name = bareAddress(name)
	people, err := b.service.FindPeople(ctx, c.caller, func(u calendar.User, same calendar.Comparison) bool {
		return name != "" && (same(u.Email, name, calendar.Equals) || same(u.Name, name, calendar.Equals) || same(u.DisplayName, name, calendar.Equals))
	})
	if err != nil {
		return nil, err
	}
	people = slices.DeleteFunc(people, func(u calendar.User) bool {
		return !slices.ContainsFunc(all, func(cal calendar.Calendar) bool { return cal.Owner == u.ID })
	})
	byLogin := slices.IndexFunc(people, func(u calendar.User) bool { return strings.EqualFold(u.Name, name) })
	if byLogin >= 0 {
		people = people[byLogin : byLogin+1]
	}
	if len(people) > 1 {
		return nil, errSeveral(name, people)
	}
	return func(cal calendar.Calendar) bool {
		return strings.EqualFold(cal.OwnerName, name) || slices.ContainsFunc(people, func(u calendar.User) bool { return u.ID == cal.Owner })
	}, nil
}

func errSeveral(name string, people []calendar.User) error {
	logins := each(people[:min(len(people), maxNamed)], func(u calendar.User) string { return quote(u.Name) })
	return errArgument("%d people are called %s: say which by login name, such as %s", len(people), quote(name), strings.Join(logins, ", "))
}

// roomFor says for how many people a room is.
func roomFor(room calendar.User) string {
	if room.Room.Capacity == 0 {
		return ""
	}
	return fmt.Sprintf(" for %d", room.Room.Capacity)
}

func (b toolbox) errNobody(ctx context.Context, c *call, name string, all []calendar.Calendar) error {
	var owners []string
	for _, cal := range all {
		if owner := quote(cal.OwnerName); !slices.Contains(owners, owner) && len(owners) < maxNamed {
			owners = append(owners, owner)
		}
	}
	e := calendar.Errorf(calendar.NotFound, "", "nobody called %s shares a calendar with you; those whose calendars you see: %s",
		quote(name), strings.Join(owners, ", "))
	e.Hint = "ask them to share one, if only its free and busy times"
	if rooms, err := b.service.Rooms(ctx, c.caller); err == nil && len(rooms) > 0 {
		named := each(rooms[:min(len(rooms), maxNamed)], func(room calendar.User) string { return quote(room.Name) + " <" + room.Email + ">" + roomFor(room) })
		e.Message += "; rooms and resources: " + strings.Join(named, ", ")
	}
	return e
}
