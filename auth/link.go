package auth

import (
	"context"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

// LinkID is the public half of a link's secret, in lower-case hexadecimal.
type LinkID string

// Link is a secret address for reading a calendar without signing in. This type has everything but the secret.
type Link struct {
	ID LinkID
	// Name says who got the link; it may be empty.
	Name         string
	Owner        calendar.User
	Calendar     calendar.CalendarID
	CalendarName string
	// Access is ReadAccess, or FreeBusyAccess for a link that shows only busy times.
	Access calendar.Access
	// Embed is set if other sites may show the link's page in a frame.
	Embed   bool
	Created time.Time
	// Expires, LastUsed and Revoked are zero for never.
	Expires, LastUsed, Revoked time.Time
	// Trashed is set while the calendar is in the trash and cannot be read.
	Trashed bool
}

// Valid reports whether the link works at the given time.
func (l Link) Valid(at time.Time) bool {
	return l.Revoked.IsZero() && !l.Trashed && (l.Expires.IsZero() || at.Before(l.Expires))
}

// Caller returns the caller that a link stands for: the calendar's owner, restricted to the link's access.
func (l Link) Caller() calendar.Caller {
	return calendar.Caller{
		User: l.Owner, Scopes: calendar.ScopeRead, Calendars: []calendar.CalendarID{l.Calendar}, Most: l.Access,
		Expires: l.Expires, Agent: "public link",
	}
}

// LinkSpec describes a new link.
type LinkSpec struct {
	// Name says who gets the link; it may be empty.
	Name   string
	Access calendar.Access
	// Embed lets other sites show the link's page in a frame.
	Embed bool
	// Expires is zero for a link that never expires.
	Expires time.Time
}

// LinkStore is the part of a [Store] that keeps links.
type LinkStore interface {
	// LinkByID returns a link and the hash of its secret, even if it is revoked or expired, or NotFound.
	LinkByID(ctx context.Context, id LinkID) (Link, SecretHash, error)
	// Links returns the links to a user's calendars, or all links for an empty id, ordered by user name, calendar name,
	// time of creation and id.
	Links(ctx context.Context, owner calendar.UserID) ([]Link, error)
	// InsertLink adds a link. NotFound when the owner has no such calendar or it is in the trash. It looks only at the
	// ids of both.
	InsertLink(ctx context.Context, l Link, h SecretHash) error
	// RevokeLink revokes a link. NotFound when there is none; a link that is revoked already keeps its time.
	RevokeLink(ctx context.Context, id LinkID, at time.Time) error
	// EmbedLink sets whether other sites may show the link's page in a frame. NotFound when there is no such link.
	EmbedLink(ctx context.Context, id LinkID, embed bool) error
	// TouchLink records a use, unless a later one is recorded. A missing link is no error.
	TouchLink(ctx context.Context, id LinkID, at time.Time) error
}

// CreateLink creates a link to one of the caller's calendars and returns its secret, which cannot be read again.
func (s *TokenIssuer) CreateLink(ctx context.Context, c calendar.Caller, cal calendar.Calendar,
	spec LinkSpec,
) (Link, Secret, error) {
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
		Embed: spec.Embed, Created: now, Expires: spec.Expires.UTC().Truncate(time.Second),
	}
	if err := s.store.InsertLink(ctx, l, hash); err != nil {
		return Link{}, "", fmt.Errorf("creating the link: %w", err)
	}
	return l, Secret(encodeRaw(raw)), nil
}

// maxLinks limits a user's valid links.
const maxLinks = 500

func (s *TokenIssuer) roomForLink(ctx context.Context, owner calendar.UserID, now time.Time) error {
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
	if err := validateTitle(spec.Name); err != nil {
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

// VerifyLink returns the link of a secret. The error is ErrUnauthorized for any fault of the link, or Unavailable. It
// reads the store on every call, so a revocation takes effect at once in every process. It does not throttle: 32 random
// bytes cannot be guessed. Any web page could make its visitors send wrong links, and throttling would then lock their
// networks out of their own links and logins.
func (s *TokenIssuer) VerifyLink(ctx context.Context, secret string) (Link, error) {
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
	s.verifier.uses.note(used{link: l.ID}, now)
	return l, nil
}

// Links returns the links to a user's calendars, or all links for an empty name.
func (s *TokenIssuer) Links(ctx context.Context, owner string) ([]Link, error) {
	of, err := s.directory.idOf(ctx, owner)
	if err != nil {
		return nil, err
	}
	all, err := s.store.Links(ctx, of)
	return all, during("listing links", err)
}

// RevokeLink revokes a link at once, in every process.
func (s *TokenIssuer) RevokeLink(ctx context.Context, id LinkID) error {
	err := reworded(s.store.RevokeLink(ctx, id, s.seconds()), calendar.NotFound, "there is no link %q",
		shortened(string(id), maxTitle))
	return during("revoking the link", err)
}

// EmbedLink sets whether other sites may show the page of a link in a frame.
func (s *TokenIssuer) EmbedLink(ctx context.Context, id LinkID, embed bool) error {
	err := reworded(s.store.EmbedLink(ctx, id, embed), calendar.NotFound, "there is no link %q",
		shortened(string(id), maxTitle))
	return during("changing the link", err)
}
