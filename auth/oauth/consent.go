package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// codeForm is the form of authorization codes.
const codeForm auth.Form = "mcpc_"

// Choice is the access that a user grants.
type Choice struct {
	Scopes calendar.Scope
	// Calendars restricts the client to some calendars; nil means all of the user's.
	Calendars []calendar.CalendarID
	// Rights limits the client in each calendar. To propose somewhere, it needs ScopePropose.
	Rights calendar.Rights
	// ForOthers allows the client to use the calendars of users who made this user their delegate.
	ForOthers bool
	// Expires is the end of the grant; zero for a grant that lasts until the user revokes it.
	Expires time.Time
}

// Approve records the access that the user grants and returns the redirect with the code.
func (s *Service) Approve(ctx context.Context, r Request, user calendar.UserID, c Choice) (string, error) {
	now := s.seconds()
	switch {
	case c.Scopes == 0 || c.Scopes&^calendar.ScopeEvery != 0:
		return "", calendar.Errorf(calendar.Invalid, "", "choose at least one thing that the program may do")
	case c.Calendars != nil && len(c.Calendars) == 0:
		return "", calendar.Errorf(calendar.Invalid, "", "choose at least one calendar, or all")
	case c.Rights.Has(calendar.RightPropose) && c.Scopes&calendar.ScopePropose == 0:
		return "", calendar.Errorf(calendar.Invalid, "", "to let it propose changes in a calendar, also tick that it "+
			"may propose changes")
	case c.Calendars != nil && c.ForOthers:
		return "", calendar.Errorf(calendar.Invalid, "", "the calendars of people who made you their delegate can be "+
			"allowed only together with all of yours")
	case !c.Expires.IsZero() && !c.Expires.After(now):
		return "", calendar.Errorf(calendar.Invalid, "", "this access would have ended already: choose a later end")
	}
	id, digest, code := codeForm.New()
	err := s.store.InsertOffer(ctx, Offer{
		ID: id, Digest: digest, Client: r.Client.ID, User: user, Redirect: r.Redirect, Challenge: r.challenge,
		Resource: r.resource,
		Name:     r.Client.title(r.Redirect), Scopes: c.Scopes, Calendars: slices.Clone(c.Calendars),
		Rights: c.Rights, ForOthers: c.ForOthers,
		GrantExpires: c.Expires.UTC().Truncate(time.Second),
		Expires:      now.Add(codeAge),
	}, now.Add(-codeKept))
	if err != nil {
		return "", fmt.Errorf("storing the grant: %w", err)
	}
	s.log.InfoContext(ctx, "a user let a client in", "client", r.Client.ID, "user", user, "scopes",
		auth.ScopeList(c.Scopes))
	return r.answer(url.Values{"code": {string(code)}}), nil
}
