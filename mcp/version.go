package mcp

import (
	"net/http"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// version is a revision of the protocol; revisions are dates and compare as strings.
type version string

const versionHeader = "Mcp-Protocol-Version"

// first is the first version with this transport. It is also what a client speaks that does
// not say (MCP 2025-06-18 "Protocol Version Header").
const first version = mcpgo.ProtocolVersion20250326

// modern versions have no sessions: each request says all there is to know.
func (v version) modern() bool { return mcpgo.IsModernProtocol(string(v)) }

// plain versions know results of text alone, and expect a tool's refusal as a JSON-RPC error.
func (v version) plain() bool { return v <= first }

// known tells whether the client named a version of old that we speak; a modern one is
// negotiated by the transport.
func (v version) known() bool {
	return v == "" || v.modern() || mcpgo.IsValidProtocolVersion(string(v))
}

func headerVersion(r *http.Request) version { return version(r.Header.Get(versionHeader)) }

// errVersion is the refusal of a version that is not known.
func errVersion(v version) string {
	return "unknown " + versionHeader + " " + quote(string(v)) + ": this server speaks " + strings.Join(mcpgo.ValidProtocolVersions, ", ")
}
