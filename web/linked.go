package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/calendar/mirror"
)

// Consent is a kind of account that is linked by its owner's OAuth consent.
type Consent interface {
	// Title is the provider's name for people.
	Title() string
	// Address returns the consent page's address. The owner comes back to redirect with the state and a code.
	Address(redirect, state, verifier string) string
	// Account exchanges the code for the data needed to link the account.
	Account(ctx context.Context, redirect, code, verifier string) (mirror.NewAccount, error)
}

// linkedPages are the pages about linked calendars.
func (h *Handler) linkedPages() []page {
	return []page{
		get("linked", people, showing("linkedcalendars", linkedPages.linkedContent)),
		postBack("linked", people, "linked", linkedPages.linkNew),
		postBack("linked-note/{id}", people, "linked", linkedPages.followNote),
		postBack("linked-at/{kind}", people, "linked", linkConsentPages.beginLinking),
		get("linked-at/back", people, linkConsentPages.endLinking),
		get("linked/{account}", people, showing("linkedchoice", linkedPages.choiceContent)),
		postBack("linked/{account}", people, "linked", linkedPages.chooseCalendars),
		postBack("linked/{account}/look", people, "linked", linkedPages.lookAtLinked),
		postBack("linked/{account}/unlink", people, "linked", linkedPages.unlinkAccount),
	}
}

// linkedContent is the data of the page.
type linkedContent struct {
	Accounts []linkedAccount
	// Feeds and CalDAV are set if such accounts can be linked; Consents are the other kinds.
	Feeds, CalDAV bool
	Consents      []choice
	// Notes are the feeds that the visitor's apps follow by themselves.
	Notes []note
	// URL and Username are the values typed in.
	URL, Username string
}

type linkedAccount struct {
	ID                   calendar.AccountID
	Name, Kind, Address  string
	State, Looked, Wrong string
	// Mail is set for an account with mail and no calendars; Noted if an app's subscription shows it.
	Mail, Noted bool
	// By is the app that linked it; "" for the visitor.
	By        string
	Calendars []linkedCalendar
	// Chooses is set if the visitor can choose its calendars; Unlinked names the others.
	Chooses  bool
	Unlinked []string
}

// note is a feed that an app follows by itself.
type note struct {
	swatch
	ID    calendar.CalendarID
	Shown string
}

type linkedCalendar struct {
	swatch
	ID calendar.CalendarID
	// Wrong is the reason why the copy is missing or incomplete, KeptOut the entries that are left out, with reasons.
	Wrong   string
	KeptOut []string
}

// states are the ids of texts about the status of an account.
var states = map[calendar.AccountStatus]string{
	calendar.AccountGood: "", calendar.AccountFailed: "linked.state-failed",
	calendar.AccountSignIn: "linked.state-sign-in", calendar.AccountPaused: "linked.state-paused",
}

// linkedPages list, link and unlink feeds and accounts of other services.
type linkedPages struct{ *pageRequest }

func (p linkedPages) linkedContent() (linkedContent, error) {
	mirrors := p.Service.Mirrors
	content := linkedContent{Feeds: mirrors.Offers("ics"), CalDAV: mirrors.Offers("caldav")}
	for _, kind := range slices.Sorted(maps.Keys(p.Consents)) {
		content.Consents = append(content.Consents, choice{kind, p.Consents[kind].Title(), false})
	}
	notes, err := mirrors.Notes(p.r.Context(), p.caller())
	if err != nil {
		return content, err
	}
	for _, n := range notes {
		content.Notes = append(content.Notes, note{swatchOf(n.Calendar), n.ID, excerpt(n.Shown)})
	}
	all, err := mirrors.LinkedAccounts(p.r.Context(), p.caller())
	if err != nil {
		return content, err
	}
	c := p.clock()
	for _, l := range all {
		a := linkedAccount{
			ID: l.ID, Name: excerpt(l.Name), Kind: l.Kind, Address: excerpt(l.Address),
			Wrong:  excerpt(describe.Stored(p.lang, l.Error)),
			Looked: p.lang.Text("linked.not-yet"), Mail: l.Mail, By: excerpt(l.Maker.Agent),
		}
		switch id := states[l.Status]; {
		case l.Mail && l.Status == calendar.AccountSignIn:
			a.State = p.lang.Text("linked.state-sign-in-mail")
		case id != "":
			a.State = p.lang.Text(id)
		}
		if !l.Checked.IsZero() {
			a.Looked = c.Ago(l.Checked)
		}
		for _, cal := range l.Calendars {
			a.Noted = a.Noted || cal.Followed()
			one := linkedCalendar{swatchOf(cal.Calendar), cal.ID, p.wrongWith(cal.State), nil}
			for _, f := range cal.KeptOut {
				one.KeptOut = append(one.KeptOut, excerpt(string(f.UID)+": "+describe.Stored(p.lang, f.Fault)))
			}
			a.Calendars = append(a.Calendars, one)
		}
		a.Chooses = l.Chooses
		for _, other := range l.Unlinked {
			a.Unlinked = append(a.Unlinked, excerpt(other.Name))
		}
		content.Accounts = append(content.Accounts, a)
	}
	return content, nil
}

