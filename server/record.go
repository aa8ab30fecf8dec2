package server

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"

	"caldav-mcp-server/trace"
)

// RequestIDHeader carries a request's id, to the client and to the code that logs about the request.
const RequestIDHeader = "X-Request-Id"

// Record collects the data for a request's log line and metrics. The middleware creates it; inner code adds to it from
// the request's own goroutine.
type Record struct {
	// ID identifies the request in logs and responses.
	ID string
	// User is the caller's name, once known; Token is the id of its access token, if it has one.
	User, Token string
	// Client is the client's address behind trusted proxies.
	Client netip.Addr
	// Peer is the other end of the connection; Way is how the request came through it.
	Peer netip.Addr
	Way  Way

	door, route, method string
	// report is the kind of a REPORT, once known.
	report string
	// scheme is how the request sent credentials: "basic", "bearer", "form", "other", or "" for none.
	scheme string
	// badForm is set if a form's credentials were refused; the status may be any.
	badForm bool
	// did, whom, calendar and detail describe an audit event if method and route are not specific enough. quiet means
	// that the request is no event; failed means that it failed in spite of its status. See audit.
	did, whom, calendar, detail string
	quiet, failed               bool
	// change is the first change of the request in the journal, changes is their number. Work that the request began
	// may add to them while the request ends.
	change  atomic.Pointer[string]
	changes atomic.Int64
}

// RefuseForm records that a page's form had wrong or throttled credentials.
func (r *Record) RefuseForm() { r.scheme, r.badForm = "form", true }

// Reports records the kind of a REPORT.
func (r *Record) Reports(kind string) { r.report = kind }

type recordKey struct{}

// RecordOf returns the record of a request that came through a Server. Otherwise, as in a door's own tests, it returns
// an unused one.
func RecordOf(ctx context.Context) *Record {
	if record, ok := ctx.Value(recordKey{}).(*Record); ok {
		return record
	}
	return new(Record)
}

// ClientAddr returns the client's address behind trusted proxies.
func ClientAddr(r *http.Request) netip.Addr {
	if record, ok := r.Context().Value(recordKey{}).(*Record); ok {
		return record.Client
	}
	return peer(r)
}

// record begins a request: it assigns an id and replaces forwarding headers by verified values.
func (s *Server) record(door *Door, routes routes, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record := &Record{
			ID:     s.requestID(r),
			door:   door.Name,
			route:  routes.of(r.URL.EscapedPath()),
			method: knownMethod(r.Method),
			scheme: schemeOf(r.Header.Get("Authorization")),
		}
		r = r.WithContext(s.traced(context.WithValue(r.Context(), recordKey{}, record), record, r))
		record.Peer, record.Way = peer(r), s.config.Proxies.way(r)
		record.Client = s.config.Proxies.settle(r)
		r.Header.Set(RequestIDHeader, record.ID)
		w.Header().Set(RequestIDHeader, record.ID)
		next.ServeHTTP(w, r)
	})
}

// traced begins the request's span, except for health checks. It accepts a parent span only from trusted proxies:
// otherwise any client could force its requests to be traced.
func (s *Server) traced(ctx context.Context, record *Record, r *http.Request) context.Context {
	if s.config.Tracer == nil || record.route == aliveRoute || record.route == readyRoute {
		return ctx
	}
	parent := ""
	if s.config.Proxies.trust(peer(r)) {
		parent = r.Header.Get("Traceparent")
	}
	ctx, span := s.config.Tracer.Request(ctx, record.method+" "+record.route, parent)
	span.Text("http.request.method", record.method)
	span.Text("http.route", record.route)
	span.Text("caldav_mcp.door", record.door)
	return ctx
}

// trace ends the span with the request's outcome.
func (r *Record) trace(ctx context.Context, status int) {
	span := trace.Of(ctx)
	span.Text("caldav_mcp.report", r.report)
	span.Number("http.response.status_code", int64(status))
	span.End(status >= http.StatusInternalServerError)
}

// maxIDLength limits the ids that proxies send.
const maxIDLength = 128

// requestID returns the id that a trusted proxy assigned, so that both logs agree, or makes one.
func (s *Server) requestID(r *http.Request) string {
	if id := r.Header.Get(RequestIDHeader); validID(id) && s.config.Proxies.trust(peer(r)) {
		return id
	}
	return s.config.NewID()
}

func validID(id string) bool {
	return id != "" && len(id) <= maxIDLength && !strings.ContainsFunc(id, func(c rune) bool {
		return c <= ' ' || c > '~'
	})
}

// schemeOf returns one of a few known scheme names: the log must not contain client input.
func schemeOf(authorization string) string {
	name, _, _ := strings.Cut(authorization, " ")
	switch name = strings.ToLower(name); name {
	case "", "basic", "bearer":
		return name
	}
	return "other"
}
