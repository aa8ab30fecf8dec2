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
