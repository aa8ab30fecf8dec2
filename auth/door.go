package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"caldav-mcp-server/calendar"
)

// Handler serves an authenticated request. The caller is an argument, not a value in the request's context.
type Handler func(w http.ResponseWriter, r *http.Request, caller calendar.Caller)

// Scheme is the name of an authentication scheme (RFC 9110 §11.1).
type Scheme string

// The supported schemes: RFC 7617 and RFC 6750.
const (
	Basic  Scheme = "Basic"
	Bearer Scheme = "Bearer"
)

// Door configures how one door (CalDAV, MCP, …) authenticates its callers.
type Door struct {
	// Schemes are the accepted schemes, in the order of the offers.
	Schemes []Scheme
	// Realm must be the same for all doors of one host name: Thunderbird asks for the password again where it differs.
	Realm string
	// ClientAddr returns the client's address behind trusted proxies.
	ClientAddr func(*http.Request) netip.Addr
	// Refuse writes the body of a refusal: [RefuseText] or [RefuseJSON].
	Refuse func(w http.ResponseWriter, status int)
	// Protected describes the door to OAuth clients, with addresses as the request's sender reaches them. It returns
	// false if the door does not admit OAuth clients; nil means that it never does.
	Protected func(*http.Request) (Protected, bool)
}

// Protected describes a door to OAuth clients as a protected resource (RFC 9728).
type Protected struct {
	Resource Resource
	// Metadata is the address of the resource metadata.
	Metadata string
	// Scopes are the scopes that a client should request first.
	Scopes calendar.Scope
}

// protected returns d.Protected's answer, or the zero value if the door does not admit OAuth clients.
func (d Door) protected(r *http.Request) Protected {
	if d.Protected != nil {
		if p, ok := d.Protected(r); ok {
			return p
		}
	}
	return Protected{}
}

// storeRetry is the Retry-After while the store is unavailable or too many logins are waiting.
const storeRetry = 2 * time.Second

const maxAgent = 100

// Require passes only authenticated requests to next. If the body or the response takes long, it checks the credentials
// again meanwhile.
func (s *Verifier) Require(d Door, next Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := s.now()
		ctx, proof := withProof(r.Context())
		r = r.WithContext(ctx)
		caller, err := s.identify(d, r)
		if err != nil {
			s.refuse(d, w, r, err)
			return
		}
		v := &reauthorizer{verifier: s, door: d, w: w, r: r, caller: caller, proof: proof, asked: asked}
		proof.renew = v.renew
		w, r = v.watch()
		next(w, r, caller)
	})
}

func (s *Verifier) identify(d Door, r *http.Request) (calendar.Caller, error) {
	scheme, credentials := presented(r)
	if !slices.Contains(d.Schemes, scheme) {
		return calendar.Caller{}, ErrUnauthorized
	}
	if _, _, access := AccessForm.Parse(credentials); access && scheme == Bearer {
		return s.VerifyAccess(r.Context(), credentials, d.protected(r).Resource)
	}
	caller, err := verifiers[scheme](r.Context(), s, credentials, d.ClientAddr(r))
	if err == nil && caller.Token == "" {
		caller.Agent = agent(r.UserAgent())
	}
	return caller, err
}

// presented returns the credentials of a request: the scheme in our spelling, and the rest of the header field.
func presented(r *http.Request) (Scheme, string) {
	// With two fields, a proxy and this server could see different users.
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", ""
	}
	name, credentials, _ := strings.Cut(values[0], " ")
	for scheme := range verifiers {
		// RFC 9110 §11.1: scheme names are case-insensitive.
		if strings.EqualFold(name, string(scheme)) {
			return scheme, strings.TrimSpace(credentials)
		}
	}
	return "", ""
}

// verifiers checks the credentials of each scheme.
var verifiers = map[Scheme]func(ctx context.Context, s *Verifier, credentials string,
	from netip.Addr) (calendar.Caller, error){
	Bearer: func(ctx context.Context, s *Verifier, credentials string, from netip.Addr) (calendar.Caller, error) {
		return s.VerifyBearer(ctx, credentials, from)
	},
	Basic: func(ctx context.Context, s *Verifier, credentials string, from netip.Addr) (calendar.Caller, error) {
		user, password, ok := parseBasic(credentials)
		if !ok {
			return calendar.Caller{}, ErrUnauthorized
		}
		return s.VerifyBasic(ctx, user, password, from)
	},
}

