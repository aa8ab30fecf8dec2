package web

import (
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/locale"
)

func (h *Handler) appPages() []page {
	return []page{
		get("apps", people, showing("apps", appPages.apps)),
		get("apps/new", proven, showing("app", appPages.appForm)),
		post("apps/new", proven, appPages.createApp),
		get("apps/{token}/narrow", people, showing("narrow", narrowPages.narrowForm)),
		post("apps/{token}/narrow", people, narrowPages.narrowApp),
		postBack("apps/{token}/revoke", people, "apps", appMadePages.revokeApp),
		get("apps/{token}/made", people, showing("made", appMadePages.madeByApp)),
		postBack("apps/{token}/made", people, "apps", appMadePages.unmake),
	}
}

// scopes returns the scopes that the visitor can grant. The mail scope is included if they have linked a mail account.
func (p *pageRequest) scopes() calendar.Scope {
	if _, err := p.Service.Mirrors.AccountOf(p.r.Context(), p.user().ID, "gmail"); err != nil {
		return calendar.ScopeEvery &^ calendar.ScopeMail // on an error, the mail scope is not offered
	}
	return calendar.ScopeEvery
}

// app is a program or an assistant with access to the visitor's account.
type app struct {
	ID   calendar.TokenID
	Name string
	// May describes its scopes, On its calendars; empty means all. Less describes calendars with fewer rights.
	May, On, Less string
	Tools         []calendar.ToolName
	// Others is set if it may use the calendars of users who made the visitor their delegate.
	Others                 bool
	Created, Used, Expires string
	// Ended is set after revocation. A revoked app stays listed while Made is not 0.
	Expired, Ended bool
	// Made counts the webhooks, shares and linked accounts that it created.
	Made int
}

// mayDo describes a set of scopes to people.
func (p appPages) mayDo(set calendar.Scope) string {
	var words []string
	for _, name := range auth.ScopeNames(set) {
		words = append(words, p.lang.Text("scope."+name))
	}
	return strings.Join(words, ", ")
}

// appPages list apps and assistants with access to the account, and make new ones.
type appPages struct{ *pageRequest }

// apps returns the active and expired apps, and the revoked ones with Made.
func (p appPages) apps() ([]app, error) {
	tokens, err := p.Auth.Tokens(p.r.Context(), p.user().Name)
	if err != nil {
		return nil, err
	}
	all, err := p.Service.CalendarsInHome(p.r.Context(), p.caller())
	if err != nil {
		return nil, err
	}
	made, err := p.Service.MadeBy(p.r.Context(), p.caller(), "")
	if err != nil {
		return nil, err
	}
	count := map[calendar.TokenID]int{}
	for _, m := range made {
		count[m.Maker.Token]++
	}
	c := p.clock()
	var list []app
	for _, t := range tokens {
		if !t.Revoked.IsZero() && count[t.ID] == 0 {
			continue
		}
		list = append(list, app{
			ID: t.ID, Name: excerpt(t.Name), May: p.mayDo(t.Scopes), On: p.named(t.Calendars, all), Tools: t.Tools,
			Others: t.ForOthers, Less: p.less(t, all),
			Created: c.date(t.Created), Used: c.Ago(t.LastUsed), Expires: c.unlessNever(t.Expires),
			Expired: !t.Valid(p.Now()),
			Ended:   !t.Revoked.IsZero(), Made: count[t.ID],
		})
	}
	return list, nil
}

// less describes the calendars with fewer rights than the scopes of a token.
func (p appPages) less(t auth.Token, all []calendar.Calendar) string {
	words := func(r calendar.Right) string { return p.lang.Text("right." + string(r)) }
	var texts []string
	for _, cal := range all {
		r, named := t.Rights.Of[cal.ID]
		if named && (t.Calendars == nil || slices.Contains(t.Calendars, cal.ID)) {
			texts = append(texts, p.lang.Text("apps.right", "calendar", calendarName(cal), "right", words(r)))
		}
	}
	if t.Rights.Elsewhere() != calendar.RightWrite && t.Calendars == nil {
		texts = append(texts, p.lang.Text("apps.right-others", "right", words(t.Rights.Others)))
	}
	return strings.Join(texts, ", ")
}

