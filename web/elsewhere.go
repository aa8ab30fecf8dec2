package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oidc"
	"caldav-mcp-server/calendar"
)

// elsewhereCookie holds the sealed state of a sign-in at the OpenID provider.
const elsewhereCookie cookieName = "elsewhere"

// purpose is the reason for going to the provider.
type purpose string

const (
	toSignIn  purpose = "sign in"
	toConfirm purpose = "confirm"
	toLink    purpose = "link"
)

// proofs is how strictly the provider must authenticate for each purpose.
var proofs = map[purpose]oidc.Proof{toSignIn: oidc.Known, toConfirm: oidc.Asked, toLink: oidc.Said}

// journey is the state that the browser carries to the provider and back.
type journey struct {
	Purpose purpose `json:"purpose"`
	// Session is the session that began the journey; empty for a sign-in.
	Session auth.SessionID  `json:"session,omitempty"`
	Next    string          `json:"next,omitempty"`
	Asked   json.RawMessage `json:"asked"`
}

func (v *visit) signInElsewhere() error {
	if v.signedIn() {
		return v.leadTo(v.next())
	}
	return v.goElsewhere(toSignIn)
}

func (v *visit) confirmElsewhere() error { return v.goElsewhere(toConfirm) }

func (v *visit) linkElsewhere() error { return v.goElsewhere(toLink) }

// goElsewhere sends the browser to the provider. The state is sealed in a cookie, so that an answer counts only in this
// browser.
func (v *visit) goElsewhere(why purpose) error {
	if v.Provider == nil {
		return errMissing()
	}
	address, asked, err := v.Provider.Ask(v.r.Context(), v.elsewhereBack(), proofs[why])
	if err != nil {
		return v.elsewhereFailed(err)
	}
	state, err := json.Marshal(journey{why, v.session.ID, v.next(), asked})
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	parcel, err := v.Auth.SealState(v.r.Context(), state)
	if err != nil {
		return err
	}
	v.setCookie(elsewhereCookie, string(parcel), 10*time.Minute)
	return v.leaveFor(address, v.Provider.Name())
}

// leaveFor sends the browser to the provider. It does not redirect a form there: the page's policy would have to name
// all hosts that the provider redirects to, and they are unknown.
func (v *visit) leaveFor(address, name string) error {
	if v.r.Method != http.MethodPost {
		return v.leave(address)
	}
	v.w.Header().Set("Refresh", "0; url="+address)
	return v.show("away", awayContent{address, name})
}

// awayContent is the data of a page that moves on to another host by itself.
type awayContent struct{ Address, Provider string }

// elsewhereBack is our redirect URI; it must be registered at the provider.
func (v *visit) elsewhereBack() string {
	return v.address().JoinPath(root, "sign-in/elsewhere/back").String()
}

func (v *visit) backFromElsewhere() error {
	carried := v.cookie(elsewhereCookie)
	if v.Provider == nil || carried == "" {
		return errMissing()
	}
	v.dropCookie(elsewhereCookie)
	state, err := v.Auth.OpenState(v.r.Context(), v.ClientAddr(v.r), auth.Parcel(carried))
	if err != nil {
		return err
	}
	var j journey
	if err := json.Unmarshal(state, &j); err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	if j.Session != v.session.ID {
		return calendar.Errorf(calendar.Invalid, "", "another user has signed in here meanwhile; start again")
	}
	person, err := v.Provider.Answer(v.r.Context(), j.Asked, v.r.URL.Query())
	if err != nil {
		return v.elsewhereFailed(err)
	}
	return v.arrive(j, person)
}

// elsewhereFailed shows the part of an error that a person can act on; the log has the rest.
func (v *visit) elsewhereFailed(err error) error {
	v.Logger.WarnContext(v.r.Context(), "signing in by another service failed", "error", err)
	if _, away := errors.AsType[*oidc.AwayError](err); away {
		return calendar.Errorf(calendar.Unavailable, "", "%s does not answer just now; try again in a moment, or sign in otherwise", v.Provider.Name())
	}
	if errors.Is(err, oidc.ErrSilent) {
		return calendar.Errorf(calendar.Invalid, "", "%s does not say whether it asked who you are, so its accounts cannot be linked; tell the administrator", v.Provider.Name())
	}
	return calendar.Errorf(calendar.Invalid, "", "%s did not sign you in; try again", v.Provider.Name())
}

