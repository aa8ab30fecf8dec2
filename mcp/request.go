package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

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
	h.log.LogAttrs(ctx, slog.LevelInfo, "request handled", slog.String("method", x.Message.Method), slog.String("user", c.caller.User.Name),
		slog.String("token", string(c.caller.Token)), slog.String("calendar", string(c.calendar)), slog.String("outcome", outcome),
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
