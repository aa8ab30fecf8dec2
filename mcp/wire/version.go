package wire

import (
	"net/http"
	"slices"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// Version is a revision of the protocol; revisions are dates and compare as strings.
type Version string

// VersionHeader is the header with the version of the protocol.
const VersionHeader = "Mcp-Protocol-Version"

// FirstVersion is the oldest version that the server speaks: the first one with this transport. It also applies to
// clients that send no version (MCP 2025-06-18 "Protocol Version Header").
const FirstVersion Version = mcpgo.ProtocolVersion20250326

// lastWithSessions is the newest version that an initialize can agree on.
const lastWithSessions Version = mcpgo.ProtocolVersion20251125

// versions are the versions that the server speaks, newest first. mcp-go knows more.
var versions = [...]string{
	mcpgo.ProtocolVersion20260728, string(lastWithSessions), mcpgo.ProtocolVersion20250618, string(FirstVersion),
}

// Modern reports whether a version has no sessions: each request is self-contained.
func (v Version) Modern() bool { return mcpgo.IsModernProtocol(string(v)) }

// Plain reports whether a version has only text results, and gets a tool's refusal as a JSON-RPC error.
func (v Version) Plain() bool { return v <= FirstVersion }

// known reports whether we support the version in the header. The transport negotiates modern ones.
func (v Version) known() bool {
	return v == "" || v.Modern() || slices.Contains(versions[:], string(v))
}

func headerVersion(r *http.Request) Version { return Version(r.Header.Get(VersionHeader)) }

// errVersion refuses an unknown version.
func errVersion(v Version) string {
	return "unknown " + VersionHeader + " " + Quote(string(v)) + ": this server speaks " +
		strings.Join(versions[:], ", ")
}
