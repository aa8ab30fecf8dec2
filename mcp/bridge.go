package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/mcp/wire"
)

// Prepare implements wire.Content.
func (b bridge) Prepare(ctx context.Context, x *wire.Exchange) {
	v := visitorOf(x.Caller)
	v.mail = b.h.hasMail(ctx, x)
	x.Caller.Account = v
}

// Challenge implements wire.Content.
func (b bridge) Challenge(w http.ResponseWriter, r *http.Request, x *wire.Exchange) bool {
	lacks := b.h.lacks(x)
	if lacks == 0 {
		return false
	}
	if x.Version.Plain() {
		b.h.config.StepUp(w, r, callerOf(x), lacks)
		return true
	}
	b.h.config.StepUp(headerOnly{w}, r, callerOf(x), lacks)
	why := calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "the user has not allowed %s yet: the scopes "+
		"%q are missing", x.Call.Name, auth.ScopeList(lacks)).
		Advising("ask the user to connect again and to allow them")
	result := render(why, x.Version, x.FaultID).Result
	// ChatGPT reads the challenge here, other clients in the header.
	result.Meta = metaOf("mcp/www_authenticate", w.Header().Values("WWW-Authenticate"))
	wire.SendRefused(w, x, http.StatusForbidden, result)
	return true
}

// headerOnly is a response that keeps only the headers written to it.
type headerOnly struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (headerOnly) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (headerOnly) Write(data []byte) (int, error) { return len(data), nil }

// Limited implements wire.Content.
func (bridge) Limited(v wire.Version, why string, seconds int) wire.Refusal {
	hint := fmt.Sprintf("wait %d seconds, then repeat the call; send fewer calls at once", seconds)
	if v.Plain() {
		return wire.Refusal{Err: wire.Errorf(wire.CodeTool, "%s: %s", why, hint), Status: http.StatusOK}
	}
	result := mcpgo.NewToolResultError(why + ": " + hint)
	result.StructuredContent = map[string]problem{
		"error": {Code: "rate_limited", Message: why, Hint: hint, Wait: seconds},
	}
	return wire.Refusal{Result: result}
}

// lacks returns the scopes that a call needs and that its OAuth client can request. The check comes before the
// transport, which could only report a failed call.
func (h *Handler) lacks(x *wire.Exchange) calendar.Scope {
	who := callerOf(x)
	if !who.Delegated || h.config.StepUp == nil {
		return 0
	}
	for _, t := range h.tools {
		if t.named(x.Call.Name) && t.offered(who) {
			needs := t.needs(x.Call.Arguments)
			if t.suggestible() && who.MayPropose(needs) {
				return 0
			}
			return needs &^ who.Scopes
		}
	}
	return 0
}

// Reword turns an error of the transport into one for our clients: it uses MCP's codes, and its text mentions no Go
// types or packages.
func (b bridge) Reword(x *wire.Exchange, e *wire.Error) *wire.Error {
	switch e.Code {
	case wire.CodeMethod:
		return wire.Errorf(wire.CodeMethod, "there is no method %s in the version of MCP that you speak",
			wire.Quote(x.Message.Method))
	case wire.CodeRequest:
		if x.Message.Answer {
			return e
		}
		return wire.Errorf(wire.CodeParams, "the params of %s cannot be read", x.Message.Method)
	case wire.CodeParams:
		if x.Message.Method == string(mcpgo.MethodToolsCall) && !b.h.hasTool(x, x.Call.Name) {
			return wire.Errorf(wire.CodeParams, "no tool %s: you may use %s", wire.Quote(x.Call.Name),
				cmp.Or(strings.Join(namesOfTools(b.h.toolsOf(x)), ", "), "none"))
		}
		return b.h.rewordMissing(x, e)
	case wire.CodeNoResource:
		return b.h.rewordMissing(x, e)
	case wire.CodeInternal:
		b.h.logFault(x, e.Message)
		return wire.ErrFault(x.FaultID)
	default:
		return e
	}
}

// rewordMissing lists the existing prompts or resources for a caller who asked for an unknown one.
func (h *Handler) rewordMissing(x *wire.Exchange, e *wire.Error) *wire.Error {
	switch mcpgo.MCPMethod(x.Message.Method) {
	case mcpgo.MethodPromptsGet:
		return h.errNoPrompt(x)
	case mcpgo.MethodResourcesRead:
		return errNoResource(x, e.Code)
	default:
		return e
	}
}

