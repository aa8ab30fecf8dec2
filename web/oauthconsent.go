package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
)

// consentPages ask a person whether an assistant may have access. The answer needs no new proof of identity: showing
// the question required one.
func (h *Handler) consentPages() []page {
	if h.OAuth == nil {
		return nil
	}
	return []page{
		get("allow", anybody, consentPages.beginConsent),
		post("allow", people, consentPages.decide),
	}
}

// sealAge is how long a person may take to answer.
const sealAge = 15 * time.Minute

// consentContent is the data of the consent page. The client's own texts are shown as plain text.
type consentContent struct {
	Client, Host, Redirect, User string
	// Added is set for an administrator's client, Described for one whose host vouches for its name. Local is set if
	// any program on the person's machine can pose as the client.
	Added, Described, Local bool
	Scopes                  []consentScope
	// All is set if the box for all calendars is ticked, Others if that for delegated calendars is. Delegators are the
	// users who made the visitor their delegate; the box is shown if there are any.
	All, Others bool
	Delegators  string
	// Right is the right in all calendars, if they are ticked.
	Right     rightChoice
	Calendars []consentCalendar
	Ages      []consentAge
	// Query is the client's request, and Seal proves that this person was shown it.
	Query, Seal string
}

type consentScope struct {
	Name, Title string
	Checked     bool
}

type consentCalendar struct {
	ID          calendar.CalendarID
	Name, Owner string
	Checked     bool
	Right       rightChoice
}

type consentAge struct {
	Days     int
	Title    string
	Selected bool
}

// ages are the choices for the duration of a grant, with the ids of their texts.
var ages = []consentAge{
	{0, "allow.days-0", false},
	{1, "allow.days-1", false},
	{30, "allow.days-30", false},
	{90, "allow.days-90", false},
	{365, "allow.days-365", false},
}

// consentPages ask a user whether an OAuth client may have access.
type consentPages struct{ *pageRequest }

// asked parses the client's request again, for the page and for its form. sent is set if the browser was redirected to
// the client with the error.
func (p consentPages) asked(query string) (r oauth.Request, sent bool, err error) {
	site, ok := p.site(p.r)
	values, malformed := url.ParseQuery(query)
	if !ok || malformed != nil {
		return r, false, errMissing()
	}
	r, err = p.OAuth.Ask(p.r.Context(), site, p.ClientAddr(p.r), values)
	e := oauth.FaultOf(err)
	switch {
	case e != nil && r.TellsClient():
		return r, true, p.leave(r.Refuse(e))
	case e != nil:
		err = p.notLetIn(e)
	}
	return r, false, err
}

// leave redirects the browser to the client.
func (p *pageRequest) leave(to string) error {
	p.w.Header().Set("Location", to)
	p.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// beginConsent shows visitors who are not signed in an error of the request at once, so that a bad link never leads
// through the sign-in page. All other visitors prove their identity first.
func (p consentPages) beginConsent() error {
	if site, ok := p.site(p.r); ok && !p.signedIn() {
		if _, e := p.turnedAway(p.r, site, p.r.URL.RawQuery); e != nil {
			return p.notLetIn(e)
		}
	}
	return p.enter(get("allow", proven, consentPages.ask))
}

func (p consentPages) notLetIn(e *oauth.Error) error {
	return p.wrong("error.not-let-in", "why", e.What)
}

func (p consentPages) ask() error {
	r, sent, err := p.asked(p.r.URL.RawQuery)
	if err != nil || sent {
		return err
	}
	return p.showConsent(p.r.URL.RawQuery, r, consentForm{scopes: firstTicked(r)}, nil)
}

// firstTicked returns the scopes that are ticked at first. A client that no administrator added reads and proposes, and
// gets more only if the person ticks it. The same holds for mail with any client.
func firstTicked(r oauth.Request) calendar.Scope {
	switch asked := r.Scopes &^ calendar.ScopeMail; {
	case r.Client.Kind != oauth.Added:
		return calendar.ScopeRead | calendar.ScopePropose
	case asked == 0:
		return FirstScopes
	default:
		return asked
	}
}

// consentForm is the submitted form. The boxes for all calendars and for single ones are one list.
type consentForm struct {
	scopes    calendar.Scope
	all       bool
	others    bool
	calendars []calendar.CalendarID
	rights    calendar.Rights
	days      int
}

// showConsent shows the page, or shows it again with an error of the form.
func (p consentPages) showConsent(query string, r oauth.Request, f consentForm, wrong error) error {
	cals, err := p.Service.Calendars(p.r.Context(), p.caller())
	if err != nil {
		return err
	}
	from, err := p.Service.DelegatedTo(p.r.Context(), p.caller())
	if err != nil {
		return err
	}
	c := consentContent{
		Client: r.Client.Name, Host: r.Client.Host(r.Redirect), Redirect: oauth.HostOf(r.Redirect),
		User:  p.user().Title(),
		Added: r.Client.Kind == oauth.Added, Described: r.Client.Kind == oauth.Described, Local: r.Local(), All: f.all,
		Others:     f.others,
		Delegators: delegatorsIn(from),
		Query:      query, Seal: p.seal(query, p.Now()),
	}
	for _, name := range auth.ScopeNames(p.scopes()) {
		scope, _ := auth.ParseScopes(name)
		c.Scopes = append(c.Scopes, consentScope{name, p.lang.Text("scope-title." + name), f.scopes&scope != 0})
	}
	c.Right = rightIn(p.lang, "", "", f.rights.Elsewhere(), calendar.RightWrite)
	for _, cal := range cals {
		row := consentCalendar{
			ID: cal.ID, Name: cal.Name, Checked: slices.Contains(f.calendars, cal.ID),
			Right: rightIn(p.lang, cal.ID, cal.Name, f.rights.Of[cal.ID], calendar.RightWrite),
		}
		if cal.Access != calendar.OwnerAccess {
			row.Owner = cal.OwnerTitle
		}
		c.Calendars = append(c.Calendars, row)
	}
	for _, age := range ages {
		age.Title, age.Selected = p.lang.Text(age.Title), age.Days == f.days
		c.Ages = append(c.Ages, age)
	}
	// Browsers check the form's redirects against form-action, too.
	p.formTo = []string{formSource(r.Redirect)}
	if wrong != nil {
		return p.again("allow", c, wrong)
	}
	return p.show("allow", c)
}

// mostNamed limits the delegators that the page names.
const mostNamed = 5

// delegatorsIn names the owners of delegations.
func delegatorsIn(all []calendar.Delegation) string {
	var names []string
	for _, d := range all[:min(len(all), mostNamed)] {
		names = append(names, excerpt(d.Owner.Title()))
	}
	if more := len(all) - mostNamed; more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}
	return strings.Join(names, ", ")
}

