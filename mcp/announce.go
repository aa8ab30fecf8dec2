package mcp

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// announcements are the answers in which the server says what it can do.
var announcements = [...]string{string(mcpgo.MethodInitialize), string(mcpgo.MethodServerDiscover)}

func (x *exchange) isAnnouncement() bool { return slices.Contains(announcements[:], x.message.method) }

// announcement is what concerns us of such an answer; the rest stays as it is.
type announcement struct {
	JSONRPC string                     `json:"jsonrpc"`
	ID      json.RawMessage            `json:"id"`
	Result  map[string]json.RawMessage `json:"result"`
}

// dress completes an announcement: what never changes is said (mcp-go leaves out what is
// false), and an initialize opens a session.
func (h *Handler) dress(w http.ResponseWriter, x *exchange, body []byte) ([]byte, error) {
	var a announcement
	var capabilities map[string]any
	var agreed version
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(a.Result["capabilities"], &capabilities); err != nil {
		return nil, err
	}
	if raw, ok := a.Result["protocolVersion"]; ok {
		if err := json.Unmarshal(raw, &agreed); err != nil {
			return nil, err
		}
		w.Header().Set(sessionHeader, string(h.sessions.begin(ownerOf(x.caller), agreed, abilitiesOf(agreed, x.message)...)))
	}
	a.Result["capabilities"], _ = json.Marshal(declared(capabilities, cmp.Or(agreed, x.version))) // read from JSON, so JSON can hold it
	return json.Marshal(a)
}

// declared are the capabilities as a version is told of them. Clients of the first are promised
// an answer that names the tools alone.
func declared(capabilities map[string]any, v version) map[string]any {
	for _, name := range [...]string{"tools", "prompts"} {
		capabilities[name] = map[string]bool{"listChanged": false}
	}
	// Which tools and prompts there are changes with a new release of the server alone.
	capabilities["resources"] = map[string]bool{"subscribe": true, "listChanged": true}
	if v.plain() {
		return map[string]any{"tools": capabilities["tools"]}
	}
	return capabilities
}

// reword makes an error of the transport's one for our clients: codes as MCP has them, and
// nothing about Go types and packages in the text.
func (h *Handler) reword(x *exchange, e *rpcError) *rpcError {
	switch e.Code {
	case codeMethod:
		return rpcErrorf(codeMethod, "there is no method %s in the version of MCP that you speak", quote(x.message.method))
	case codeRequest:
		if x.message.answer {
			return e
		}
		return rpcErrorf(codeParams, "the params of %s cannot be read", x.message.method)
	case codeParams:
		if x.message.method == string(mcpgo.MethodToolsCall) && !h.hasTool(x, x.call.Name) {
			return rpcErrorf(codeParams, "no tool %s: you may use %s", quote(x.call.Name), cmp.Or(strings.Join(namesOfTools(h.toolsOf(x)), ", "), "none"))
		}
		return h.rewordMissing(x, e)
	case codeNoResource:
		return h.rewordMissing(x, e)
	case codeInternal:
		h.logFault(x, e.Message)
		return errFault(x.faultID)
	default:
		return e
	}
}

// rewordMissing says which prompts and resources there are to a caller who asked for another.
func (h *Handler) rewordMissing(x *exchange, e *rpcError) *rpcError {
	switch mcpgo.MCPMethod(x.message.method) {
	case mcpgo.MethodPromptsGet:
		return h.errNoPrompt(x)
	case mcpgo.MethodResourcesRead:
		return errNoResource(x, e.Code)
	default:
		return e
	}
}

// hasTool tells whether there is such a tool as far as the caller's token is concerned.
func (h *Handler) hasTool(x *exchange, name string) bool {
	return slices.ContainsFunc(h.tools, func(t tool) bool { return t.named(name) && t.offered(x.caller) })
}

// toolsOf are the tools that the caller may use.
func (h *Handler) toolsOf(x *exchange) (rows []tool) {
	for _, t := range h.tools {
		if t.offered(x.caller) && t.open(x.caller) && (!t.unbound || x.caller.Calendars == nil) && (!t.mail || x.mail) {
			rows = append(rows, t)
		}
	}
	return rows
}

func namesOfTools(rows []tool) []string { return each(rows, func(t tool) string { return t.name }) }
