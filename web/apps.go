package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

func (h *Handler) appPages() []page {
	return []page{
		get("apps", people, showing("apps", (*visit).apps)),
		get("apps/new", proven, showing("app", (*visit).appForm)),
		post("apps/new", proven, (*visit).createApp),
		get("apps/{token}/narrow", people, showing("narrow", (*visit).narrowForm)),
		post("apps/{token}/narrow", people, (*visit).narrowApp),
		postBack("apps/{token}/revoke", people, "apps", (*visit).revokeApp),
		get("apps/{token}/made", people, showing("made", (*visit).madeByApp)),
		postBack("apps/{token}/made", people, "apps", (*visit).unmake),
	}
}

// scopes returns the scopes that the visitor can grant. The mail scope is included if they have linked a mail account.
func (v *visit) scopes() calendar.Scope {
	if _, err := v.Service.Mirrors.AccountOf(v.r.Context(), v.user().ID, "gmail"); err != nil {
		return calendar.ScopeAll // on an error, the mail scope is not offered
	}
	return calendar.ScopeEvery
}

// app is a program or an assistant with access to the visitor's account.
type app struct {
	ID   calendar.TokenID
	Name string
	// May describes its scopes, On its calendars; empty means all.
	May, On                string
	Tools                  []calendar.ToolName
	Created, Used, Expires string
	// Ended is set after revocation. A revoked app stays listed while Made is not 0.
	Expired, Ended bool
	// Made counts the webhooks, shares and linked accounts that it created.
	Made int
}

// scopeWords describe each scope to people.
var scopeWords = map[string]string{"read": "read", "write": "change", "delete": "delete", "share": "share", "mail": "read mail"}

// mayDo describes a set of scopes to people.
func mayDo(set calendar.Scope) string {
	var words []string
	for _, name := range auth.ScopeNames(set) {
		words = append(words, cmp.Or(scopeWords[name], name))
	}
	return strings.Join(words, ", ")
}

// apps returns the active and expired apps, and the revoked ones with Made.
func (v *visit) apps() ([]app, error) {
	tokens, err := v.Auth.Tokens(v.r.Context(), v.user().Name)
	if err != nil {
		return nil, err
	}
	all, err := v.Service.CalendarsInHome(v.r.Context(), v.caller())
	if err != nil {
		return nil, err
	}
	made, err := v.Service.MadeBy(v.r.Context(), v.caller(), "")
	if err != nil {
		return nil, err
	}
	count := map[calendar.TokenID]int{}
	for _, m := range made {
		count[m.Maker.Token]++
	}
	c := v.clock()
	var list []app
	for _, t := range tokens {
		if !t.Revoked.IsZero() && count[t.ID] == 0 {
			continue
		}
		list = append(list, app{
			ID: t.ID, Name: excerpt(t.Name), May: mayDo(t.Scopes), On: named(t.Calendars, all), Tools: t.Tools,
			Created: c.date(t.Created), Used: c.Ago(t.LastUsed), Expires: c.Moment(t.Expires), Expired: !t.Valid(v.Now()),
			Ended: !t.Revoked.IsZero(), Made: count[t.ID],
		})
	}
	return list, nil
}

// named returns the names of calendars. Nil ids mean all calendars, which are not listed.
func named(ids []calendar.CalendarID, all []calendar.Calendar) string {
	var names []string
	for _, id := range ids {
		if i := slices.IndexFunc(all, func(cal calendar.Calendar) bool { return cal.ID == id }); i >= 0 {
			names = append(names, calendarName(all[i]))
		}
	}
	if ids != nil && names == nil {
		return "none that is still there"
	}
	return strings.Join(names, ", ")
}

// appContent is the data of the page for a new app.
type appContent struct {
	Name string
	// Scopes and Calendars are the choices.
	Scopes    []choice
	Calendars []choice
	Days      string
	// Secret is the password of the app just created. It cannot be shown again.
	Secret             auth.Secret
	URL, MCP, UserName string
}

// choice is a checkbox or an option.
type choice struct {
	Value, Label string
	Chosen       bool
}

// newApp is the content of the form for a new app.
type newApp struct {
	name, days string
	scopes     []string
	calendars  []string
}

// appLives are the choices for an app's expiry, in days; 0 means never.
var appLives = map[string]int{"30": 30, "90": 90, "365": 365, "0": 0}

func (v *visit) appForm() (appContent, error) {
	return v.appContent(newApp{name: v.r.URL.Query().Get("name"), days: "0", scopes: []string{"read", "write", "delete"}})
}

func (v *visit) appContent(n newApp) (appContent, error) {
	content := appContent{Name: n.name, Days: n.days, URL: v.address().String(), MCP: v.assistantsURL(), UserName: v.user().Name}
	for _, name := range auth.ScopeNames(v.scopes()) {
		scope, err := auth.ParseScopes(name)
		if err != nil {
			return content, err
		}
		content.Scopes = append(content.Scopes, choice{name, mayDo(scope), slices.Contains(n.scopes, name)})
	}
	all, err := v.Service.CalendarsInHome(v.r.Context(), v.caller())
	for _, cal := range all {
		content.Calendars = append(content.Calendars, choice{string(cal.ID), calendarName(cal), slices.Contains(n.calendars, string(cal.ID))})
	}
	return content, err
}

