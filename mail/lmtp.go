package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/emersion/go-smtp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mail/letter"
)

// Door accepts mail from our own mail server by LMTP (RFC 2033). It listens only on this machine, since LMTP has no
// authentication.
type Door struct {
	// Addr is HOST:PORT of a loopback address, or unix:PATH.
	Addr     string
	Receiver *Receiver
	Logger   *slog.Logger
}

// socketPrefix marks the path of a socket.
const socketPrefix = "unix:"

// CheckDoor reports an error unless only this machine can reach the address.
func CheckDoor(addr string) error {
	if path, ok := strings.CutPrefix(addr, socketPrefix); ok {
		if !strings.HasPrefix(path, "/") {
			return errors.New("is no absolute path of a socket, such as unix:/run/calendar/lmtp")
		}
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil || !loopback(host) {
		return errors.New("is neither an address of this machine, such as 127.0.0.1:2424, nor unix:PATH: any host " +
			"that can connect could deliver mail")
	}
	return nil
}

// Listen opens the listener.
func (d *Door) Listen(ctx context.Context) (net.Listener, error) {
	if err := CheckDoor(d.Addr); err != nil {
		return nil, fmt.Errorf("%q %w", d.Addr, err)
	}
	path, ok := strings.CutPrefix(d.Addr, socketPrefix)
	if !ok {
		return new(net.ListenConfig).Listen(ctx, "tcp", d.Addr)
	}
	if err := dropSocket(ctx, path); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	// The mail server must be in the directory's group; other users have no access.
	if err := os.Chmod(path, 0o660); err != nil { //nolint:gosec // the group is the mail server's
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// dropSocket removes the socket of a killed process. A socket with a live listener stays.
func dropSocket(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there already, and no socket", path)
	}
	if conn, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
		return errors.Join(fmt.Errorf("another process listens at %s", path), conn.Close())
	}
	return os.Remove(path)
}

// Limits and timeouts for the mail server's connections.
const (
	recipientsMost = 100
	doorPatience   = 5 * time.Minute
)

// Serve accepts mail until the context ends.
func (d *Door) Serve(ctx context.Context, l net.Listener) error {
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &delivery{Door: d, ctx: ctx}, nil
	}))
	s.LMTP, s.Domain, s.EnableSMTPUTF8 = true, "localhost", true
	s.MaxMessageBytes, s.MaxRecipients = MailMost, recipientsMost
	s.ReadTimeout, s.WriteTimeout = doorPatience, doorPatience
	s.ErrorLog = slog.NewLogLogger(d.Logger.Handler(), slog.LevelWarn)
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.Serve(l); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// delivery is one LMTP transaction.
type delivery struct {
	*Door
	ctx context.Context // the library's interface has no context
	to  []calendar.MailAddress
}

// Reset implements [smtp.Session].
func (s *delivery) Reset() { s.to = nil }

// Logout implements [smtp.Session].
func (s *delivery) Logout() error { return nil }

// Mail implements [smtp.Session]. The envelope sender proves nothing, so it is ignored.
func (s *delivery) Mail(string, *smtp.MailOptions) error { return nil }

// Rcpt implements [smtp.Session]. The mail server knows the valid recipients; mail to an address unknown here has no
// effect.
func (s *delivery) Rcpt(to string, _ *smtp.RcptOptions) error {
	address, err := letter.Address(to)
	if err != nil {
		return &smtp.SMTPError{Code: 501, EnhancedCode: smtp.EnhancedCode{5, 1, 3}, Message: "this is no mail address"}
	}
	s.to = append(s.to, address)
	return nil
}

// Data implements [smtp.Session]. It accepts rejected messages too: a bounce would go to any address that a stranger
// has put in the envelope.
func (s *delivery) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if _, err := s.Receiver.Take(s.ctx, raw, s.to); err != nil {
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "not now; try again later"}
	}
	return nil
}