// wrongWith describes a mirror's error.
func (p linkedPages) wrongWith(m calendar.Mirror) string {
	switch {
	case m.Error != "":
		return excerpt(describe.Stored(p.lang, m.Error))
	case m.Faults > 0:
		return p.lang.Text("linked.faults", "count", m.Faults)
	}
	return ""
}

// linkNew links a feed, or an account with a name and a password.
func (p linkedPages) linkNew() error {
	n := mirror.NewAccount{
		Provider: "ics", Name: p.field("name"),
		Secret: mirror.Secret{URL: p.field("url"), Alarms: p.field("alarms") != ""},
	}
	if p.field("kind") == "caldav" {
		n.Provider, n.Choose = "caldav", true
		n.Secret.Username, n.Secret.Password = p.field("username"), p.r.PostFormValue("password")
	}
	return p.linkedNow(n)
}

// followNote makes the server follow a feed that an app follows.
func (p linkedPages) followNote() error {
	id := calendar.CalendarID(p.r.PathValue("id"))
	_, _, err := p.Service.Mirrors.FollowNote(p.r.Context(), p.caller(), id, false)
	if err == nil {
		return p.done("linked", "note-followed")
	}
	if calendar.ReasonOf(err) == calendar.NotFound {
		return err
	}
	return showAgain(p.pageRequest, "linkedcalendars", p.linkedContent, err)
}

// linkedNow links an account, or shows the page again with the error.
func (p linkedPages) linkedNow(n mirror.NewAccount) error {
	linked, _, err := p.Service.Mirrors.Link(p.r.Context(), p.caller(), n)
	if err == nil && linked.Mail {
		return p.done("linked", "mail-linked")
	}
	if err == nil && linked.Chooses && len(linked.Calendars) == 0 {
		return p.done("linked/"+string(linked.ID), "account-choose")
	}
	if err == nil {
		return p.done("linked", "account-linked")
	}
	content, failed := p.linkedContent()
	if failed != nil {
		return failed
	}
	if n.Provider == "caldav" {
		content.URL, content.Username = n.Secret.URL, n.Secret.Username
	}
	return p.again("linkedcalendars", content, err)
}

// consentCookie holds the sealed state of a consent; consentTime is how long the owner may take.
const (
	consentCookie cookieName = "account"
	consentTime              = 10 * time.Minute
)

// asked is the state that the browser carries to the provider and back.
type asked struct {
	Session               auth.SessionID
	Kind, State, Verifier string
}

// linkConsentPages link an account by its owner's OAuth consent.
type linkConsentPages struct{ *pageRequest }

// agreedBack is our redirect URI; it must be registered at the provider.
func (p linkConsentPages) agreedBack() string {
	return p.address().JoinPath(root, "linked-at/back").String()
}

// beginLinking sends the browser to the provider's consent page. The state is sealed in a cookie, so that an answer
// counts only in this browser. Otherwise an attacker could make a user link the attacker's account.
func (p linkConsentPages) beginLinking() error {
	kind := p.r.PathValue("kind")
	consent, ok := p.Consents[kind]
	if !ok {
		return errMissing()
	}
	a := asked{p.session.ID, kind, secretText(), secretText()}
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	sealed, err := p.Auth.SealState(p.r.Context(), text)
	if err != nil {
		return err
	}
	p.setCookie(consentCookie, a.State+"."+string(sealed), consentTime)
	return p.leaveFor(consent.Address(p.agreedBack(), a.State, a.Verifier), consent.Title())
}

// secretText returns 32 random bytes in base64url, 43 characters. RFC 7636 §4.1 recommends this for verifiers.
func secretText() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(secret[:])
}

