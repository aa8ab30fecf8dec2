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
	"caldav-mcp-server/mcp/wire"
)

// The mail tools have their own contract for errors: six words, each with a JSON-RPC code.

// boxError is the error of package mailbox.
type boxError = mailbox.Error

// mailError is an error of the mail tools.
type mailError struct {
	boxError
	hint, url string
}

// Unwrap returns the error of package mailbox.
func (p *mailError) Unwrap() error { return &p.boxError }

// mailCodes are for clients of the first version. Later versions forbid most of them, and clients read the word.
var mailCodes = map[mailbox.Fault]wire.Code{
	mailbox.NotAuthorized: wire.CodeForbidden, mailbox.InvalidArgument: wire.CodeParams, mailbox.APIError: wire.CodeTool, mailbox.RateLimited: wire.CodeTool,
	mailbox.InternalError: wire.CodeInternal, mailbox.Unavailable: wire.CodeTool,
}

// mailFaults maps the reasons of other packages to these words.
var mailFaults = map[calendar.Reason]mailbox.Fault{
	calendar.Invalid: mailbox.InvalidArgument, calendar.Forbidden: mailbox.NotAuthorized, calendar.TooLarge: mailbox.RateLimited,
	calendar.Unavailable: mailbox.Unavailable, calendar.Stale: mailbox.Unavailable, calendar.NotFound: mailbox.APIError,
	calendar.Exists: mailbox.APIError, calendar.Unsupported: mailbox.APIError, calendar.Internal: mailbox.InternalError,
}

// asMailError converts an error to these words. Internal errors and questions stay as they are.
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
		p.url, p.hint = linking, "gmail_authorize explains how to link it"
		if linking != "" {
			p.hint = "the user links it at " + linking + ", then the call can be repeated"
		}
	case p.After > 0 && p.hint == "":
		p.hint = fmt.Sprintf("try it again in %d seconds", p.seconds())
	}
	return p
}

func (p *mailError) seconds() int { return int(math.Ceil(p.After.Seconds())) }

// mailErrorView is the structured content of a mail error.
type mailErrorView struct {
	problem
	Status     int    `json:"httpStatus,omitempty"`
	RetryAfter int    `json:"retryAfter,omitempty"`
	URL        string `json:"url,omitempty"`
}

func (p *mailError) view() mailErrorView {
	return mailErrorView{problem{string(p.Fault), wire.Visible(p.Why), wire.Visible(p.hint), ""}, p.Status, p.seconds(), p.url}
}

func (p *mailError) render(v wire.Version) wire.Refusal {
	view := p.view()
	text := string(p.Fault) + ": " + p.Why
	if p.hint != "" {
		text += " (" + p.hint + ")"
	}
	if v.Plain() || p.Fault == mailbox.Unavailable {
		code := mailCodes[p.Fault]
		if !v.Plain() {
			code = wire.CodeInternal
		}
		e := wire.Errorf(code, "%s", text)
		e.Data, _ = json.Marshal(view) // strings and numbers
		if p.Fault == mailbox.Unavailable {
			return wire.Refusal{Err: e, Status: http.StatusServiceUnavailable}
		}
		return wire.Refusal{Err: e, Status: http.StatusOK}
	}
	result := mcpgo.NewToolResultError(wire.Visible(text))
	result.StructuredContent = map[string]mailErrorView{"error": view}
	return wire.Refusal{Result: result}
}

// hasMail reports whether the caller has linked mail. Otherwise the mail tools are not listed.
func (h *Handler) hasMail(ctx context.Context, x *wire.Exchange) bool {
	switch x.Message.Method {
	case string(mcpgo.MethodToolsList), string(mcpgo.MethodToolsCall):
	default:
		return false
	}
	has, err := h.box.mail.Linked(ctx, callerOf(x))
	if err != nil {
		h.log.WarnContext(ctx, "the mail tools are not listed", slog.String("error", service.ForLog(err)))
	}
	return has
}

// mailTime formats a time for the results of the mail tools.
func mailTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
