package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/zone"
)

func (h *Handler) signInPages() []page {
	return []page{
		get("sign-in", anybody, signInPages.signInForm),
		post("sign-in", anybody, signInPages.signIn),
		post("sign-in/code", anybody, signInPages.secondStep),
		post("sign-in/passkey", anybody, signInPages.passkeySignIn),
		get("sign-in/elsewhere", anybody, providerPages.signInElsewhere),
		get("sign-in/elsewhere/back", anybody, providerPages.backFromElsewhere),
		get("sign-in/forgotten", anybody, signInPages.forgottenForm),
		post("sign-in/forgotten", anybody, signInPages.forgotten),
		get("welcome", people, showing("welcome", welcomePages.welcome)),
		post("welcome", people, welcomePages.save),
		get("checks", admins, showing("checks", welcomePages.checks)),
		post("sign-out", anybody, signInPages.signOut),
		get("confirm", people, showing("confirm", confirmPages.confirmContent)),
		post("confirm", people, confirmPages.confirm),
		post("confirm/passkey", people, confirmPages.confirmByPasskey),
		postBack("confirm/elsewhere", people, "confirm", providerPages.confirmElsewhere),
		get("key/{secret}", anybody, showing("passwordlink", passwordLinkPages.passwordLinkContent)),
		post("key/{secret}", anybody, passwordLinkPages.redeem),
	}
}

// signInContent is the data of the sign-in page.
type signInContent struct {
	Name    string
	Passkey *passkeyForm
	// Provider is the OpenID provider's name, "" for none; Only is set if there is no other way to sign in.
	Provider string
	Only     bool
}

// signInPages sign a visitor in and out.
type signInPages struct{ *pageRequest }

func (p signInPages) signInContent(name string) signInContent {
	content := signInContent{Name: name, Passkey: p.passkeySignInForm(), Only: p.OnlyProvider}
	if p.Provider != nil {
		content.Provider = p.Provider.Name()
	}
	return content
}

func (p signInPages) signInForm() error {
	if p.signedIn() {
		return p.landOn(p.next())
	}
	return p.show("signin", p.signInContent(""))
}

func (p signInPages) signIn() error {
	if p.OnlyProvider {
		return errMissing()
	}
	name := p.field("name")
	entry, err := p.Auth.SignIn(p.r.Context(), name, p.r.PostFormValue("password"), p.ClientAddr(p.r), p.r.UserAgent())
	if err != nil {
		p.refusedLogin(err)
		// Only the name of a user: the field may have a password, typed by mistake. A throttled request reads nothing.
		if errors.Is(err, auth.ErrUnauthorized) {
			if u, unknown := p.Auth.User(p.r.Context(), name); unknown == nil {
				p.did("", u.Name)
			}
		}
		return p.again("signin", p.signInContent(name), err)
	}
	if !entry.Done() {
		return p.show("code", codeContent{entry.SealedState, entry.Factors, p.passkeySignInForm()})
	}
	return p.begin(entry)
}

// refusedLogin reports a failed or throttled sign-in to the log.
func (p *pageRequest) refusedLogin(err error) {
	wait := (*auth.ThrottledError)(nil)
	if p.Refused != nil && (errors.Is(err, auth.ErrUnauthorized) || errors.As(err, &wait)) {
		p.Refused(p.r.Context())
	}
}

// codeContent is the data of the second step.
type codeContent struct {
	SealedState auth.SealedState
	Factors     auth.Factors
	Passkey     *passkeyForm
}

func (p signInPages) secondStep() error {
	sealed := auth.SealedState(p.field("sealed"))
	entry, err := p.Auth.SecondStep(p.r.Context(), sealed, p.field("code"), p.r.UserAgent())
	if err != nil {
		p.refusedLogin(err)
		return p.again("code",
			codeContent{SealedState: sealed, Factors: auth.Factors{Codes: true}, Passkey: p.passkeySignInForm()}, err)
	}
	return p.begin(entry)
}

// begin continues with a new session and ends the browser's previous one.
func (p *pageRequest) begin(e auth.Entry) error {
	if err := p.endSession(); err != nil {
		return err
	}
	p.session = e.Session
	p.named()
	p.adoptZone()
	p.adoptLanguage()
	p.setCookie(sessionCookie, string(e.Secret), sessionAge)
	first, err := p.firstPage()
	if err != nil {
		return err
	}
	return p.landOn(first)
}

