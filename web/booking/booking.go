// Package booking runs the booking pages: it offers an owner's free times to visitors, holds a chosen time until its
// visitor confirms it by mail, and books, moves and cancels it. It has no HTML. See
// docs/decisions/0126-booking-pages.md.
package booking

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/web/outside"
)

// Service runs the booking pages.
type Service struct {
	Calendars *service.Service
	Store     Store
	Mailer    Mailer
	// Root is the prefix of the addresses of pages and links.
	Root *url.URL
	// MCP is the address of the MCP server; nil if it is unknown.
	MCP    *url.URL
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
}

// Store is the part of the store that the pages need.
type Store interface {
	calendar.BookingPages
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
}

// Mailer sends mails from the server itself.
type Mailer interface {
	// Address returns a mail address in its usual form, or an error.
	Address(written string) (string, error)
	// Send sends a mail while its sender waits.
	Send(ctx context.Context, to, name, subject, text string, l *locale.Language) error
}

const (
	// pagesMost is the maximum number of pages of a user.
	pagesMost = 20
	// holdLasts is how long a hold waits for its confirmation, holdGrace how much later its event is deleted: another
	// process may have a slower clock.
	holdLasts, holdGrace = 15 * time.Minute, time.Minute
	// movesMost is how often a visitor may move a booking, because each move sends mails.
	movesMost = 10
	// readsMost limits the attempts at a booking while other changes of the calendars commit first.
	readsMost = 20
	// refreshTime limits the wait for linked calendars.
	refreshTime = 20 * time.Second
	// longestName limits a visitor's name, in characters.
	longestName = 100
)

// limits limit the holds of a page. A visitor who cannot confirm, because a mail is late, needs a few.
var limits = calendar.HoldLimits{Waiting: 100, Daily: 300, Address: 5, Network: 20}

// The errors for visitors.
var (
	// ErrMissing is the error for every page and link that a visitor may not open, for any reason.
	ErrMissing = errors.New("there is no such booking page")
	// ErrTaken is the error for a time that is not offered (any more).
	ErrTaken = errors.New("this time is not free")
	// ErrExpired is the error for a hold that was not confirmed in time.
	ErrExpired = errors.New("this hold has expired")
	// ErrLimit is the error for too many holds or moves.
	ErrLimit = errors.New("too many times were chosen")
	// ErrPace is the error for too many requests of a network.
	ErrPace = errors.New("too many requests")
	// ErrUnread is the error if a calendar cannot be checked, so that nothing can be confirmed: a linked one cannot be
	// refreshed, or others keep changing it.
	ErrUnread = errors.New("a calendar cannot be checked")
	// ErrUnwritten is the error if a linked calendar does not take the booking.
	ErrUnwritten = errors.New("a linked calendar does not take the booking")
	// ErrUnsent is the error if the mail with the link cannot be sent.
	ErrUnsent = errors.New("the mail was not sent")
	// ErrTerms is the error if a page has changed before a user agreed to it.
	ErrTerms = errors.New("the page has changed")
	// ErrAddress, ErrName and ErrAnswer are the errors for a visitor's form.
	ErrAddress = errors.New("this is no mail address of a visitor")
	ErrName    = errors.New("the name is missing or too long")
	ErrAnswer  = errors.New("an answer is missing or too long")
)

// View is a page as visitors see it.
type View struct {
	calendar.BookingPage
	rules.Settings
	Owner calendar.User
	// People are the others whom the page names.
	People []Person
	// InRoom is the room that is invited, if the page has one.
	InRoom calendar.User
	// Zone is the owner's.
	Zone *zone.Zone
}

// Place returns the location, else the room.
func (v View) Place() string {
	if v.Location == "" && v.Room != "" {
		return v.InRoom.Title()
	}
	return v.Location
}

// has reports whether the page has a length.
func (v View) has(minutes int) bool { return slices.Contains(v.Minutes, minutes) }

// callerOf returns a user as the caller of the service.
func callerOf(u calendar.User) calendar.Caller {
	return calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "booking page"}
}

// view reads a page and its owner.
func (s *Service) view(ctx context.Context, p calendar.BookingPage) (v View, err error) {
	v.BookingPage = p
	if v.Settings, err = rules.Decode(p.Settings); err != nil {
		return v, err
	}
	if v.Owner, err = s.Store.UserByID(ctx, p.Owner); err != nil {
		return v, err
	}
	if v.People, err = s.people(ctx, v); err != nil {
		return v, err
	}
	if v.Room != "" {
		v.InRoom, err = s.Store.UserByID(ctx, calendar.UserID(v.Room))
		if err != nil && calendar.ReasonOf(err) != calendar.NotFound { // without its room, a page has no times
			return v, err
		}
	}
	if v.Zone, err = zone.Lookup(v.Owner.Timezone); err != nil {
		v.Zone = zone.UTC()
	}
	return v, nil
}

