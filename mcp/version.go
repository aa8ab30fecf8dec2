package mcp

import (
	"net/http"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// version is a revision of the protocol; revisions are dates and compare as strings.
type version string

const versionHeader = "Mcp-Protocol-Version"

// first is the first version with this transport. It also applies to clients that send no version (MCP 2025-06-18
// "Protocol Version Header").
const first version = mcpgo.ProtocolVersion20250326

// modern reports whether a version has no sessions: each request is self-contained.
func (v version) modern() bool { return mcpgo.IsModernProtocol(string(v)) }

// plain reports whether a version has only text results, and gets a tool's refusal as a JSON-RPC error.
func (v version) plain() bool { return v <= first }

// known reports whether we support the version in the header. The transport negotiates modern ones.
func (v version) known() bool {
	return v == "" || v.modern() || mcpgo.IsValidProtocolVersion(string(v))
}

func headerVersion(r *http.Request) version { return version(r.Header.Get(versionHeader)) }

// errVersion refuses an unknown version.
func errVersion(v version) string {
	return "unknown " + versionHeader + " " + quote(string(v)) + ": this server speaks " + strings.Join(mcpgo.ValidProtocolVersions, ", ")
}
