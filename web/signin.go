package web

import (
	"errors"
	"net/http"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func (h *Handler) signInPages() []page {
	return []page{
		get("sign-in", anybody, (*visit).signInForm),
		post("sign-in", anybody, (*visit).signIn),
		post("sign-in/code", anybody, (*visit).secondStep),
		post("sign-in/passkey", anybody, (*visit).passkeySignIn),
		get("sign-in/elsewhere", anybody, (*visit).signInElsewhere),
		get("sign-in/elsewhere/back", anybody, (*visit).backFromElsewhere),
		post("sign-out", anybody, (*visit).signOut),
		get("confirm", people, showing("confirm", (*visit).confirmContent)),
		post("confirm", people, (*visit).confirm),
		post("confirm/passkey", people, (*visit).confirmByPasskey),
		postBack("confirm/elsewhere", people, "confirm", (*visit).confirmElsewhere),
		get("key/{secret}", anybody, showing("voucher", (*visit).voucherContent)),
		post("key/{secret}", anybody, (*visit).redeem),
	}
}

// signInContent is the data of the sign-in page.
type signInContent struct {
	Name    string
	Passkey *passkeyForm
	// Provider is the OpenID provider's name, "" for none.
	Provider string
}

func (v *visit) signInContent(name string) signInContent {
	content := signInContent{Name: name, Passkey: v.passkeySignInForm()}
	if v.Provider != nil {
		content.Provider = v.Provider.Name()
	}
	return content
}

func (v *visit) signInForm() error {
	if v.signedIn() {
		return v.leadTo(v.next())
	}
	return v.show("signin", v.signInContent(""))
}

func (v *visit) signIn() error {
	name := v.field("name")
	entry, err := v.Auth.SignIn(v.r.Context(), name, v.r.PostFormValue("password"), v.ClientAddr(v.r), v.r.UserAgent())
	if err != nil {
		v.refusedLogin(err)
		return v.again("signin", v.signInContent(name), err)
	}
	if !entry.Done() {
		return v.show("code", codeContent{entry.Parcel, entry.Factors, v.passkeySignInForm()})
	}
	return v.begin(entry)
}

// refusedLogin reports a failed or throttled sign-in to the log.
func (v *visit) refusedLogin(err error) {
	wait := (*auth.ThrottledError)(nil)
	if v.Refused != nil && (errors.Is(err, auth.ErrUnauthorized) || errors.As(err, &wait)) {
		v.Refused(v.r.Context())
	}
}

// codeContent is the data of the second step.
type codeContent struct {
	Parcel  auth.Parcel
	Factors auth.Factors
	Passkey *passkeyForm
}

func (v *visit) secondStep() error {
	parcel := auth.Parcel(v.field("parcel"))
	entry, err := v.Auth.SecondStep(v.r.Context(), parcel, v.field("code"), v.r.UserAgent())
	if err != nil {
		v.refusedLogin(err)
		return v.again("code", codeContent{Parcel: parcel, Factors: auth.Factors{Codes: true}, Passkey: v.passkeySignInForm()}, err)
	}
	return v.begin(entry)
}

// begin continues with a new session and ends the browser's previous one.
func (v *visit) begin(e auth.Entry) error {
	if err := v.endSession(); err != nil {
		return err
	}
	v.session = e.Session
	v.named()
	v.setCookie(sessionCookie, string(e.Secret), sessionAge)
	return v.leadTo(v.next())
}

// endSession ends the browser's session, if it has one.
func (v *visit) endSession() error {
	if !v.signedIn() {
		return nil
	}
	err := v.Auth.EndSession(v.r.Context(), v.user(), v.session.ID)
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		return err
	}
	return nil
}

// signOut works without a session, too: such a visitor is signed out already.
func (v *visit) signOut() error {
	if err := v.endSession(); err != nil {
		return err
	}
	v.dropCookie(sessionCookie)
	return v.done("sign-in", "signed-out")
}

// confirmContent is the data of the page that asks for a new proof of identity.
type confirmContent struct {
	Factors  auth.Factors
	Passkey  *passkeyForm
	Provider string
}

func (v *visit) confirmContent() (confirmContent, error) {
	f, err := v.Auth.Factors(v.r.Context(), v.user())
	content := confirmContent{Factors: f}
	if f.Passkeys > 0 {
		content.Passkey = v.passkeySignInForm()
	}
	if f.Identities > 0 && v.Provider != nil {
		content.Provider = v.Provider.Name()
	}
	return content, err
}

func (v *visit) confirm() error {
	return v.confirmed(v.Auth.Prove(v.r.Context(), v.session, v.r.PostFormValue("password"), v.field("code"), v.ClientAddr(v.r)))
}

// confirmed continues after a successful proof of identity, or shows the page again.
func (v *visit) confirmed(err error) error {
	if err == nil {
		return v.leadTo(v.next())
	}
	v.refusedLogin(err)
	return showAgain(v, "confirm", (*visit).confirmContent, err)
}

// voucherContent is the data of the page of an invite or reset link.
type voucherContent struct {
	Kind        auth.VoucherKind
	Name, Title string
	Secret      string
}

func (v *visit) voucherContent() (voucherContent, error) {
	secret := v.r.PathValue("secret")
	voucher, err := v.Auth.Voucher(v.r.Context(), secret)
	return voucherContent{Kind: voucher.Kind, Name: voucher.User.Name, Title: voucher.User.Title(), Secret: secret}, err
}

func (v *visit) redeem() error {
	content, err := v.voucherContent()
	if err != nil {
		return err
	}
	password, err := v.newPassword()
	if err != nil {
		return v.again("voucher", content, err)
	}
	u, err := v.Auth.Redeem(v.r.Context(), content.Secret, password)
	if err != nil {
		return v.again("voucher", content, err)
	}
	if err := v.endSession(); err != nil {
		return err
	}
	v.session = auth.Session{}
	entry, err := v.Auth.SignIn(v.r.Context(), u.Name, password, v.ClientAddr(v.r), v.r.UserAgent())
	switch {
	case err != nil:
		return err
	case !entry.Done():
		return v.show("code", codeContent{entry.Parcel, entry.Factors, v.passkeySignInForm()})
	}
	return v.begin(entry)
}

// newPassword returns the new password if it was typed the same way twice.
func (v *visit) newPassword() (string, error) {
	password := v.r.PostFormValue("password")
	if password != v.r.PostFormValue("again") {
		return "", calendar.Errorf(calendar.Invalid, "", "the two are not alike; type the new password twice")
	}
	return password, nil
}

// postBack makes a POST row with a page to return to after proving one's identity.
func postBack(path string, who who, back string, serve func(*visit) error) page {
	return page{method: http.MethodPost, path: path, who: who, serve: serve, back: back}
}
