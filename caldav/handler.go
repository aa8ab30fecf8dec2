package caldav

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// Limits bound the cost of one request before its content is known.
type Limits struct {
	dav.Limits
	// Filters limits the filters of a query: each one is tested on every object.
	Filters int
}

// DefaultLimits returns limits that leave every known client ample room.
func DefaultLimits() Limits { return Limits{Limits: dav.DefaultLimits(), Filters: 256} }

// Config has the parts and settings of a Handler.
type Config struct {
	Service *service.Service
	// BaseURL is the public address of the service. Nil, or a URL without a path, means the root of a host. A
	// Destination header may name its host.
	BaseURL *url.URL
	Limits  Limits
	Logger  *slog.Logger
	// Way describes how a request arrived, to diagnose proxies; it may be nil.
	Way func(*http.Request) string
	// Did receives the action of a request that its method and address do not show; it may be nil.
	Did func(ctx context.Context, what string)
	// Reports receives the kind of each report; it may be nil.
	Reports func(ctx context.Context, kind string)
	// Push notifies apps on devices of changes; nil turns push off.
	Push *Push
	// Now is the clock.
	Now func() time.Time
}

// Handler is the CalDAV server. It holds tables and pooled memory, and no state of a request.
type Handler struct {
	Config
	addresses
	// host is the public host name, "" if unknown. published is the base URL as configured.
	host, published string
	// classes are the values of the DAV header.
	classes []string

	webdav     *dav.Server
	methods    []method
	reports    []report
	nodes      [len(layout)]node
	properties []property
	// byName indexes the properties by name, ofLinks the properties of public links.
	byName, ofLinks map[xml.Name]*property
	// timezones caches rendered VTIMEZONEs by zone name. The number of known zones limits it.
	timezones sync.Map
}

// New makes a Handler.
func New(c Config) (*Handler, error) {
	at, err := newAddresses(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	h := &Handler{
		Config: c, addresses: at, classes: []string{davClasses},
		methods: methods(), reports: reports(), nodes: nodes(), properties: properties(),
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

// rowsByName completes the rows and indexes them by name.
func rowsByName(rows []property) map[xml.Name]*property {
	byName := make(map[xml.Name]*property, len(rows))
	for i := range rows {
		p := &rows[i]
		if p.tag = vocabulary.Tag(p.name); p.tag == "" {
			p.tag, p.scope = p.name.Local, ` xmlns="`+p.name.Space+`"`
		}
		byName[p.name] = p
	}
	return byName
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

// Public answers the requests that need no login and passes all others to private. It must not be mounted under an
// http.ServeMux: that cleans paths, and would redirect `//` and `..` instead of refusing them.
func (h *Handler) Public(private http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
