package lookup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// mostActors limits the tokens that an error lists.
const mostActors = 10

// TokenNamed returns the token with an ID or a name. It considers the caller's own token, and the tokens that
// changed calendars whose changes the caller may see. So its error reveals no other tokens.
func (s *Reader) TokenNamed(ctx context.Context, c calendar.Caller, name string) (calendar.TokenID, error) {
	known := []calendar.Actor{{Token: c.Token, Agent: c.Agent}}
	all, err := s.Journals(ctx, c)
	if err != nil {
		return "", err
	}
	for _, j := range all {
		if c.May(calendar.ReadJournal, j.Calendar) != nil {
			continue
		}
		user := c.User.ID
		if j.Access == calendar.OwnerAccess {
			user = ""
		}
		found, err := s.store.Actors(ctx, j.ID, user)
		if err != nil {
			return "", err
		}
		known = append(known, found...)
	}
	var named []calendar.TokenID
	for _, a := range known {
		if string(a.Token) == name && name != "" {
			return a.Token, nil
		}
		if strings.EqualFold(a.Agent, name) && a.Agent != "" && !slices.Contains(named, a.Token) {
			named = append(named, a.Token)
		}
	}
	if len(named) == 1 {
		return named[0], nil
	}
	return "", errToken(name, named, known)
}

// errToken returns an error that lists the known tokens.
func errToken(name string, named []calendar.TokenID, known []calendar.Actor) error {
	var list []string
	seen := map[calendar.TokenID]bool{"": true}
	for _, a := range known {
		if !seen[a.Token] && (named == nil || slices.Contains(named, a.Token)) && len(list) < mostActors {
			seen[a.Token] = true
			list = append(list, fmt.Sprintf("%.80q (%s)", a.Agent, a.Token))
		}
	}
	e := calendar.Errorf(calendar.NotFound, "",
		"no token called %.80q has changed anything in the calendars whose changes you may see; known tokens are %s",
		name, strings.Join(list, ", "))
	if named != nil {
		e = calendar.Errorf(calendar.Invalid, "", "several tokens are called %.80q: %s", name, strings.Join(list, ", "))
	}
	e.Hint = "give the id in parentheses, or own for the token in use"
	return e
}
