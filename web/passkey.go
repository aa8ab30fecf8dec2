package web

import (
	"net"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/passkey"
)

// passkeyForm is a script's request to the browser, and a form that returns the answer.
type passkeyForm struct {
	Options     string
	SealedState auth.SealedState
}

// passkeySite returns the relying party for passkeys: the pages' host name. Browsers support none for IP addresses or
// without TLS, except on localhost.
func (p *pageRequest) passkeySite() (site passkey.Site, ok bool) {
	at := p.address()
	host := strings.ToLower(at.Hostname())
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if net.ParseIP(host) != nil || at.Scheme != "https" && !local {
		return site, false
	}
	return passkey.Site{Host: host, Origin: at.Scheme + "://" + at.Host}, true
}

// passkeySignInForm returns nil if passkeys are not possible. An error is no obstacle: the other ways to sign in still
// work.
func (p *pageRequest) passkeySignInForm() *passkeyForm {
	site, ok := p.passkeySite()
	if !ok {
		return nil
	}
	options, sealed, err := p.Auth.BeginPasskeySignIn(p.r.Context(), site)
	if err != nil {
		p.Logger.WarnContext(p.r.Context(), "passkeys are not asked for", "error", err)
		return nil
	}
	return &passkeyForm{options, sealed}
}

func (p signInPages) passkeySignIn() error {
	site, ok := p.passkeySite()
	if !ok {
		return errMissing()
	}
	entry, err := p.Auth.SignInByPasskey(p.r.Context(), site, auth.SealedState(p.field("sealed")), p.field("answer"),
		p.r.UserAgent())
	if err != nil {
		p.refusedLogin(err)
		return p.again("signin", p.signInContent(""), err)
	}
	return p.begin(entry)
}

func (p confirmPages) confirmByPasskey() error {
	site, ok := p.passkeySite()
	if !ok {
		return errMissing()
	}
	return p.confirmed(p.Auth.ProveByPasskey(p.r.Context(), site, p.session, auth.SealedState(p.field("sealed")),
		p.field("answer")))
}
