package query

import (
	"cmp"
	"context"
	"net/mail"
	"regexp"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
)

const (
	// metChanges is how many of a calendar's last changes are read for addresses, metObjects how many events in all
	// calendars, metCalendars how many calendars.
	metChanges   = 300
	metObjects   = 500
	metCalendars = 20
)

// withPeople finds the texts that name other people, without parsing them.
var withPeople = regexp.MustCompile(`(?i)\n(ATTENDEE|ORGANIZER)[;:]`)

// Met returns the organizers and attendees of events in the caller's own calendars, most frequent first: their
// addresses and names. It reads the events that changed last, so the cost does not grow with the calendars. Feeds and
// other users' calendars do not count, since their authors could list any address.
func (s *Queries) Met(ctx context.Context, c calendar.Caller, m *meter.Meter, limit int) ([]edit.Attendee, error) {
	all, err := s.Calendars(ctx, c)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(cal calendar.Calendar) bool {
		return cal.Owner != c.User.ID || c.May(calendar.ReadObjects, cal) != nil || cal.Subscribed() ||
			!cal.Kinds.Has(calendar.Event) || cal.Origin.Mirrors() && !cal.Origin.Writable
	})
	found, left := people{}, metObjects
	for _, cal := range all[:min(len(all), metCalendars)] {
		if left, err = s.met(ctx, c, m, cal, found, left); err != nil {
			return nil, err
		}
	}
	return found.list(limit), nil
}

// met adds the people of a calendar's latest events. It reads at most left events, and returns how many are left.
func (s *Queries) met(
	ctx context.Context, c calendar.Caller, m *meter.Meter, cal calendar.Calendar, found people, left int,
) (int, error) {
	latest := calendar.VersionRange{
		After: max(cal.Version-metChanges, 0), Until: cal.Version, Unbroken: cal.Version, // tombstones do not matter
	}
	var names []calendar.ObjectName
	for o, err := range s.changes(ctx, cal, latest) {
		if err != nil {
			return left, err
		}
		if !o.Deleted && o.Kind == calendar.Event && o.Size <= calendar.LargeObject {
			names = append(names, o.Name)
		}
	}
	names = names[max(len(names)-left, 0):]
	if len(names) == 0 {
		return left, nil
	}
	slices.Sort(names)
	for one, err := range s.objects(ctx, m, cal, calendar.ObjectQuery{Names: names, WithData: true}) {
		if err != nil {
			return left, err
		}
		left--
		if !withPeople.Match(one.Data) {
			continue
		}
		if err := found.read(m, c, cal, &one); err != nil {
			return left, err
		}
	}
	return left, nil
}

// people are the attendees that were found, by address in lower case.
type people map[string]*metPerson

type metPerson struct {
	edit.Attendee
	events int
}

// read adds the people of one event, each once.
func (p people) read(m *meter.Meter, c calendar.Caller, cal calendar.Calendar, one *candidate) error {
	if err := one.weigh(m); err != nil {
		return err
	}
	defer one.unload(m)
	read, err := one.content()
	if err != nil {
		return nil // an unreadable event names no one
	}
	counted := map[string]bool{}
	for _, event := range read.Components() {
		for _, a := range edit.PeopleOf(event) {
			at := strings.ToLower(a.Address)
			if lookup.IsOwn(c, cal, a.Address) || !isMail(a.Address) {
				continue
			}
			known := p[at]
			if known == nil {
				known = &metPerson{Attendee: edit.Attendee{Address: a.Address}}
				p[at] = known
			}
			known.Name = cmp.Or(known.Name, strings.TrimSpace(a.Name))
			if !counted[at] {
				counted[at] = true
				known.events++
			}
		}
	}
	return nil
}

// isMail reports whether an address can be invited by mail.
func isMail(address string) bool {
	parsed, err := mail.ParseAddress(address)
	return err == nil && parsed.Address == address
}

// list returns the people, most frequent first.
func (p people) list(limit int) []edit.Attendee {
	all := make([]*metPerson, 0, len(p))
	for _, one := range p {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *metPerson) int {
		return cmp.Or(cmp.Compare(b.events, a.events), cmp.Compare(a.Address, b.Address))
	})
	list := make([]edit.Attendee, min(len(all), limit))
	for i := range list {
		list[i] = all[i].Attendee
	}
	return list
}
