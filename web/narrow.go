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

// ownApp returns the app that the path names. Another user's app and an ended one are not found.
func (v *visit) ownApp() (auth.Token, error) {
	id := calendar.TokenID(v.r.PathValue("token"))
	tokens, err := v.Auth.Tokens(v.r.Context(), v.user().Name)
	if err != nil {
		return auth.Token{}, err
	}
	i := slices.IndexFunc(tokens, func(t auth.Token) bool { return t.ID == id && t.Revoked.IsZero() })
	if i < 0 {
		return auth.Token{}, errMissing()
	}
	return tokens[i], nil
}

func (v *visit) narrowForm() (narrowContent, error) {
	t, err := v.ownApp()
	if err != nil {
		return narrowContent{}, err
	}
	return v.narrowContent(t, t.Scopes, t.Calendars)
}

// narrowContent lists an app's rights, with the ones to keep ticked.
func (v *visit) narrowContent(t auth.Token, scopes calendar.Scope, keep []calendar.CalendarID) (narrowContent, error) {
	c := narrowContent{ID: t.ID, Name: excerpt(t.Name), Bound: t.Calendars != nil}
	for _, name := range auth.ScopeNames(t.Scopes) {
		scope, err := auth.ParseScopes(name)
		if err != nil {
			return c, err
		}
		c.Scopes = append(c.Scopes, choice{name, mayDo(scope), scopes&scope != 0})
	}
	all, err := v.Service.CalendarsInHome(v.r.Context(), v.caller())
	for _, cal := range all {
		if t.Calendars == nil || slices.Contains(t.Calendars, cal.ID) {
			c.Calendars = append(c.Calendars, choice{string(cal.ID), calendarName(cal), slices.Contains(keep, cal.ID)})
		}
	}
	return c, err
}

// narrowApp removes the unticked rights of an app. It needs no new proof of identity, since it grants nothing.
func (v *visit) narrowApp() error {
	t, err := v.ownApp()
	if err != nil {
		return err
	}
	var scopes calendar.Scope
	if names := v.r.PostForm["scope"]; len(names) > 0 {
		if scopes, err = auth.ParseScopes(strings.Join(names, ",")); err != nil {
			return err
		}
	}
	// For an app with all calendars, no tick means all.
	keep, err := v.ticked(t)
	if err == nil {
		err = v.Auth.NarrowToken(v.r.Context(), t.ID, scopes, keep)
	}
	if err == nil {
		return v.done("apps", "app-narrowed")
	}
	return showAgain(v, "narrow", func(v *visit) (narrowContent, error) { return v.narrowContent(t, scopes, keep) }, err)
}

// ticked returns the calendars that an app keeps, among the calendars that the visitor sees; nil if it keeps all.
func (v *visit) ticked(t auth.Token) ([]calendar.CalendarID, error) {
	ids := v.r.PostForm["calendar"]
	if len(ids) == 0 && t.Calendars == nil {
		return nil, nil
	}
	keep := make([]calendar.CalendarID, 0, len(ids))
	for _, id := range ids {
		cal, err := v.Service.Calendar(v.r.Context(), v.caller(), calendar.CalendarID(id))
		if err != nil {
			return nil, err
		}
		keep = append(keep, cal.ID)
	}
	return keep, nil
}
