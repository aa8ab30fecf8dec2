package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// peopleRows returns the tool that lists people and rooms.
func (b busyTools) peopleRows() []tool {
	return []tool{reading(tool{
		name: "list_people", title: "List people and rooms", unbound: true,
		description: "Lists people the user knows on this server, and rooms.",
		begin:       doing(b.listPeople), gives: peopleView{},
	})}
}

// peopleQuestion holds the arguments of list_people.
type peopleQuestion struct {
	name  string
	rooms bool
}

func (in *peopleQuestion) takes() []field {
	return []field{
		textTo(&in.name, "query", "Part of a name or address.").upTo(longestQuery),
		yesTo(&in.rooms, "rooms", "Only rooms."),
	}
}

// personView is a person or a room in a list.
type personView struct {
	Name     shown             `json:"name"`
	Username shown             `json:"username"`
	Email    shown             `json:"email,omitempty"`
	Room     calendar.RoomKind `json:"room,omitempty"`
	Capacity int               `json:"capacity,omitempty"`

	Untrusted shown `json:"untrusted_text_by" once:"true"`
}

// peopleView is the result of list_people.
type peopleView struct {
	People    []personView `json:"people"`
	Truncated bool         `json:"truncated"`
}

// mostListedPeople limits the people in one result.
const mostListedPeople = 100

func (b busyTools) listPeople(ctx context.Context, c *call, in *peopleQuestion) (answer, error) {
	known, err := b.service.People(ctx, c.caller)
	if err != nil {
		return answer{}, err
	}
	words := strings.Fields(strings.ToLower(in.name))
	v := peopleView{People: []personView{}}
	for _, u := range known {
		text := strings.ToLower(u.Title() + " " + u.Name + " " + u.Email)
		misses := slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
		switch {
		case u.Group || u.ID == c.caller.User.ID || in.rooms && !u.Room.Bookable() || misses:
		case len(v.People) == mostListedPeople:
			v.Truncated = true
		default:
			v.People = append(v.People, personView{
				shown(short(u.Title(), longestListedTitle)), shown(u.Name), shown(u.Email), u.Room.Kind,
				int(u.Room.Capacity),
				shown(u.Name),
			})
		}
	}
	return answer{v.prose(), v}, nil
}

// prose writes the result as text.
func (v peopleView) prose() prose {
	if len(v.People) == 0 {
		return "No people found. Other users of this server are listed once a calendar is shared with them."
	}
	var b strings.Builder
	for i, p := range v.People {
		fmt.Fprintf(&b, "%d. %s", i+1, wire.Quoted(defused(string(p.Name))))
		if p.Email != "" {
			fmt.Fprintf(&b, ", %s", wire.Visible(string(p.Email)))
		}
		fmt.Fprintf(&b, ", username %s", wire.Quoted(string(p.Username)))
		if p.Room != "" {
			fmt.Fprintf(&b, ", %s", p.Room)
		}
		if p.Capacity > 0 {
			fmt.Fprintf(&b, " for %d", p.Capacity)
		}
		b.WriteString(p.Untrusted.mark() + "\n")
	}
	if v.Truncated {
		b.WriteString("\nThere are more: give a part of the name.\n")
	}
	return prose(strings.TrimSpace(b.String()))
}

// A room answers an invitation right after the commit of the change that invites it. The tools read its answer, so that
// a model does not report a room as booked that declined.

// refusals are the rooms that declined an event: how a result shows them, and their addresses. Rooms in booked have
// accepted something of the same change.
type refusals struct {
	shown             []shown
	addresses, booked []schedule.Address
}

// asksRooms reports whether a change invited a room.
func asksRooms(told []calendar.Told) bool { return len(roomsTold(told)) > 0 }

