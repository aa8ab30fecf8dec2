package wire

import (
	"encoding/json"
	"fmt"
	"net/http"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// Code is a code of JSON-RPC 2.0 §5.1.
type Code int

// The codes in use. Later versions of MCP forbid new codes between -32000 and -32099, so only clients of the first
// version get the first two.
const (
	CodeTool      Code = -32000
	CodeForbidden Code = -32001
	codeParse     Code = mcpgo.PARSE_ERROR
	CodeRequest   Code = mcpgo.INVALID_REQUEST
	CodeMethod    Code = mcpgo.METHOD_NOT_FOUND
	CodeParams    Code = mcpgo.INVALID_PARAMS
	CodeInternal  Code = mcpgo.INTERNAL_ERROR
)

// CodeNoResource is the code for a missing resource before 2026-07-28.
const CodeNoResource Code = mcpgo.RESOURCE_NOT_FOUND

// Error is the error in a JSON-RPC response.
type Error struct {
	Code    Code            `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Errorf returns an error with a formatted text.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: Visible(fmt.Sprintf(format, args...))}
}

// RetryAfter is how long a client waits if the store is unavailable, in seconds.
const RetryAfter = 5

// Refusal is a domain error in one version of the protocol: a result, or an error with an HTTP status.
type Refusal struct {
	Result *mcpgo.CallToolResult
	Err    *Error
	Status int
}

// ErrFault is the only information that a client gets about an internal error.
func ErrFault(faultID string) *Error {
	return Errorf(CodeInternal, "the server failed; its log has the details under %s", faultID)
}

// errorReply is a JSON-RPC error response.
type errorReply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *Error          `json:"error"`
}

// encodeError encodes an error as the response to a request.
func encodeError(id json.RawMessage, e *Error) []byte {
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
func sendError(w http.ResponseWriter, status int, id json.RawMessage, e *Error) {
	writeJSON(w, status, encodeError(id, e))
}

// SendRefused sends the result of a refused call with an HTTP status.
func SendRefused(w http.ResponseWriter, x *Exchange, status int, result *mcpgo.CallToolResult) {
	body, err := json.Marshal(resultReply{mcpgo.JSONRPC_VERSION, x.Message.id, result})
	if err != nil {
		body = encodeError(x.Message.id, ErrFault(x.FaultID))
	}
	writeJSON(w, status, body)
}

// refuse sends an error for a request that holds no valid message.
func refuse(w http.ResponseWriter, status int, why string) {
	sendError(w, status, nil, Errorf(CodeRequest, "%s", why))
}

// StatusOf is the HTTP status of an error response. Before 2026-07-28 every valid request gets 200, even if it
// failed, because clients read the body of no other status.
func StatusOf(v Version, code Code) int {
	switch {
	case !v.Modern() || code == CodeInternal:
		return http.StatusOK
	case code == CodeMethod:
		return http.StatusNotFound
	default:
		return http.StatusBadRequest
	}
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // G705: it is JSON and says so. The client may be gone.
}
