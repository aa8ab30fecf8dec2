package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
	"caldav-mcp-server/server"
)

// ownSpace is the namespace of the server's properties about itself.
const ownSpace = "urn:caldav-mcp-server"

// askItself asks the server how the request reached it. It tells only its own users.
func (x *Examination) askItself(ctx context.Context) error {
	if x.principal == nil {
		return skippedError{"the user was not found"}
	}
	if x.itself != nil {
		return nil
	}
	asked := x.Now()
	found, err := x.dav.Ask(ctx, "PROPFIND", x.principal, "0", `<propfind xmlns="DAV:"><prop><base-url xmlns="`+
		ownSpace+`"/><way xmlns="`+ownSpace+`"/><now xmlns="`+ownSpace+`"/><trouble xmlns="`+ownSpace+
		`"/></prop></propfind>`)
	if err != nil {
		return err
	}
	for _, r := range found.Responses {
		if way := r.Prop(ownSpace, "way"); way != nil {
			word, peer, _ := strings.Cut(way.Trimmed(), " ")
			x.itself = &saysItself{
				base: r.Prop(ownSpace, "base-url").Trimmed(), way: server.Way(word), peer: peer,
				trouble: r.Prop(ownSpace, "trouble").Trimmed(),
			}
			// An older server does not tell its time.
			if at, err := time.Parse(time.RFC3339Nano, r.Prop(ownSpace, "now").Trimmed()); err == nil {
				x.itself.ahead = apart(at, asked, x.Now())
			}
			return nil
		}
	}
	return skippedError{"this server does not report it"}
}

// saysItself is a server's description of itself.
type saysItself struct {
	base string
	way  server.Way
	// peer is the remote address of its connection.
	peer string
	// ahead is how far its clock is before this machine's; negative if it is behind.
	ahead time.Duration
	// trouble is its present trouble in words, or "".
	trouble string
}

// proxied reports whether there is a proxy: the URL has TLS that the server did not decrypt, or the server saw proxy
// headers.
func (x *Examination) proxied() bool {
	return x.root.Scheme == "https" && x.itself.way != server.WayTLS || x.itself.way == server.WayBelieved ||
		x.itself.way == server.WayUnbelieved
}

// ownURL compares the requested URL with the server's BASE_URL.
func (x *Examination) ownURL(ctx context.Context) (string, error) {
	if err := x.askItself(ctx); err != nil {
		return "", err
	}
	want := strings.TrimRight(x.root.String(), "/")
	base, err := url.Parse(x.itself.base)
	switch {
	case x.itself.base == "" && !x.proxied() && here(x.root):
		return "not set, and not needed on this machine", nil
	case x.itself.base == "":
		return "", &checkError{
			"the server does not know the URL for apps", "set BASE_URL=" + want +
				": until then, links, tokens and invitations contain this machine's own address",
		}
	case err == nil && sameURL(base, x.root):
		return x.itself.base, nil
	case !x.proxied() && here(x.root):
		return x.itself.base + ", and the doctor bypassed its proxy", x.answersAt(ctx, x.itself.base)
	}
	return "", &checkError{
		"the server calls itself " + x.itself.base,
		"set BASE_URL=" + want + ", or give apps that URL: links, tokens and invitations contain it",
	}
}

// answersAt checks that a CalDAV server asks for a password at the URL in BASE_URL.
func (x *Examination) answersAt(ctx context.Context, base string) error {
	at, err := url.Parse(base)
	if err != nil {
		return err
	}
	answer, err := x.send(ctx, x.bare, "PROPFIND", at.JoinPath("/"), davclient.PropfindBody("d:current-user-principal"),
		"Depth", "0")
	if err == nil && answer.status != http.StatusUnauthorized {
		err = &davclient.StatusError{Method: "PROPFIND", URL: base, Status: answer.status}
	}
	return unreached(base, err)
}

// unreached explains that the server was not found at the URL in BASE_URL.
func unreached(base string, err error) error {
	if err == nil {
		return nil
	}
	what, mend := diagnose(err)
	return &checkError{
		"the server calls itself " + console.Shown(base) + ", but it was not found there: " + what,
		"is BASE_URL=" + console.Shown(base) + " right? It must be the URL that users open. If it is right: " + mend,
	}
}

// here reports whether a URL is on this machine.
func here(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func sameURL(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) &&
		davclient.PortAt(a) == davclient.PortAt(b) && strings.TrimRight(a.Path, "/") == strings.TrimRight(b.Path, "/")
}

// whoAsks checks whether the server can tell its clients apart.
func (x *Examination) whoAsks(ctx context.Context) (string, error) {
	if err := x.askItself(ctx); err != nil {
		return "", err
	}
	const elseways = ": the server cannot tell clients apart, so wrong passwords from one client lock out all others"
	untrusted := &checkError{
		"a proxy sends requests from " + x.itself.peer + ", but is not trusted",
		"set TRUSTED_PROXIES=" + x.itself.peer + elseways,
	}
	switch {
	case x.itself.way == server.WayBelieved:
		return "through a proxy that forwards the client's address", nil
	case x.itself.way == server.WayUnbelieved:
		return "", untrusted
	case x.itself.way == server.WayTLS:
		return "without a proxy, with the server's own certificate", nil
	case !x.proxied():
		return "without a proxy", nil
	case x.itself.way == server.WayUnsaid:
		return "", &checkError{
			"the proxy at " + x.itself.peer + " does not forward the client's address",
			"let the proxy set X-Forwarded-For" + elseways,
		}
	}
	untrusted.mend = "let the proxy set X-Forwarded-For, and set TRUSTED_PROXIES=" + x.itself.peer + elseways
	return "", untrusted
}

// streamPatience is the time limit for the headers of a stream, which the server sends at once.
const streamPatience = 5 * time.Second

// mcpStream opens a stream and checks that its headers arrive while it is open. A proxy that buffers whole responses
// delays the notifications for assistants.
func (x *Examination) mcpStream(ctx context.Context) (string, error) {
	if x.token == "" || x.mcp == nil {
		return "", skippedError{"there is no token, or no endpoint"}
	}
	ctx, cancel := context.WithTimeout(ctx, x.streamPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.mcp.String(), nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+x.token)
	r.Header.Set("User-Agent", x.bare.Agent)
	answer, err := x.bare.Transport.RoundTrip(r)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", &checkError{
			fmt.Sprintf("nothing came for %s", x.streamPatience),
			"the proxy buffers responses from the MCP port: let them stream (proxy_buffering off; in nginx)",
		}
	case err != nil:
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, answer.Body, 1<<10) // so that the connection can be reused
		return "", tokenError(&davclient.StatusError{Method: r.Method, URL: x.mcp.String(), Status: answer.StatusCode})
	}
	return "it opens at once", nil
}

// withoutDepth reports whether a PROPFIND was refused because its Depth header got lost on the way.
func (x *Examination) withoutDepth(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, "PROPFIND", x.base.String(),
		strings.NewReader(davclient.PropfindBody("d:current-user-principal")))
	if err != nil {
		return false
	}
	r.Header.Set("Depth", "0")
	answer, err := x.dav.Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	return err == nil && strings.Contains(string(said), "propfind-finite-depth")
}
