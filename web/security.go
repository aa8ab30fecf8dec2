package web

import (
	"html/template"
	"strings"

	"caldav-mcp-server/auth"
)

func (h *Handler) securityPages() []page {
	return []page{
		get("security", people, showing("security", (*visit).securityContent)),
		get("security/password", proven, (*visit).passwordForm),
		post("security/password", proven, (*visit).changePassword),
		get("security/passkey", proven, showing("passkey", (*visit).makeKeyContent)),
		post("security/passkey", proven, (*visit).addPasskey),
		postBack("security/passkey/remove", proven, "security", (*visit).removePasskey),
		get("security/codes", proven, showing("codes", (*visit).newCodes)),
		post("security/codes", proven, (*visit).addCodes),
		postBack("security/codes/remove", proven, "security", (*visit).removeCodes),
		postBack("security/recovery", proven, "security", (*visit).newRecoveryCodes),
		postBack("security/link", proven, "security", (*visit).linkElsewhere),
		postBack("security/link/accept", proven, "security", (*visit).link),
		postBack("security/unlink", proven, "security", (*visit).unlink),
		postBack("security/sessions/end", people, "security", (*visit).endOneSession),
		postBack("security/sessions/end-others", people, "security", (*visit).endOtherSessions),
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

func (v *visit) securityContent() (c securityContent, err error) {
	ctx, u, clock := v.r.Context(), v.user(), v.clock()
	if c.Factors, err = v.Auth.Factors(ctx, u); err != nil {
		return c, err
	}
	if c.Identities, err = v.Auth.Identities(ctx, u); err != nil {
		return c, err
	}
	keys, err := v.Auth.Passkeys(ctx, u)
	if err != nil {
		return c, err
	}
	for _, k := range keys {
		c.Passkeys = append(c.Passkeys, keyRow{k.ID, excerpt(k.Name), clock.date(k.Created), clock.Ago(k.Used)})
	}
	sessions, err := v.Auth.Sessions(ctx, u)
	for _, s := range sessions {
		c.Sessions = append(c.Sessions, sessionRow{s.ID, browserName(s.Agent), string(s.Way), clock.Ago(s.Seen), s.ID == v.session.ID})
	}
	_, c.CanPasskey = v.passkeySite()
	if v.Provider != nil {
		c.Provider = v.Provider.Name()
	}
	return c, err
}

// browsers and systems are words in User-Agents, the more specific ones first.
var (
	browsers = [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"Chrome/", "Chrome"}, {"CriOS/", "Chrome"}, {"Safari/", "Safari"}}
	systems  = [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "Mac"}, {"Linux", "Linux"}}
)

// browserName returns a browser's common name.
func browserName(agent string) string {
	browser, system := known(browsers, agent), known(systems, agent)
	switch {
	case browser == "" && agent == "":
		return "Unknown browser"
	case browser == "":
		return excerpt(agent)
	case system == "":
		return browser
	}
	return browser + " on " + system
}

func known(words [][2]string, agent string) string {
	for _, w := range words {
		if strings.Contains(agent, w[0]) {
			return w[1]
		}
	}
	return ""
}

func (v *visit) passwordForm() error { return v.show("password", nil) }

func (v *visit) changePassword() error {
	password, err := v.newPassword()
	if err == nil {
		err = v.Auth.ChangePassword(v.r.Context(), v.session, password)
	}
	if err != nil {
		return v.again("password", nil, err)
	}
	return v.done("security", "password-changed")
}

// makeKeyContent is the data of the page for creating a passkey.
type makeKeyContent struct {
	Form passkeyForm
	Name string
	// First is set if the main password will no longer work in apps afterwards.
	First bool
}

