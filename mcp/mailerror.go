package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mailbox"
	"caldav-mcp-server/calendar/service"
)

// The tools of mail have a contract of their own for what goes wrong: six words, each with a code of JSON-RPC.

// boxError is why mail was not read.
type boxError = mailbox.Error

// mailError is an error of these tools.
type mailError struct {
	boxError
	hint, url string
}

// Unwrap is the error in the words of the house.
func (p *mailError) Unwrap() error { return &p.boxError }

// mailCodes are for clients of the first version; later ones forbid most of them, and read the word.
var mailCodes = map[mailbox.Fault]rpcCode{
	mailbox.NotAuthorized: codeForbidden, mailbox.InvalidArgument: codeParams, mailbox.APIError: codeTool, mailbox.RateLimited: codeTool,
	mailbox.InternalError: codeInternal, mailbox.Unavailable: codeTool,
}

// mailFaults are the words for what other rooms refuse.
var mailFaults = map[calendar.Reason]mailbox.Fault{
	calendar.Invalid: mailbox.InvalidArgument, calendar.Forbidden: mailbox.NotAuthorized, calendar.TooLarge: mailbox.RateLimited,
	calendar.Unavailable: mailbox.Unavailable, calendar.Stale: mailbox.Unavailable, calendar.NotFound: mailbox.APIError,
	calendar.Exists: mailbox.APIError, calendar.Unsupported: mailbox.APIError, calendar.Internal: mailbox.InternalError,
}

// asMailError says an error in these words. A fault of ours, and a question, stay what they are.
func asMailError(err error, linking string) error {
	if err == nil || calendar.ReasonOf(err) == calendar.Internal {
		return err
	}
	if _, asked := askedOf(err); asked {
		return err
	}
	p := &mailError{}
	own, is := errors.AsType[*mailbox.Error](err)
	house, _ := errors.AsType[*calendar.Error](err)
	switch {
	case is:
		p.boxError = *own
	default:
		p.Fault, p.Why, p.hint = mailFaults[house.Reason], house.Message, house.Hint
	}
	switch {
	case p.Unlinked:
		p.url, p.hint = linking, "gmail_authorize tells how to link it"
		if linking != "" {
			p.hint = "the user links it at " + linking + ", after which the call can be repeated"
		}
	case p.After > 0 && p.hint == "":
		p.hint = fmt.Sprintf("try it again in %d seconds", p.seconds())
	}
	return p
}

func (p *mailError) seconds() int { return int(math.Ceil(p.After.Seconds())) }

// mailErrorView is the structured content of such an error.
type mailErrorView struct {
	problem
	Status     int    `json:"httpStatus,omitempty"`
	RetryAfter int    `json:"retryAfter,omitempty"`
	URL        string `json:"url,omitempty"`
}

func (p *mailError) view() mailErrorView {
	return mailErrorView{problem{string(p.Fault), visible(p.Why), visible(p.hint), ""}, p.Status, p.seconds(), p.url}
}

func (p *mailError) render(v version) refusal {
	view := p.view()
	text := string(p.Fault) + ": " + p.Why
	if p.hint != "" {
		text += " (" + p.hint + ")"
	}
	if v.plain() || p.Fault == mailbox.Unavailable {
		code := mailCodes[p.Fault]
		if !v.plain() {
			code = codeInternal
		}
		e := rpcErrorf(code, "%s", text)
		e.Data, _ = json.Marshal(view) // strings and numbers
		if p.Fault == mailbox.Unavailable {
			return refusal{err: e, status: http.StatusServiceUnavailable}
		}
		return refusal{err: e, status: http.StatusOK}
	}
	result := mcpgo.NewToolResultError(visible(text))
	result.StructuredContent = map[string]mailErrorView{"error": view}
	return refusal{result: result}
}

// hasMail tells whether the caller has mail to read: only then are its tools listed.
func (h *Handler) hasMail(ctx context.Context, x *exchange) bool {
	switch x.message.method {
	case string(mcpgo.MethodToolsList), string(mcpgo.MethodToolsCall):
	default:
		return false
	}
	has, err := h.box.mail.Linked(ctx, x.caller)
	if err != nil {
		h.log.WarnContext(ctx, "the tools of mail are not listed", slog.String("error", service.ForLog(err)))
	}
	return has
}

// mailTime is a moment as results of these tools have it.
func mailTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
