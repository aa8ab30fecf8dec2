package wire

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

// OrDefaults fills in the defaults of zero fields.
func (l Limits) OrDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		BodyBytes: cmp.Or(l.BodyBytes, d.BodyBytes), SessionAge: cmp.Or(l.SessionAge, d.SessionAge),
		StreamAge: cmp.Or(l.StreamAge, d.StreamAge), StreamPause: cmp.Or(l.StreamPause, d.StreamPause),
		Streams: cmp.Or(l.Streams, d.Streams), Calm: cmp.Or(l.Calm, d.Calm), Calls: cmp.Or(l.Calls, d.Calls),
	}
}

// Config configures an endpoint.
type Config struct {
	// BaseURL is the server's public URL, or "". AllowedOrigins are further web origins whose pages may call.
	BaseURL        string
	AllowedOrigins []string
	// Key authenticates session ids and elicitations.
	Key    []byte
	Limits Limits
	Now    func() time.Time
	NewID  func() string
	Log    *slog.Logger
	// About describes the server to people. Its name and version are those of the server behind.
	About mcpgo.Implementation
	// Skills are served to clients of 2026-07-28 and later.
	Skills []Skill
}

// Content answers the requests that the endpoint admits. Their effects and words are its own.
type Content interface {
	// Prepare completes an exchange before it is answered.
	Prepare(context.Context, *Exchange)
	// Challenge answers a tool call for which the client can request more rights, and reports whether it did.
	Challenge(http.ResponseWriter, *http.Request, *Exchange) bool
	// Reword turns an error of the transport into one for the client.
	Reword(*Exchange, *Error) *Error
	Feed
	Letters
	Tokens
	// Limited refuses a tool call that came too early, and says when to repeat it.
	Limited(v Version, why string, seconds int) Refusal
	// Refuse sets the response for an error of the content.
	Refuse(context.Context, *Exchange, error)
	// Away reports whether an error is a temporary outage. ForLog returns its text for the log.
	Away(error) bool
	ForLog(error) string
}

// Feed watches resources for changes. Refusals are set in the exchange.
type Feed interface {
	Subscribe(ctx context.Context, x *Exchange, s Session, uri string)
	Unsubscribe(ctx context.Context, x *Exchange, s Session, uri string)
	// Forget deletes the subscriptions of an ended session.
	Forget(context.Context, SessionID)
	// Watch watches the subscriptions of a session.
	Watch(context.Context, Peer, SessionID, Session) (Watch, error)
	// Listen watches the resources that a subscriptions/listen asks for, and returns those that it grants.
	Listen(context.Context, *Exchange) (Watch, mcpgo.SubscriptionFilter)
}

// Watch receives changes for one stream.
type Watch interface {
	// Ready receives a value when there may be changes. Again makes it ready once more.
	Ready() <-chan struct{}
	Again()
	// Changed returns the changed resources that the caller can still read.
	Changed(context.Context) ([]Change, error)
	// Close stops watching and stores which changes were sent.
	Close(context.Context) error
}

// Change is a subscription with a change. Told is called once its notification is sent.
type Change struct {
	Name string
	Told func()
}

// Letters hold the responses to elicitations that reach another process than the one that waits for them.
type Letters interface {
	OpenLetter(ctx context.Context, x *Exchange, id, digest string) (Letter, error)
	Deliver(ctx context.Context, x *Exchange, id, action string) error
}

// Letter holds the response to one elicitation; nil until there is one.
type Letter interface {
	Answer(context.Context) ([]byte, error)
	Close(context.Context)
}

// Tokens checks tokens during requests that last long.
type Tokens interface {
	// Valid returns an error if a token is no longer valid; Revoked reports whether an error is that one.
	Valid(context.Context, Peer) error
	Revoked(error) bool
	// Unauthorized answers a request whose token is no longer valid.
	Unauthorized(http.ResponseWriter)
}

// Endpoint serves the protocol. It keeps no state that a later request needs: any process with the same key and store
// can serve the next request.
type Endpoint struct {
	content   Content
	gate      gate
	sessions  *Sessions
	streams   *streams
	pace      *pace
	askings   askings
	limits    Limits
	transport *server.StreamableHTTPServer
	now       func() time.Time
	newID     func() string
	log       *slog.Logger
	about     mcpgo.Implementation
	skills    []Skill
}

// New returns an endpoint in front of a server of mcp-go.
func New(s Config, content Content, behind *server.MCPServer) *Endpoint {
	s.Limits = s.Limits.OrDefaults()
	return &Endpoint{
		content:  content,
		gate:     newGate(s.BaseURL, s.AllowedOrigins),
		sessions: NewSessions(s.Key, s.Limits.SessionAge, s.Now, s.NewID),
		streams:  &streams{limit: s.Limits.Streams},
		pace:     newPace(s.Limits.Calls, s.Now),
		limits:   s.Limits,
		transport: server.NewStreamableHTTPServer(behind,
			server.WithSessionIdManager(sealed{}),
			server.WithStreamableHTTPLogger(s.Log),
			server.WithStreamableHTTPProtocolVersions(versions[:]...),
			// Our gate does the same check, and knows the client's address despite a reverse proxy.
			server.WithDisableLocalhostProtection(true),
		),
		now:    s.Now,
		newID:  s.NewID,
		log:    s.Log,
		about:  s.About,
		skills: s.Skills,
	}
}

// Seal authenticates a text with the key of the endpoint.
func (e *Endpoint) Seal(text []byte) []byte {
	mac := hmac.New(sha256.New, e.sessions.key)
	mac.Write(text)
	return mac.Sum(nil)
}

// Close ends the event streams and open elicitations, and lets none begin. A shutdown waits for running requests, and
// would otherwise wait for these.
func (e *Endpoint) Close() {
	e.streams.close()
	e.askings.close()
}
