package caldav

import (
	"net/http"
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

	mu sync.Mutex
	// challenge is the server's last Digest challenge; nil means Basic. uses counts the requests with it.
	challenge *digest.Challenge
	uses      int
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

// again reports whether a request that was answered with 401 is to be repeated with the challenge of that answer. It is
// not if the password was wrong.
func (s *signIn) again(r *http.Request, header http.Header) (bool, error) {
	offers := header.Values("WWW-Authenticate")
	if !slices.ContainsFunc(offers, digest.IsDigest) || slices.ContainsFunc(offers, isBasic) {
		return false, nil
	}
	challenge, err := digest.FindChallenge(header)
	if err != nil || !digest.CanDigest(challenge) {
		return false,
			mirror.Refusef("it asks for a kind of Digest sign-in that is not supported here: choose Basic there")
	}
	sent, err := digest.ParseCredentials(r.Header.Get("Authorization"))
	if err == nil && sent.Nc == 1 && !challenge.Stale {
		return false, nil // the nonce was new
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.challenge, s.uses = challenge, 0
	return true, nil
}

func isBasic(offer string) bool {
	scheme, _, _ := strings.Cut(strings.TrimSpace(offer), " ")
	return strings.EqualFold(scheme, "Basic")
}