// landOn leads to the page that a visitor wanted before signing in. Without one, it is the calendar, or the home page
// if shared calendars wait there for an answer.
func (p *pageRequest) landOn(next string) error {
	if next != "" || !p.signedIn() {
		return p.leadTo(next)
	}
	offers, err := invitationPages{p}.invitations()
	switch {
	case err != nil:
		return err
	case len(offers) > 0:
		return p.leadTo("")
	}
	return p.leadTo(calendarRoot)
}

// adoptZone stores the browser's time zone for a user who has none. A browser without the script names none. Errors do
// not prevent the sign-in: the home page says which zone it uses.
func (p *pageRequest) adoptZone() {
	name, err := p.timezone()
	if err != nil || name == "" || p.user().Timezone != "" {
		return
	}
	if _, err := p.ChangeUser(p.r.Context(), p.user().Name, auth.UserEdit{Timezone: &name}); err != nil {
		p.Logger.WarnContext(p.r.Context(), "the browser's time zone was not stored", "error", err)
	}
}

// forgottenContent is the data of the page for a forgotten password.
type forgottenContent struct {
	Name string
	// Mails is set if the server can mail a link, Asked once a link was requested.
	Mails, Asked bool
}

func (p signInPages) forgottenForm() error {
	if p.OnlyProvider {
		return errMissing()
	}
	return p.show("forgotten", forgottenContent{Name: p.r.URL.Query().Get("name"), Mails: p.Passlinks != nil})
}

// forgotten mails a link to choose a new password, or the invitation again. The answer and its time are the same
// whether the user exists or not.
func (p signInPages) forgotten() error {
	if p.OnlyProvider {
		return errMissing()
	}
	content := forgottenContent{Name: p.field("name"), Mails: p.Passlinks != nil}
	if !content.Mails {
		return p.show("forgotten", content)
	}
	if content.Name == "" {
		return p.again("forgotten", content, p.wrong("error.user-name"))
	}
	if err := p.Auth.AskForReset(content.Name, p.ClientAddr(p.r)); err != nil {
		p.refusedLogin(err)
		return p.again("forgotten", content, err)
	}
	ctx := context.WithoutCancel(p.r.Context())
	go p.sendForgotten(ctx, content.Name)
	content.Asked = true
	return p.show("forgotten", content)
}

// resetPatience limits the time to find a user and mail a link, after the page is shown.
const resetPatience = 30 * time.Second

func (p signInPages) sendForgotten(ctx context.Context, typed string) {
	ctx, cancel := context.WithTimeout(ctx, resetPatience)
	defer cancel()
	link, secret, err := p.Auth.ResetLink(ctx, typed)
	address := p.passwordLinkAddress(secret)
	switch {
	case err != nil:
	case link.Kind == auth.Invitation:
		err = p.Passlinks.Send(ctx, link.User, false, address, link.Expires)
	default:
		err = p.Passlinks.SendForgotten(ctx, link.User, address, link.Expires)
	}
	switch {
	case err == nil:
		p.Logger.InfoContext(ctx, "a link for a forgotten password was mailed", "to", link.User.Name)
	case calendar.ReasonOf(err) == calendar.NotFound:
		p.Logger.InfoContext(ctx, "a link for a forgotten password was requested, but there is no such user with a "+
			"password or an invitation, and a mail address")
	default:
		p.Logger.WarnContext(ctx, "a link for a forgotten password was not mailed", "error", err)
	}
}

// welcomeContent is the data of the first page after an invitation, or after the first sign-in.
type welcomeContent struct {
	DisplayName, Timezone string
	// Zone is the stored time zone, which the script compares with the browser's.
	Zone   string
	Places []string
	// Passkey is set if the user has no passkey and can make one here.
	Passkey bool
	// Local is set if other devices cannot reach the server.
	Local bool
	// Checks are the checks of the server; nil if the visitor is no administrator, or the form has an error.
	Checks *checksContent
}

// welcomePages ask a new user for name and time zone, and offer a passkey. They show administrators whether others can
// reach the server.
type welcomePages struct{ *pageRequest }

func (p welcomePages) content() (welcomeContent, error) {
	u := p.user()
	f, err := p.Auth.Factors(p.r.Context(), u)
	_, canPasskey := p.passkeySite()
	return welcomeContent{
		DisplayName: u.DisplayName, Timezone: u.Timezone, Zone: cmp.Or(u.Timezone, "UTC"), Places: zone.Places(),
		Passkey: canPasskey && f.Passkeys == 0, Local: p.local(),
	}, err
}

func (p welcomePages) welcome() (welcomeContent, error) {
	content, err := p.content()
	if err != nil || !p.user().Admin {
		return content, err
	}
	checks, err := p.checks()
	content.Checks = &checks
	return content, err
}

