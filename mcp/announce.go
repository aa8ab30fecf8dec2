package mcp

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

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
func (e *endpoint) dress(w http.ResponseWriter, x *exchange, body []byte) ([]byte, error) {
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
		w.Header().Set(sessionHeader, string(e.sessions.begin(x.caller.owner, agreed, abilitiesOf(agreed, x.message)...)))
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
