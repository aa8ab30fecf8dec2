package mcp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// bridge connects the protocol with the calendars. It implements contents.
type bridge struct{ h *Handler }

// visitor is the caller of a request.
type visitor struct {
	calendar.Caller
	// mail is set if the caller has linked mail.
	mail bool
}

func peerOf(c calendar.Caller) peer {
	return peer{owner: owner{user: string(c.User.ID), token: string(c.Token)}, name: c.User.Name, expires: c.Expires, as: &visitor{Caller: c}}
}

func visitorOf(p peer) *visitor {
	v, _ := p.as.(*visitor)
	return v
}

func callerOf(x *exchange) calendar.Caller { return visitorOf(x.caller).Caller }

func (b bridge) prepare(ctx context.Context, x *exchange) {
	visitorOf(x.caller).mail = b.h.hasMail(ctx, x)
}

func (b bridge) challenge(w http.ResponseWriter, r *http.Request, x *exchange) bool {
	lacks := b.h.lacks(x)
	if lacks != 0 {
		b.h.config.StepUp(w, r, callerOf(x), lacks)
	}
	return lacks != 0
}

// lacks returns the scopes that a call needs and that its OAuth client can request. The check comes before the
// transport, which could only report a failed call.
func (h *Handler) lacks(x *exchange) calendar.Scope {
	who := callerOf(x)
	if !who.Delegated || h.config.StepUp == nil {
		return 0
	}
	for _, t := range h.tools {
		if t.named(x.call.Name) && t.offered(who) {
			return t.needs(x.call.Arguments) &^ who.Scopes
		}
	}
	return 0
}

// reword turns an error of the transport into one for our clients: it uses MCP's codes, and its text mentions no Go
// types or packages.
func (b bridge) reword(x *exchange, e *rpcError) *rpcError {
	switch e.Code {
	case codeMethod:
		return rpcErrorf(codeMethod, "there is no method %s in the version of MCP that you speak", quote(x.message.method))
	case codeRequest:
		if x.message.answer {
			return e
		}
		return rpcErrorf(codeParams, "the params of %s cannot be read", x.message.method)
	case codeParams:
		if x.message.method == string(mcpgo.MethodToolsCall) && !b.h.hasTool(x, x.call.Name) {
			return rpcErrorf(codeParams, "no tool %s: you may use %s", quote(x.call.Name), cmp.Or(strings.Join(namesOfTools(b.h.toolsOf(x)), ", "), "none"))
		}
		return b.h.rewordMissing(x, e)
	case codeNoResource:
		return b.h.rewordMissing(x, e)
	case codeInternal:
		b.h.logFault(x, e.Message)
		return errFault(x.faultID)
	default:
		return e
	}
}

// rewordMissing lists the existing prompts or resources for a caller who asked for an unknown one.
func (h *Handler) rewordMissing(x *exchange, e *rpcError) *rpcError {
	switch mcpgo.MCPMethod(x.message.method) {
	case mcpgo.MethodPromptsGet:
		return h.errNoPrompt(x)
	case mcpgo.MethodResourcesRead:
		return errNoResource(x, e.Code)
	default:
		return e
	}
}

// hasTool reports whether the caller's token is offered this tool.
func (h *Handler) hasTool(x *exchange, name string) bool {
	who := visitorOf(x.caller)
	return slices.ContainsFunc(h.tools, func(t tool) bool { return t.named(name) && t.offered(who.Caller) })
}

// toolsOf returns the tools that the caller may use.
func (h *Handler) toolsOf(x *exchange) (rows []tool) {
	who := visitorOf(x.caller)
	for _, t := range h.tools {
		if t.offered(who.Caller) && t.open(who.Caller) && (!t.unbound || who.Calendars == nil) && (!t.mail || who.mail) {
			rows = append(rows, t)
		}
	}
	return rows
}

func namesOfTools(rows []tool) []string { return each(rows, func(t tool) string { return t.name }) }

func (b bridge) refuse(ctx context.Context, x *exchange, err error) {
	if calendar.ReasonOf(err) == calendar.Internal && ctx.Err() == nil {
		b.h.logFault(x, service.ForLog(err))
	}
	x.refused = new(renderError(err, x.version, x.faultID))
}

func (bridge) away(err error) bool {
	return err != nil && calendar.ReasonOf(err) == calendar.Unavailable
}

func (bridge) forLog(err error) string { return service.ForLog(err) }

// valid checks that the caller's token is still valid, because streams stay open for long.
func (b bridge) valid(ctx context.Context, p peer) error {
	if !p.expires.IsZero() && !b.h.now().Before(p.expires) {
		return auth.ErrUnauthorized
	}
	if b.h.config.Good == nil {
		return nil
	}
	return b.h.config.Good(ctx, visitorOf(p).Caller)
}

func (bridge) revoked(err error) bool { return errors.Is(err, auth.ErrUnauthorized) }

func (bridge) unauthorized(w http.ResponseWriter) { auth.RefuseJSON(w, http.StatusUnauthorized) }

func (b bridge) openLetter(ctx context.Context, x *exchange, id, digest string) (letter, error) {
	attempt, _, err := b.h.box.service.BeginAttempt(ctx, callerOf(x), id, digest)
	return answerBox{b.h.box.service, attempt}, err
}

func (b bridge) deliver(ctx context.Context, x *exchange, id, action string) error {
	who := callerOf(x)
	return b.h.box.service.SettleAttempt(ctx, calendar.Attempt{User: who.User.ID, Token: who.Token, Name: id}, []byte(action))
}

// answerBox is the row of the table of idempotent calls that receives the response to an elicitation.
type answerBox struct {
	service *service.Service
	attempt calendar.Attempt
}

// Answer implements letter.
func (b answerBox) Answer(ctx context.Context) ([]byte, error) {
	return b.service.AttemptAnswer(ctx, b.attempt)
}

// Close implements letter. A row that it cannot remove expires within a day.
func (b answerBox) Close(ctx context.Context) { _ = b.service.SettleAttempt(ctx, b.attempt, nil) }
