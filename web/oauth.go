package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
)

// OAuth configures the pages for granting access to assistants.
type OAuth struct {
	*oauth.Service
	// Site returns the server's addresses as a request reaches them; false if OAuth does not work there.
	Site func(*http.Request) (oauth.Site, bool)
	// Key authenticates the consent request that a person was shown.
	Key []byte
}

// The authorization server's paths, below the path of BASE_URL.
const (
	authorizePath  = "/oauth/authorize"
	exchangePath   = "/oauth/token"
	registerPath   = "/oauth/register"
	revokePath     = "/oauth/revoke"
	introspectPath = "/oauth/introspect"
)

// maxMachineBody limits the bodies that programs send here.
const maxMachineBody = 16 << 10

// machines are the endpoints for programs, by path and method.
var machines = map[string]struct {
	methods []string
	serve   func(*Handler, http.ResponseWriter, *http.Request, oauth.Site) error
}{
	authorizePath:  {[]string{http.MethodGet, http.MethodHead, http.MethodPost}, (*Handler).authorize},
	exchangePath:   {[]string{http.MethodPost}, (*Handler).token},
	registerPath:   {[]string{http.MethodPost}, (*Handler).register},
	revokePath:     {[]string{http.MethodPost}, (*Handler).revoke},
	introspectPath: {[]string{http.MethodPost}, (*Handler).introspect},
}

// isMachine reports whether a path belongs to the authorization server, even if it does not exist. A client with a
// wrong path gets a 404 and not a request for a password.
func isMachine(path string) bool { return path == "/oauth" || strings.HasPrefix(path, "/oauth/") }

// machine serves an endpoint for programs.
func (h *Handler) machine(w http.ResponseWriter, r *http.Request, path string) {
	protect(w.Header())
	endpoint, known := machines[path]
	site, ok := h.site(r)
	if !known || !ok {
		http.Error(w, "there is nothing here", http.StatusNotFound)
		return
	}
	if !allowedMethod(w, r, endpoint.methods) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxMachineBody)
	if err := endpoint.serve(h, w, r, site); err != nil {
		h.refuseMachine(w, r, err)
	}
}

// site returns the server's addresses for a request; false if OAuth is off there.
func (h *Handler) site(r *http.Request) (oauth.Site, bool) {
	if h.OAuth == nil {
		return oauth.Site{}, false
	}
	return h.OAuth.Site(r)
}

