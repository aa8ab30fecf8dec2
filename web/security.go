package web

import (
	"html/template"
	"strings"

	"caldav-mcp-server/auth"
)

func (h *Handler) securityPages() []page {
	return []page{
		get("security", people, showing("security", securityPages.securityContent)),
		get("security/password", proven, securityPages.passwordForm),
		post("security/password", proven, securityPages.changePassword),
		get("security/passkey", proven, showing("passkey", securityPages.makeKeyContent)),
		post("security/passkey", proven, securityPages.addPasskey),
		postBack("security/passkey/remove", proven, "security", securityPages.removePasskey),
		get("security/codes", proven, showing("codes", securityPages.newCodes)),
		post("security/codes", proven, securityPages.addCodes),
		postBack("security/codes/remove", proven, "security", securityPages.removeCodes),
		postBack("security/recovery", proven, "security", securityPages.newRecoveryCodes),
		postBack("security/link", proven, "security", providerPages.linkElsewhere),
		postBack("security/link/accept", proven, "security", providerPages.link),
		postBack("security/unlink", proven, "security", securityPages.unlink),
		postBack("security/sessions/end", people, "security", securityPages.endOneSession),
		postBack("security/sessions/end-others", people, "security", securityPages.endOtherSessions),
	}
}

// securityContent lists a user's means of signing in, and their sessions.
type securityContent struct {
	Factors    auth.Factors
	Passkeys   []keyRow
	Identities []auth.Identity
	Sessions   []sessionRow
	// Provider is the OpenID provider's name, "" for none; CanPasskey is set if passkeys work here.
	Provider   string
	CanPasskey bool
}

// keyRow is a passkey in a list.
type keyRow struct {
	ID                  auth.PasskeyID
	Name, Created, Used string
}

// sessionRow is a session in a list.
type sessionRow struct {
	ID                 auth.SessionID
	Browser, Way, Seen string
	Here               bool
}

// ways are the ends of the ids of texts for the ways to sign in.
var ways = map[auth.Way]string{
	auth.ByPassword: "password", auth.ByCode: "code", auth.ByRecovery: "recovery", auth.ByPasskey: "passkey",
	auth.ByIdentity: "elsewhere",
}

// securityPages manage passwords, passkeys, codes and sessions.
type securityPages struct{ *pageRequest }

func (p securityPages) securityContent() (c securityContent, err error) {
	ctx, u, clock := p.r.Context(), p.user(), p.clock()
	if c.Factors, err = p.Auth.Factors(ctx, u); err != nil {
		return c, err
	}
	if c.Identities, err = p.Auth.Identities(ctx, u); err != nil {
		return c, err
	}
	keys, err := p.Auth.Passkeys(ctx, u)
	if err != nil {
		return c, err
	}
	for _, k := range keys {
		c.Passkeys = append(c.Passkeys, keyRow{k.ID, excerpt(k.Name), clock.date(k.Created), clock.Ago(k.Used)})
	}
	sessions, err := p.Auth.Sessions(ctx, u)
	for _, s := range sessions {
		c.Sessions = append(c.Sessions, sessionRow{
			s.ID, p.browserName(s.Agent), p.lang.Text("session." + ways[s.Way]), clock.Ago(s.Seen),
			s.ID == p.session.ID,
		})
	}
	_, c.CanPasskey = p.passkeySite()
	if p.Provider != nil {
		c.Provider = p.Provider.Name()
	}
	return c, err
}

