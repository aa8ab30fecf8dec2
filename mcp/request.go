package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mailbox"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/mcp/wire"
)

// Config configures a Handler.
type Config struct {
	Service *service.Service
	// AllowedOrigins are the web origins whose pages may call, such as https://app.example.
	AllowedOrigins []string
	// BaseURL is the server's public URL, or "" if it is unknown. PagesURL is the URL of the web pages; if there is no
	// public URL, it is their address on this machine.
	BaseURL, PagesURL string
	// SessionKey authenticates session ids. Processes that share a store must share the key, so that each accepts the
	// sessions of the others. Without a key, sessions are valid only in this process.
	SessionKey []byte
	// Good checks whether a caller's token is still valid, and returns auth.ErrUnauthorized if not. It is called before
	// a stream sends a notification. If Good is nil, tokens are not checked again.
	Good func(context.Context, calendar.Caller) error
	// StepUp tells an OAuth client which scopes it lacks for a call, so that it can request them. If StepUp is nil, the
	// call is refused as with any other token.
	StepUp func(http.ResponseWriter, *http.Request, calendar.Caller, calendar.Scope)
	Limits Limits
	// Mail reads the mail of linked accounts; nil if that is not offered.
	Mail *mailbox.Box
	// WebhookSecret returns the key that signs messages to a webhook; nil if webhooks are not offered.
	WebhookSecret func(context.Context, calendar.Webhook) (string, error)
	// Bookings are the booking pages; nil if the server sends no mail.
	Bookings BookingPages
	// Called, if set, counts a tool call by its outcome: "ok", "asked" if the user has to confirm first, or a reason.
	Called func(tool, outcome string, took time.Duration)
	// Did, if set, receives each tool call with the context of its request, and whether the tool changes data.
	Did func(ctx context.Context, tool, outcome string, changes bool)
	// Version is the version of the program.
	Version string
	Now     func() time.Time
	// NewID returns a random identifier (a UUID).
	NewID  func() string
	Logger *slog.Logger
}

// Limits limits the resources that a caller can use. A zero field takes its default.
type Limits = wire.Limits

// DefaultLimits returns the default limits.
func DefaultLimits() Limits { return wire.DefaultLimits() }

// Handler serves MCP. It keeps no state that a later request needs: any process with the same SessionKey and store can
// serve the next request.
type Handler struct {
	// config is the configuration with all defaults filled in.
	config   Config
	endpoint *wire.Endpoint
	places   *wire.Places
	tools    []tool
	schemas  heldSchemas
	box      toolbox
	now      func() time.Time
	log      *slog.Logger
}

func (c Config) toolbox() toolbox {
	b := toolbox{
		service: c.Service, zones: zone.NewDB(), now: c.Now, base: c.PagesURL, hookSecret: c.WebhookSecret,
		bookings: c.Bookings,
	}
	if c.Mail.Offered() {
		b.mail = c.Mail
	}
	return b
}

// bridge connects the protocol with the calendars. It implements wire.Content.
type bridge struct{ h *Handler }

// visitor is the caller of a request.
type visitor struct {
	calendar.Caller
	// mail is set if the caller has linked mail.
	mail bool
}

// peerOf returns a caller for the protocol. The journal records their changes as those of an assistant.
func peerOf(c calendar.Caller) wire.Peer {
	c.Assistant = true
	return wire.Peer{
		Owner: wire.Owner{User: string(c.User.ID), Token: string(c.Token)},
		Name:  c.User.Name, Expires: c.Expires, Account: visitor{Caller: c},
	}
}

func visitorOf(p wire.Peer) visitor {
	v, _ := p.Account.(visitor)
	return v
}

func callerOf(x *wire.Exchange) calendar.Caller { return visitorOf(x.Caller).Caller }