func allowedMethod(w http.ResponseWriter, r *http.Request, methods []string) bool {
	if slices.Contains(methods, r.Method) {
		return true
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	http.Error(w, r.Method+" means nothing here", http.StatusMethodNotAllowed)
	return false
}

// authorize redirects a person to the consent page, whether the request came by GET or POST.
func (h *Handler) authorize(w http.ResponseWriter, r *http.Request, site oauth.Site) error {
	query := r.URL.RawQuery
	if r.Method == http.MethodPost {
		form, err := readForm(r)
		if err != nil {
			return err
		}
		query = form.Encode()
	}
	to := h.base + root + "allow?" + query
	// After a sign-in, browsers would not let the form lead to the client.
	if asked, e := h.turnedAway(r, site, query); e != nil && asked.TellsClient() {
		to = asked.Refuse(e)
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// turnedAway returns the error of a known client's request, if it has one. It fetches no client description:
// unauthenticated visitors must not cause requests.
func (h *Handler) turnedAway(r *http.Request, site oauth.Site, query string) (oauth.Request, *oauth.Error) {
	values, err := url.ParseQuery(query)
	if err != nil || strings.HasPrefix(values.Get("client_id"), "https://") {
		return oauth.Request{}, nil // the page shows the error
	}
	asked, err := h.OAuth.Ask(r.Context(), site, h.ClientAddr(r), values)
	if e := oauth.FaultOf(err); e != nil && asked.Redirect != "" {
		return asked, e
	}
	return oauth.Request{}, nil
}

// machineError is an error response for programs (RFC 6749 §5.2).
type machineError struct {
	Code oauth.Code `json:"error"`
	What string     `json:"error_description,omitempty"`
}

// retryLater is the Retry-After while the store is unavailable.
const retryLater = 5 * time.Second

func (h *Handler) refuseMachine(w http.ResponseWriter, r *http.Request, err error) {
	var tooLarge *http.MaxBytesError
	e := oauth.FaultOf(err)
	switch {
	case errors.As(err, &tooLarge):
		sendJSON(w, http.StatusRequestEntityTooLarge, machineError{
			oauth.InvalidRequest, "the body is larger than 16 KiB",
		})
	case e != nil && e.RetryAfter > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
		sendJSON(w, http.StatusTooManyRequests, machineError{e.Code, e.What})
	case e != nil && e.Code == oauth.InvalidClient:
		// RFC 6749 §5.2: a client that sent the header must get a matching challenge.
		if r.Header.Get("Authorization") != "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="OAuth clients"`)
		}
		sendJSON(w, http.StatusUnauthorized, machineError{e.Code, e.What})
	case e != nil:
		sendJSON(w, http.StatusBadRequest, machineError{e.Code, e.What})
	case calendar.ReasonOf(err) == calendar.Unavailable || r.Context().Err() != nil:
		w.Header().Set("Retry-After", strconv.Itoa(int(retryLater/time.Second)))
		sendJSON(w, http.StatusServiceUnavailable, machineError{
			oauth.Later, "the server is busy: try again in a moment",
		})
	default:
		h.Logger.ErrorContext(r.Context(), "an OAuth request failed", "error", err)
		sendJSON(w, http.StatusInternalServerError, machineError{"server_error", ""})
	}
}

func sendJSON(w http.ResponseWriter, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client may have gone
}

// The well-known paths of RFC 9728 and RFC 8414. Per the RFCs, hosts append the path of the issuer or of the MCP
// endpoint; some omit it. Some look for the issuer's document on the MCP endpoint's host, and some for OpenID's.
const (
	wellKnown         = "/.well-known/"
	resourceWellKnown = wellKnown + "oauth-protected-resource"
	serverWellKnown   = wellKnown + "oauth-authorization-server"
	openIDWellKnown   = wellKnown + "openid-configuration"
)

var discovery = [...]string{resourceWellKnown, serverWellKnown, openIDWellKnown}

// FirstScopes are the scopes that clients should request first, enough for everyday work. Sharing calendars and writing
// to others require another request.
const FirstScopes = calendar.ScopeRead | calendar.ScopeWrite | calendar.ScopeDelete

// ResourceMetadata returns the address of a resource's metadata (RFC 9728 §3.1).
func ResourceMetadata(resource auth.Resource) string {
	u, err := url.Parse(string(resource))
	if err != nil {
		return ""
	}
	u.Path = resourceWellKnown + u.Path
	return u.String()
}

var (
	grantTypes  = []string{"authorization_code", "refresh_token"}
	answerTypes = []string{"code"}
)

// resourceDocument describes the MCP endpoint (RFC 9728 §2).
type resourceDocument struct {
	Resource auth.Resource `json:"resource"`
	Servers  []string      `json:"authorization_servers"`
	Scopes   []string      `json:"scopes_supported"`
	Methods  []string      `json:"bearer_methods_supported"`
	Name     string        `json:"resource_name"`
}

// serverDocument describes the authorization server (RFC 8414 §2).
type serverDocument struct {
	Issuer            string          `json:"issuer"`
	Authorize         string          `json:"authorization_endpoint"`
	Token             string          `json:"token_endpoint"`
	Register          string          `json:"registration_endpoint"`
	Revoke            string          `json:"revocation_endpoint"`
	Introspect        string          `json:"introspection_endpoint"`
	Scopes            []string        `json:"scopes_supported"`
	AnswerTypes       []string        `json:"response_types_supported"`
	AnswerModes       []string        `json:"response_modes_supported"`
	GrantTypes        []string        `json:"grant_types_supported"`
	Challenges        []string        `json:"code_challenge_methods_supported"`
	Methods           []oauth.Method  `json:"token_endpoint_auth_methods_supported"`
	RevokeMethods     []oauth.Method  `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectMethods []oauth.Method  `json:"introspection_endpoint_auth_methods_supported"`
	Described         bool            `json:"client_id_metadata_document_supported"`
	IssuerInAnswer    bool            `json:"authorization_response_iss_parameter_supported"`
	Resources         []auth.Resource `json:"protected_resources"`
}

func describeResource(site oauth.Site) any {
	return resourceDocument{
		site.Resource, []string{site.Issuer}, auth.ScopeNames(FirstScopes), []string{"header"}, "Calendars",
	}
}

func (h *Handler) describeServer(site oauth.Site) any {
	return serverDocument{
		Issuer:    site.Issuer,
		Authorize: site.Issuer + authorizePath, Token: site.Issuer + exchangePath, Register: site.Issuer + registerPath,
		Revoke: site.Issuer + revokePath, Introspect: site.Issuer + introspectPath,
		// Hosts that want refresh tokens request offline_access if it is listed; every client gets them.
		Scopes:      append(auth.ScopeNames(calendar.ScopeAll), "offline_access"),
		AnswerTypes: answerTypes, AnswerModes: []string{"query"}, GrantTypes: grantTypes, Challenges: []string{"S256"},
		Methods: oauth.Methods(), RevokeMethods: oauth.Methods(), IntrospectMethods: oauth.Methods(),
		Described: h.OAuth.Describes(), IssuerInAnswer: true, Resources: []auth.Resource{site.Resource},
	}
}

// isDiscovery reports whether a path is one of the well-known paths.
func isDiscovery(path string) bool {
	return slices.ContainsFunc(discovery[:], func(at string) bool {
		rest, ok := strings.CutPrefix(path, at)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// DiscoveryRoutes are the patterns of the paths that [Handler.Discovery] serves.
func DiscoveryRoutes() []string {
	var routes []string
	for _, at := range discovery {
		routes = append(routes, at, at+"/{path}")
	}
	return routes
}

// AnyOrigin reports whether pages of every origin may read a path, because it is public.
func (h *Handler) AnyOrigin(path string) bool { return isDiscovery(h.within(path)) }

// Discovery serves the metadata at either door and passes other requests on.
func (h *Handler) Discovery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := h.within(r.URL.Path); isDiscovery(path) {
			h.discover(w, r, path)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// discover serves a metadata document.
func (h *Handler) discover(w http.ResponseWriter, r *http.Request, path string) {
	site, ok := h.site(r)
	if !ok {
		http.Error(w, "there is no OAuth here", http.StatusNotFound)
		return
	}
	if r.Header.Get("Origin") != "" {
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}
	if r.Method == http.MethodOptions {
		w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD")
		w.Header().Set("Access-Control-Allow-Headers", "*")
		w.Header().Set("Access-Control-Max-Age", "7200")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	document := h.document(site, path)
	if document == nil {
		http.Error(w, "there is nothing here", http.StatusNotFound)
		return
	}
	if allowedMethod(w, r, []string{http.MethodGet, http.MethodHead, http.MethodOptions}) {
		w.Header().Set("Cache-Control", "max-age=300")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		sendJSON(w, http.StatusOK, document)
	}
}

// document returns the document at a well-known path, or nil.
func (h *Handler) document(site oauth.Site, path string) any {
	endpoint := pathOf(string(site.Resource))
	if of, ok := strings.CutPrefix(path, resourceWellKnown); ok {
		if slices.Contains([]string{"", endpoint}, of) {
			return describeResource(site)
		}
		return nil
	}
	for _, at := range []string{serverWellKnown, openIDWellKnown} {
		of, ok := strings.CutPrefix(path, at)
		if ok && slices.Contains([]string{"", pathOf(site.Issuer), endpoint}, of) {
			return h.describeServer(site)
		}
	}
	return nil
}

// pathOf returns the path of an address without a trailing slash.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Path, "/")
}