// rightChoice is a list of the rights in a calendar.
type rightChoice struct {
	// Name is the name of the field, Of names the calendar; it is empty for all of them.
	Name, Of string
	Options  []choice
}

// rightField is the form's field for the right in a calendar; that for all has an empty id.
func rightField(id calendar.CalendarID) string { return strings.TrimSuffix("right-"+string(id), "-") }

// rightIn makes the choice of the right in a calendar, up to a highest one. A chosen "" follows the right of all.
func rightIn(
	lang *locale.Language, id calendar.CalendarID, name string, chosen, most calendar.Right,
) rightChoice {
	c := rightChoice{Name: rightField(id), Of: name}
	if id != "" {
		c.Options = []choice{{"", lang.Text("right.same"), chosen == ""}}
	}
	for _, r := range [...]calendar.Right{calendar.RightWrite, calendar.RightPropose, calendar.RightRead} {
		if r.Least(most) == r {
			c.Options = append(c.Options, choice{string(r), lang.Text("right." + string(r)), chosen == r})
		}
	}
	return c
}

// rightsIn reads the chosen rights in some calendars.
func (p appPages) rightsIn(all []calendar.Calendar) (r calendar.Rights, err error) {
	r = calendar.Rights{Others: calendar.Right(p.field("right")), Of: make(map[calendar.CalendarID]calendar.Right)}
	if r.Others != "" && !r.Others.Known() {
		return r, p.wrong("error.right")
	}
	for _, cal := range all {
		one := calendar.Right(p.field(rightField(cal.ID)))
		switch {
		case one == "":
		case !one.Known():
			return r, p.wrong("error.right")
		default:
			r.Of[cal.ID] = one
		}
	}
	return r, nil
}

// named returns the names of calendars. Nil ids mean all calendars, which are not listed.
func (p appPages) named(ids []calendar.CalendarID, all []calendar.Calendar) string {
	var names []string
	for _, id := range ids {
		if i := slices.IndexFunc(all, func(cal calendar.Calendar) bool { return cal.ID == id }); i >= 0 {
			names = append(names, calendarName(all[i]))
		}
	}
	if ids != nil && names == nil {
		return p.lang.Text("apps.calendars-gone")
	}
	return strings.Join(names, ", ")
}

// appContent is the data of the page for a new app.
type appContent struct {
	Name string
	// Scopes and Calendars are the choices.
	Scopes    []choice
	Calendars []calendarChoice
	// Right is the right in calendars that are not ticked, if none is.
	Right rightChoice
	// Others is set if the box for other users' calendars is ticked.
	Others bool
	Days   string
	// Secret is the password of the app just created. It cannot be shown again.
	Secret             auth.Secret
	URL, MCP, UserName string
}

// choice is a checkbox or an option.
type choice struct {
	Value, Label string
	Chosen       bool
}

// calendarChoice is a calendar with the right in it.
type calendarChoice struct {
	choice
	Right rightChoice
}

// newApp is the content of the form for a new app.
type newApp struct {
	name, days string
	scopes     []string
	calendars  []string
	rights     calendar.Rights
	others     bool
}

// appLives are the choices for an app's expiry, in days; 0 means never.
var appLives = map[string]int{"30": 30, "90": 90, "365": 365, "0": 0}

func (p appPages) appForm() (appContent, error) {
	return p.appContent(newApp{
		name: p.r.URL.Query().Get("name"), days: "0", scopes: []string{"read", "write", "delete"},
	})
}

