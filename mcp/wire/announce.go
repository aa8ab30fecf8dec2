package wire

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// announcements are the methods whose responses describe the server's capabilities.
var announcements = [...]string{string(mcpgo.MethodInitialize), string(mcpgo.MethodServerDiscover)}

func (x *Exchange) isAnnouncement() bool { return slices.Contains(announcements[:], x.Message.Method) }

// announcement holds the parts of such a response that we change. The rest passes through untouched.
type announcement struct {
	JSONRPC string                     `json:"jsonrpc"`
	ID      json.RawMessage            `json:"id"`
	Result  map[string]json.RawMessage `json:"result"`
}

// dress completes the response to an announcement: it adds the capabilities that never change (mcp-go omits false
// values). After an initialize it opens a session, in another version if mcp-go agreed to one that we do not speak.
func (e *Endpoint) dress(w http.ResponseWriter, x *Exchange, body []byte) ([]byte, error) {
	var a announcement
	var capabilities map[string]any
	var agreed Version
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
		if !agreed.known() {
			agreed = lastWithSessions
			a.Result["protocolVersion"] = json.RawMessage(strconv.Quote(string(agreed)))
		}
		w.Header().Set(SessionHeader, string(e.sessions.Begin(x.Caller.Owner, agreed, abilitiesOf(agreed,
			x.Message)...)))
	}
	if err := e.introduce(a.Result, cmp.Or(agreed, x.Version)); err != nil {
		return nil, err
	}
	// read from JSON, so it marshals
	a.Result["capabilities"], _ = json.Marshal(e.shownCapabilities(capabilities, cmp.Or(agreed, x.Version)))
	return json.Marshal(a)
}

// introduce adds the description of the server to an announcement, as far as the version knows it. Other responses have
// only its name and version: an icon in each of them would be long.
func (e *Endpoint) introduce(result map[string]json.RawMessage, v Version) error {
	in, key := result, "serverInfo"
	if v.Modern() {
		in, key = map[string]json.RawMessage{}, mcpgo.MetaKeyServerInfo
		if err := json.Unmarshal(result["_meta"], &in); err != nil {
			return err
		}
	}
	var is mcpgo.Implementation
	if err := json.Unmarshal(in[key], &is); err != nil {
		return err
	}
	if !v.Plain() {
		is.Title = e.about.Title
	}
	if v >= lastWithSessions {
		is.Description, is.WebsiteURL, is.Icons = e.about.Description, e.about.WebsiteURL, e.about.Icons
	}
	// strings always marshal
	in[key], _ = json.Marshal(is)
	if v.Modern() {
		result["_meta"], _ = json.Marshal(in)
	}
	return nil
}

// shownCapabilities returns the capabilities that a version of MCP is shown. The first version promised clients a
// response with tools only.
func (e *Endpoint) shownCapabilities(capabilities map[string]any, v Version) map[string]any {
	for _, name := range [...]string{"tools", "prompts"} {
		capabilities[name] = map[string]bool{"listChanged": false}
	}
	// The lists of tools and prompts change only with a new release of the server.
	capabilities["resources"] = map[string]bool{"subscribe": true, "listChanged": true}
	if v.Plain() {
		return map[string]any{"tools": capabilities["tools"]}
	}
	if v.Modern() && len(e.skills) > 0 {
		capabilities["extensions"] = map[string]any{skillExtension: struct{}{}}
	}
	return capabilities
}
