package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
)

// rpcCode is a code of JSON-RPC 2.0 §5.1.
type rpcCode int

// The codes in use. Later versions of MCP forbid new codes between -32000 and -32099, so only clients of the first
// version get the first two.
const (
	codeTool      rpcCode = -32000
	codeForbidden rpcCode = -32001
	codeParse     rpcCode = mcpgo.PARSE_ERROR
	codeRequest   rpcCode = mcpgo.INVALID_REQUEST
	codeMethod    rpcCode = mcpgo.METHOD_NOT_FOUND
	codeParams    rpcCode = mcpgo.INVALID_PARAMS
	codeInternal  rpcCode = mcpgo.INTERNAL_ERROR
)

// rpcError is the error in a JSON-RPC response.
type rpcError struct {
	Code    rpcCode         `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func rpcErrorf(code rpcCode, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: visible(fmt.Sprintf(format, args...))}
}

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

// retryAfter is how long a client waits if the store is unavailable, in seconds.
const retryAfter = 5

// refusal is a domain error in one version of the protocol: a result, or an error with an HTTP status.
type refusal struct {
	result *mcpgo.CallToolResult
	err    *rpcError
	status int
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

// errFault is the only information that a client gets about an internal error.
func errFault(faultID string) *rpcError {
	return rpcErrorf(codeInternal, "the server failed; its log has the details under %s", faultID)
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

// errorReply is a JSON-RPC error response.
type errorReply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *rpcError       `json:"error"`
}

// encodeError encodes an error as the response to a request.
func encodeError(id json.RawMessage, e *rpcError) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	data, err := json.Marshal(errorReply{"2.0", id, e})
	if err != nil {
		// The parts are strings, numbers, and JSON that was parsed before.
		panic(fmt.Sprintf("encoding an error: %v", err))
	}
	return data
}

// sendError sends a JSON-RPC error.
func sendError(w http.ResponseWriter, status int, id json.RawMessage, e *rpcError) {
	writeJSON(w, status, encodeError(id, e))
}

// refuse sends an error for a request that holds no valid message.
func refuse(w http.ResponseWriter, status int, why string) {
	sendError(w, status, nil, rpcErrorf(codeRequest, "%s", why))
}

// statusOf is the HTTP status of an error response. Before 2026-07-28 every valid request gets 200, even if it
// failed, because clients read the body of no other status.
func statusOf(v version, code rpcCode) int {
	switch {
	case !v.modern() || code == codeInternal:
		return http.StatusOK
	case code == codeMethod:
		return http.StatusNotFound
	default:
		return http.StatusBadRequest
	}
}