// Check is the outcome of a check of the server at its public addresses.
type Check struct {
	// Name is a key of checkTexts. Result is ok, failed or skipped.
	Name, Result string
	// Detail describes the fault, Mend the remedy. They are in English, as in the log.
	Detail, Mend string
}

// checkTexts are the ids of texts about the checks, in their order on the page.
var checkTexts = []struct{ name, text string }{
	{"answers", "checks.answers"},
	{"encrypted", "checks.encrypted"},
	{"apps", "checks.apps"},
	{"endpoint", "checks.endpoint"},
	{"sign-in", "checks.sign-in"},
}

// resultTexts are the ids of texts about their results.
var resultTexts = map[string]string{
	"ok": "checks.ok", "failed": "checks.failed", "skipped": "checks.skipped",
}

// checksPatience limits the time of all checks together, because the page waits for them.
const checksPatience = 4 * time.Second

// checksContent is the data of the checks.
type checksContent struct {
	// Address is the server's address, MCP the one for assistants.
	Address, MCP string
	// Known is set if the server has a public address. Only then there are Rows.
	Known bool
	Rows  []checkRow
	// Phones is set if phones can connect.
	Phones bool
}

type checkRow struct {
	Check
	Text, Words string
}

// checks runs the checks. Later checks are skipped if the server does not answer.
func (p welcomePages) checks() (checksContent, error) {
	content := checksContent{
		Address: p.address().String(), MCP: p.assistantsURL(), Known: p.BaseURL != nil && !p.local(),
	}
	if !content.Known || p.Checks == nil {
		return content, nil
	}
	ctx, cancel := context.WithTimeout(p.r.Context(), checksPatience)
	defer cancel()
	found, err := p.Checks(ctx)
	if err != nil {
		return content, err
	}
	works := map[string]bool{}
	for _, one := range checkTexts {
		row := checkRow{Check: Check{Name: one.name, Result: "skipped"}, Text: p.lang.Text(one.text)}
		for _, c := range found {
			if c.Name == one.name {
				row.Check = c
			}
		}
		row.Words = p.lang.Text(resultTexts[row.Result])
		works[one.name] = row.Result == "ok"
		content.Rows = append(content.Rows, row)
	}
	content.Phones = works["answers"] && works["encrypted"] && works["apps"]
	return content, nil
}

func (p welcomePages) save() error {
	content, err := p.content()
	if err != nil {
		return err
	}
	content.DisplayName = p.field("display-name")
	timezone, wrong := p.timezone()
	content.Timezone = timezone
	if wrong == nil {
		_, wrong = p.ChangeUser(p.r.Context(), p.user().Name, auth.UserEdit{
			DisplayName: &content.DisplayName, Timezone: &content.Timezone,
		})
	}
	if wrong != nil {
		return p.again("welcome", content, wrong)
	}
	if p.field("then") == "passkey" {
		return p.leadTo("security/passkey")
	}
	return p.landOn("")
}

// firstPage returns the page to show after signing in: the requested one, or the welcome page at a user's first
// sign-in.
func (p *pageRequest) firstPage() (string, error) {
	next := p.next()
	// The server's address leads to the calendar: that is no particular page.
	if next != "" && next != calendarRoot || p.returning || p.user().DisplayName != "" {
		return next, nil
	}
	all, err := p.Auth.Sessions(p.r.Context(), p.user())
	if err != nil || len(all) > 1 {
		return next, err
	}
	tokens, err := p.Auth.Tokens(p.r.Context(), p.user().Name)
	// The first start makes a token together with the user.
	connected := slices.ContainsFunc(tokens, func(t auth.Token) bool {
		return !t.LastUsed.IsZero() || t.Created.Sub(p.user().Created) > time.Minute
	})
	if err != nil || connected || p.session.Created.Sub(p.user().Created) > newFor {
		return next, err
	}
	return "welcome", nil
}

// newFor is how long a user without a display name, an app or another session counts as new.
const newFor = 14 * 24 * time.Hour

// endSession ends the browser's session, if it has one.
func (p *pageRequest) endSession() error {
	if !p.signedIn() {
		return nil
	}
	err := p.Auth.EndSession(p.r.Context(), p.user(), p.session.ID)
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		return err
	}
	return nil
}

// signOut works without a session, too: such a visitor is signed out already.
func (p signInPages) signOut() error {
	if err := p.endSession(); err != nil {
		return err
	}
	p.dropCookie(sessionCookie)
	return p.done("sign-in", "signed-out")
}

