package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Relay is the SMTP server that delivers our mail.
type Relay struct {
	server
	// Hello is our name in EHLO.
	Hello string
}

// server is an address with credentials.
type server struct {
	// Addr is HOST:PORT.
	Addr           string
	Host           string
	User, Password string
	// Implicit is set for TLS from the start. Plain is set for no TLS, which is allowed only on this machine.
	Implicit, Plain bool
	// TLS is nil for the system's trusted certificates.
	TLS *tls.Config
}

// ParseRelay parses smtps://USER:PASSWORD@HOST[:465] and smtp://USER:PASSWORD@HOST[:587], where TLS begins with
// STARTTLS. A connection without TLS is allowed only on this machine (127.0.0.1, ::1, localhost). Its errors do not
// repeat the URL.
func ParseRelay(text string) (Relay, error) {
	s, _, err := parseServer(text, "smtp", "587", "smtps", "465")
	return Relay{server: s}, err
}

func parseServer(text, start, startPort, implicit, implicitPort string) (server, *url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return server{}, nil,
			errors.New("it is no URL; are special characters of the password encoded, such as %40 for @?")
	}
	port := map[string]string{start: startPort, implicit: implicitPort}[u.Scheme]
	switch {
	case port == "":
		return server{}, nil, fmt.Errorf("its scheme is neither %s nor %s", implicit, start)
	case u.Hostname() == "":
		return server{}, nil, errors.New("it names no host")
	case u.RawQuery != "" || u.Fragment != "":
		return server{}, nil, errors.New("it has a query or a fragment")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	password, _ := u.User.Password()
	s := server{
		Addr: net.JoinHostPort(u.Hostname(), port), Host: u.Hostname(), User: u.User.Username(), Password: password,
		Implicit: u.Scheme == implicit,
	}
	s.Plain = !s.Implicit && loopback(s.Host)
	return s, u, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (s server) tls() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.TLS != nil {
		c = s.TLS.Clone()
	}
	if c.ServerName == "" {
		c.ServerName = s.Host
	}
	return c
}

// dial connects, with implicit TLS if configured. The end of the context closes the connection.
func (s server) dial(ctx context.Context) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialPatience}
	conn, err := dialer.DialContext(ctx, "tcp", s.Addr)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	if s.Implicit {
		return tls.Client(conn, s.tls()), nil
	}
	return conn, nil
}

// Timeouts for connecting, for a command, and for a mail.
const (
	dialPatience    = 30 * time.Second
	commandPatience = time.Minute
	submitPatience  = 5 * time.Minute
)

// open begins an SMTP session.
func (r Relay) open(ctx context.Context) (*smtp.Client, error) {
	conn, err := r.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("the mail server %s cannot be reached: %w", r.Addr, err)
	}
	var c *smtp.Client
	if r.Implicit || r.Plain {
		c = smtp.NewClient(conn)
	} else if c, err = smtp.NewClientStartTLS(conn, r.tls()); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the mail server %s begins no TLS: %w", r.Addr, err)
	}
	c.CommandTimeout, c.SubmissionTimeout = commandPatience, submitPatience
	if err := r.greet(c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func (r Relay) greet(c *smtp.Client) error {
	if err := c.Hello(cmp.Or(r.Hello, "localhost")); err != nil {
		return fmt.Errorf("the mail server %s does not greet: %w", r.Addr, err)
	}
	if r.User == "" {
		return nil
	}
	login := sasl.NewPlainClient("", r.User, r.Password)
	if !c.SupportsAuth(sasl.Plain) && c.SupportsAuth(sasl.Login) {
		login = sasl.NewLoginClient(r.User, r.Password)
	}
	if err := c.Auth(login); err != nil {
		return fmt.Errorf("the mail server %s does not take the user and the password: %w", r.Addr, err)
	}
	return nil
}
