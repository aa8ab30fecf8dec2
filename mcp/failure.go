package mcp

import (
	"errors"
	"net/http"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
)

// outcomes maps each reason to the error code for clients of the first version. If status is 0, later versions get a
// result with isError, which the model can read to correct its call. Otherwise every client gets an error with that
// HTTP status.
var outcomes = [...]struct {
	code   rpcCode
	status int
}{
	calendar.Internal:    {codeInternal, http.StatusOK},
	calendar.NotFound:    {code: codeTool},
	calendar.Exists:      {code: codeTool},
	calendar.Invalid:     {code: codeParams},
	calendar.Forbidden:   {code: codeForbidden},
	calendar.Stale:       {code: codeTool},
	calendar.TooLarge:    {code: codeTool},
	calendar.Unsupported: {code: codeTool},
	calendar.Unavailable: {codeInternal, http.StatusServiceUnavailable},
}

// render converts the error of a tool for the client. faultID refers to the log line of an internal error.
//
// foreign are the authors of the texts that the call was about: see marked.
func render(err error, v version, faultID string, foreign ...shown) refusal {
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
		return refusal{err: errFault(faultID), status: how.status}
	case how.status != 0:
		return refusal{err: rpcErrorf(how.code, "the calendars cannot be reached now: try again in %d seconds", retryAfter), status: how.status}
	}
	text, by := marked(e, foreign)
	if v.plain() {
		return refusal{err: rpcErrorf(how.code, "%s", text), status: http.StatusOK}
	}
	result := mcpgo.NewToolResultError(visible(text))
	result.StructuredContent = map[string]problem{"error": {reason.String(), visible(e.Message), visible(e.Hint), by}}
	return refusal{result: result}
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