// Open returns a page for a visitor, who may be signed in. It is the same error for a page that does not exist, is
// switched off, or is for users only.
func (s *Service) Open(ctx context.Context, name string, signedIn bool) (View, error) {
	p, err := s.Store.BookingPageNamed(ctx, name)
	if calendar.ReasonOf(err) == calendar.NotFound {
		return View{}, ErrMissing
	}
	if err != nil {
		return View{}, err
	}
	return s.opened(ctx, p, signedIn)
}

// opened returns a page if it is switched on.
func (s *Service) opened(ctx context.Context, p calendar.BookingPage, signedIn bool) (View, error) {
	v, err := s.view(ctx, p)
	if err == nil && (!p.On || !v.Owner.GetsIn() || v.Access == rules.Users && !signedIn) {
		err = ErrMissing
	}
	return v, err
}

// keeping finds the calendars of hosts and rooms.
type keeping struct{ *service.Service }

func (s *Service) keeping() keeping { return keeping{s.Calendars} }

// counted returns the owner as a host. The calendar for bookings always counts; if it is linked, also the one for
// invitations, which has the holds.
func (k keeping) counted(ctx context.Context, v View) (h host, err error) {
	h.User = v.Owner
	linked := false
	h.read, h.target, err = k.chosen(ctx, v.Owner, func(cal calendar.Calendar) (counts, gets bool) {
		counts = !cal.Transparent
		if v.Busy != nil {
			counts = slices.Contains(v.Busy, string(cal.ID))
		}
		gets = string(cal.ID) == v.Calendar && Bookable(cal)
		linked = linked || gets && cal.Origin.Mirrors()
		return counts, gets
	})
	if err != nil || !linked {
		return h, err
	}
	said, err := k.Scheduling(ctx, callerOf(v.Owner))
	if err != nil {
		return h, err
	}
	if said.Default == "" || v.Room != "" || v.Together == rules.AllOfUs {
		return h, ErrMissing
	}
	h.final = h.target
	h.target, err = k.Calendar(ctx, callerOf(v.Owner), said.Default)
	if !slices.ContainsFunc(h.read, func(cal calendar.Calendar) bool { return cal.ID == said.Default }) {
		h.read = append(h.read, h.target)
	}
	return h, err
}

// chosen returns a user's calendars that count as busy, and the one that gets the bookings.
func (k keeping) chosen(
	ctx context.Context, u calendar.User, by func(calendar.Calendar) (counts, gets bool),
) (all []calendar.Calendar, target calendar.Calendar, err error) {
	own, err := k.Calendars(ctx, callerOf(u))
	if err != nil {
		return nil, target, err
	}
	for _, cal := range own {
		counts, gets := by(cal)
		if gets {
			target = cal
		}
		if counts || gets {
			all = append(all, cal)
		}
	}
	if target.ID == "" {
		return nil, target, ErrMissing
	}
	return all, target, nil
}

// Bookable reports whether a calendar can get bookings: an own one for events that can be written.
func Bookable(cal calendar.Calendar) bool {
	linked := cal.Access == calendar.OwnerAccess && cal.Kinds.Has(calendar.Event) && cal.Origin.Writable
	return outside.Takes(cal) || cal.Origin.Mirrors() && linked
}

// Budget is the name of a page's budget. Requests of strangers are charged to it and not to the owner, whose own
// requests would wait for them.
func Budget(id calendar.BookingPageID) string { return "booking page " + string(id) }

func (s *Service) meter(ctx context.Context, v View) *meter.Meter {
	return s.Calendars.MeterOf(ctx, Budget(v.ID))
}

// newUID returns the UID of a hold's event.
func newUID(newID func() string) calendar.UID {
	return calendar.UID("booking." + newID() + "@caldav-server")
}

// hashed returns the stored hash of a token.
func hashed(token string) []byte {
	sum := sha256.Sum256([]byte("booking " + token))
	return sum[:]
}

func length(text string) int { return utf8.RuneCountInString(text) }

// nameForm is the form of a page's name in its address.
var nameForm = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{1,38})[a-z0-9]$`)
