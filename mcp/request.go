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

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/mcp/wire"
)

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

// errNoPrompt refuses an unknown prompt.
func (h *Handler) errNoPrompt(x *wire.Exchange) *wire.Error {
	var asked struct{ Name string }
	_ = json.Unmarshal(x.Message.Params, &asked) // the transport has parsed it
	names := each(h.box.prompts(), func(p prompt) string { return p.name })
	return wire.Errorf(wire.CodeParams, "no prompt %s: there are %s", wire.Quote(asked.Name), strings.Join(names, ", "))
}

// errNoResource refuses a URI that is not ours.
func errNoResource(x *wire.Exchange, code wire.Code) *wire.Error {
	e := wire.Errorf(code, "there is no such resource: there are %s and %s", calendarTemplate, eventTemplate)
	e.Data = askedURI(x)
	return e
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
	result.StructuredContent = map[string]problem{"error": {reason.String(), wire.Visible(e.Message),
		wire.Visible(e.Hint), by}}
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

// problem is the structured content of an error result.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Untrusted covers the text in quotation marks.
	Untrusted shown `json:"untrusted_text_by,omitempty"`
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