// formSource returns an address as a source for form-action. The syntax has no IPv6 addresses.
func formSource(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Contains(u.Host, "[") {
		scheme, _, _ := strings.Cut(address, ":")
		return scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

func (p consentPages) decide() error {
	query := p.r.PostFormValue("query")
	if !p.sealed(query, p.r.PostFormValue("seal")) {
		return p.failed(calendar.Stale, "error.consent-expired")
	}
	r, sent, err := p.asked(query)
	if err != nil || sent {
		return err
	}
	if p.field("answer") != "allow" {
		return p.leave(r.Deny())
	}
	f, err := p.consentForm()
	if err != nil {
		return err
	}
	choice, err := p.choice(f)
	if err == nil {
		err = p.Auth.RoomForToken(p.r.Context(), p.user().ID)
	}
	var to string
	if err == nil {
		to, err = p.OAuth.Approve(p.r.Context(), r, p.user().ID, choice)
	}
	if err != nil {
		return p.showConsent(query, r, f, err)
	}
	return p.leave(to)
}

func (p consentPages) consentForm() (consentForm, error) {
	f := consentForm{all: p.field("all") != "", others: p.field("others") != ""}
	for _, name := range p.r.PostForm["scope"] {
		scope, err := auth.ParseScopes(name)
		if err != nil {
			return f, err
		}
		f.scopes |= scope
	}
	for _, id := range p.r.PostForm["calendar"] {
		f.calendars = append(f.calendars, calendar.CalendarID(id))
	}
	cals, err := p.Service.Calendars(p.r.Context(), p.caller())
	if err == nil {
		f.rights, err = appPages(p).rightsIn(cals)
	}
	if err != nil {
		return f, err
	}
	days, err := strconv.Atoi(p.field("days"))
	if err != nil || !slices.ContainsFunc(ages, func(a consentAge) bool { return a.Days == days }) {
		return f, p.wrong("error.days")
	}
	f.days = days
	return f, nil
}

// choice returns the rights that the person grants, at most their own.
func (p consentPages) choice(f consentForm) (oauth.Choice, error) {
	c := oauth.Choice{Scopes: f.scopes, ForOthers: f.others, Rights: f.rights}
	if f.days > 0 {
		c.Expires = p.Now().AddDate(0, 0, f.days)
	}
	if !f.all {
		c.Rights.Others = "" // it has no others
		maps.DeleteFunc(c.Rights.Of, func(id calendar.CalendarID, _ calendar.Right) bool {
			return !slices.Contains(f.calendars, id)
		})
	}
	if c.Rights.Has(calendar.RightPropose) {
		c.Scopes |= calendar.ScopePropose
	}
	switch {
	case f.all && len(f.calendars) > 0:
		return c, p.wrong("error.consent-calendars")
	case f.all:
		return c, nil
	}
	cals, err := p.Service.Calendars(p.r.Context(), p.caller())
	if err != nil {
		return c, err
	}
	c.Calendars = []calendar.CalendarID{}
	for _, cal := range cals {
		if slices.Contains(f.calendars, cal.ID) {
			c.Calendars = append(c.Calendars, cal.ID)
		}
	}
	return c, nil
}

// seal proves that a request was shown in this session, and when.
func (p consentPages) seal(query string, at time.Time) string {
	when := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, p.OAuth.Key)
	for _, part := range []string{string(p.session.ID), string(p.user().ID), when, query} {
		mac.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return when + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (p consentPages) sealed(query, seal string) bool {
	when, _, _ := strings.Cut(seal, ".")
	seconds, err := strconv.ParseInt(when, 10, 64)
	at, now := time.Unix(seconds, 0), p.Now()
	return err == nil && !now.Before(at.Add(-time.Minute)) && now.Before(at.Add(sealAge)) &&
		hmac.Equal([]byte(seal), []byte(p.seal(query, at)))
}

// asksForConsent reports whether a page leads to the consent page. Clients that opened a window for it need a reference
// to that window, which our Cross-Origin-Opener-Policy would cut.
func asksForConsent(path string) bool {
	page := strings.TrimPrefix(path, root)
	return page == "allow" || strings.HasPrefix(page, "sign-in") || strings.HasPrefix(page, "confirm")
}