// endLinking links the account after its owner's consent. A response to another attempt does not end this one.
func (p linkConsentPages) endLinking() error {
	query := p.r.URL.Query()
	// The sealed state opens once, so the state is compared with the cookie's copy first.
	state, sealed, carried := strings.Cut(p.cookie(consentCookie), ".")
	if !carried || subtle.ConstantTimeCompare([]byte(state), []byte(query.Get("state"))) == 0 {
		return p.otherAttempt()
	}
	p.dropCookie(consentCookie)
	text, err := p.Auth.OpenState(p.r.Context(), p.ClientAddr(p.r), auth.SealedState(sealed))
	if err != nil {
		return err
	}
	var a asked
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	consent, offered := p.Consents[a.Kind]
	if !offered || a.Session != p.session.ID ||
		subtle.ConstantTimeCompare([]byte(a.State), []byte(query.Get("state"))) == 0 {
		return p.otherAttempt()
	}
	if query.Get("code") == "" {
		return p.notAgreed(consent, query.Get("error"))
	}
	n, err := consent.Account(p.r.Context(), p.agreedBack(), query.Get("code"), a.Verifier)
	if err != nil {
		return p.notAgreed(consent, describe.Stored(p.lang, mirror.Told(err)))
	}
	n.Provider, n.Choose = a.Kind, true
	return linkedPages(p).linkedNow(n)
}

// otherAttempt shows the page again for a response whose attempt is over or in another browser.
func (p linkConsentPages) otherAttempt() error {
	return showAgain(p.pageRequest, "linkedcalendars", linkedPages(p).linkedContent,
		p.wrong("error.other-attempt"))
}

// notAgreed shows the page again, with the reason why the account was not linked.
func (p linkConsentPages) notAgreed(consent Consent, why string) error {
	wrong := p.wrong("error.consent", "name", consent.Title(), "why", excerpt(cmp.Or(why, "–")))
	if why == "access_denied" {
		wrong = p.wrong("error.not-agreed", "name", consent.Title())
	}
	return showAgain(p.pageRequest, "linkedcalendars", linkedPages(p).linkedContent, wrong)
}

// accountID returns the account id in the path.
func (p linkedPages) accountID() calendar.AccountID {
	return calendar.AccountID(p.r.PathValue("account"))
}

// linkedChoice is the content of the page that chooses the calendars of an account.
type linkedChoice struct {
	ID        calendar.AccountID
	Name      string
	Calendars []linkableCalendar
	New       bool
}

type linkableCalendar struct {
	choice
	ReadOnly bool
}

// choiceContent is the choice as it stands. All calendars are chosen until the first one is linked.
func (p linkedPages) choiceContent() (linkedChoice, error) {
	l, err := p.Service.Mirrors.LinkedAccount(p.r.Context(), p.caller(), p.accountID())
	if err != nil {
		return linkedChoice{}, err
	}
	if !l.Chooses {
		return linkedChoice{}, errMissing()
	}
	content := linkedChoice{ID: l.ID, Name: excerpt(l.Name), New: l.LinksNew}
	for _, c := range l.Calendars {
		content.Calendars = append(content.Calendars,
			linkableCalendar{choice{c.State.Remote, excerpt(c.Name), true}, !c.Origin.Writable})
	}
	for _, c := range l.Unlinked {
		content.Calendars = append(content.Calendars,
			linkableCalendar{choice{c.Remote, excerpt(c.Name), len(l.Calendars) == 0}, !c.Writable})
	}
	slices.SortStableFunc(content.Calendars, func(a, b linkableCalendar) int { return cmp.Compare(a.Label, b.Label) })
	return content, nil
}

// chooseCalendars links the ticked calendars and unlinks the others.
func (p linkedPages) chooseCalendars() error {
	chosen := mirror.Choice{Remotes: p.r.PostForm["calendar"], New: p.field("new") != ""}
	_, err := p.Service.Mirrors.Choose(p.r.Context(), p.caller(), p.accountID(), chosen)
	if err == nil {
		return p.done("linked", "account-chosen")
	}
	content, failed := p.choiceContent()
	if failed != nil {
		return failed
	}
	for i, c := range content.Calendars {
		content.Calendars[i].Chosen = slices.Contains(chosen.Remotes, c.Value)
	}
	content.New = chosen.New
	return p.again("linkedchoice", content, err)
}

func (p linkedPages) lookAtLinked() error {
	if _, err := p.Service.Mirrors.Refresh(p.r.Context(), p.caller(), p.accountID()); err != nil {
		if calendar.ReasonOf(err) == calendar.NotFound {
			return err
		}
		return showAgain(p.pageRequest, "linkedcalendars", p.linkedContent, err)
	}
	return p.done("linked", "account-looked")
}

func (p linkedPages) unlinkAccount() error {
	keep := p.field("calendars") != "trash"
	notice := map[bool]string{true: "account-kept", false: "account-dropped"}[keep]
	switch p.field("calendars") {
	case "none":
		notice = "account-unlinked"
	case "note":
		notice = "note-left"
	}
	return p.after(p.Service.Mirrors.Unlink(p.r.Context(), p.caller(), p.accountID(), keep), "linked", notice)
}
