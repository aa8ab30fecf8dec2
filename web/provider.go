package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
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

// providerPages sign in, confirm and link accounts at the OpenID provider.
type providerPages struct{ *pageRequest }

func (p providerPages) signInElsewhere() error {
	if p.signedIn() {
		return p.leadTo(p.next())
	}
	return p.goElsewhere(toSignIn)
}

func (p providerPages) confirmElsewhere() error { return p.goElsewhere(toConfirm) }

func (p providerPages) linkElsewhere() error { return p.goElsewhere(toLink) }

// goElsewhere sends the browser to the provider. The state is sealed in a cookie, so that an answer counts only in this
// browser.
func (p providerPages) goElsewhere(why purpose) error {
	if p.Provider == nil {
		return errMissing()
	}
	address, asked, err := p.Provider.Ask(p.r.Context(), p.elsewhereBack(), proofs[why])
	if err != nil {
		return p.elsewhereFailed(err)
	}
	state, err := json.Marshal(journey{why, p.session.ID, p.next(), asked})
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	sealed, err := p.Auth.SealState(p.r.Context(), state)
	if err != nil {
		return err
	}
	p.setCookie(elsewhereCookie, string(sealed), 10*time.Minute)
	return p.leaveFor(address, p.Provider.Name())
}

// leaveFor sends the browser to the provider. It does not redirect a form there: the page's policy would have to name
// all hosts that the provider redirects to, and they are unknown.
func (p *pageRequest) leaveFor(address, name string) error {
	if p.r.Method != http.MethodPost {
		return p.leave(address)
	}
	p.w.Header().Set("Refresh", "0; url="+address)
	return p.show("away", awayContent{address, name})
}

// awayContent is the data of a page that moves on to another host by itself.
type awayContent struct{ Address, Provider string }

// elsewhereBack is our redirect URI; it must be registered at the provider.
func (p providerPages) elsewhereBack() string {
	return p.address().JoinPath(root, "sign-in/elsewhere/back").String()
}

func (p providerPages) backFromElsewhere() error {
	carried := p.cookie(elsewhereCookie)
	if p.Provider == nil || carried == "" {
		return errMissing()
	}
	p.dropCookie(elsewhereCookie)
	state, err := p.Auth.OpenState(p.r.Context(), p.ClientAddr(p.r), auth.SealedState(carried))
	if err != nil {
		return err
	}
	var j journey
	if err := json.Unmarshal(state, &j); err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	if j.Session != p.session.ID {
		return p.wrong("error.other-user")
	}
	person, err := p.Provider.Answer(p.r.Context(), j.Asked, p.r.URL.Query())
	if err != nil {
		return p.elsewhereFailed(err)
	}
	return p.arrive(j, person)
}

// elsewhereFailed shows the part of an error that a person can act on; the log has the rest.
func (p providerPages) elsewhereFailed(err error) error {
	p.Logger.WarnContext(p.r.Context(), "signing in by another service failed", "error", err)
	if _, away := errors.AsType[*oidc.AwayError](err); away {
		return p.failed(calendar.Unavailable, "error.provider-away", "name", p.Provider.Name())
	}
	if errors.Is(err, oidc.ErrSilent) {
		return p.wrong("error.provider-silent", "name", p.Provider.Name())
	}
	if errors.Is(err, oidc.ErrNotAllowed) {
		return p.wrong("error.provider-not-allowed", "name", p.Provider.Name())
	}
	return p.wrong("error.provider-refused", "name", p.Provider.Name())
}

