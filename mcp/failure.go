package mcp

import (
	"errors"
	"net/http"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp/wire"
)

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
	if reason == calendar.Unavailable && (errors.Is(err, calendar.ErrElsewhere) || calendar.RuleOf(err) == calendar.RuleDiskSpace) {
		how = outcomes[calendar.Stale] // the model must learn which account is unreachable, or that waiting frees no space
	}
	switch {
	case reason == calendar.Internal || e == nil:
		return wire.Refusal{Err: wire.ErrFault(faultID), Status: how.status}
	case how.status != 0:
		return wire.Refusal{Err: wire.Errorf(how.code, "the calendars cannot be reached now: try again in %d seconds", wire.RetryAfter), Status: how.status}
	}
	text, by := marked(e, foreign)
	if v.Plain() {
		return wire.Refusal{Err: wire.Errorf(how.code, "%s", text), Status: http.StatusOK}
	}
	result := mcpgo.NewToolResultError(wire.Visible(text))
	result.StructuredContent = map[string]problem{"error": {reason.String(), wire.Visible(e.Message), wire.Visible(e.Hint), by}}
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
	{calendar.RuleDefaultNeeded, "update_calendar with is_default makes another calendar the default; ask the user which"},
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