func (p appPages) appContent(n newApp) (appContent, error) {
	content := appContent{
		Name: n.name, Days: n.days, Others: n.others, URL: p.address().String(),
		MCP: p.assistantsURL(), UserName: p.user().Name,
	}
	for _, name := range auth.ScopeNames(p.scopes()) {
		scope, err := auth.ParseScopes(name)
		if err != nil {
			return content, err
		}
		content.Scopes = append(content.Scopes, choice{name, p.mayDo(scope), slices.Contains(n.scopes, name)})
	}
	all, err := p.Service.CalendarsInHome(p.r.Context(), p.caller())
	content.Right = rightIn(p.lang, "", "", n.rights.Elsewhere(), calendar.RightWrite)
	for _, cal := range all {
		content.Calendars = append(content.Calendars, calendarChoice{
			choice{string(cal.ID), calendarName(cal), slices.Contains(n.calendars, string(cal.ID))},
			rightIn(p.lang, cal.ID, calendarName(cal), n.rights.Of[cal.ID], calendar.RightWrite),
		})
	}
	return content, err
}

func (p appPages) createApp() error {
	all, err := p.Service.CalendarsInHome(p.r.Context(), p.caller())
	if err != nil {
		return err
	}
	rights, err := p.rightsIn(all)
	if err != nil {
		return err
	}
	n := newApp{
		p.field("name"), p.field("days"), p.r.PostForm["scope"], p.r.PostForm["calendar"], rights,
		p.field("others") != "",
	}
	content, err := p.appContent(n)
	if err != nil {
		return err
	}
	_, secret, err := p.makeApp(n)
	if err != nil {
		return p.again("app", content, err)
	}
	content.Secret = secret
	return p.show("app", content)
}

func (p appPages) makeApp(n newApp) (auth.Token, auth.Secret, error) {
	spec := auth.TokenSpec{User: p.user().Name, Name: n.name, ForOthers: n.others, Rights: n.rights}
	if len(n.scopes) > 0 {
		var err error
		if spec.Scopes, err = auth.ParseScopes(strings.Join(n.scopes, ",")); err != nil {
			return auth.Token{}, "", err
		}
	}
	if spec.Rights.Has(calendar.RightPropose) {
		spec.Scopes |= calendar.ScopePropose
	}
	days, ok := appLives[n.days]
	if !ok {
		return auth.Token{}, "", p.wrong("error.days")
	}
	if days > 0 {
		spec.Expires = p.Now().Add(time.Duration(days) * 24 * time.Hour)
	}
	for _, id := range n.calendars {
		// The visitor cannot give an app a calendar that they cannot see themselves.
		cal, err := p.Service.Calendar(p.r.Context(), p.caller(), calendar.CalendarID(id))
		if err != nil {
			return auth.Token{}, "", err
		}
		spec.Calendars = append(spec.Calendars, cal.ID)
	}
	return p.Auth.CreateToken(p.r.Context(), spec)
}

// appMadePages revoke an app and remove what it created.
type appMadePages struct{ *pageRequest }