// arrive carries out the purpose of a journey.
func (p providerPages) arrive(j journey, person oidc.Person) error {
	who := auth.Identity{
		Issuer: person.Issuer, Subject: person.Subject,
		Name: cmp.Or(person.Username, person.Email, person.Name, person.Subject),
	}
	switch j.Purpose {
	case toConfirm:
		if err := p.Auth.ProveByIdentity(p.r.Context(), p.session, who); err != nil {
			return confirmPages(p).confirmed(err)
		}
		return p.leadTo(j.Next)
	case toLink:
		return p.askToLink(who)
	case toSignIn:
	}
	entry, err := p.Auth.SignInByIdentity(p.r.Context(), who, p.r.UserAgent())
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		entry, err = p.welcome(person, who)
	}
	if err != nil {
		return p.again("signin", signInPages(p).signInContent(""), err)
	}
	if err := p.joinGroups(entry.Session.User, person); err != nil {
		return err
	}
	if err := p.endSession(); err != nil {
		return err
	}
	p.session = entry.Session
	p.setCookie(sessionCookie, string(entry.Secret), sessionAge)
	return p.landOn(j.Next)
}

// joinGroups makes a user a member of those mapped groups that their groups at the provider stand for, and of no other
// mapped one.
func (p providerPages) joinGroups(u calendar.User, person oidc.Person) error {
	in := map[string]bool{}
	for ours, theirs := range p.ProviderGroups {
		in[ours] = slices.ContainsFunc(theirs, func(name string) bool { return slices.Contains(person.Groups, name) })
	}
	missing, err := p.Auth.SetMemberships(p.r.Context(), u, in)
	if len(missing) > 0 {
		p.Logger.WarnContext(p.r.Context(), "OIDC_GROUPS names groups that do not exist", "groups", missing)
	}
	return err
}

// linkingContent is the data of the page that confirms linking an account.
type linkingContent struct {
	SealedState    auth.SealedState
	Name, Provider string
}

// askToLink shows the account before linking it: the provider may know the browser as another person.
func (p providerPages) askToLink(who auth.Identity) error {
	sealed, err := p.Auth.OfferIdentity(p.r.Context(), p.session, who)
	if err != nil {
		return err
	}
	return p.show("linking", linkingContent{sealed, excerpt(who.Name), p.Provider.Name()})
}

func (p providerPages) link() error {
	state := auth.SealedState(p.field("sealed"))
	return securityPages(p).secured(p.Auth.AcceptIdentity(p.r.Context(), p.session, state), "linked")
}

// welcome creates a user for a person whom the provider has authenticated, if the administrator allows it. It uses the
// person's name there, but refuses a name that a user has already: they could be different people.
func (p providerPages) welcome(person oidc.Person, who auth.Identity) (auth.Entry, error) {
	if !p.CreateUsers() {
		return auth.Entry{}, p.wrong("error.provider-unknown", "name", p.Provider.Name())
	}
	wanted := person.Username
	if _, err := auth.CanonicalName(wanted); err != nil {
		wanted, _, _ = strings.Cut(person.Email, "@")
	}
	u, err := p.NewUser(p.r.Context(), auth.NewUser{
		Name: wanted, DisplayName: person.Name, Invited: true, BrowserLanguage: p.lang.Tag(),
	})
	if err != nil && calendar.ReasonOf(err) == calendar.Exists {
		err = p.failed(calendar.Exists, "error.provider-taken", "name", wanted)
	}
	if err != nil {
		return auth.Entry{}, err
	}
	if err := p.Auth.LinkIdentity(p.r.Context(), u, who); err != nil {
		return auth.Entry{}, errors.Join(err, p.Auth.DeleteUser(p.r.Context(), u.Name))
	}
	if err := p.giveAddress(u, person.Email); err != nil {
		return auth.Entry{}, err
	}
	return p.Auth.SignInByIdentity(p.r.Context(), who, p.r.UserAgent())
}

// giveAddress gives a new user their mail address from the provider, unless another user has it.
func (p providerPages) giveAddress(u calendar.User, address string) error {
	if address == "" {
		return nil
	}
	ctx := p.r.Context()
	if err := p.Auth.AddAddress(ctx, u, address); err != nil {
		return nil // an invalid address is ignored
	}
	err := p.Auth.VerifyAddress(ctx, u, address)
	if err != nil && calendar.ReasonOf(err) == calendar.Exists {
		return p.Auth.DropAddress(ctx, u, address)
	}
	return err
}
