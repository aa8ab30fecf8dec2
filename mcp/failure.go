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

// The codes in use. Later versions of MCP forbid new ones between -32000 and -32099, so the
// first two go to clients of the first version alone.
const (
	codeTool      rpcCode = -32000
	codeForbidden rpcCode = -32001
	codeParse     rpcCode = mcpgo.PARSE_ERROR
	codeRequest   rpcCode = mcpgo.INVALID_REQUEST
	codeMethod    rpcCode = mcpgo.METHOD_NOT_FOUND
	codeParams    rpcCode = mcpgo.INVALID_PARAMS
	codeInternal  rpcCode = mcpgo.INTERNAL_ERROR
)

// rpcError is the error of a JSON-RPC answer.
type rpcError struct {
	Code    rpcCode         `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func rpcErrorf(code rpcCode, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: visible(fmt.Sprintf(format, args...))}
}

// outcomes says, for each reason, how a refusal reaches a client of the first version (code)
// and whether no client may take it for an answer (status). Where status is 0, later versions
// get a result that the model can read and mend its call by.
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

// retryAfter is how long a client waits when the store is away, in seconds.
const retryAfter = 5

// refusal is a domain error as one version of the protocol has it: a result, or else an error
// with an HTTP status.
type refusal struct {
	result *mcpgo.CallToolResult
	err    *rpcError
	status int
}

// render turns whatever a tool returned as its error into what the client gets. faultID names
// the log line of what is not for the client.
//
// Foreign are the writers of the texts that the call was about: see marked.
func render(err error, v version, faultID string, foreign ...shown) refusal {
	if p, is := errors.AsType[*mailError](err); is {
		return p.render(v)
	}
	reason := reasonOf(err)
	how := outcomes[reason]
	e := advised(err)
	if reason == calendar.Unavailable && (errors.Is(err, calendar.ErrElsewhere) || calendar.RuleOf(err) == calendar.RuleDiskSpace) {
		how = outcomes[calendar.Stale] // the model is to know: which account is away, or that no room comes by waiting
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

// marked returns the text of a refusal. If the refusal quotes anything and the call was about texts of others, the text is marked.
func marked(e *calendar.Error, foreign []shown) (text string, by shown) {
	if text = e.Error(); !strings.Contains(text, `"`) {
		return text, ""
	}
	if by = joined(foreign); by != "" {
		text = defused(text + by.mark())
	}
	return text, by
}

// advice is what to do next about a refusal of the middle that serves every door, and so can name no
// tool.
var advice = [...]struct {
	rule calendar.Rule
	hint string
}{
	{calendar.RulePrivileges, "list_calendars says what may be done with each; if that is not enough, tell the user"},
	{calendar.RuleDefaultNeeded, "update_calendar with is_default makes another calendar the default; ask the user which"},
	{calendar.RuleSupportedKind, "list_calendars says what each of them holds"},
	{calendar.RuleDiskSpace, "tell the user that whoever runs the server has to make room"},
}

// advised is the refusal that an error is, with what to do next; nil if it is none.
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

// errFault is all that a client learns of a fault of ours.
func errFault(faultID string) *rpcError {
	return rpcErrorf(codeInternal, "the server failed; its log tells more under %s", faultID)
}

// reasonOf is the reason as tools see it. To the middle it is forbidden to put an event where
// only tasks go, as CalDAV has it; but no share and no scope would change that.
func reasonOf(err error) calendar.Reason {
	reason := calendar.ReasonOf(err)
	if reason == calendar.Forbidden && calendar.RuleOf(err) != calendar.RulePrivileges {
		return calendar.Unsupported
	}
	return reason
}

// problem is the structured content of a result that is an error.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Untrusted is about the text in quotation marks.
	Untrusted shown `json:"untrusted_text_by,omitempty"`
}

// errorReply is a JSON-RPC answer that is an error.
type errorReply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *rpcError       `json:"error"`
}

// encodeError writes an error as the answer to a request.
func encodeError(id json.RawMessage, e *rpcError) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	data, err := json.Marshal(errorReply{"2.0", id, e})
	if err != nil {
		// The parts are strings, numbers, and JSON that was read before.
		panic(fmt.Sprintf("encoding an error: %v", err))
	}
	return data
}

// sendError answers with a JSON-RPC error.
func sendError(w http.ResponseWriter, status int, id json.RawMessage, e *rpcError) {
	writeJSON(w, status, encodeError(id, e))
}

// refuse answers what did not get as far as being a message.
func refuse(w http.ResponseWriter, status int, why string) {
	sendError(w, status, nil, rpcErrorf(codeRequest, "%s", why))
}

// statusOf is the HTTP status of an error that answers a request. Until 2026-07-28 a request
// that was understood as one is answered 200, whatever the answer: clients read no body else.
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
