package resttest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
)

// Keys is a token endpoint (RFC 6749 §5, RFC 7636).
type Keys struct {
	Faults

	// Scope is the granted scope.
	Scope string
	// Turns issues a new refresh token with each access token. The previous one stays valid until the new one is used.
	Turns bool

	mu     sync.Mutex
	brief  bool
	codes  map[string]string // their PKCE challenges
	keys   []string
	tokens map[string]bool
	all    []string
}

// secret makes a random text and records it, so that tests can search for leaks.
func (k *Keys) secret(kind string) string {
	made := kind + rand.Text()
	k.all = append(k.all, made)
	return made
}

// Agree grants a request with a challenge, and returns the code.
func (k *Keys) Agree(challenge string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.codes == nil {
		k.codes, k.tokens = map[string]string{}, map[string]bool{}
	}
	code := k.secret("code-")
	k.codes[code] = challenge
	return code
}

// Good reports whether an access token is valid.
func (k *Keys) Good(access string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tokens[access]
}

// Expire invalidates all access tokens early. If brief is set, new ones claim a lifetime of a minute.
func (k *Keys) Expire(brief bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.tokens)
	k.brief = brief
}

// Given returns all codes and tokens issued so far.
func (k *Keys) Given() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.all)
}

// Handler serves the token endpoint.
func (k *Keys) Handler() http.Handler { return k.Before(http.HandlerFunc(k.answer)) }

func (k *Keys) answer(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	given, ok := k.take(r)
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`))
		return
	}
	access, lasts := k.secret("access-"), 3600
	if k.brief {
		lasts = 60
	}
	k.tokens[access] = true
	answer := map[string]any{"access_token": access, "expires_in": lasts, "token_type": "Bearer", "scope": k.Scope}
	if given != "" {
		answer["refresh_token"] = given
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// take accepts a code or a refresh token, and returns the next refresh token.
func (k *Keys) take(r *http.Request) (next string, ok bool) {
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		challenge, known := k.codes[r.PostFormValue("code")]
		delete(k.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !known || challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			return "", false
		}
	case "refresh_token":
		at := slices.Index(k.keys, r.PostFormValue("refresh_token"))
		if at < 0 {
			return "", false
		}
		if !k.Turns {
			return "", true
		}
		k.keys = k.keys[at:]
	default:
		return "", false
	}
	next = k.secret("key-")
	k.keys = append(k.keys, next)
	return next, true
}