// hasTool reports whether the caller's token is offered this tool.
func (h *Handler) hasTool(x *wire.Exchange, name string) bool {
	who := visitorOf(x.Caller)
	return slices.ContainsFunc(h.tools, func(t tool) bool { return t.named(name) && t.offered(who.Caller) })
}

// toolsOf returns the tools that the caller may use.
func (h *Handler) toolsOf(x *wire.Exchange) (rows []tool) {
	who := visitorOf(x.Caller)
	for _, t := range h.tools {
		if t.offered(who.Caller) && t.open(who.Caller) && (!t.unbound || who.Calendars == nil) &&
			(!t.mail || t.unlinked || who.mail) {
			if who.MayPropose(t.scope) {
				t = t.suggesting()
			} else if t.suggestible() && who.ProposesSomewhere() {
				t = t.suggestingSomewhere()
			}
			rows = append(rows, t)
		}
	}
	return rows
}

func namesOfTools(rows []tool) []string { return each(rows, func(t tool) string { return t.name }) }

// Refuse implements wire.Content.
func (b bridge) Refuse(ctx context.Context, x *wire.Exchange, err error) {
	if calendar.ReasonOf(err) == calendar.Internal && ctx.Err() == nil {
		b.h.logFault(x, service.ForLog(err))
	}
	x.Refused = new(renderError(err, x.Version, x.FaultID))
}

// Away implements wire.Content.
func (bridge) Away(err error) bool {
	return err != nil && calendar.ReasonOf(err) == calendar.Unavailable
}

// ForLog implements wire.Content.
func (bridge) ForLog(err error) string { return service.ForLog(err) }

// Valid checks that the caller's token is still valid, because streams stay open for long.
func (b bridge) Valid(ctx context.Context, p wire.Peer) error {
	if !p.Expires.IsZero() && !b.h.now().Before(p.Expires) {
		return auth.ErrUnauthorized
	}
	if b.h.config.Good == nil {
		return nil
	}
	return b.h.config.Good(ctx, visitorOf(p).Caller)
}

// Revoked implements wire.Content.
func (bridge) Revoked(err error) bool { return errors.Is(err, auth.ErrUnauthorized) }

// Unauthorized implements wire.Content.
func (bridge) Unauthorized(w http.ResponseWriter) { auth.RefuseJSON(w, http.StatusUnauthorized) }

// OpenLetter implements wire.Content.
func (b bridge) OpenLetter(ctx context.Context, x *wire.Exchange, id, digest string) (wire.Letter, error) {
	attempt, _, err := b.h.box.service.BeginAttempt(ctx, callerOf(x), id, digest)
	return answerBox{b.h.box.service, attempt}, err
}

// Deliver implements wire.Content.
func (b bridge) Deliver(ctx context.Context, x *wire.Exchange, id, action string) error {
	who := callerOf(x)
	return b.h.box.service.SettleAttempt(ctx, calendar.Attempt{User: who.User.ID, Token: who.Token, Name: id},
		[]byte(action))
}

// answerBox is the row of the table of idempotent calls that receives the response to an elicitation.
type answerBox struct {
	service *service.Service
	attempt calendar.Attempt
}

// Answer implements wire.Letter.
func (b answerBox) Answer(ctx context.Context) ([]byte, error) {
	return b.service.AttemptAnswer(ctx, b.attempt)
}

// Close implements wire.Letter. A row that it cannot remove expires within a day.
func (b answerBox) Close(ctx context.Context) { _ = b.service.SettleAttempt(ctx, b.attempt, nil) }

// errNoPrompt refuses an unknown prompt.
func (h *Handler) errNoPrompt(x *wire.Exchange) *wire.Error {
	var asked struct{ Name string }
	_ = json.Unmarshal(x.Message.Params, &asked) // the transport has parsed it
	names := each(h.box.prompts(), func(p prompt) string { return p.name })
	return wire.Errorf(wire.CodeParams, "no prompt %s: there are %s", wire.Quote(asked.Name), strings.Join(names, ", "))
}

// hasMail reports whether the caller has linked mail. Otherwise the tools that read mail are not listed.
func (h *Handler) hasMail(ctx context.Context, x *wire.Exchange) bool {
	switch x.Message.Method {
	case string(mcpgo.MethodToolsList), string(mcpgo.MethodToolsCall):
	default:
		return false
	}
	has, err := h.box.mail.Linked(ctx, callerOf(x))
	if err != nil {
		h.log.WarnContext(ctx, "the tools that read mail are not listed", slog.String("error", service.ForLog(err)))
	}
	return has
}
