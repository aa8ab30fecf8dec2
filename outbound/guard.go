package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"
)

// Config holds the dependencies and settings of a Guard.
type Config struct {
	// Allow lists the non-public networks that requests may reach.
	Allow []netip.Prefix
	// Lookup resolves a host name; nil uses the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Own returns the networks of this machine; nil asks the system.
	Own func() ([]net.Addr, error)
	// Roots are the trusted certificate authorities; nil uses the system's.
	Roots *x509.CertPool
	// Agent is the User-Agent.
	Agent string
	// Whom is the kind of server, in one word for traces, which contain no host names.
	Whom string
}

// Limits bound one exchange.
type Limits struct {
	// Time limits the whole exchange, including the body.
	Time time.Duration
	// Bytes limits the size of the decompressed body.
	Bytes int64
	// Redirects limits the number of redirects. Each is checked like the first address.
	Redirects int
	// Plain also permits http, but only in the networks of Config.Allow.
	Plain bool
}

// RefusedError says why an address was not requested or its response not accepted.
type RefusedError struct {
	why   string
	cause error
}

// Error returns the text for the user who supplied the address.
func (e *RefusedError) Error() string { return e.why }

// Unwrap returns the cause, which the user does not see.
func (e *RefusedError) Unwrap() error { return e.cause }

// LogValue includes the cause, for the administrator.
func (e *RefusedError) LogValue() slog.Value {
	if e.cause == nil {
		return slog.StringValue(e.why)
	}
	return slog.StringValue(e.cause.Error())
}

func refused(format string, args ...any) error {
	return &RefusedError{why: fmt.Sprintf(format, args...)}
}

// Limits for every connection.
const (
	dialTime     = 5 * time.Second
	idleTime     = 30 * time.Second
	idleMost     = 16
	perHostMost  = 8
	headerMost   = 64 << 10
	maxHostBytes = 253 // RFC 1035 §2.3.4
	httpsPort    = "443"
)

// Guard makes HTTP clients that connect only to permitted addresses.
type Guard struct {
	allow     []netip.Prefix
	lookup    func(ctx context.Context, host string) ([]netip.Addr, error)
	own       func() ([]net.Addr, error)
	agent     string
	whom      string
	transport *http.Transport
	// plain is for http, which reaches the allowed networks only.
	plain *http.Transport
}

// New makes a Guard.
func New(c Config) *Guard {
	g := &Guard{allow: c.Allow, lookup: c.Lookup, own: c.Own, agent: c.Agent, whom: c.Whom}
	if g.own == nil {
		g.own = net.InterfaceAddrs
	}
	if g.lookup == nil {
		g.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	g.transport = &http.Transport{
		// No proxy from the environment: it would resolve the name itself and connect to any address.
		Proxy:                  nil,
		DialContext:            g.dialer(g.permitted),
		TLSClientConfig:        &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTime,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           idleMost,
		MaxConnsPerHost:        perHostMost,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: headerMost,
	}
	g.plain = g.transport.Clone()
	g.plain.DialContext = g.dialer(func(addr netip.Addr, _ string, _ []net.Addr) bool { return g.allowed(addr) })
	return g
}

// Client returns a client whose every exchange keeps to the limits. Clients share their connections.
func (g *Guard) Client(l Limits) *http.Client {
	return &http.Client{
		Timeout:   l.Time,
		Transport: &bounded{g, l},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if next.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https" {
				return refused("%s is not https", named(next.URL)) // a password would leave in the clear
			}
			if len(via) > l.Redirects {
				return refused("%s leads elsewhere: at most %d redirects are followed", named(via[0].URL), l.Redirects)
			}
			return nil
		},
	}
}

// named returns an address for a message, without its path: the path may be a feed's only secret, and messages are
// stored and shown.
func named(u *url.URL) string {
	text := u.Scheme + "://" + u.Host
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		text += "/…"
	}
	return text
}

// check refuses addresses that are invalid without resolving the name.
func (g *Guard) check(u *url.URL, l Limits) error {
	host := u.Hostname()
	switch {
	case u.Scheme == "http" && l.Plain && len(g.allow) == 0:
		return refused("%s is not https. Use an https address, or ask the administrator to allow the network of this "+
			"server with FETCH_ALLOW", named(u))
	case u.Scheme != "https" && (u.Scheme != "http" || !l.Plain):
		return refused("%s is not https", named(u))
	case u.User != nil:
		return refused("%s has a user name in it", named(u))
	case host == "" || len(host) > maxHostBytes:
		return refused("%q names no host", named(u))
	}
	// A bare IP address has no certificate to verify; the administrator's own networks are an exception.
	// http reaches only these networks anyway.
	if addr, err := netip.ParseAddr(host); u.Scheme == "https" && err == nil && !g.allowed(addr) {
		return refused("%s is an address. Use a name, or ask the administrator to allow its network with FETCH_ALLOW",
			host)
	}
	return nil
}

// Check returns the reason if no request to an address would be permitted, whatever its name resolves to. It resolves
// the name of an http address only, which must be in an allowed network.
func (g *Guard) Check(ctx context.Context, address string, l Limits) error {
	u, err := url.Parse(address)
	if err != nil {
		return refused("%q is no address", address)
	}
	if err := g.check(u, l); err != nil || u.Scheme != "http" {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	found, err := g.find(ctx, u.Hostname())
	if err != nil || !slices.ContainsFunc(found, g.allowed) {
		return &RefusedError{"http works only with addresses in networks that FETCH_ALLOW has, and " + u.Hostname() +
			" is not in one. Use an https address, or ask the administrator to allow the network of this server", err}
	}
	return nil
}

// permits reports whether a connection to an unmapped address and a port is permitted, on a machine with these
// networks.
type permits func(addr netip.Addr, port string, own []net.Addr) bool

// dialer returns a function that resolves a name once and connects to an address that it has checked. A second lookup
// could return another address.
func (g *Guard) dialer(may permits) func(ctx context.Context, network, hostport string) (net.Conn, error) {
	return func(ctx context.Context, network, hostport string) (net.Conn, error) {
		return g.dial(ctx, network, hostport, may)
	}
}

func (g *Guard) dial(ctx context.Context, network, hostport string, may permits) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	addrs, err := g.addresses(ctx, host, port, may)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, addr := range addrs {
		conn, err := new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(addr.String(), port))
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// addresses returns the permitted addresses of a name.
func (g *Guard) addresses(ctx context.Context, host, port string, may permits) ([]netip.Addr, error) {
	found, err := g.find(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("looking up %s: %w", host, err)
	}
	own, err := g.own()
	if err != nil {
		return nil, fmt.Errorf("the networks of this machine: %w", err)
	}
	var good []netip.Addr
	for _, addr := range found {
		if addr = addr.Unmap(); may(addr, port, own) {
			good = append(good, addr)
		}
	}
	if len(good) == 0 {
		return nil, fmt.Errorf("%s stands for no public address that is asked at port %s", host, port)
	}
	return good, nil
}

// permitted reports whether https may connect to an address. On any port but 443, only the administrator's own networks
// are permitted.
func (g *Guard) permitted(addr netip.Addr, port string, own []net.Addr) bool {
	return g.allowed(addr) || port == httpsPort && public(addr) && !among(own, addr)
}

func (g *Guard) find(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	return g.lookup(ctx, host)
}

func (g *Guard) allowed(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(g.allow, func(network netip.Prefix) bool { return network.Contains(addr) })
}
