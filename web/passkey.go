package web

import (
	"net"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/passkey"
)

// passkeyForm is a script's request to the browser, and a form that returns the answer.
type passkeyForm struct {
	Options string
	Parcel  auth.Parcel
}

// passkeySite returns the relying party for passkeys: the pages' host name. Browsers support none for IP addresses or
// without TLS, except on localhost.
func (v *visit) passkeySite() (site passkey.Site, ok bool) {
	at := v.address()
	host := strings.ToLower(at.Hostname())
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if net.ParseIP(host) != nil || at.Scheme != "https" && !local {
		return site, false
	}
	return passkey.Site{Host: host, Origin: at.Scheme + "://" + at.Host}, true
}

// passkeySignInForm returns nil if passkeys are not possible. An error is no obstacle: the other ways to sign in still
// work.
func (v *visit) passkeySignInForm() *passkeyForm {
	site, ok := v.passkeySite()
	if !ok {
		return nil
	}
	options, parcel, err := v.Auth.BeginPasskeySignIn(v.r.Context(), site)
	if err != nil {
		v.Logger.WarnContext(v.r.Context(), "passkeys are not asked for", "error", err)
		return nil
	}
	return &passkeyForm{options, parcel}
}

func (v *visit) passkeySignIn() error {
	site, ok := v.passkeySite()
	if !ok {
		return errMissing()
	}
	entry, err := v.Auth.SignInByPasskey(v.r.Context(), site, auth.Parcel(v.field("parcel")), v.field("answer"), v.r.UserAgent())
	if err != nil {
		v.refusedLogin(err)
		return v.again("signin", v.signInContent(""), err)
	}
	return v.begin(entry)
}

func (v *visit) confirmByPasskey() error {
	site, ok := v.passkeySite()
	if !ok {
		return errMissing()
	}
	return v.confirmed(v.Auth.ProveByPasskey(v.r.Context(), site, v.session, auth.Parcel(v.field("parcel")), v.field("answer")))
}
