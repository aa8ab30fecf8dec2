package web

import (
	"context"
	"net"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/passkey"
	"caldav-mcp-server/calendar"
)

// Proofs mails the links that verify mail addresses.
type Proofs interface {
	// Send sends a link to an address.
	Send(ctx context.Context, u calendar.User, address string) error
	// Open returns the user and address of a link; NotFound if it is invalid.
	Open(token string) (calendar.UserID, calendar.MailAddress, error)
}

// proofPath is the path of the links; ProofPath is the same below the path of BASE_URL.
const (
	proofPath = "prove/"
	ProofPath = root + proofPath
)

func (h *Handler) proofPages() []page {
	if h.Proofs == nil {
		return nil
	}
	return []page{
		postBack("settings/addresses/prove", people, "settings", addressPages.sendProof),
		get(proofPath+"{token}", people, showing("prove", addressPages.proven)),
		postBack(proofPath+"{token}", people, "settings", addressPages.prove),
	}
}

// sendProof sends a link to one of the user's additional addresses.
func (p addressPages) sendProof() error {
	return settingsPages(p).settled(p.sendProofTo(p.field("address")), "proof-sent")
}

// sendProofTo mails only addresses that the user has added, so that the form cannot be used to send mail to strangers
// freely.
func (p addressPages) sendProofTo(address string) error {
	all, err := p.Auth.Addresses(p.r.Context(), p.user())
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.Text == address && a.Verified.IsZero() {
			return p.Proofs.Send(p.r.Context(), p.user(), a.Text)
		}
	}
	return p.failed(calendar.NotFound, "error.address-verified")
}

// proven returns the address of a link, if it is for the user who opened it. Another user's link proves nothing.
func (p addressPages) proven() (string, error) {
	user, address, err := p.Proofs.Open(p.r.PathValue("token"))
	if err != nil {
		return "", err
	}
	if user != p.user().ID {
		return "", p.failed(calendar.NotFound, "error.proof-account")
	}
	return string(address), nil
}

func (p addressPages) prove() error {
	address, err := p.proven()
	if err != nil {
		return err
	}
	return settingsPages(p).settled(p.Auth.VerifyAddress(p.r.Context(), p.user(), address), "proven")
}

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
func (p signInPages) passkeySignInForm() *passkeyForm {
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
	if !ok || p.OnlyProvider {
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
	if err := p.refuseOnly(); err != nil {
		return err
	}
	return p.confirmed(p.Auth.ProveByPasskey(p.r.Context(), site, p.session, auth.SealedState(p.field("sealed")),
		p.field("answer")))
}
