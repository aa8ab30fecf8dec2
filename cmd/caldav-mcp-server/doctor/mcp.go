package doctor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// rpcAnswer holds the fields that are read from a response of the MCP endpoint.
type rpcAnswer struct {
	Result struct {
		ProtocolVersion string `json:"protocolVersion"`
		Tools           []struct {
			Name string `json:"name"`
		} `json:"tools"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

const initializeCall = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},` +
	`"clientInfo":{"name":"doctor","version":"1"}}}`

// rpc calls the MCP endpoint as assistants do.
func (x *Examination) rpc(ctx context.Context, token, session, call string) (*rpcAnswer, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.mcp.String(), strings.NewReader(call))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	r.Header.Set("User-Agent", x.bare.Agent)
	// A token is only for this URL, so no redirect is followed.
	answer, err := x.bare.Transport.RoundTrip(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, answer.Header, &davclient.StatusError{
			Method: r.Method, URL: x.mcp.String(), Status: answer.StatusCode,
		}
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, davclient.MaxAnswer))
	if err != nil {
		return nil, nil, err
	}
	var said rpcAnswer
	if err := json.Unmarshal(message(answer.Header.Get("Content-Type"), body), &said); err != nil {
		return nil, nil, &checkError{
			"the answer is not JSON-RPC", "another program answers there: does the proxy pass this path to the MCP " +
				"port, with or without the path before /mcp?",
		}
	}
	if said.Error != nil {
		return nil, nil, fmt.Errorf("the server says: %s", console.Shown(said.Error.Message))
	}
	return &said, answer.Header, nil
}

// message returns the JSON of a response that may be an event stream.
func message(contentType string, body []byte) []byte {
	if !strings.HasPrefix(contentType, "text/event-stream") {
		return body
	}
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, len(body)+1)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
			return bytes.Clone(data)
		}
	}
	return nil
}

// mcpChallenge finds the endpoint.
func (x *Examination) mcpChallenge(ctx context.Context) (string, error) {
	var failures []error
	for _, at := range x.mcpPlaces {
		x.mcp = at
		detail, err := x.challengedAt(ctx)
		if err == nil {
			return detail, nil
		}
		failures = append(failures, err)
	}
	if len(failures) == 1 {
		return "", failures[0]
	}
	// With two candidates the server was perhaps called directly at its own ports, so no proxy is to blame.
	x.mcp = nil
	what, _ := diagnose(failures[len(failures)-1])
	return "", &checkError{
		fmt.Sprintf("it is neither at %s nor at %s (%s)", x.mcpPlaces[0], x.mcpPlaces[1], what),
		"is the server running there? If the endpoint has another URL, set MCP_URL, or give it with --mcp-url, such " +
			"as " + x.root.Scheme + "://" + net.JoinHostPort(x.root.Hostname(), "5233") + settings.MCPPath,
	}
}

func (x *Examination) challengedAt(ctx context.Context) (string, error) {
	_, header, err := x.rpc(ctx, "", "", initializeCall)
	status, refused := errors.AsType[*davclient.StatusError](err)
	switch {
	case err == nil:
		return "", &checkError{
			"it responds without a token",
			"another program answers there, or the proxy adds a token of its own: remove that",
		}
	case !refused || status.Status != http.StatusUnauthorized:
		return "", err
	case strings.Contains(strings.ToLower(strings.Join(header.Values("WWW-Authenticate"), ",")), "basic "):
		return "", &checkError{
			"it asks for a password, not for a token",
			"the CalDAV port answers there: let the proxy pass this path to the MCP port",
		}
	case header.Get("WWW-Authenticate") == "":
		return "", &checkError{
			"the answer is 401 without WWW-Authenticate", "the proxy drops the WWW-Authenticate header: let it through",
		}
	}
	x.offer = strings.Join(header.Values("WWW-Authenticate"), ", ")
	return x.mcp.String(), nil
}

func (x *Examination) mcpInitialize(ctx context.Context) (string, error) {
	if x.token == "" {
		return "", skippedError{"there is no token: --token-file names one"}
	}
	if x.mcp == nil {
		return "", skippedError{"the endpoint was not found"}
	}
	said, _, err := x.rpc(ctx, x.token, "", initializeCall)
	if err != nil {
		return "", tokenError(err)
	}
	return "protocol " + console.Shown(said.Result.ProtocolVersion), nil
}

func (x *Examination) mcpTools(ctx context.Context) (string, error) {
	if x.token == "" || x.mcp == nil {
		return "", skippedError{"there is no token, or no endpoint"}
	}
	_, header, err := x.rpc(ctx, x.token, "", initializeCall)
	if err != nil {
		return "", tokenError(err)
	}
	said, _, err := x.rpc(ctx, x.token, header.Get("Mcp-Session-Id"), `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if err != nil {
		return "", tokenError(err)
	}
	if len(said.Result.Tools) == 0 {
		return "", &checkError{"there are no tools", "the token has no scope for any tool: create another one"}
	}
	return fmt.Sprintf("%d tools", len(said.Result.Tools)), nil
}

// tokenError adds the remedy for a refused token, which differs from that for a password.
func tokenError(err error) error {
	if s, ok := errors.AsType[*davclient.StatusError](err); ok && s.Status == http.StatusUnauthorized {
		return &checkError{
			err.Error(), "the token is refused: is it complete and not revoked (list-tokens), and does the proxy " +
				"pass on the Authorization header?",
		}
	}
	return err
}
