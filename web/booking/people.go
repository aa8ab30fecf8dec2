package booking

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/web/outside"
)

// Person is a user whom a page names in addition to its owner.
type Person struct {
	calendar.User
	Answer calendar.BookingAnswer
}

// usable reports whether the page may use the person's times.
func (p Person) usable() bool { return p.Answer == calendar.Agreed && p.GetsIn() && p.Email != "" }

// people reads the people of a page.
func (s *Service) people(ctx context.Context, v View) (list []Person, err error) {
	if v.Together == rules.Alone {
		return nil, nil
	}
	named, err := s.Store.BookingPeople(ctx, v.ID)
	if err != nil {
		return nil, err
	}
	for _, one := range named {
		u, err := s.Store.UserByID(ctx, one.User)
		if err != nil {
			return nil, err
		}
		list = append(list, Person{u, one.Answer})
	}
	return list, nil
}

// Hosts returns the users who meet visitors; none if all must agree and one has not.
func (v View) Hosts() []calendar.User {
	list := []calendar.User{v.Owner}
	for _, p := range v.People {
		switch {
		case p.usable():
			list = append(list, p.User)
		case v.Together == rules.AllOfUs:
			return nil
		}
	}
	return list
}

// With names the people whom a visitor meets. If one of several does, that is not known yet.
func (v View) With() string {
	if v.Together != rules.AllOfUs {
		return v.Owner.Title()
	}
	return strings.Join(v.names(), ", ")
}

// names are the names of the hosts.
func (v View) names() (list []string) {
	for _, u := range v.Hosts() {
		list = append(list, u.Title())
	}
	return list
}

// others are the attendees of a booking in addition to the visitor: the room, and the people of an event for all.
func (v View) others() (list []edit.Attendee) {
	if v.Room != "" {
		list = append(list, edit.Attendee{Address: v.InRoom.Email, Name: v.InRoom.Title()})
	}
	for _, p := range v.People {
		if v.Together == rules.AllOfUs {
			list = append(list, edit.Attendee{Address: p.Email, Name: p.Title()})
		}
	}
	return list
}

// keeper returns the host of a new hold.
func (v View) keeper(h calendar.Hold) calendar.User {
	for _, p := range v.People {
		if p.ID == h.Host {
			return p.User
		}
	}
	return v.Owner
}

// host is a user who meets visitors.
type host struct {
	calendar.User
	// read are the calendars that count, target is the one that gets the bookings.
	read   []calendar.Calendar
	target calendar.Calendar
	// final is the linked calendar that gets the bookings. Target then has their holds.
	final calendar.Calendar
}

// id returns the host of a hold.
func (h host) id(v View) calendar.UserID {
	if h.ID == v.Owner.ID {
		return ""
	}
	return h.ID
}

// hosts returns the hosts with their calendars: all, or only one. A person without a calendar for invitations is none.
// The owner's are always read.
func (k keeping) hosts(ctx context.Context, v View, only calendar.UserID) (list []host, owner host, err error) {
	if owner, err = k.counted(ctx, v); err != nil {
		return nil, owner, err
	}
	for _, u := range v.Hosts() {
		h := host{User: u}
		switch {
		case only != "" && only != u.ID:
			continue
		case u.ID == v.Owner.ID:
			h = owner
		default:
			h.read, h.target, err = k.invited(ctx, u)
		}
		switch {
		case errors.Is(err, ErrMissing) && v.Together == rules.AllOfUs:
			return nil, owner, nil
		case errors.Is(err, ErrMissing):
			continue
		case err != nil:
			return nil, owner, err
		}
		list = append(list, h)
	}
	return list, owner, nil
}

// invited returns the calendars of a page's person that count as busy, and the one that gets invitations.
func (k keeping) invited(
	ctx context.Context, u calendar.User,
) (all []calendar.Calendar, target calendar.Calendar, err error) {
	said, err := k.Scheduling(ctx, callerOf(u))
	if err != nil {
		return nil, target, err
	}
	return k.chosen(ctx, u, func(cal calendar.Calendar) (counts, gets bool) {
		return !cal.Transparent, cal.ID == said.Default
	})
}

// fairDays is how long before and after today bookings are counted for a fair choice.
const fairDays = 30

// fairest chooses one of some hosts: the one with the fewest bookings and holds of the page in the days around today,
// of several the first in the page's list.
func (now *state) fairest(v View, free []int, today time.Time) host {
	counts := map[calendar.UserID]int{}
	for _, h := range now.holds {
		if d := h.Start.Sub(today); h.Page == v.ID && !h.Gone && d.Abs() <= fairDays*24*time.Hour {
			counts[h.Host]++
		}
	}
	return now.hosts[slices.MinFunc(free, func(a, b int) int {
		return counts[now.hosts[a].id(v)] - counts[now.hosts[b].id(v)]
	})]
}

// rehome gives an open hold to another host, because the first one is not free any more.
func (a attempt) rehome(ctx context.Context, v View, to host) error {
	description := a.descriptionOf(ctx)
	left, next := a.b.Hold, a.b.Hold
	left.ID, left.Token, left.State = calendar.HoldID(a.NewID()), hashed(outside.NewToken()), calendar.Ended
	left.Created, left.Expires = time.Unix(0, 0).UTC(), a.Now() // it counts for no limit
	next.Host, next.Calendar, next.UID = to.id(v), to.target.ID, newUID(a.NewID)
	if err := a.Store.RehomeHold(ctx, next, left); err != nil {
		return err
	}
	a.b.Hold, a.b.Keeper = next, to.User
	if err := a.place(ctx, v, to, next, description); err != nil {
		return err
	}
	a.drop(ctx, v, left)
	return nil
}

