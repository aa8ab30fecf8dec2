package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// Message is one JSON-RPC message, parsed once and strictly: names are case-sensitive and unambiguous. The message for
// mcp-go is encoded from these parts again, so that mcp-go cannot read it differently from our checks.
type Message struct {
	id     json.RawMessage // nil if there is none
	Method string          // "" for a client's answer to a request of ours
	Params json.RawMessage // an object, or nil
	Answer bool            // set for a response: it has a result or an error
	result json.RawMessage // the result of a response
}

// parse parses a message. If it returns an error, the message holds at most the id for the response.
func parse(body []byte) (Message, *Error) {
	var fields map[string]json.RawMessage
	if !json.Valid(body) || !utf8.Valid(body) {
		return Message{}, Errorf(codeParse, "the body is not JSON")
	}
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return Message{}, Errorf(CodeRequest, "the body must be one JSON object: send each message by itself, "+
			"batches are not accepted")
	}
	m := Message{Answer: fields["result"] != nil || fields["error"] != nil, result: fields["result"]}
	if id := fields["id"]; id != nil {
		if !isString(id) && !isNumber(id) {
			return m, Errorf(CodeRequest, `"id" must be a string or a number`)
		}
		m.id = id
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		return m, Errorf(CodeRequest, `"jsonrpc" must be "2.0"`)
	}
	if err := m.readMethod(fields["method"]); err != nil {
		return m, err
	}
	if params := fields["params"]; params != nil && string(params) != "null" {
		if params[0] != '{' {
			return m, Errorf(CodeParams, `"params" must be an object`)
		}
		m.Params = params
	}
	return m, nil
}

func (m *Message) readMethod(raw json.RawMessage) *Error {
	switch {
	case raw == nil && m.Answer && m.id != nil:
		return nil
	case raw == nil:
		return Errorf(CodeRequest, `"method" is missing`)
	case !isString(raw) || json.Unmarshal(raw, &m.Method) != nil || m.Method == "":
		return Errorf(CodeRequest, `"method" must be a name`)
	}
	m.Answer = false
	return nil
}

// declared returns the version in the message itself; only modern messages have one.
func (m Message) declared() Version {
	var params struct {
		Meta *mcpgo.Meta `json:"_meta"`
	}
	// The transport parses it with the same type, so both see the same version.
	if m.Params == nil || json.Unmarshal(m.Params, &params) != nil {
		return ""
	}
	return Version(params.Meta.ProtocolVersion())
}

// bytes encodes the message for the transport.
func (m Message) bytes() []byte {
	method, _ := json.Marshal(m.Method) // strings always marshal
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0","method":`)
	b.Write(method)
	if m.id != nil {
		b.WriteString(`,"id":`)
		b.Write(m.id)
	}
	if m.Params != nil {
		b.WriteString(`,"params":`)
		b.Write(m.Params)
	}
	b.WriteString("}")
	return b.Bytes()
}

// ToolCall holds the params of tools/call.
type ToolCall struct {
	Name      string                     `json:"name"`
	Arguments map[string]json.RawMessage `json:"arguments"`
	// InputResponses and RequestState come with a repeated call that had to be confirmed.
	InputResponses map[string]json.RawMessage `json:"inputResponses"`
	RequestState   string                     `json:"requestState"`
}

// readToolCall parses the params of tools/call.
func (m Message) readToolCall() (ToolCall, *Error) {
	var c ToolCall
	if err := json.Unmarshal(m.Params, &c); m.Params == nil || err != nil || c.Name == "" {
		return ToolCall{}, Errorf(CodeParams, `tools/call takes "name", a string, and "arguments", an object`)
	}
	return c, nil
}

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// abilities reports whether a client with these capabilities supports elicitation by form, which {} implies, and by
// page, which it must declare by name.
func abilities(capabilities json.RawMessage) (asks, opens bool) {
	var declared struct {
		Elicitation map[string]json.RawMessage `json:"elicitation"`
	}
	if json.Unmarshal(capabilities, &declared) != nil || declared.Elicitation == nil {
		return false, false
	}
	_, asks = declared.Elicitation["form"]
	_, opens = declared.Elicitation["url"]
	return asks || len(declared.Elicitation) == 0, opens
}

// The extension MCP Apps: hosts show HTML pages of this type next to results.
const (
	ViewExtension = "io.modelcontextprotocol/ui"
	ViewType      = "text/html;profile=mcp-app"
)

// showsViews reports whether a client with these capabilities shows HTML pages next to results.
func showsViews(capabilities json.RawMessage) bool {
	var declared struct {
		Extensions map[string]json.RawMessage `json:"extensions"`
	}
	var apps struct {
		Types []string `json:"mimeTypes"`
	}
	return json.Unmarshal(capabilities, &declared) == nil &&
		json.Unmarshal(declared.Extensions[ViewExtension], &apps) == nil && slices.Contains(apps.Types, ViewType)
}

// capabilities returns the client capabilities in a message: modern messages declare them each time, older clients when
// they open a session.
func (m Message) capabilities() json.RawMessage {
	var params struct {
		Meta         map[string]json.RawMessage `json:"_meta"`
		Capabilities json.RawMessage            `json:"capabilities"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return nil
	}
	if declared := params.Meta[mcpgo.MetaKeyClientCapabilities]; declared != nil {
		return declared
	}
	return params.Capabilities
}
