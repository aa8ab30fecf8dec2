package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// speaksTLS reports whether the port of an http URL speaks TLS.
func (x *Examination) speaksTLS(ctx context.Context) bool {
	if x.base.Scheme != "http" {
		return false
	}
	https := *x.base
	https.Scheme = "https"
	r, err := http.NewRequestWithContext(ctx, http.MethodOptions, https.String(), nil)
	if err != nil {
		return false
	}
	r.Header.Set("User-Agent", x.bare.Agent)
	answer, err := x.bare.Transport.RoundTrip(r)
	if err == nil {
		_ = answer.Body.Close() // any response is enough
		return true
	}
	_, refused := errors.AsType[*tls.CertificateVerificationError](err)
	return refused
}

// errAssistantsOnly is the finding at the MCP port, and below the path of the endpoint.
var errAssistantsOnly = &checkError{
	"the MCP endpoint answers there, not the CalDAV server",
	"this is the MCP port, or the proxy has no route for apps: the URL for apps must lead to the CalDAV port (5232, " +
		"or CALDAV_PORT), without /mcp",
}

// asksForToken recognizes a refusal by the MCP endpoint. The CalDAV port offers passwords too.
func asksForToken(header http.Header) bool {
	offers := strings.ToLower(strings.Join(header.Values("WWW-Authenticate"), ", "))
	return strings.Contains(offers, "bearer") && !strings.Contains(offers, "basic")
}

// strayed explains a 404: the server may have another path on this host.
func (x *Examination) strayed(ctx context.Context, missing *davclient.StatusError) error {
	answer, err := x.ping(ctx, x.root.JoinPath(settings.MCPPath))
	if err == nil && answer.status == http.StatusUnauthorized && asksForToken(answer.header) && x.root.Path == "/" {
		return errAssistantsOnly
	}
	found, err := x.dav.Ask(ctx, "PROPFIND", x.base.ResolveReference(&url.URL{Path: "/.well-known/caldav"}), "0",
		davclient.PropfindBody("d:current-user-principal"))
	if err != nil {
		return missing
	}
	for _, r := range found.Responses {
		to, err := found.From.Parse(r.PropHref(davclient.DAV, "current-user-principal"))
		if err != nil || to.Host != x.base.Host || !strings.Contains(to.Path, "/dav/") {
			continue
		}
		return &checkError{
			missing.Error(), "the server has nothing at this path: is the path spelled right? The server calls " +
				"itself " + rootOf(to).String(),
		}
	}
	return missing
}

// ping calls the MCP endpoint without credentials.
func (x *Examination) ping(ctx context.Context, at *url.URL) (reply, error) {
	return x.send(ctx, x.bare, http.MethodPost, at, initializeCall, "Content-Type", "application/json", "Accept",
		"application/json, text/event-stream")
}