// arrive carries out the purpose of a journey.
func (v *visit) arrive(j journey, p oidc.Person) error {
	who := auth.Identity{Issuer: p.Issuer, Subject: p.Subject, Name: cmp.Or(p.Username, p.Email, p.Name, p.Subject)}
	switch j.Purpose {
	case toConfirm:
		if err := v.Auth.ProveByIdentity(v.r.Context(), v.session, who); err != nil {
			return v.confirmed(err)
		}
		return v.leadTo(j.Next)
	case toLink:
		return v.askToLink(who)
	case toSignIn:
	}
	entry, err := v.Auth.SignInByIdentity(v.r.Context(), who, v.r.UserAgent())
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		entry, err = v.welcome(p, who)
	}
	if err != nil {
		return v.again("signin", v.signInContent(""), err)
	}
	if err := v.endSession(); err != nil {
		return err
	}
	v.setCookie(sessionCookie, string(entry.Secret), sessionAge)
	return v.leadTo(j.Next)
}

// linkingContent is the data of the page that confirms linking an account.
type linkingContent struct {
	Parcel         auth.Parcel
	Name, Provider string
}

// askToLink shows the account before linking it: the provider may know the browser as another person.
func (v *visit) askToLink(who auth.Identity) error {
	parcel, err := v.Auth.OfferIdentity(v.r.Context(), v.session, who)
	if err != nil {
		return err
	}
	return v.show("linking", linkingContent{parcel, excerpt(who.Name), v.Provider.Name()})
}

func (v *visit) link() error {
	return v.secured(v.Auth.AcceptIdentity(v.r.Context(), v.session, auth.Parcel(v.field("parcel"))), "linked")
}

// welcome creates a user for a person whom the provider has authenticated, if the administrator allows it. It uses the
// person's name there, but refuses a name that a user has already: they could be different people.
func (v *visit) welcome(p oidc.Person, who auth.Identity) (auth.Entry, error) {
	if !v.CreateUsers() {
		return auth.Entry{}, calendar.Errorf(calendar.Invalid, "",
			"no user here is linked with this account of %s; sign in another way and link it on your security page, or ask the administrator", v.Provider.Name())
	}
	wanted := p.Username
	if _, err := auth.CanonicalName(wanted); err != nil {
		wanted, _, _ = strings.Cut(p.Email, "@")
	}
	u, err := v.NewUser(v.r.Context(), auth.NewUser{Name: wanted, DisplayName: p.Name, Invited: true})
	if err != nil && calendar.ReasonOf(err) == calendar.Exists {
		err = calendar.Errorf(calendar.Exists, "",
			"there is a user %q here already; if that is you, sign in otherwise and link the account on your security page", wanted)
	}
	if err != nil {
		return auth.Entry{}, err
	}
	if err := v.Auth.LinkIdentity(v.r.Context(), u, who); err != nil {
		return auth.Entry{}, errors.Join(err, v.Auth.DeleteUser(v.r.Context(), u.Name))
	}
	if err := v.giveAddress(u, p.Email); err != nil {
		return auth.Entry{}, err
	}
	return v.Auth.SignInByIdentity(v.r.Context(), who, v.r.UserAgent())
}

// giveAddress gives a new user their mail address from the provider, unless another user has it.
func (v *visit) giveAddress(u calendar.User, address string) error {
	if address == "" {
		return nil
	}
	ctx := v.r.Context()
	if err := v.Auth.AddAddress(ctx, u, address); err != nil {
		return nil //nolint:nilerr // an invalid address is ignored
	}
	err := v.Auth.VerifyAddress(ctx, u, address)
	if err != nil && calendar.ReasonOf(err) == calendar.Exists {
		return v.Auth.DropAddress(ctx, u, address)
	}
	if err != nil {
		return err
	}
	return v.Auth.MainAddress(ctx, u, address)
}
