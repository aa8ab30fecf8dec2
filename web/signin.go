package web

import (
	"cmp"
	"errors"

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
	// Provider is the OpenID provider's name, "" for none.
	Provider string
}

// signInPages sign a visitor in and out.
type signInPages struct{ *pageRequest }

func (p signInPages) signInContent(name string) signInContent {
	content := signInContent{Name: name, Passkey: p.passkeySignInForm()}
	if p.Provider != nil {
		content.Provider = p.Provider.Name()
	}
	return content
}

func (p signInPages) signInForm() error {
	if p.signedIn() {
		return p.leadTo(p.next())
	}
	return p.show("signin", p.signInContent(""))
}

func (p signInPages) signIn() error {
	name := p.field("name")
	entry, err := p.Auth.SignIn(p.r.Context(), name, p.r.PostFormValue("password"), p.ClientAddr(p.r), p.r.UserAgent())
	if err != nil {
		p.refusedLogin(err)
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
	p.setCookie(sessionCookie, string(e.Secret), sessionAge)
	return p.leadTo(p.next())
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
	Factors  auth.Factors
	Passkey  *passkeyForm
	Provider string
}

// confirmPages ask a signed-in user to prove their identity again.
type confirmPages struct{ *pageRequest }

func (p confirmPages) confirmContent() (confirmContent, error) {
	f, err := p.Auth.Factors(p.r.Context(), p.user())
	content := confirmContent{Factors: f}
	if f.Passkeys > 0 {
		content.Passkey = p.passkeySignInForm()
	}
	if f.Identities > 0 && p.Provider != nil {
		content.Provider = p.Provider.Name()
	}
	return content, err
}

func (p confirmPages) confirm() error {
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
	p.session = auth.Session{}
	entry, err := p.Auth.SignIn(p.r.Context(), u.Name, password, p.ClientAddr(p.r), p.r.UserAgent())
	switch {
	case err != nil:
		return err
	case !entry.Done():
		return p.show("code", codeContent{entry.SealedState, entry.Factors, p.passkeySignInForm()})
	}
	return p.begin(entry)
}

// newPassword returns the new password if it was typed the same way twice.
func (p *pageRequest) newPassword() (string, error) {
	password := p.r.PostFormValue("password")
	if password != p.r.PostFormValue("again") {
		return "", calendar.Errorf(calendar.Invalid, "", "the two are not alike; type the new password twice")
	}
	return password, nil
}