func (v *visit) makeKeyContent() (c makeKeyContent, err error) {
	site, ok := v.passkeySite()
	if !ok {
		return c, errMissing()
	}
	f, err := v.Auth.Factors(v.r.Context(), v.user())
	if err != nil {
		return c, err
	}
	options, parcel, err := v.Auth.BeginPasskey(v.r.Context(), site, v.user())
	return makeKeyContent{passkeyForm{options, parcel}, browserName(v.r.UserAgent()), !f.Guarded()}, err
}

func (v *visit) addPasskey() error {
	site, ok := v.passkeySite()
	if !ok {
		return errMissing()
	}
	codes, err := v.Auth.AddPasskey(v.r.Context(), site, v.session, auth.Parcel(v.field("parcel")), v.field("name"), v.field("answer"))
	if err != nil {
		return showAgain(v, "passkey", (*visit).makeKeyContent, err)
	}
	return v.recoverable(codes, "passkey-added")
}

// recoverable shows new recovery codes, if there are any: they are shown only once.
func (v *visit) recoverable(codes []string, notice string) error {
	if codes == nil {
		return v.done("security", notice)
	}
	return v.show("recovery", strings.Join(codes, "\n"))
}

func (v *visit) removePasskey() error {
	return v.secured(v.Auth.DropPasskey(v.r.Context(), v.user(), auth.PasskeyID(v.field("id"))), "removed")
}

// secured redirects to the security page with a notice, or shows the error.
func (v *visit) secured(err error, notice string) error {
	if err == nil {
		return v.done("security", notice)
	}
	return showAgain(v, "security", (*visit).securityContent, err)
}

// codesContent is a secret for an authenticator app.
type codesContent struct {
	Offer auth.CodeOffer
	QR    template.HTML
	Link  template.URL
	First bool
}

func (v *visit) newCodes() (codesContent, error) {
	offer, err := v.Auth.OfferCodes(v.r.Context(), v.user(), v.address().Hostname())
	if err != nil {
		return codesContent{}, err
	}
	return v.codesContent(offer)
}

func (v *visit) codesContent(offer auth.CodeOffer) (codesContent, error) {
	f, err := v.Auth.Factors(v.r.Context(), v.user())
	if err != nil {
		return codesContent{}, err
	}
	code, err := qrCode(offer.Address, "Scan this with the app")
	return codesContent{offer, code, template.URL(offer.Address), !f.Guarded()}, err //nolint:gosec // it is made here
}

func (v *visit) addCodes() error {
	parcel := auth.Parcel(v.field("parcel"))
	codes, err := v.Auth.AcceptCodes(v.r.Context(), v.session, parcel, v.field("code"))
	if err == nil {
		return v.recoverable(codes, "codes-added")
	}
	offer, failed := v.Auth.OfferAgain(v.r.Context(), v.user(), v.address().Hostname(), parcel)
	if failed != nil {
		return failed
	}
	content, failed := v.codesContent(offer)
	if failed != nil {
		return failed
	}
	return v.again("codes", content, err)
}

func (v *visit) removeCodes() error {
	return v.secured(v.Auth.DropCodes(v.r.Context(), v.user()), "removed")
}

func (v *visit) newRecoveryCodes() error {
	f, err := v.Auth.Factors(v.r.Context(), v.user())
	if err == nil && !f.Second() {
		err = errMissing()
	}
	if err != nil {
		return err
	}
	codes, err := v.Auth.NewRecoveryCodes(v.r.Context(), v.user())
	if err != nil {
		return err
	}
	return v.recoverable(codes, "")
}

func (v *visit) unlink() error {
	return v.secured(v.Auth.UnlinkIdentity(v.r.Context(), v.user(), v.field("issuer"), v.field("subject")), "removed")
}

func (v *visit) endOneSession() error {
	return v.secured(v.Auth.EndSession(v.r.Context(), v.user(), auth.SessionID(v.field("id"))), "session-ended")
}

func (v *visit) endOtherSessions() error {
	return v.secured(v.Auth.EndSessions(v.r.Context(), v.user(), v.session.ID), "session-ended")
}