// browsers and systems are words in User-Agents, the more specific ones first.
var (
	browsers = [][2]string{
		{"Edg/", "Edge"},
		{"OPR/", "Opera"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"Chrome/", "Chrome"},
		{"CriOS/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = [][2]string{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"Windows", "Windows"},
		{"Mac OS X", "Mac"},
		{"Linux", "Linux"},
	}
)

// browserName returns a browser's common name.
func (p *pageRequest) browserName(agent string) string {
	browser, system := known(browsers, agent), known(systems, agent)
	switch {
	case browser == "" && agent == "":
		return p.lang.Text("security.unknown-browser")
	case browser == "":
		return excerpt(agent)
	case system == "":
		return browser
	}
	return p.lang.Text("security.browser-on", "browser", browser, "system", system)
}

func known(words [][2]string, agent string) string {
	for _, w := range words {
		if strings.Contains(agent, w[0]) {
			return w[1]
		}
	}
	return ""
}

func (p securityPages) passwordForm() error { return p.show("password", nil) }

func (p securityPages) changePassword() error {
	password, err := p.newPassword()
	if err == nil {
		err = p.Auth.ChangePassword(p.r.Context(), p.session, password)
	}
	if err != nil {
		return p.again("password", nil, err)
	}
	return p.done("security", "password-changed")
}

// makeKeyContent is the data of the page for creating a passkey.
type makeKeyContent struct {
	Form passkeyForm
	Name string
	// First is set if the main password will no longer work in apps afterwards.
	First bool
}

func (p securityPages) makeKeyContent() (c makeKeyContent, err error) {
	site, ok := p.passkeySite()
	if !ok {
		return c, errMissing()
	}
	f, err := p.Auth.Factors(p.r.Context(), p.user())
	if err != nil {
		return c, err
	}
	options, sealed, err := p.Auth.BeginPasskey(p.r.Context(), site, p.user())
	return makeKeyContent{passkeyForm{options, sealed}, p.browserName(p.r.UserAgent()), !f.Guarded()}, err
}

func (p securityPages) addPasskey() error {
	site, ok := p.passkeySite()
	if !ok {
		return errMissing()
	}
	codes, err := p.Auth.AddPasskey(p.r.Context(), site, p.session, auth.SealedState(p.field("sealed")),
		p.field("name"), p.field("answer"))
	if err != nil {
		return showAgain(p.pageRequest, "passkey", p.makeKeyContent, err)
	}
	return p.recoverable(codes, "passkey-added")
}

// recoverable shows new recovery codes, if there are any: they are shown only once.
func (p securityPages) recoverable(codes []string, notice string) error {
	if codes == nil {
		return p.done("security", notice)
	}
	return p.show("recovery", strings.Join(codes, "\n"))
}

func (p securityPages) removePasskey() error {
	return p.secured(p.Auth.DropPasskey(p.r.Context(), p.user(), auth.PasskeyID(p.field("id"))), "removed")
}

// secured redirects to the security page with a notice, or shows the error.
func (p securityPages) secured(err error, notice string) error {
	if err == nil {
		return p.done("security", notice)
	}
	return showAgain(p.pageRequest, "security", p.securityContent, err)
}

// codesContent is a secret for an authenticator app.
type codesContent struct {
	Offer auth.CodeOffer
	QR    template.HTML
	Link  template.URL
	First bool
}

func (p securityPages) newCodes() (codesContent, error) {
	offer, err := p.Auth.OfferCodes(p.r.Context(), p.user(), p.address().Hostname())
	if err != nil {
		return codesContent{}, err
	}
	return p.codesContent(offer)
}

func (p securityPages) codesContent(offer auth.CodeOffer) (codesContent, error) {
	f, err := p.Auth.Factors(p.r.Context(), p.user())
	if err != nil {
		return codesContent{}, err
	}
	code, err := qrCode(offer.Address, p.lang.Text("codes.scan-label"))
	return codesContent{offer, code, template.URL(offer.Address), !f.Guarded()}, err //nolint:gosec // it is made here
}

func (p securityPages) addCodes() error {
	sealed := auth.SealedState(p.field("sealed"))
	codes, err := p.Auth.AcceptCodes(p.r.Context(), p.session, sealed, p.field("code"))
	if err == nil {
		return p.recoverable(codes, "codes-added")
	}
	offer, failed := p.Auth.OfferAgain(p.r.Context(), p.user(), p.address().Hostname(), sealed)
	if failed != nil {
		return failed
	}
	content, failed := p.codesContent(offer)
	if failed != nil {
		return failed
	}
	return p.again("codes", content, err)
}

func (p securityPages) removeCodes() error {
	return p.secured(p.Auth.DropCodes(p.r.Context(), p.user()), "removed")
}

func (p securityPages) newRecoveryCodes() error {
	f, err := p.Auth.Factors(p.r.Context(), p.user())
	if err == nil && !f.Second() {
		err = errMissing()
	}
	if err != nil {
		return err
	}
	codes, err := p.Auth.NewRecoveryCodes(p.r.Context(), p.user())
	if err != nil {
		return err
	}
	return p.recoverable(codes, "")
}

func (p securityPages) unlink() error {
	return p.secured(p.Auth.UnlinkIdentity(p.r.Context(), p.user(), p.field("issuer"), p.field("subject")), "removed")
}

func (p securityPages) endOneSession() error {
	return p.secured(p.Auth.EndSession(p.r.Context(), p.user(), auth.SessionID(p.field("id"))), "session-ended")
}

func (p securityPages) endOtherSessions() error {
	return p.secured(p.Auth.EndSessions(p.r.Context(), p.user(), p.session.ID), "session-ended")
}
