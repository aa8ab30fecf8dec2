package server

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"caldav-mcp-server/trace"
)

// RequestIDHeader carries a request's id: to the client, and inwards to the code that writes a log line
// about the request.
const RequestIDHeader = "X-Request-Id"

// Record is what the log line and the metrics of one request will say. The chain makes it before
// a door is asked; code that learns more on the way in adds it, from the request's own goroutine.
type Record struct {
	// ID names the request in logs and answers.
	ID string
	// User is the name of the caller, once that is known.
	User string
	// Client is the address of the client itself, behind whatever proxies we trust.
	Client netip.Addr
	// Peer is the other end of the connection, Way how the request came through it.
	Peer netip.Addr
	Way  Way

	door, route, method string
	// report is the kind of a REPORT, once it is known.
	report string
	// scheme is how the request brought credentials: "basic", "bearer", "form", "other", or "" for none.
	scheme string
	// badForm tells that a form brought credentials that were refused, whatever the status is.
	badForm bool
	// did and whom name a deed where the method and the route do not, quiet says that it is none, failed that it came to
	// nothing though the answer says otherwise. See audit.
	did, whom     string
	quiet, failed bool
}

// RefuseForm notes that a page's form brought credentials that were refused, or that have to wait.
func (r *Record) RefuseForm() { r.scheme, r.badForm = "form", true }

// Reports notes which report is asked for, by a word of ours.
func (r *Record) Reports(kind string) { r.report = kind }

type recordKey struct{}

// RecordOf returns the record of a request that came through a Server. Elsewhere (a door's
// own tests) it returns an empty one that nobody reads.
func RecordOf(ctx context.Context) *Record {
	if record, ok := ctx.Value(recordKey{}).(*Record); ok {
		return record
	}
	return new(Record)
}

// ClientAddr returns the address of a request's client, behind the proxies that are trusted.
func ClientAddr(r *http.Request) netip.Addr {
	if record, ok := r.Context().Value(recordKey{}).(*Record); ok {
		return record.Client
	}
	return peer(r)
}

// record begins a request: it names it, and makes what it says of its origin true.
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

// traced begins the request's span, except for the questions of health checkers. The span that it belongs to is believed of trusted
// proxies alone: anybody else could have the server tell of each of their requests.
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

// trace ends the span with what the request has come to.
func (r *Record) trace(ctx context.Context, status int) {
	span := trace.Of(ctx)
	span.Text("caldav_mcp.report", r.report)
	span.Number("http.response.status_code", int64(status))
	span.End(status >= http.StatusInternalServerError)
}

// maxIDLength bounds the ids that proxies hand us.
const maxIDLength = 128

// requestID takes the id that a trusted proxy gave the request, so that both logs tell the same
// story, or makes one.
func (s *Server) requestID(r *http.Request) string {
	if id := r.Header.Get(RequestIDHeader); validID(id) && s.config.Proxies.trust(peer(r)) {
		return id
	}
	return s.config.NewID()
}

func validID(id string) bool {
	return id != "" && len(id) <= maxIDLength && !strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' })
}

// schemeOf names the scheme of credentials by a word of ours: what a client writes stands in no log.
func schemeOf(authorization string) string {
	name, _, _ := strings.Cut(authorization, " ")
	switch name = strings.ToLower(name); name {
	case "", "basic", "bearer":
		return name
	}
	return "other"
}