// appNamed returns the visitor's app that the path names. Another user's app is not found.
func (p appMadePages) appNamed() (auth.Token, error) {
	id := calendar.TokenID(p.r.PathValue("token"))
	tokens, err := p.Auth.Tokens(p.r.Context(), p.user().Name)
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
func (p appMadePages) revokeApp() error {
	t, err := p.appNamed()
	if err != nil {
		return err
	}
	if err := p.Auth.RevokeToken(p.r.Context(), t.ID); err != nil {
		return p.after(err, "apps", "")
	}
	made, err := p.Service.MadeBy(p.r.Context(), p.caller(), t.ID)
	if err != nil || len(made) == 0 {
		return p.after(err, "apps", "app-revoked")
	}
	return p.after(nil, "apps/"+string(t.ID)+"/made", "app-revoked")
}

// madeContent is the data of the page that lists the webhooks, shares and linked accounts that an app created.
type madeContent struct {
	ID    calendar.TokenID
	Name  string
	Ended bool
	Made  []madeRow
}

type madeRow struct{ Key, What string }

func (p appMadePages) madeByApp() (madeContent, error) {
	t, err := p.appNamed()
	if err != nil {
		return madeContent{}, err
	}
	content := madeContent{ID: t.ID, Name: excerpt(t.Name), Ended: !t.Revoked.IsZero()}
	made, err := p.Service.MadeBy(p.r.Context(), p.caller(), t.ID)
	for _, m := range made {
		content.Made = append(content.Made, madeRow{m.Key(), p.madeWords(m)})
	}
	return content, err
}

// madeWords describes a webhook, a share or a linked account.
func (p appMadePages) madeWords(m service.Made) string {
	switch {
	case m.Webhook != nil:
		return p.lang.Text("made.webhook", "url", excerpt(m.Webhook.URL))
	case m.Share != nil:
		return p.lang.Text("made.share", "who", excerpt(m.Share.User.Title()), "may", p.may(m.Share.Access),
			"calendar", excerpt(m.Share.From.Name))
	}
	return p.lang.Text("made.linked", "name", excerpt(m.Account.Name))
}

// unmake removes the ticked items.
func (p appMadePages) unmake() error {
	t, err := p.appNamed()
	if err != nil {
		return err
	}
	made, err := p.Service.MadeBy(p.r.Context(), p.caller(), t.ID)
	if err != nil {
		return err
	}
	ticked := p.r.PostForm["made"]
	if len(ticked) == 0 {
		return p.wrong("error.nothing-selected")
	}
	for _, m := range made {
		if !slices.Contains(ticked, m.Key()) {
			continue
		}
		if err := p.Service.Unmake(p.r.Context(), p.caller(), m); err != nil &&
			calendar.ReasonOf(err) != calendar.NotFound {
			return err
		}
	}
	return p.after(nil, "apps", "removed")
}

// narrowContent is the data of the page that reduces an app's rights.
type narrowContent struct {
	ID   calendar.TokenID
	Name string
	// Scopes and Calendars are the app's present rights; ticked ones stay.
	Scopes    []choice
	Calendars []calendarChoice
	// Right is the right in future calendars of an app with all calendars.
	Right rightChoice
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
	return p.narrowContent(t, t.Scopes, t.Calendars, t.Rights)
}

// narrowContent lists an app's rights, with the ones to keep ticked.
func (p narrowPages) narrowContent(t auth.Token, scopes calendar.Scope,
	keep []calendar.CalendarID, rights calendar.Rights,
) (narrowContent, error) {
	c := narrowContent{ID: t.ID, Name: excerpt(t.Name), Bound: t.Calendars != nil}
	for _, name := range auth.ScopeNames(t.Scopes) {
		scope, err := auth.ParseScopes(name)
		if err != nil {
			return c, err
		}
		c.Scopes = append(c.Scopes, choice{name, appPages(p).mayDo(scope), scopes&scope != 0})
	}
	all, err := p.Service.CalendarsInHome(p.r.Context(), p.caller())
	c.Right = rightIn(p.lang, "", "", rights.Elsewhere(), t.Rights.Elsewhere())
	for _, cal := range all {
		if t.Calendars == nil || slices.Contains(t.Calendars, cal.ID) {
			c.Calendars = append(c.Calendars, calendarChoice{
				choice{string(cal.ID), calendarName(cal), slices.Contains(keep, cal.ID)},
				rightIn(p.lang, cal.ID, calendarName(cal), rights.Of[cal.ID], t.Rights.In(cal.ID)),
			})
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
	all, err := p.Service.CalendarsInHome(p.r.Context(), p.caller())
	if err != nil {
		return err
	}
	rights, err := appPages(p).rightsIn(all)
	if err != nil {
		return err
	}
	keep, err := p.ticked(t)
	if err == nil {
		err = p.Auth.NarrowToken(p.r.Context(), t.ID, scopes, keep, rights)
	}
	if err == nil {
		return p.done("apps", "app-narrowed")
	}
	content, failed := p.narrowContent(t, scopes, keep, rights)
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