func (v *visit) createApp() error {
	n := newApp{v.field("name"), v.field("days"), v.r.PostForm["scope"], v.r.PostForm["calendar"]}
	content, err := v.appContent(n)
	if err != nil {
		return err
	}
	_, secret, err := v.makeApp(n)
	if err != nil {
		return v.again("app", content, err)
	}
	content.Secret = secret
	return v.show("app", content)
}

func (v *visit) makeApp(n newApp) (auth.Token, auth.Secret, error) {
	spec := auth.TokenSpec{User: v.user().Name, Name: n.name}
	if len(n.scopes) > 0 {
		var err error
		if spec.Scopes, err = auth.ParseScopes(strings.Join(n.scopes, ",")); err != nil {
			return auth.Token{}, "", err
		}
	}
	days, ok := appLives[n.days]
	if !ok {
		return auth.Token{}, "", calendar.Errorf(calendar.Invalid, "", "say for how long")
	}
	if days > 0 {
		spec.Expires = v.Now().Add(time.Duration(days) * 24 * time.Hour)
	}
	for _, id := range n.calendars {
		// The visitor cannot give an app a calendar that they cannot see themselves.
		cal, err := v.Service.Calendar(v.r.Context(), v.caller(), calendar.CalendarID(id))
		if err != nil {
			return auth.Token{}, "", err
		}
		spec.Calendars = append(spec.Calendars, cal.ID)
	}
	return v.Auth.CreateToken(v.r.Context(), spec)
}

// appNamed returns the visitor's app that the path names. Another user's app is not found.
func (v *visit) appNamed() (auth.Token, error) {
	id := calendar.TokenID(v.r.PathValue("token"))
	tokens, err := v.Auth.Tokens(v.r.Context(), v.user().Name)
	if err != nil {
		return auth.Token{}, err
	}
	i := slices.IndexFunc(tokens, func(t auth.Token) bool { return t.ID == id })
	if i < 0 {
		return auth.Token{}, errMissing()
	}
	return tokens[i], nil
}

// revokeApp revokes an app of the visitor, then lists the webhooks, shares and linked accounts that it created.
func (v *visit) revokeApp() error {
	t, err := v.appNamed()
	if err != nil {
		return err
	}
	if err := v.Auth.RevokeToken(v.r.Context(), t.ID); err != nil {
		return v.after(err, "apps", "")
	}
	made, err := v.Service.MadeBy(v.r.Context(), v.caller(), t.ID)
	if err != nil || len(made) == 0 {
		return v.after(err, "apps", "app-revoked")
	}
	return v.after(nil, "apps/"+string(t.ID)+"/made", "app-revoked")
}

// madeContent is the data of the page that lists the webhooks, shares and linked accounts that an app created.
type madeContent struct {
	ID    calendar.TokenID
	Name  string
	Ended bool
	Made  []madeRow
}

type madeRow struct{ Key, What string }

func (v *visit) madeByApp() (madeContent, error) {
	t, err := v.appNamed()
	if err != nil {
		return madeContent{}, err
	}
	content := madeContent{ID: t.ID, Name: excerpt(t.Name), Ended: !t.Revoked.IsZero()}
	made, err := v.Service.MadeBy(v.r.Context(), v.caller(), t.ID)
	for _, m := range made {
		content.Made = append(content.Made, madeRow{m.Key(), madeWords(m)})
	}
	return content, err
}

// madeWords describes a webhook, a share or a linked account.
func madeWords(m service.Made) string {
	switch {
	case m.Webhook != nil:
		return "A webhook: " + excerpt(m.Webhook.URL) + " is told of changes in your calendars."
	case m.Share != nil:
		return excerpt(m.Share.User.Title()) + " may " + accessWords[m.Share.Access] + " in your calendar " + excerpt(m.Share.From.Name) + "."
	}
	return "A linked calendar: " + excerpt(m.Account.Name) + "."
}

// unmake removes the ticked items.
func (v *visit) unmake() error {
	t, err := v.appNamed()
	if err != nil {
		return err
	}
	made, err := v.Service.MadeBy(v.r.Context(), v.caller(), t.ID)
	if err != nil {
		return err
	}
	ticked := v.r.PostForm["made"]
	if len(ticked) == 0 {
		return calendar.Errorf(calendar.Invalid, "", "select what to remove, or keep all")
	}
	for _, m := range made {
		if !slices.Contains(ticked, m.Key()) {
			continue
		}
		if err := v.Service.Unmake(v.r.Context(), v.caller(), m); err != nil && calendar.ReasonOf(err) != calendar.NotFound {
			return err
		}
	}
	return v.after(nil, "apps", "removed")
}
