package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
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

// codeNoResource is the code for a missing resource before 2026-07-28.
const codeNoResource rpcCode = mcpgo.RESOURCE_NOT_FOUND

// rpcError is the error in a JSON-RPC response.
type rpcError struct {
	Code    rpcCode         `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func rpcErrorf(code rpcCode, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: visible(fmt.Sprintf(format, args...))}
}

// retryAfter is how long a client waits if the store is unavailable, in seconds.
const retryAfter = 5

// refusal is a domain error in one version of the protocol: a result, or an error with an HTTP status.
type refusal struct {
	result *mcpgo.CallToolResult
	err    *rpcError
	status int
}

// errFault is the only information that a client gets about an internal error.
func errFault(faultID string) *rpcError {
	return rpcErrorf(codeInternal, "the server failed; its log has the details under %s", faultID)
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
