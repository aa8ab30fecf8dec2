package mcp

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// announcements are the methods whose responses describe the server's capabilities.
var announcements = [...]string{string(mcpgo.MethodInitialize), string(mcpgo.MethodServerDiscover)}

func (x *exchange) isAnnouncement() bool { return slices.Contains(announcements[:], x.message.method) }

// announcement holds the parts of such a response that we change. The rest passes through untouched.
type announcement struct {
	JSONRPC string                     `json:"jsonrpc"`
	ID      json.RawMessage            `json:"id"`
	Result  map[string]json.RawMessage `json:"result"`
}

// dress completes the response to an announcement: it adds the capabilities that never change (mcp-go omits false
// values), and it opens a session after an initialize.
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
	a.Result["capabilities"], _ = json.Marshal(declared(capabilities, cmp.Or(agreed, x.version))) // read from JSON, so it marshals
	return json.Marshal(a)
}

// declared returns the capabilities that a version of MCP is shown. The first version promised clients a response with
// tools only.
func declared(capabilities map[string]any, v version) map[string]any {
	for _, name := range [...]string{"tools", "prompts"} {
		capabilities[name] = map[string]bool{"listChanged": false}
	}
	// The lists of tools and prompts change only with a new release of the server.
	capabilities["resources"] = map[string]bool{"subscribe": true, "listChanged": true}
	if v.plain() {
		return map[string]any{"tools": capabilities["tools"]}
	}
	return capabilities
}

// reword turns an error of the transport into one for our clients: it uses MCP's codes, and its text mentions no Go
// types or packages.
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

// rewordMissing lists the existing prompts or resources for a caller who asked for an unknown one.
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

// hasTool reports whether the caller's token is offered this tool.
func (h *Handler) hasTool(x *exchange, name string) bool {
	return slices.ContainsFunc(h.tools, func(t tool) bool { return t.named(name) && t.offered(x.caller) })
}

// toolsOf returns the tools that the caller may use.
func (h *Handler) toolsOf(x *exchange) (rows []tool) {
	for _, t := range h.tools {
		if t.offered(x.caller) && t.open(x.caller) && (!t.unbound || x.caller.Calendars == nil) && (!t.mail || x.mail) {
			rows = append(rows, t)
		}
	}
	return rows
}

func namesOfTools(rows []tool) []string { return each(rows, func(t tool) string { return t.name }) }