// confirmContent is the data of the page that asks for a new proof of identity.
type confirmContent struct {
	Factors auth.Factors
	// Only is set if there is no other way than the provider.
	Only     bool
	Passkey  *passkeyForm
	Provider string
}

// confirmPages ask a signed-in user to prove their identity again.
type confirmPages struct{ *pageRequest }

func (p confirmPages) confirmContent() (confirmContent, error) {
	f, err := p.Auth.Factors(p.r.Context(), p.user())
	content := confirmContent{Factors: f, Only: p.only(f)}
	if f.Passkeys > 0 && !content.Only {
		content.Passkey = signInPages(p).passkeySignInForm()
	}
	if f.Identities > 0 && p.Provider != nil {
		content.Provider = p.Provider.Name()
	}
	return content, err
}

// only reports whether a user proves their identity at the provider alone. A user who never signed in there was let in
// by a link of an administrator, and has nothing but a password.
func (p confirmPages) only(f auth.Factors) bool { return p.OnlyProvider && f.Identities > 0 }

// refuseOnly refuses a password or passkey of a user who must go to the provider.
func (p confirmPages) refuseOnly() error {
	f, err := p.Auth.Factors(p.r.Context(), p.user())
	if err == nil && p.only(f) {
		err = errMissing()
	}
	return err
}

func (p confirmPages) confirm() error {
	if err := p.refuseOnly(); err != nil {
		return err
	}
	return p.confirmed(p.Auth.Prove(p.r.Context(), p.session, p.r.PostFormValue("password"), p.field("code"),
		p.ClientAddr(p.r)))
}

// confirmed continues after a successful proof of identity, or shows the page again.
func (p confirmPages) confirmed(err error) error {
	if err == nil {
		return p.leadTo(p.next())
	}
	p.refusedLogin(err)
	return showAgain(p.pageRequest, "confirm", p.confirmContent, err)
}

// passwordLinkContent is the data of the page of an invite or reset link.
type passwordLinkContent struct {
	Kind        auth.PasswordLinkKind
	Name, Title string
	Secret      string
	// Timezone and Places are the field of an invitation: the user's zone, and those to choose from.
	Timezone string
	Places   []string
}

// passwordLinkPages set a password by an invite or reset link.
type passwordLinkPages struct{ *pageRequest }

func (p passwordLinkPages) passwordLinkContent() (passwordLinkContent, error) {
	secret := p.r.PathValue("secret")
	link, err := p.Auth.PasswordLink(p.r.Context(), secret)
	if l := p.languages.Find(link.User.Language); l != nil && !p.signedIn() {
		p.lang = l
	}
	content := passwordLinkContent{
		Kind: link.Kind, Name: link.User.Name, Title: link.User.Title(), Secret: secret,
	}
	if link.Kind == auth.Invitation {
		content.Timezone, content.Places = link.User.Timezone, zone.Places()
	}
	return content, err
}

func (p passwordLinkPages) redeem() error {
	content, err := p.passwordLinkContent()
	if err != nil {
		return err
	}
	timezone, wrongZone := p.timezone()
	if content.Kind == auth.Invitation && p.r.PostForm.Has("timezone") {
		content.Timezone = timezone
	}
	password, err := p.newPassword()
	if err = cmp.Or(err, wrongZone); err != nil {
		return p.again("passwordlink", content, err)
	}
	u, err := p.Auth.Redeem(p.r.Context(), content.Secret, password)
	if err != nil {
		return p.again("passwordlink", content, err)
	}
	if content.Kind == auth.Invitation && content.Timezone != u.Timezone {
		if _, err := p.ChangeUser(p.r.Context(), u.Name, auth.UserEdit{Timezone: &content.Timezone}); err != nil {
			return err
		}
	}
	if err := p.endSession(); err != nil {
		return err
	}
	p.session, p.returning = auth.Session{}, content.Kind == auth.Reset
	entry, err := p.Auth.SignIn(p.r.Context(), u.Name, password, p.ClientAddr(p.r), p.r.UserAgent())
	switch {
	case err != nil:
		return err
	case !entry.Done():
		return p.show("code", codeContent{entry.SealedState, entry.Factors, signInPages(p).passkeySignInForm()})
	}
	return p.begin(entry)
}

// newPassword returns the new password if it was typed the same way twice.
func (p *pageRequest) newPassword() (string, error) {
	password := p.r.PostFormValue("password")
	if password != p.r.PostFormValue("again") {
		return "", p.wrong("error.passwords-differ")
	}
	return password, nil
}