// attend runs the work of a request that is not a tool call. It turns errors, including panics, into a response itself:
// mcp-go would send their text, or drop the connection. The work itself checks the caller's access.
func (h *Handler) attend(ctx context.Context, work func(*call) error) {
	x := wire.ExchangeOf(ctx)
	c := &call{caller: callerOf(x)}
	started := h.now()
	leave, err := h.enter(ctx, x.Caller.Owner)
	if err == nil {
		err = h.metered(ctx, c, work)
		leave()
	}
	outcome := "ok"
	if err != nil {
		outcome = calendar.ReasonOf(err).String()
	}
	h.log.LogAttrs(ctx, slog.LevelInfo, "request handled", slog.String("method", x.Message.Method), slog.String("user",
		c.caller.User.Name),
		slog.String("token", string(c.caller.Token)), slog.String("calendar", string(c.calendar)),
		slog.String("outcome", outcome),
		slog.Duration("duration", h.now().Sub(started)))
	if err == nil {
		return
	}
	if calendar.ReasonOf(err) == calendar.Internal && ctx.Err() == nil {
		h.logFault(x, service.ForLog(err))
	}
	refused := renderError(err, x.Version, x.FaultID, c.foreign...)
	if calendar.ReasonOf(err) == calendar.NotFound {
		refused.Err.Data = askedURI(x)
	}
	x.Refused = &refused
}

func (h *Handler) metered(ctx context.Context, c *call, work func(*call) error) (err error) {
	defer rescue(&err)
	c.meter = h.box.service.Meter(ctx, c.caller)
	defer c.meter.Close()
	if err := h.box.knowMails(ctx, c); err != nil {
		return err
	}
	return work(c)
}

// renderError converts an error for responses that have no result to hold it: to a JSON-RPC error in every version.
// Later versions forbid codes of our own.
func renderError(err error, v wire.Version, faultID string, foreign ...shown) wire.Refusal {
	reason := reasonOf(err)
	how := outcomes[reason]
	var e *calendar.Error
	if how.status != 0 || !errors.As(err, &e) {
		return render(err, v, faultID)
	}
	code := how.code
	switch {
	case reason == calendar.NotFound && !v.Modern():
		code = wire.CodeNoResource
	case !v.Plain():
		code = wire.CodeParams
	}
	text, _ := marked(e, foreign)
	return wire.Refusal{Err: wire.Errorf(code, "%s", text), Status: wire.StatusOf(v, code)}
}

// askedURI returns the requested URI, for the data of an error about a missing resource (MCP "Resources", Error
// Handling), or nil if the request has none.
func askedURI(x *wire.Exchange) json.RawMessage {
	var asked struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(x.Message.Params, &asked) != nil || asked.URI == "" {
		return nil
	}
	data, _ := json.Marshal(asked) // strings always marshal
	return data
}

// enter waits for a slot for a call, which leave frees.
func (h *Handler) enter(ctx context.Context, who wire.Owner) (leave func(), err error) {
	leave, err = h.places.Enter(ctx, who)
	if errors.Is(err, wire.ErrBusy) {
		return nil, calendar.Errorf(calendar.Unavailable, "", "%v", err).
			Advising("wait a moment, then repeat the call; send one call at a time")
	}
	return leave, err
}

// outcomes maps each reason to the error code for clients of the first version. If status is 0, later versions get a
// result with isError, which the model can read to correct its call. Otherwise every client gets an error with that
// HTTP status.
var outcomes = [...]struct {
	code   wire.Code
	status int
}{
	calendar.Internal:    {wire.CodeInternal, http.StatusOK},
	calendar.NotFound:    {code: wire.CodeTool},
	calendar.Exists:      {code: wire.CodeTool},
	calendar.Invalid:     {code: wire.CodeParams},
	calendar.Forbidden:   {code: wire.CodeForbidden},
	calendar.Stale:       {code: wire.CodeTool},
	calendar.TooLarge:    {code: wire.CodeTool},
	calendar.Unsupported: {code: wire.CodeTool},
	calendar.Unavailable: {wire.CodeInternal, http.StatusServiceUnavailable},
}

