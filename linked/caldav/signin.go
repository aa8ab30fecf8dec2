package caldav

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/icholy/digest"

	"caldav-mcp-server/calendar/mirror"
)

// signIn adds a user's name and password to requests: by Basic, and by Digest (RFC 7616) if the server offers nothing
// else.
type signIn struct {
	user, password string
	*nonces
}

// nonces is the state of Digest for one user of a server.
type nonces struct {
	mu sync.Mutex
	// challenge is the server's last Digest challenge; nil means Basic. uses counts the requests with it.
	challenge *digest.Challenge
	uses      int
}

// noncesMost limits the users of servers whose nonces are kept.
const noncesMost = 1000

// keptNonces keeps nonces between syncs and writes. Otherwise each of them would begin with a request by Basic, which
// the server refuses and may count as a wrong password.
type keptNonces struct {
	mu    sync.Mutex
	known map[string]*nonces
}

// of returns the nonces for a user of a server.
func (k *keptNonces) of(base *url.URL, user string) *nonces {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := base.Host + " " + user
	if k.known[name] == nil {
		if k.known == nil || len(k.known) >= noncesMost {
			k.known = map[string]*nonces{}
		}
		k.known[name] = new(nonces)
	}
	return k.known[name]
}

// sign adds the Authorization header.
func (s *signIn) sign(r *http.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.challenge == nil {
		r.SetBasicAuth(s.user, s.password)
		return nil
	}
	s.uses++
	made, err := digest.Digest(s.challenge, digest.Options{
		Method: r.Method, URI: r.URL.RequestURI(), GetBody: r.GetBody, Count: s.uses, Username: s.user,
		Password: s.password,
	})
	if err == nil {
		r.Header.Set("Authorization", made.String())
	}
	return err
}

// again reports whether a request that was answered with 401 is to be repeated in the way of that answer. It is not if
// the password was wrong.
func (s *signIn) again(r *http.Request, header http.Header) (bool, error) {
	offers := header.Values("WWW-Authenticate")
	sent, failed := digest.ParseCredentials(r.Header.Get("Authorization"))
	usedDigest := failed == nil
	if slices.ContainsFunc(offers, isBasic) {
		s.use(nil) // Basic is what was used, or the server has changed
		return usedDigest, nil
	}
	if !slices.ContainsFunc(offers, digest.IsDigest) {
		return false, nil
	}
	challenge, err := digest.FindChallenge(header)
	if err != nil || !digest.CanDigest(challenge) {
		return false,
			mirror.Refusef("it asks for a kind of Digest sign-in that is not supported here: choose Basic there")
	}
	if usedDigest && sent.Nc == 1 && !challenge.Stale {
		return false, nil // the nonce was new
	}
	s.use(challenge)
	return true, nil
}

// use sets the challenge for the next requests; nil means Basic.
func (n *nonces) use(challenge *digest.Challenge) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.challenge, n.uses = challenge, 0
}

func isBasic(offer string) bool {
	scheme, _, _ := strings.Cut(strings.TrimSpace(offer), " ")
	return strings.EqualFold(scheme, "Basic")
}
