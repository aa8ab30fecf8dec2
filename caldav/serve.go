package caldav

import (
	"errors"
	"fmt"
	"net/http"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// New makes a Handler.
func New(c Config) (*Handler, error) {
	at, err := newAddresses(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	h := &Handler{
		Config: c, addresses: at, classes: []string{davClasses},
		methods: methodTable(), reports: reportTable(), nodes: nodeTable(), properties: propertyTable(),
	}
	h.byName, h.ofLinks = rowsByName(h.properties), rowsByName(linkProperties())
	if c.Push != nil {
		if c.BaseURL == nil {
			return nil, errors.New("registrations need a base URL")
		}
		h.classes = []string{davClasses + ", " + pushClass}
	}
	if c.BaseURL != nil {
		h.host, h.published = c.BaseURL.Hostname(), c.BaseURL.String()
	}
	h.webdav = dav.NewServer(c.Limits.Limits, vocabulary, at.prefix, lapsed)
	return h, nil
}

// ServeDAV answers a request of an authenticated caller.
func (h *Handler) ServeDAV(w http.ResponseWriter, r *http.Request, caller calendar.Caller) {
	answer := h.webdav.Compress(w, r)
	x := h.request(answer, r, caller)
	x.Meter = h.Service.Meter(x.R.Context(), caller)
	x.view.Meter = x.Meter
	defer x.Meter.Close()
	// Old Apple clients look for this header on PROPFIND, others on OPTIONS, so every response has it. RFC 4918 §10.1
	// writes it in capitals, and some clients do not recognize it in any other case.
	w.Header()["DAV"] = h.classes
	if err := x.serve(); err != nil {
		x.refuse(err)
	}
	answer.End()
}

// request returns the request for an exchange.
func (h *Handler) request(w http.ResponseWriter, r *http.Request, caller calendar.Caller) *request {
	x := &request{Handler: h, Exchange: h.webdav.Exchange(w, r), caller: caller, self: caller}
	x.watch()
	return x
}

// errToolsOnly refuses a token limited to certain tools of assistants: CalDAV would give it more access than that.
var errToolsOnly = dav.Refuse(http.StatusForbidden,
	"this token only works for certain tools of an assistant: calendar apps need a password, or a token created "+
		"without --tools")

// serve resolves the address and the method, and runs the method.
func (x *request) serve() error {
	if x.caller.Tools != nil {
		return errToolsOnly
	}
	if id, is := x.registrationAt(); is {
		return serveRegistration(x, id)
	}
	at, err := x.parse(dav.PathOf(x.R.URL))
	if err != nil {
		return err
	}
	x.at = at
	if err := x.actFor(at); err != nil {
		return err
	}
	if err := x.reach(at); err != nil {
		return err
	}
	m := x.methodNamed(x.R.Method)
	if m == nil {
		return dav.Refuse(http.StatusMethodNotAllowed, "this server does not support this method")
	}
	x.method = m
	if m.on&at.kind() == 0 {
		return m.refusal(at.kind())
	}
	if err := x.require(); err != nil {
		return err
	}
	if x.R.Header.Get(dontNotify) == "" {
		return m.serve(x)
	}
	return serveQuietly(x, m.serve)
}

// Public answers the requests that need no login and passes all others to private. It must not be mounted under an
// http.ServeMux: that cleans paths, and would redirect `//` and `..` instead of refusing them.
func (h *Handler) Public(private http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := h.nextcloud(dav.PathOf(r.URL)); ok {
			redirect(w, r, h.href(at))
			return
		}
		// RFC 6764 §5: clients begin at the well-known address and follow its redirect. Apple's may not follow, so a
		// PROPFIND is answered in place after login.
		if r.Method == "PROPFIND" || !h.isWellKnown(dav.PathOf(r.URL)) {
			private.ServeHTTP(w, h.along(r))
			return
		}
		// Cached for a day only: otherwise clients might never notice that a proxy's path has changed.
		w.Header().Set("Cache-Control", "max-age=86400")
		redirect(w, r, h.href(place{form: formRoot}))
	})
}

// along adds the calendar and object of a request to its context, to prefetch them during authentication.
func (h *Handler) along(r *http.Request) *http.Request {
	at, err := h.parse(dav.PathOf(r.URL))
	if err != nil || at.calendar == "" {
		return r
	}
	return r.WithContext(auth.AskAlong(r.Context(), at.calendar))
}

// redirect sends a client to another path of the same host. The Location is relative, since only the client knows the
// host and scheme in front of a proxy.
func redirect(w http.ResponseWriter, r *http.Request, to string) {
	w.Header().Set("Location", to)
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	// RFC 9110 §15.4.9: 308, unlike 301, keeps the method.
	w.WriteHeader(http.StatusPermanentRedirect)
}