// roomsTold returns the addresses of the rooms that a change told.
func roomsTold(told []calendar.Told) (all []schedule.Address) {
	for _, t := range told {
		if a := schedule.AddressOf(t.To); t.Room && t.Reached() && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// answered returns an object with the answers of the rooms that a change of it invited. If the caller may not read it,
// it is returned as the change left it.
func (b toolbox) answered(
	ctx context.Context, c *call, cal calendar.Calendar, o calendar.Object, told []calendar.Told,
) calendar.Object {
	if asksRooms(told) {
		if now, err := b.service.ObjectByUID(ctx, c.meter, c.caller, cal, o.UID); err == nil {
			return now
		}
	}
	return o
}

// refusals returns the rooms that declined an event after a change. If only is set, the change was of one instance. It
// never fails: the change may be committed. The rooms of a batch are asked when all its changes are planned.
func (b toolbox) refusals(
	ctx context.Context, c *call, cal calendar.Calendar, now query.Instance, z zoned, told []calendar.Told, only bool,
) (r refusals) {
	if c.batch != nil {
		return r
	}
	for _, address := range roomsTold(told) {
		d := b.declinesOf(ctx, c, cal, now, address, only)
		switch {
		case d.whole:
			r.addresses = append(r.addresses, address)
			r.shown = append(r.shown, shown(d.name+": "+b.whyDeclined(ctx, c, now, z, address, d.comment)))
		case len(d.days) > 0:
			times := each(d.days, func(i query.Instance) string { return z.spell(i) })
			r.shown = append(r.shown, shown(d.name+": taken "+strings.Join(texts(few(times)), "; ")))
		}
		if d.name != "" && !d.whole {
			r.booked = append(r.booked, address)
		}
	}
	return r
}

// declines are the parts of an event that an attendee declined.
type declines struct {
	name string
	// whole is set if that is all of it, or the instance in question; comment is the reason.
	whole   bool
	comment string
	// days are the declined instances of a series.
	days []query.Instance
}

func (b toolbox) declinesOf(
	ctx context.Context, c *call, cal calendar.Calendar, now query.Instance, address schedule.Address, only bool,
) (d declines) {
	for _, component := range componentsOf(now, only) {
		i := slices.IndexFunc(component.All("ATTENDEE"), func(p *ical.Property) bool {
			return schedule.AddressOf(p.Value()) == address
		})
		if i < 0 {
			continue
		}
		a := edit.AttendeesOf(component)[i]
		d.name = namedAttendee(edit.Attendee{Name: a.Name, Address: bareAddress(a.Address)})
		if !strings.EqualFold(a.Status, schedule.Declined) {
			continue
		}
		id := component.Property("RECURRENCE-ID")
		if id == nil || only {
			d.whole, d.comment = true, schedule.CommentOf(component.All("ATTENDEE")[i])
			return d
		}
		if at, err := id.Time(); err == nil {
			if day, err := b.service.InstanceOf(ctx, c.meter, cal, now.Object, at); err == nil {
				d.days = append(d.days, day)
			}
		}
	}
	return d
}

// componentsOf returns the components of an event, or only the instance's.
func componentsOf(now query.Instance, only bool) []*ical.Component {
	if only && now.Component != nil {
		return []*ical.Component{now.Component}
	}
	o, err := content.Read(now.Object.Data, ical.Limits{})
	if err != nil {
		return nil
	}
	return o.Components()
}

// declinedBefore returns the rooms that had declined an event. Its cancellation frees nothing there.
func declinedBefore(was query.Instance, only bool, told []calendar.Told) (r refusals) {
	for _, address := range roomsTold(told) {
		declined := false
		for _, component := range componentsOf(was, only) {
			for _, a := range edit.AttendeesOf(component) {
				if schedule.AddressOf(a.Address) != address {
					continue
				}
				if declined = strings.EqualFold(a.Status, schedule.Declined); !declined {
					r.booked = append(r.booked, address)
				}
			}
		}
		if declined {
			r.addresses = append(r.addresses, address)
		}
	}
	return r
}

// whyDeclined explains the refusal of a room: by the times when it is taken, or with its own words. A token that is
// limited to some calendars does not learn busy times.
func (b toolbox) whyDeclined(
	ctx context.Context, c *call, now query.Instance, z zoned, address schedule.Address, comment string,
) string {
	own, taken := schedule.RoomReason(comment)
	if own && !taken {
		return comment
	}
	why := "declined"
	if own {
		why = comment
	}
	people, err := b.service.PeopleAt(ctx, c.caller, []string{bareAddress(string(address))})
	if err != nil || len(people[0]) != 1 {
		return why
	}
	times, err := b.taken(ctx, c, now, z, people[0][0])
	if err != nil {
		return why
	}
	return cmp.Or(times, why)
}

// taken says when a room is busy during an event; "" if it is free.
func (b toolbox) taken(
	ctx context.Context, c *call, now query.Instance, z zoned, room calendar.User,
) (string, error) {
	if !now.Start.Time.Before(now.End.Time) {
		return "", nil
	}
	busy, err := b.service.FreeBusy(ctx, c.caller, query.BusyQuery{
		People: []calendar.User{room}, From: now.Start.Time.AddDate(0, 0, -1), Until: now.End.Time.AddDate(0, 0, 1),
		Ignored: []calendar.UID{now.Object.UID}, Meter: c.meter,
	})
	var times []string
	for _, p := range busy.Periods {
		if p.Start.Before(now.End.Time) && now.Start.Time.Before(p.End) {
			times = append(times, z.spellTimes(p.Start, p.End))
		}
	}
	if times == nil {
		return "", err
	}
	return "taken " + strings.Join(texts(few(times)), "; "), err
}

// merge adds the refusals of another event of the same change.
func (r *refusals) merge(other refusals) {
	r.shown = append(r.shown, other.shown...)
	r.addresses = append(r.addresses, other.addresses...)
	r.booked = append(r.booked, other.booked...)
}

// accepted leaves out the messages to rooms that declined.
func (r refusals) accepted(told []calendar.Told) []calendar.Told {
	return slices.DeleteFunc(slices.Clone(told), func(t calendar.Told) bool {
		a := schedule.AddressOf(t.To)
		return slices.Contains(r.addresses, a) && !slices.Contains(r.booked, a)
	})
}
