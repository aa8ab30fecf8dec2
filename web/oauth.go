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

// OAuth is what the pages need where assistants may ask people to let them in.
type OAuth struct {
	*oauth.Service
	// Site is how a request reaches the server; false where no assistant could.
	Site func(*http.Request) (oauth.Site, bool)
	// Key seals the question that a person was shown.
	Key []byte
}

// The addresses of the authorization server, below the path of BASE_URL.
const (
	authorizePath  = "/oauth/authorize"
	exchangePath   = "/oauth/token"
	registerPath   = "/oauth/register"
	revokePath     = "/oauth/revoke"
	introspectPath = "/oauth/introspect"
)

// maxMachineBody bounds what programs send here.
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

// isMachine tells whether a path is one of the authorization server's, or would be: a client that misses one
// learns so from the status, and not from being asked for a password.
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

// site is how the request reaches the server, if there is OAuth there.
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

// authorize leads a person to the page that asks them, in whichever form their browser brings what the client wants.
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

// turnedAway says why a client that we know cannot have what it wants, if so. A stranger makes us fetch nothing.
func (h *Handler) turnedAway(r *http.Request, site oauth.Site, query string) (oauth.Request, *oauth.Error) {
	values, err := url.ParseQuery(query)
	if err != nil || strings.HasPrefix(values.Get("client_id"), "https://") {
		return oauth.Request{}, nil //nolint:nilerr // what makes no sense is told on the page
	}
	asked, err := h.OAuth.Ask(r.Context(), site, h.ClientAddr(r), values)
	if e := oauth.FaultOf(err); e != nil && asked.Redirect != "" {
		return asked, e
	}
	return oauth.Request{}, nil
}

// machineError is an error as programs get it (RFC 6749 §5.2).
type machineError struct {
	Code oauth.Code `json:"error"`
	What string     `json:"error_description,omitempty"`
}

// retryLater is when to come back while the store is away.
const retryLater = 5 * time.Second

func (h *Handler) refuseMachine(w http.ResponseWriter, r *http.Request, err error) {
	var tooLarge *http.MaxBytesError
	e := oauth.FaultOf(err)
	switch {
	case errors.As(err, &tooLarge):
		sendJSON(w, http.StatusRequestEntityTooLarge, machineError{oauth.InvalidRequest, "the body is larger than 16 KiB"})
	case e != nil && e.RetryAfter > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
		sendJSON(w, http.StatusTooManyRequests, machineError{e.Code, e.What})
	case e != nil && e.Code == oauth.InvalidClient:
		// RFC 6749 §5.2: a client that sent the header is told its scheme.
		if r.Header.Get("Authorization") != "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="OAuth clients"`)
		}
		sendJSON(w, http.StatusUnauthorized, machineError{e.Code, e.What})
	case e != nil:
		sendJSON(w, http.StatusBadRequest, machineError{e.Code, e.What})
	case calendar.ReasonOf(err) == calendar.Unavailable || r.Context().Err() != nil:
		w.Header().Set("Retry-After", strconv.Itoa(int(retryLater/time.Second)))
		sendJSON(w, http.StatusServiceUnavailable, machineError{oauth.Later, "the server is busy: try again in a moment"})
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
	_, _ = w.Write(data) // a client that has gone does not read it
}
