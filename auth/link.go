package auth

import (
	"context"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

// LinkID is the public half of a link's secret, in lower-case hexadecimal.
type LinkID string

// Link is what may be known of a secret address at which anybody reads a calendar without logging
// in: all but its secret.
type Link struct {
	ID LinkID
	// Name says to which person it was given, or is empty.
	Name         string
	Owner        calendar.User
	Calendar     calendar.CalendarID
	CalendarName string
	// Access is ReadAccess, or FreeBusyAccess for a link that tells only busy times.
	Access  calendar.Access
	Created time.Time
	// Expires, LastUsed and Revoked are zero for never.
	Expires, LastUsed, Revoked time.Time
	// Trashed tells that the calendar lies in the trash, where it cannot be read.
	Trashed bool
}

// Valid tells whether the link is good at a time.
func (l Link) Valid(at time.Time) bool {
	return l.Revoked.IsZero() && !l.Trashed && (l.Expires.IsZero() || at.Before(l.Expires))
}

// Caller returns the caller that a link stands for: the calendar's owner, as far as the link goes.
func (l Link) Caller() calendar.Caller {
	return calendar.Caller{
		User: l.Owner, Scopes: calendar.ScopeRead, Calendars: []calendar.CalendarID{l.Calendar}, Most: l.Access,
		Expires: l.Expires, Agent: "public link",
	}
}

// LinkSpec is what a new link is to be.
type LinkSpec struct {
	// Name says to which person it is given; it may be empty.
	Name   string
	Access calendar.Access
	// Expires is when it ends; zero for never.
	Expires time.Time
}

// LinkStore is the part of a [Store] that keeps links.
type LinkStore interface {
	// LinkByID returns a link with what its secret is checked against, also when it is revoked
	// or expired, or NotFound.
	LinkByID(ctx context.Context, id LinkID) (Link, SecretHash, error)
	// Links returns the links to a user's calendars, or to everybody's for an empty id, in the
	// order of user name, calendar name, time of creation and id.
	Links(ctx context.Context, owner calendar.UserID) ([]Link, error)
	// InsertLink makes a link. NotFound when the owner has no such calendar, or it lies in the
	// trash; only the ids of both are looked at.
	InsertLink(ctx context.Context, l Link, h SecretHash) error
	// RevokeLink ends a link at a time. NotFound when there is none; one that is revoked already
	// keeps its time.
	RevokeLink(ctx context.Context, id LinkID, at time.Time) error
	// TouchLink notes that a link was used, unless a later use is known. One that is gone is no
	// error.
	TouchLink(ctx context.Context, id LinkID, at time.Time) error
}

// CreateLink makes a link to a calendar of the caller's and returns its secret, which nobody can
// get again.
func (s *Service) CreateLink(ctx context.Context, c calendar.Caller, cal calendar.Calendar, spec LinkSpec) (Link, Secret, error) {
	if err := c.May(calendar.ShareCalendar, cal); err != nil {
		return Link{}, "", err
	}
	now := s.seconds()
	if err := spec.validate(now); err != nil {
		return Link{}, "", err
	}
	if err := s.roomForLink(ctx, c.User.ID, now); err != nil {
		return Link{}, "", err
	}
	raw := newRaw()
	id, hash := rawParts(raw)
	l := Link{
		ID: LinkID(id), Name: spec.Name, Owner: c.User, Calendar: cal.ID, CalendarName: cal.Name, Access: spec.Access,
		Created: now, Expires: spec.Expires.UTC().Truncate(time.Second),
	}
	if err := s.store.InsertLink(ctx, l, hash); err != nil {
		return Link{}, "", fmt.Errorf("creating the link: %w", err)
	}
	return l, Secret(encodeRaw(raw)), nil
}

// maxLinks is how many living links a user has to their calendars.
const maxLinks = 500

func (s *Service) roomForLink(ctx context.Context, owner calendar.UserID, now time.Time) error {
	all, err := s.store.Links(ctx, owner)
	if err != nil {
		return fmt.Errorf("listing links: %w", err)
	}
	if len(living(all, Link.Valid, now)) >= maxLinks {
		return invalid("there are %d links already; end some that are not needed", maxLinks)
	}
	return nil
}

func (spec LinkSpec) validate(now time.Time) error {
	if err := validateTitle("link's name", spec.Name); err != nil {
		return err
	}
	if spec.Access != calendar.ReadAccess && spec.Access != calendar.FreeBusyAccess {
		return invalid("a link is for reading, or for free and busy times")
	}
	if !spec.Expires.IsZero() && !spec.Expires.After(now) {
		return invalid("the link would have expired already")
	}
	return nil
}

// VerifyLink returns the link of a secret: ErrUnauthorized, whatever is wrong with it, or Unavailable. It asks
// the store each time, so that what is revoked ends at once in every process. Nobody is made to wait for
// guesses: there is nothing to guess in 32 random bytes, and any web page could make its readers' networks
// guess, for which their own links and logins would then wait.
func (s *Service) VerifyLink(ctx context.Context, secret string) (Link, error) {
	raw, ok := decodeRaw(secret)
	if !ok {
		return Link{}, ErrUnauthorized
	}
	id, hash := rawParts(raw)
	l, stored, err := s.store.LinkByID(ctx, LinkID(id))
	now := s.now()
	switch {
	case err != nil && calendar.ReasonOf(err) != calendar.NotFound:
		return Link{}, fmt.Errorf("looking up the link: %w", err)
	case err != nil || !hash.Is(stored) || !l.Valid(now) || l.Owner.Disabled:
		return Link{}, ErrUnauthorized
	}
	s.uses.note(used{link: l.ID}, now)
	return l, nil
}

// Links returns the links to a user's calendars, or everybody's for an empty name.
func (s *Service) Links(ctx context.Context, owner string) ([]Link, error) {
	of, err := s.idOf(ctx, owner)
	if err != nil {
		return nil, err
	}
	all, err := s.store.Links(ctx, of)
	return all, during("listing links", err)
}

// RevokeLink ends a link at once, in every process.
func (s *Service) RevokeLink(ctx context.Context, id LinkID) error {
	err := reworded(s.store.RevokeLink(ctx, id, s.seconds()), calendar.NotFound, "there is no link %q", shortened(string(id), maxTitle))
	return during("revoking the link", err)
}
