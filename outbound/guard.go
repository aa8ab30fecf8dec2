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
		DialContext:            g.dial,
		TLSClientConfig:        &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTime,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           idleMost,
		MaxConnsPerHost:        perHostMost,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: headerMost,
	}
	return g
}

// Client returns a client whose every exchange keeps to the limits. Clients share their connections.
func (g *Guard) Client(l Limits) *http.Client {
	return &http.Client{
		Timeout:   l.Time,
		Transport: &bounded{g, l.Bytes},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
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
func (g *Guard) check(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Scheme != "https":
		return refused("%s is not https", named(u))
	case u.User != nil:
		return refused("%s has a user name in it", named(u))
	case host == "" || len(host) > maxHostBytes:
		return refused("%q names no host", named(u))
	}
	// A bare IP address has no certificate to verify; the administrator's own networks are an exception.
	if addr, err := netip.ParseAddr(host); err == nil && !g.allowed(addr) {
		return refused("%s is an address where a name is wanted", host)
	}
	return nil
}

// dial resolves a name once and connects to an address that it has checked. A second lookup could return another
// address.
func (g *Guard) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	addrs, err := g.addresses(ctx, host, port)
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

// addresses returns the permitted addresses of a name. On any port but 443, only the administrator's own networks are
// permitted.
func (g *Guard) addresses(ctx context.Context, host, port string) ([]netip.Addr, error) {
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
		if addr = addr.Unmap(); g.allowed(addr) || port == httpsPort && public(addr) && !among(own, addr) {
			good = append(good, addr)
		}
	}
	if len(good) == 0 {
		return nil, fmt.Errorf("%s stands for no public address that is asked at port %s", host, port)
	}
	return good, nil
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
