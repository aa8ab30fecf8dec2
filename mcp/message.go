package mcp

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// message is one JSON-RPC message, parsed once and strictly: names are case-sensitive and unambiguous. The message for
// mcp-go is encoded from these parts again, so that mcp-go cannot read it differently from our checks.
type message struct {
	id     json.RawMessage // nil if there is none
	method string          // "" for a client's answer to a request of ours
	params json.RawMessage // an object, or nil
	answer bool            // set for a response: it has a result or an error
	result json.RawMessage // the result of a response
}

// parse parses a message. If it returns an error, the message holds at most the id for the response.
func parse(body []byte) (message, *rpcError) {
	var fields map[string]json.RawMessage
	if !json.Valid(body) || !utf8.Valid(body) {
		return message{}, rpcErrorf(codeParse, "the body is not JSON")
	}
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return message{}, rpcErrorf(codeRequest, "the body must be one JSON object: send each message by itself, batches are not accepted")
	}
	m := message{answer: fields["result"] != nil || fields["error"] != nil, result: fields["result"]}
	if id := fields["id"]; id != nil {
		if !isString(id) && !isNumber(id) {
			return m, rpcErrorf(codeRequest, `"id" must be a string or a number`)
		}
		m.id = id
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		return m, rpcErrorf(codeRequest, `"jsonrpc" must be "2.0"`)
	}
	if err := m.readMethod(fields["method"]); err != nil {
		return m, err
	}
	if params := fields["params"]; params != nil && string(params) != "null" {
		if params[0] != '{' {
			return m, rpcErrorf(codeParams, `"params" must be an object`)
		}
		m.params = params
	}
	return m, nil
}

func (m *message) readMethod(raw json.RawMessage) *rpcError {
	switch {
	case raw == nil && m.answer && m.id != nil:
		return nil
	case raw == nil:
		return rpcErrorf(codeRequest, `"method" is missing`)
	case !isString(raw) || json.Unmarshal(raw, &m.method) != nil || m.method == "":
		return rpcErrorf(codeRequest, `"method" must be a name`)
	}
	m.answer = false
	return nil
}

// declared returns the version in the message itself; only modern messages have one.
func (m message) declared() version {
	var params struct {
		Meta *mcpgo.Meta `json:"_meta"`
	}
	// The transport parses it with the same type, so both see the same version.
	if m.params == nil || json.Unmarshal(m.params, &params) != nil {
		return ""
	}
	return version(params.Meta.ProtocolVersion())
}

// bytes encodes the message for the transport.
func (m message) bytes() []byte {
	method, _ := json.Marshal(m.method) // strings always marshal
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0","method":`)
	b.Write(method)
	if m.id != nil {
		b.WriteString(`,"id":`)
		b.Write(m.id)
	}
	if m.params != nil {
		b.WriteString(`,"params":`)
		b.Write(m.params)
	}
	b.WriteString("}")
	return b.Bytes()
}

// toolCall holds the params of tools/call.
type toolCall struct {
	Name      string                     `json:"name"`
	Arguments map[string]json.RawMessage `json:"arguments"`
	// InputResponses and RequestState come with a repeated call that had to be confirmed.
	InputResponses map[string]json.RawMessage `json:"inputResponses"`
	RequestState   string                     `json:"requestState"`
}

// readToolCall parses the params of tools/call.
func (m message) readToolCall() (toolCall, *rpcError) {
	var c toolCall
	if err := json.Unmarshal(m.params, &c); m.params == nil || err != nil || c.Name == "" {
		return toolCall{}, rpcErrorf(codeParams, `tools/call takes "name", a string, and "arguments", an object`)
	}
	return c, nil
}

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}
