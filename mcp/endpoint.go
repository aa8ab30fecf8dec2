package mcp

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Limits limits the resources that a caller can use. A zero field takes its default.
type Limits struct {
	// BodyBytes is the size of the largest accepted message.
	BodyBytes int64
	// SessionAge is how long a session id is valid.
	SessionAge time.Duration
	// StreamAge is how long an event stream stays open. Its client then opens a new one, which checks the token again.
	StreamAge time.Duration
	// StreamPause is the longest silence on an event stream.
	StreamPause time.Duration
	// Streams is the number of event streams that one token may keep open.
	Streams int
	// Calm is the minimum time between two checks for changes on one stream.
	Calm time.Duration
	// Calls is the number of requests that a token may make per minute.
	Calls int
}

// DefaultLimits returns the default limits.
func DefaultLimits() Limits {
	return Limits{
		BodyBytes: 1 << 20, SessionAge: 7 * 24 * time.Hour,
		StreamAge: time.Hour, StreamPause: 25 * time.Second, Streams: 16,
		Calm: 200 * time.Millisecond, Calls: 600,
	}
}

func (l Limits) orDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		BodyBytes: cmp.Or(l.BodyBytes, d.BodyBytes), SessionAge: cmp.Or(l.SessionAge, d.SessionAge),
		StreamAge: cmp.Or(l.StreamAge, d.StreamAge), StreamPause: cmp.Or(l.StreamPause, d.StreamPause),
		Streams: cmp.Or(l.Streams, d.Streams), Calm: cmp.Or(l.Calm, d.Calm), Calls: cmp.Or(l.Calls, d.Calls),
	}
}

// settings configures an endpoint.
type settings struct {
	// baseURL is the server's public URL, or "". allowedOrigins are further web origins whose pages may call.
	baseURL        string
	allowedOrigins []string
	// key authenticates session ids and elicitations.
	key    []byte
	limits Limits
	now    func() time.Time
	newID  func() string
	log    *slog.Logger
}

// peer is a caller as far as the protocol knows them.
type peer struct {
	owner
	// name is the user's name for the log. expires is when the token ends; zero if it does not.
	name    string
	expires time.Time
	// as is the caller as the content knows them.
	as any
}

// contents answers the requests that the endpoint admits. Their effects and words are its own.
type contents interface {
	// prepare completes an exchange before it is answered.
	prepare(context.Context, *exchange)
	// challenge answers a tool call for which the client can request more rights, and reports whether it did.
	challenge(http.ResponseWriter, *http.Request, *exchange) bool
	// reword turns an error of the transport into one for the client.
	reword(*exchange, *rpcError) *rpcError
	feed
	letters
	tokens
	// refuse sets the response for an error of the content.
	refuse(context.Context, *exchange, error)
	// away reports whether an error is a temporary outage. forLog returns its text for the log.
	away(error) bool
	forLog(error) string
}

// feed watches resources for changes. Refusals are set in the exchange.
type feed interface {
	subscribe(ctx context.Context, x *exchange, s session, uri string)
	unsubscribe(ctx context.Context, x *exchange, s session, uri string)
	// forget deletes the subscriptions of an ended session.
	forget(context.Context, sessionID)
	// watch watches the subscriptions of a session.
	watch(context.Context, peer, sessionID, session) (watching, error)
	// listen watches the resources that a subscriptions/listen asks for, and returns those that it grants.
	listen(context.Context, *exchange) (watching, mcpgo.SubscriptionFilter)
}

// watching receives changes for one stream.
type watching interface {
	// Ready receives a value when there may be changes. Again makes it ready once more.
	Ready() <-chan struct{}
	Again()
	// Changed returns the changed resources that the caller can still read.
	Changed(context.Context) ([]changedName, error)
	// Close stops watching and stores which changes were sent.
	Close(context.Context) error
}

// changedName is a subscription with a change. Told is called once its notification is sent.
type changedName struct {
	Name string
	Told func()
}

// letters hold the responses to elicitations that reach another process than the one that waits for them.
type letters interface {
	openLetter(ctx context.Context, x *exchange, id, digest string) (letter, error)
	deliver(ctx context.Context, x *exchange, id, action string) error
}

// letter holds the response to one elicitation; nil until there is one.
type letter interface {
	Answer(context.Context) ([]byte, error)
	Close(context.Context)
}

// tokens checks tokens during requests that last long.
type tokens interface {
	// valid returns an error if a token is no longer valid; revoked reports whether an error is that one.
	valid(context.Context, peer) error
	revoked(error) bool
	// unauthorized answers a request whose token is no longer valid.
	unauthorized(http.ResponseWriter)
}

// endpoint serves the protocol. It keeps no state that a later request needs: any process with the same key and store
// can serve the next request.
type endpoint struct {
	content   contents
	gate      gate
	sessions  *sessions
	streams   *streams
	pace      *pace
	askings   askings
	limits    Limits
	transport *server.StreamableHTTPServer
	now       func() time.Time
	newID     func() string
	log       *slog.Logger
}

// newEndpoint returns an endpoint in front of a server of mcp-go.
func newEndpoint(s settings, content contents, behind *server.MCPServer) *endpoint {
	s.limits = s.limits.orDefaults()
	return &endpoint{
		content:  content,
		gate:     newGate(s.baseURL, s.allowedOrigins),
		sessions: newSessions(s.key, s.limits.SessionAge, s.now, s.newID),
		streams:  &streams{limit: s.limits.Streams},
		pace:     newPace(s.limits.Calls, s.now),
		limits:   s.limits,
		transport: server.NewStreamableHTTPServer(behind,
			server.WithSessionIdManager(sealed{}),
			server.WithStreamableHTTPLogger(s.log),
			// Our gate does the same check, and knows the client's address despite a reverse proxy.
			server.WithDisableLocalhostProtection(true),
		),
		now:   s.now,
		newID: s.newID,
		log:   s.log,
	}
}

// sealOf authenticates a text with the key of the endpoint.
func (e *endpoint) sealOf(text []byte) []byte {
	mac := hmac.New(sha256.New, e.sessions.key)
	mac.Write(text)
	return mac.Sum(nil)
}

// close ends the event streams and open elicitations, and lets none begin. A shutdown waits for running requests, and
// would otherwise wait for these.
func (e *endpoint) close() {
	e.streams.close()
	e.askings.close()
}