// render converts the error of a tool for the client. faultID refers to the log line of an internal error.
//
// foreign are the authors of the texts that the call was about: see marked.
func render(err error, v wire.Version, faultID string, foreign ...shown) wire.Refusal {
	if p, is := errors.AsType[*mailError](err); is {
		return p.render(v)
	}
	reason := reasonOf(err)
	how := outcomes[reason]
	e := advised(err)
	if reason == calendar.Unavailable && (errors.Is(err, calendar.ErrElsewhere) ||
		calendar.RuleOf(err) == calendar.RuleDiskSpace) {
		// the model must learn which account is unreachable, or that waiting frees no space
		how = outcomes[calendar.Stale]
	}
	switch {
	case reason == calendar.Internal || e == nil:
		return wire.Refusal{Err: wire.ErrFault(faultID), Status: how.status}
	case how.status != 0:
		return wire.Refusal{Err: wire.Errorf(how.code, "the calendars cannot be reached now: try again in %d seconds",
			wire.RetryAfter), Status: how.status}
	}
	text, by := marked(e, foreign)
	if v.Plain() {
		return wire.Refusal{Err: wire.Errorf(how.code, "%s", text), Status: http.StatusOK}
	}
	result := mcpgo.NewToolResultError(wire.Visible(text))
	result.StructuredContent = map[string]problem{"error": {
		Code: reason.String(), Message: wire.Visible(e.Message), Hint: wire.Visible(e.Hint), Untrusted: by,
	}}
	return wire.Refusal{Result: result}
}

// marked returns the text of a refusal. If the refusal quotes anything and the call was about texts of others, the text
// is marked.
func marked(e *calendar.Error, foreign []shown) (text string, by shown) {
	if text = e.Error(); !strings.Contains(text, `"`) {
		return text, ""
	}
	if by = joined(foreign); by != "" {
		text = defused(text + by.mark())
	}
	return text, by
}

// advice holds hints for refusals of the service layer, which serves every protocol and therefore cannot name a tool.
var advice = [...]struct {
	rule calendar.Rule
	hint string
}{
	{calendar.RulePrivileges, "list_calendars shows the user's access to each; if that is not enough, tell the user"},
	{calendar.RuleDefaultNeeded, "update_calendar with is_default makes another calendar the default; ask " +
		"the user which"},
	{calendar.RuleSupportedKind, "list_calendars shows the kinds that each calendar holds"},
	{calendar.RuleDiskSpace, "tell the user that the server's disk is full, and the administrator must free space"},
}

// advised returns the refusal in an error, with a hint, or nil if there is none.
func advised(err error) *calendar.Error {
	var e *calendar.Error
	if !errors.As(err, &e) || e.Hint != "" {
		return e
	}
	for _, a := range advice {
		if a.rule == e.Rule {
			with := *e
			with.Hint = a.hint
			return &with
		}
	}
	return e
}

// reasonOf returns the reason from the tools' point of view. The service forbids an event in a calendar for tasks only,
// as CalDAV does. For tools this is unsupported, because no share and no scope would change it.
func reasonOf(err error) calendar.Reason {
	reason := calendar.ReasonOf(err)
	if reason == calendar.Forbidden && calendar.RuleOf(err) != calendar.RulePrivileges {
		return calendar.Unsupported
	}
	return reason
}

// errPanic converts a panic to an error for the log, with a stack trace. A runtime error contains no user data. Any
// other value may contain some, so only its type is logged.
func errPanic(panicked any) error {
	what := fmt.Sprintf("%T", panicked)
	if err, ok := panicked.(runtime.Error); ok {
		what = err.Error()
	}
	return fmt.Errorf("panic: %s\n%s", what, debug.Stack())
}

// rescue, when deferred, converts a panic to an error.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = errPanic(p)
	}
}

// logFault logs an error that the client does not see, under the id that the client gets.
func (h *Handler) logFault(x *wire.Exchange, what string) {
	h.log.Error("tool failed", slog.String("request", x.FaultID), slog.String("method", x.Message.Method),
		slog.String("tool", x.Call.Name), slog.String("user", x.Caller.Name), slog.String("error", what))
}