// descriptionOf returns the description of a hold's event, which has the visitor's answers.
func (a attempt) descriptionOf(ctx context.Context) string {
	read, _, err := a.event(ctx)
	if err != nil {
		return "" // its owner has deleted it
	}
	return content.TextOf(read.Main(), "DESCRIPTION")
}

// Named finds the users in an owner's list of names and mail addresses. The error is a [*rules.Error].
func (s *Service) Named(ctx context.Context, owner calendar.User, text string) (list []Person, err error) {
	names := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\r\n,;", r) })
	names = slices.DeleteFunc(names, func(name string) bool { return strings.TrimSpace(name) == "" })
	if len(names) > rules.MostPeople {
		return nil, &rules.Error{Field: "people", Most: rules.MostPeople}
	}
	found, err := s.Calendars.PeopleAt(ctx, callerOf(owner), names)
	if err != nil {
		return nil, err
	}
	for i, users := range found {
		if len(users) != 1 || users[0].ID == owner.ID || !users[0].GetsIn() || users[0].Email == "" {
			return nil, &rules.Error{Field: "people", Text: strings.TrimSpace(names[i])}
		}
		if !slices.ContainsFunc(list, func(p Person) bool { return p.ID == users[0].ID }) {
			list = append(list, Person{User: users[0]})
		}
	}
	return list, nil
}

// ask mails the people of a page who have not answered and were not asked before.
func (s *Service) ask(ctx context.Context, v View, before []calendar.BookingPerson) error {
	now, err := s.Store.BookingPeople(ctx, v.ID)
	if err != nil {
		return err
	}
	for _, one := range now {
		i := slices.IndexFunc(before, func(p calendar.BookingPerson) bool { return p.User == one.User })
		if one.Answer != calendar.NotAnswered || i >= 0 && before[i].Answer == calendar.NotAnswered {
			continue
		}
		u, err := s.Store.UserByID(ctx, one.User)
		if err == nil {
			err = s.askOne(ctx, v, u)
		}
		if err != nil { // the page of the person's booking pages asks too
			s.Logger.WarnContext(ctx, "a person of a booking page got no mail", "error", err)
		}
	}
	return nil
}

func (s *Service) askOne(ctx context.Context, v View, u calendar.User) error {
	if blocked, err := s.keeping().blocks(ctx, u, v.Owner.ID); err != nil || blocked {
		return err
	}
	l := languageOf(u)
	text := l.Text("mail.booking.asked", "owner", v.Owner.Title(), "title", v.Title) + "\n\n" +
		l.Text(TermsText(v)) + "\n\n" + l.Text("mail.booking.answer") + "\n" +
		s.Root.JoinPath("..", "account", "booking").String() + "\n"
	return s.Mailer.Send(context.WithoutCancel(ctx), u.Email, u.Title(),
		l.Text("mail.booking.asked-subject", "owner", v.Owner.Title()), text, l)
}

// blocks reports whether a user has blocked another one.
func (k keeping) blocks(ctx context.Context, u calendar.User, by calendar.UserID) (bool, error) {
	all, err := k.Blocked(ctx, callerOf(u))
	return slices.ContainsFunc(all, func(b calendar.User) bool { return b.ID == by }), err
}

// TermsText is the id of the text of the terms for a person.
func TermsText(v View) string {
	if v.Together == rules.AllOfUs {
		return "booking.terms-all"
	}
	return "booking.terms-any"
}

// terms are the settings that a person agrees to. If they change, the person is asked again.
func (v View) terms() string { return string(v.Access) + " " + string(v.Together) }

// Inclusion is another user's page that names a user.
type Inclusion struct {
	View
	Answer calendar.BookingAnswer
	// Terms name the settings that the agreement is for.
	Terms string
}

// Included lists the pages of others that name a user, except of users whom the user has blocked.
func (s *Service) Included(ctx context.Context, u calendar.User) (list []Inclusion, err error) {
	all, err := s.Store.BookingPagesWith(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		blocked, err := s.keeping().blocks(ctx, u, r.Page.Owner)
		if err != nil {
			return nil, err
		}
		if blocked && r.Answer != calendar.Agreed {
			continue
		}
		v, err := s.view(ctx, r.Page)
		if err != nil {
			return nil, err
		}
		list = append(list, Inclusion{v, r.Answer, v.terms()})
	}
	return list, nil
}

// Answer stores a user's answer to a page that names them. Agreement counts only for the terms that the user has seen.
func (s *Service) Answer(
	ctx context.Context, u calendar.User, id calendar.BookingPageID, terms string, agrees bool,
) error {
	all, err := s.Included(ctx, u)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(one Inclusion) bool { return one.ID == id })
	if i < 0 {
		return ErrMissing
	}
	answer := calendar.Refused
	if agrees {
		if answer = calendar.Agreed; terms != all[i].Terms {
			return ErrTerms
		}
		if u.Email == "" {
			return &rules.Error{Field: "email"}
		}
	}
	err = s.Store.AnswerBookingPage(ctx, all[i].BookingPage, u.ID, answer)
	if calendar.ReasonOf(err) == calendar.NotFound {
		return ErrTerms
	}
	return err
}