// parseBasic reads the credentials of RFC 7617 §2: the password may contain colons, the name may not.
func parseBasic(credentials string) (user, password string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(credentials)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(raw), ":")
}

// refuse writes the response to a caller who is not admitted.
func (s *Verifier) refuse(d Door, w http.ResponseWriter, r *http.Request, err error) {
	var throttled *ThrottledError
	switch {
	case errors.Is(err, ErrUnauthorized):
		challenge(d, w, r)
		d.Refuse(w, http.StatusUnauthorized)
	case errors.As(err, &throttled):
		later(d, w, http.StatusTooManyRequests, throttled.RetryAfter)
	case away(err):
		later(d, w, http.StatusServiceUnavailable, storeRetry)
	default:
		s.log.ErrorContext(r.Context(), "a credential could not be checked", "error", err)
		d.Refuse(w, http.StatusInternalServerError)
	}
}

// away reports whether the caller can only try again: the store is unavailable or too slow, or the client has gone.
func away(err error) bool {
	return calendar.ReasonOf(err) == calendar.Unavailable || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled)
}

func later(d Door, w http.ResponseWriter, status int, after time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(seconds(after)))
	d.Refuse(w, status)
}

// challenge offers each scheme in its own header field: some clients read only the first of a list.
func challenge(d Door, w http.ResponseWriter, r *http.Request) {
	sent, _ := presented(r)
	for _, scheme := range d.Schemes {
		params := ` realm=` + quoted(d.Realm)
		if scheme == Basic {
			params += `, charset="UTF-8"` // RFC 7617 §2.1
		}
		// RFC 6750 §3.1: a client that sent a token learns that it is invalid.
		if scheme == Bearer && sent == Bearer {
			params += `, error="invalid_token", error_description="The access token is not good, or no longer."`
		}
		if p := d.protected(r); scheme == Bearer && p.Metadata != "" {
			params += p.params(p.Scopes)
		}
		w.Header().Add("WWW-Authenticate", string(scheme)+params)
	}
}

// params tell the client where to read how to get a token (RFC 9728 §5.1) and which scopes to request (RFC 6750 §3).
func (p Protected) params(scopes calendar.Scope) string {
	return `, resource_metadata=` + quoted(p.Metadata) + `, scope=` + quoted(strings.Join(ScopeNames(scopes), " "))
}

// Insufficient tells an OAuth client that its user must grant more scopes first (RFC 6750 §3.1). It names the present
// and the missing scopes, since the next grant replaces the present one.
func (d Door) Insufficient(w http.ResponseWriter, r *http.Request, c calendar.Caller, lacks calendar.Scope) {
	params := ` realm=` + quoted(d.Realm) +
		`, error="insufficient_scope", error_description="The user has not allowed this yet."`
	if p := d.protected(r); p.Metadata != "" {
		params += p.params(c.Scopes | lacks)
	}
	w.Header().Set("WWW-Authenticate", string(Bearer)+params)
	d.Refuse(w, http.StatusForbidden)
}

// quoted writes a quoted-string (RFC 9110 §5.6.4).
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// refusals gives the error code and the sentence for people of each status.
var refusals = map[int]struct{ word, sentence string }{
	http.StatusUnauthorized: {
		"unauthorized", "Log in with your user name and password, or with an access token.",
	},
	http.StatusForbidden:       {"insufficient_scope", "The user has not allowed this program to do that."},
	http.StatusTooManyRequests: {"too_many_requests", "Too many failed logins. Wait a moment, then try again."},
	http.StatusServiceUnavailable: {
		"unavailable", "The server cannot check your credentials just now. Try again in a moment.",
	},
	http.StatusInternalServerError: {"internal", "The server could not check your credentials."},
}

// RefuseText writes a refusal in plain text.
func RefuseText(w http.ResponseWriter, status int) {
	write(w, status, "text/plain; charset=utf-8", refusals[status].sentence+"\n")
}

// RefuseJSON writes a refusal in JSON: {"error":"unauthorized"}.
func RefuseJSON(w http.ResponseWriter, status int) {
	write(w, status, "application/json", `{"error":"`+refusals[status].word+`"}`)
}

func write(w http.ResponseWriter, status int, contentType, body string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the client may have gone
}

// agent shortens a User-Agent to one line for the journal.
func agent(header string) string { return agentWithin(header, maxAgent) }

// agentWithin returns the header as one line of at most so many characters.
func agentWithin(header string, most int) string {
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(header, ""))
	return shortened(strings.TrimSpace(clean), most)
}
