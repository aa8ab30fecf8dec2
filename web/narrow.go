package web

import (
	"slices"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// narrowContent is the data of the page that reduces an app's rights.
type narrowContent struct {
	ID   calendar.TokenID
	Name string
	// Scopes and Calendars are the app's present rights; ticked ones stay.
	Scopes, Calendars []choice
	// Bound is set if the app is restricted to certain calendars already.
	Bound bool
}

// narrowPages reduce the rights of an app.
type narrowPages struct{ *pageRequest }

// ownApp returns the app that the path names. Another user's app and an ended one are not found.
func (p narrowPages) ownApp() (auth.Token, error) {
	id := calendar.TokenID(p.r.PathValue("token"))
	tokens, err := p.Auth.Tokens(p.r.Context(), p.user().Name)
	if err != nil {
		return auth.Token{}, err
	}
	i := slices.IndexFunc(tokens, func(t auth.Token) bool { return t.ID == id && t.Revoked.IsZero() })
	if i < 0 {
		return auth.Token{}, errMissing()
	}
	return tokens[i], nil
}

func (p narrowPages) narrowForm() (narrowContent, error) {
	t, err := p.ownApp()
	if err != nil {
		return narrowContent{}, err
	}
	return p.narrowContent(t, t.Scopes, t.Calendars)
}

// narrowContent lists an app's rights, with the ones to keep ticked.
func (p narrowPages) narrowContent(t auth.Token, scopes calendar.Scope,
	keep []calendar.CalendarID,
) (narrowContent, error) {
	c := narrowContent{ID: t.ID, Name: excerpt(t.Name), Bound: t.Calendars != nil}
	for _, name := range auth.ScopeNames(t.Scopes) {
		scope, err := auth.ParseScopes(name)
		if err != nil {
			return c, err
		}
		c.Scopes = append(c.Scopes, choice{name, mayDo(scope), scopes&scope != 0})
	}
	all, err := p.Service.CalendarsInHome(p.r.Context(), p.caller())
	for _, cal := range all {
		if t.Calendars == nil || slices.Contains(t.Calendars, cal.ID) {
			c.Calendars = append(c.Calendars, choice{string(cal.ID), calendarName(cal), slices.Contains(keep, cal.ID)})
		}
	}
	return c, err
}

// narrowApp removes the unticked rights of an app. It needs no new proof of identity, since it grants nothing.
func (p narrowPages) narrowApp() error {
	t, err := p.ownApp()
	if err != nil {
		return err
	}
	var scopes calendar.Scope
	if names := p.r.PostForm["scope"]; len(names) > 0 {
		if scopes, err = auth.ParseScopes(strings.Join(names, ",")); err != nil {
			return err
		}
	}
	// For an app with all calendars, no tick means all.
	keep, err := p.ticked(t)
	if err == nil {
		err = p.Auth.NarrowToken(p.r.Context(), t.ID, scopes, keep)
	}
	if err == nil {
		return p.done("apps", "app-narrowed")
	}
	content, failed := p.narrowContent(t, scopes, keep)
	if failed != nil {
		return failed
	}
	return p.again("narrow", content, err)
}

// ticked returns the calendars that an app keeps, among the calendars that the visitor sees; nil if it keeps all.
func (p narrowPages) ticked(t auth.Token) ([]calendar.CalendarID, error) {
	ids := p.r.PostForm["calendar"]
	if len(ids) == 0 && t.Calendars == nil {
		return nil, nil
	}
	keep := make([]calendar.CalendarID, 0, len(ids))
	for _, id := range ids {
		cal, err := p.Service.Calendar(p.r.Context(), p.caller(), calendar.CalendarID(id))
		if err != nil {
			return nil, err
		}
		keep = append(keep, cal.ID)
	}
	return keep, nil
}
