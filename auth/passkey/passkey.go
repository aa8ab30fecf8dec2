// Package passkey creates and verifies passkeys (WebAuthn) for one site. It stores nothing: the state of a ceremony and
// the data of a passkey are bytes that the caller keeps.
package passkey

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Site is the relying party: a host name, and the origin of its pages.
type Site struct{ Host, Origin string }

// Key is a passkey: its id in base64url, and the record needed to verify signatures.
type Key struct {
	ID   string
	Data []byte
}

// Person is the owner of passkeys.
type Person struct {
	// Handle is the user handle that the authenticator returns; it reveals nothing about the person.
	Handle      string
	Name, Title string
	Keys        []Key
}

// ErrRefused means that a passkey or a signature is not valid. The wrapped error is for the log.
var ErrRefused = errors.New("the passkey was not accepted")

// Ceremony is the request to a browser, and the state to keep until it answers.
type Ceremony struct {
	// Options is JSON in the form of WebAuthn Level 3 (§5.1.8, §5.1.9).
	Options json.RawMessage
	State   []byte
	// Challenge identifies the ceremony: it must be answered only once.
	Challenge string
}

func (s Site) relyingParty() (*webauthn.WebAuthn, error) {
	w, err := webauthn.New(&webauthn.Config{
		RPID: s.Host, RPDisplayName: "Calendars", RPOrigins: []string{s.Origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys for %s: %w", s.Origin, err)
	}
	return w, nil
}

// BeginMaking asks a person's authenticator for a new passkey.
func (s Site) BeginMaking(p Person) (Ceremony, error) {
	w, err := s.relyingParty()
	if err != nil {
		return Ceremony{}, err
	}
	known, err := p.known()
	if err != nil {
		return Ceremony{}, err
	}
	asked, session, err := w.BeginRegistration(known,
		webauthn.WithExclusions(webauthn.Credentials(known.keys).CredentialDescriptors()))
	if err != nil {
		return Ceremony{}, fmt.Errorf("asking for a passkey: %w", err)
	}
	return ceremony(asked.Response, session)
}

// Make verifies the authenticator's new passkey.
func (s Site) Make(p Person, state, answer []byte) (Key, error) {
	w, err := s.relyingParty()
	if err != nil {
		return Key{}, err
	}
	session, err := readState(state)
	if err != nil {
		return Key{}, err
	}
	known, err := p.known()
	if err != nil {
		return Key{}, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return Key{}, refused(err)
	}
	made, err := w.CreateCredential(known, session, parsed)
	if err != nil {
		return Key{}, refused(err)
	}
	return keyOf(made)
}

// BeginUsing asks for a signature by any passkey that the person at the browser has for the site.
func (s Site) BeginUsing() (Ceremony, error) {
	w, err := s.relyingParty()
	if err != nil {
		return Ceremony{}, err
	}
	asked, session, err := w.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return Ceremony{}, fmt.Errorf("asking for a signature: %w", err)
	}
	return ceremony(asked.Response, session)
}

// Use verifies a signature. find returns the person of a handle. The returned key replaces the stored one.
func (s Site) Use(state, answer []byte, find func(handle string) (Person, error)) (Key, error) {
	w, err := s.relyingParty()
	if err != nil {
		return Key{}, err
	}
	session, err := readState(state)
	if err != nil {
		return Key{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return Key{}, refused(err)
	}
	var failed error
	_, used, err := w.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) {
		p, err := find(string(handle))
		if err != nil {
			failed = err
			return nil, err
		}
		return p.known()
	}, session, parsed)
	switch {
	case failed != nil:
		return Key{}, failed
	case err != nil:
		return Key{}, refused(err)
	case used.Authenticator.CloneWarning:
		return Key{}, refused(errors.New("its counter went back: it may have been copied"))
	}
	return keyOf(used)
}

func refused(err error) error {
	// The library's Error method omits these details.
	if known, ok := errors.AsType[*protocol.Error](err); ok {
		return fmt.Errorf("%w: %s (%s)", ErrRefused, known.Details, known.DevInfo)
	}
	return fmt.Errorf("%w: %w", ErrRefused, err)
}

func ceremony(options any, session *webauthn.SessionData) (Ceremony, error) {
	asked, err := json.Marshal(options)
	if err != nil {
		return Ceremony{}, fmt.Errorf("writing JSON: %w", err)
	}
	state, err := json.Marshal(session)
	if err != nil {
		return Ceremony{}, fmt.Errorf("writing JSON: %w", err)
	}
	return Ceremony{asked, state, session.Challenge}, nil
}

func readState(state []byte) (webauthn.SessionData, error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(state, &session); err != nil {
		return session, fmt.Errorf("reading JSON: %w", err)
	}
	return session, nil
}

func keyOf(c *webauthn.Credential) (Key, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return Key{}, fmt.Errorf("writing JSON: %w", err)
	}
	return Key{base64.RawURLEncoding.EncodeToString(c.ID), data}, nil
}

// known adapts a Person to the library's interface.
type known struct {
	Person
	keys []webauthn.Credential
}

func (p Person) known() (known, error) {
	k := known{p, make([]webauthn.Credential, len(p.Keys))}
	for i, key := range p.Keys {
		if err := json.Unmarshal(key.Data, &k.keys[i]); err != nil {
			return k, fmt.Errorf("reading a passkey: %w", err)
		}
	}
	return k, nil
}

func (k known) WebAuthnID() []byte                         { return []byte(k.Handle) }
func (k known) WebAuthnName() string                       { return k.Name }
func (k known) WebAuthnDisplayName() string                { return k.Title }
func (k known) WebAuthnCredentials() []webauthn.Credential { return k.keys }
