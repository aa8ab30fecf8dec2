package doctor

import (
	"context"
	"net/http"
	"net/url"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// The checks of Outside, as the Check of a Finding.
const (
	Answers   = "the server answers"
	Encrypted = "it has TLS"
	Apps      = "a bare host name leads to the server"
	Endpoint  = "the endpoint asks for a token"
	SignIn    = "the endpoint leads to sign-in"
)

// Outside checks a server at its public URLs without a password: its name, TLS, and the way of apps and assistants to
// it. It sends few requests and leaves nothing behind.
func Outside(ctx context.Context, p *console.Console, c settings.Config, base, mcp string) ([]Finding, error) {
	x, err := New(p, c, Options{URL: base, MCP: mcp})
	if err != nil {
		return nil, err
	}
	transport := davclient.NewTransport()
	defer transport.CloseIdleConnections()
	x.dav.Transport, x.bare.Transport = transport, transport
	return x.examine(ctx, []check{
		{anyClient, Answers, (*Examination).reach},
		{itself, Encrypted, (*Examination).encrypted},
		{apple, Apps, (*Examination).wellKnownAsks},
		{assistant, Endpoint, (*Examination).mcpChallenge},
		{hosted, SignIn, (*Examination).discover},
	}), nil
}

// encrypted reports whether the URL has TLS. The certificate is valid if the server answered.
func (x *Examination) encrypted(context.Context) (string, error) {
	if x.base.Scheme != "https" {
		return "", &checkError{
			"the address begins with http://",
			"run the server behind a proxy with a certificate, such as Caddy, or set ACME=on, and set BASE_URL to " +
				"the https:// address",
		}
	}
	return x.base.Host, nil
}

// wellKnownAsks is wellKnown without a password: a server that asks for one is the right one.
func (x *Examination) wellKnownAsks(ctx context.Context) (string, error) {
	start := x.base.ResolveReference(&url.URL{Path: "/.well-known/caldav"})
	answer, err := x.send(ctx, x.bare, "PROPFIND", start, davclient.PropfindBody("d:current-user-principal"), "Depth",
		"0")
	if err == nil && answer.status != http.StatusUnauthorized {
		err = x.noWellKnown(&davclient.StatusError{Method: "PROPFIND", URL: start.String(), Status: answer.status})
	}
	return start.String(), err
}
