package caldav

import (
	"compress/gzip"
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
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// Limits bound what one request may cost before anything is known about it.
type Limits struct {
	// BodyBytes is the largest XML body, after decompression; objects have a limit of their own.
	BodyBytes int64
	// TokenBytes is the largest tag or text within it.
	TokenBytes int
	// Depth is how deep elements may nest, Elements how many there may be (hrefs have a limit of
	// their own), Attributes how many each may have.
	Depth, Elements, Attributes int
	// Hrefs is how many addresses a multiget may name, Properties how many properties a request.
	Hrefs, Properties int
	// Filters is how many filters a query may have, each of which is tried on every object.
	Filters int
}

// DefaultLimits returns limits with ample room for every known client: Evolution asks for
// all objects of a calendar in one multiget.
func DefaultLimits() Limits {
	return Limits{
		BodyBytes: 2 << 20, TokenBytes: 256 << 10, Depth: 32, Elements: 5_000, Attributes: 64,
		Hrefs: 10_000, Properties: 256, Filters: 256,
	}
}

// Config has the parts and settings of a Handler.
type Config struct {
	Service *service.Service
	// BaseURL is where the service is found from outside. Nil, or
	// without a path, means the root of a host. Its host is one that a Destination may name.
	BaseURL *url.URL
	Limits  Limits
	Logger  *slog.Logger
	// Way tells how a request came, for a person who looks for a fault of a proxy; nil tells nothing.
	Way func(*http.Request) string
	// Did is told what a request does where its method and address do not say it; nil if nobody asks.
	Did func(ctx context.Context, what string)
	// Reports is told which of the reports a request asks for; nil if nobody asks.
	Reports func(ctx context.Context, kind string)
	// Push lets programs on devices be told of changes; nil tells nobody.
	Push *Push
	// Now is the clock.
	Now func() time.Time
}

// Handler is the DAV door. It holds tables and spare memory, and nothing of a request.
type Handler struct {
	Config
	addresses
	// host is the name that clients are told of, "" if none is known; published is the base URL as it was given.
	host, published string
	// classes is the DAV header.
	classes []string

	methods    []method
	reports    []report
	nodes      [len(layout)]node
	properties []property
	// byName are properties by their names, ofLinks those of public links.
	byName, ofLinks map[xml.Name]*property
	// buffers keeps the memory that replies are written in, gzips what compresses them.
	buffers, gzips sync.Pool
	// timezones are the VTIMEZONEs that were written, by the names of their zones: no more than there are zones.
	timezones sync.Map
	repeated  repeated
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
	h.buffers.New = func() any { return &markup{addresses: at} }
	h.gzips.New = func() any {
		// The level is one that there is.
		gz, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		return gz
	}
	return h, nil
}

// rowsByName makes rows ready to be found by their names.
func rowsByName(rows []property) map[xml.Name]*property {
	byName := make(map[xml.Name]*property, len(rows))
	for i := range rows {
		p := &rows[i]
		if p.tag = tagOf(p.name); p.tag == "" {
			p.tag, p.scope = p.name.Local, ` xmlns="`+p.name.Space+`"`
		}
		byName[p.name] = p
	}
	return byName
}

// ServeDAV answers a request of a caller who is known.
func (h *Handler) ServeDAV(w http.ResponseWriter, r *http.Request, caller calendar.Caller) {
	answer := h.compress(w, r)
	x := &exchange{Handler: h, w: answer, r: r, caller: caller}
	x.watch()
	x.meter = h.Service.Meter(x.r.Context(), caller)
	x.view.Meter = x.meter
	defer x.meter.Close()
	// Old Apple clients look for it on PROPFIND answers, others on OPTIONS: it goes everywhere.
	// RFC 4918 §10.1 spells it so; not every client reads it in another case.
	w.Header()["DAV"] = h.classes
	if err := x.serve(); err != nil {
		x.refuse(err)
	}
	answer.end()
}

// Public answers what needs no login and leaves the rest to private. It takes every path
// as it comes: behind an http.ServeMux, which cleans paths, `//` and `..` would be
// redirected instead of refused.
func (h *Handler) Public(private http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// RFC 6764 §5: clients begin at the well-known address and follow its redirect. Apple's
		// may not follow, so that their PROPFIND is answered in place, once they have logged in.
		if r.Method == "PROPFIND" || !h.isWellKnown(pathOf(r.URL)) {
			private.ServeHTTP(w, h.along(r))
			return
		}
		// For a day: without an end, clients might never learn of another path behind a proxy.
		w.Header().Set("Cache-Control", "max-age=86400")
		redirect(w, r, h.href(place{form: formRoot}))
	})
}

// along says which calendar a request is about, before its credentials are asked for.
func (h *Handler) along(r *http.Request) *http.Request {
	at, err := h.parse(pathOf(r.URL))
	if err != nil || at.calendar == "" {
		return r
	}
	return r.WithContext(auth.AskAlong(r.Context(), at.calendar))
}

// redirect sends a client elsewhere on the same host. The Location is relative: behind a
// proxy only the client knows the host and the scheme.
func redirect(w http.ResponseWriter, r *http.Request, to string) {
	w.Header().Set("Location", to)
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	// RFC 9110 §15.4.9: 308, unlike 301, keeps the method.
	w.WriteHeader(http.StatusPermanentRedirect)
}
