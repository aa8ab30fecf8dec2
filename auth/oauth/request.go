package oauth

import (
	"context"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Request is an authorization request, which arrives through the user's browser.
type Request struct {
	Client Client
	// Redirect is the redirect URI. It is set only after it has been verified as the client's.
	Redirect string
	// Scopes are the requested scopes; zero if the client names none.
	Scopes calendar.Scope

	state, challenge string
	resource         auth.Resource
	issuer           string
}

// Local reports whether the redirect stays on the user's machine, where any other program can impersonate the client.
func (r Request) Local() bool { return !strings.HasPrefix(r.Redirect, "https://") }

// maxState limits the length of a client's state.
const maxState = 4096

// challengeForm is a SHA-256 in base64url (RFC 7636 §4.2).
var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// TellsClient reports whether the client gets the error of its request, through a redirect. Only administrators'
// clients do. Anyone can register or describe a client, and a link to our page could then redirect to any address (RFC
// 9700 §4.11.2).
func (r Request) TellsClient() bool { return r.Redirect != "" && r.Client.Kind == Added }

// Ask parses a request. An error goes to the client ([Request.Refuse]) if [Request.TellsClient], otherwise to the
// person.
func (s *Service) Ask(ctx context.Context, site Site, from netip.Addr, query url.Values) (Request, error) {
	r := Request{issuer: site.Issuer}
	if err := once(query, "client_id", "redirect_uri"); err != nil {
		return r, err
	}
	client, err := s.client(ctx, from, auth.ClientID(query.Get("client_id")))
	if err != nil {
		return r, err
	}
	r.Client = client
	redirect := query.Get("redirect_uri")
	if redirect == "" {
		return r, fault(InvalidRequest, "redirect_uri is missing")
	}
	if !client.allows(redirect) {
		return r, fault(InvalidRedirect, "%q is not one of the addresses that %s has named", brief(redirect),
			client.Name)
	}
	r.Redirect = redirect
	return r, r.read(site, query)
}

// read parses the parameters whose errors the client may learn.
func (r *Request) read(site Site, query url.Values) error {
	r.state = query.Get("state")
	if err := once(query, "state", "response_type", "scope", "code_challenge", "code_challenge_method", "resource",
		"prompt", "response_mode"); err != nil {
		return err
	}
	switch {
	case len(r.state) > maxState:
		r.state = ""
		return fault(InvalidRequest, "state is longer than %d bytes", maxState)
	case query.Has("request") || query.Has("request_uri"):
		return fault(RequestUnsupported, "requests are sent as parameters here")
	case query.Get("response_type") != "code":
		return fault(UnsupportedAnswer, "response_type is code")
	case query.Has("response_mode") && query.Get("response_mode") != "query":
		return fault(InvalidRequest, "response_mode is query")
	case query.Get("code_challenge") == "":
		return fault(InvalidRequest, "code_challenge is missing: PKCE is needed (RFC 7636)")
	case query.Get("code_challenge_method") != "S256":
		// Without it, the method is "plain".
		return fault(InvalidRequest, "code_challenge_method is S256")
	case !challengeForm.MatchString(query.Get("code_challenge")):
		return fault(InvalidRequest, "code_challenge is no SHA-256 in base64url")
	case query.Get("prompt") == "none":
		return fault(LoginRequired, "the user is asked each time")
	}
	r.challenge = query.Get("code_challenge")
	r.Scopes = scopesOf(query.Get("scope"))
	resource, err := target(site, query.Get("resource"))
	r.resource = resource
	return err
}

// once refuses repeated parameters (RFC 6749 §3.1): a proxy and this server could read different ones.
func once(values url.Values, names ...string) error {
	for _, name := range names {
		if len(values[name]) > 1 {
			return fault(InvalidRequest, "%s is there more than once", name)
		}
	}
	return nil
}

// target returns the requested resource. Without a parameter it is the only one we have.
func target(site Site, resource string) (auth.Resource, error) {
	if resource == "" || normal(resource) == normal(string(site.Resource)) {
		return site.Resource, nil
	}
	return "", fault(InvalidTarget, "there is no resource %q here, only %s", brief(resource), site.Resource)
}

// normal normalizes the details that RFC 8707 clients write differently: the host's case, the default port and a
// trailing slash.
func normal(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Fragment != "" {
		return ""
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if u.Scheme == scheme {
			u.Host = strings.TrimSuffix(u.Host, port)
		}
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u.String()
}

// scopesOf parses a scope parameter. It ignores unknown scopes, as RFC 6749 §3.3 allows: hosts request scopes of other
// servers, such as offline_access.
func scopesOf(list string) calendar.Scope {
	var set calendar.Scope
	for word := range strings.FieldsSeq(list) {
		if one, err := auth.ParseScopes(word); err == nil {
			set |= one
		}
	}
	return set
}

// Refuse returns the redirect that reports an error to the client.
func (r Request) Refuse(e *Error) string {
	return r.answer(url.Values{"error": {string(e.Code)}, "error_description": {e.What}})
}

// Deny returns the redirect for a user who refused.
func (r Request) Deny() string {
	return r.Refuse(&Error{Code: AccessDenied, What: "the user said no"})
}

// answer adds the parameters that every redirect has (RFC 6749 §4.1.2, RFC 9207).
func (r Request) answer(values url.Values) string {
	if r.state != "" {
		values.Set("state", r.state)
	}
	values.Set("iss", r.issuer)
	return answerTo(r.Redirect, values)
}
