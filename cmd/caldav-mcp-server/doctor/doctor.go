// Package doctor checks a running server from outside, with the requests of the apps and assistants that people use.
package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/mail/letter"
)

const doctorDetails = `
It sends a running server the requests that Apple's Calendar, Thunderbird, DAVx5, Evolution and assistants send during
setup. Run it on another machine to test the same path, including all proxies. It reports each failure with a remedy,
and stops if the server cannot be reached. It changes nothing on a working server. If a proxy drops a condition so that
something is left behind, it says so.
  caldav-mcp-server doctor --url https://cal.example.com --user alice
Without --url it checks the server at BASE_URL. It asks for the password, or reads it from the first line of standard
input with --password-stdin. With --token-file it also tests an access token on the MCP endpoint, which it looks for
below the URL and, on this machine, at the MCP port. --ca names the certificate of a private certificate authority. The
exit code is 1 if a check fails.

Finally it connects like claude.ai: it registers, signs in as the user, obtains access and renews it. It then revokes
the access. The client stays in list-clients for a day, and the revoked token in list-tokens.

With the server's mail settings (SMTP_URL, IMAP_URL …) it sends a test mail to the server's own mailbox, waits for it
and deletes it; --mail-to sends it to another address instead. With the database settings (DATABASE_URL and
DATABASE_READ_URL) it checks that the read replica is up to date.
`

// Options are the flags of doctor. MCP is the URL of the MCP endpoint, if MCP_URL is not to count.
type Options struct {
	URL, User, MCP, TokenFile, CA, mailTo string
	fromStdin                             bool
	patience                              time.Duration
	// StreamPatience is the time limit for the headers of a stream; 0 for the usual one.
	StreamPatience time.Duration
}

// Command is the command doctor.
func Command() command.Command {
	var o Options
	return command.Command{
		Name: "doctor", Settings: settings.StoreGroup | settings.SecondGroup | settings.DoorGroup |
			settings.AddressGroup | settings.MailGroup,
		JSON: true, Alone: true,
		Summary: "check a running server from outside, as apps see it", Details: doctorDetails, Flags: o.declare,
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			x, err := New(d.Console, d.Config, o)
			if err != nil {
				return console.UsageError{Err: fmt.Errorf("doctor: %w (see %s doctor --help)", err, console.Program)}
			}
			password, err := d.OldPassword(ctx, o.fromStdin, "password of "+o.User+": ")
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(ctx, o.patience)
			defer cancel()
			return x.report(x.Run(ctx, password), d.JSON)
		},
	}
}

func (o *Options) declare(f *flag.FlagSet) {
	f.StringVar(&o.URL, "url", "", "the `URL` for apps; default BASE_URL")
	f.StringVar(&o.User, "user", "", "`NAME` of a user (needed)")
	f.BoolVar(&o.fromStdin, "password-stdin", false, "read the password from standard input")
	f.StringVar(&o.CA, "ca", "", "`FILE` with a certificate authority to trust (PEM)")
	f.StringVar(&o.TokenFile, "token-file", "", "`FILE` with an access token for it")
	f.StringVar(&o.mailTo, "mail-to", "", "`ADDRESS` for a test mail; default the server's own mailbox")
	f.DurationVar(&o.patience, "timeout", 2*time.Minute, "time limit `LONG` for all checks")
}

// Examination holds the facts found about a server so far.
type Examination struct {
	*console.Console
	// base is the given URL. root is the URL for apps, without a path inside the server.
	base, root *url.URL
	// mcp is the MCP endpoint once it is found; mcpPlaces are the candidates.
	mcp       *url.URL
	mcpPlaces []*url.URL
	// dav sends requests as the user, bare without credentials.
	dav, bare *davclient.Client
	token     string
	// offer is the endpoint's challenge to a request without a token; walk continues from there.
	offer string
	walk  *walk
	// The results of discovery, nil until then.
	principal, home *url.URL
	calendars       []*url.URL
	// events is a calendar that takes events.
	events    *url.URL
	syncToken string
	// mail holds the server's mail settings, if known. mailTo is the recipient of a test mail, testMail its Message-ID.
	mail     settings.Mail
	mailTo   calendar.MailAddress
	testMail string
	// config holds the server's settings, if the doctor has them.
	config settings.Config
	// streamPatience is the time limit for the headers of a stream.
	streamPatience time.Duration
	// itself is the server's description of itself, once requested.
	itself *saysItself
}

// New returns the examination of the server in the options. c holds the server's settings, if the doctor has them.
func New(p *console.Console, c settings.Config, o Options) (*Examination, error) {
	if o.URL == "" && c.BaseURL != nil {
		o.URL = c.BaseURL.String()
	}
	if o.URL == "" {
		return nil, errors.New("it needs --url, or BASE_URL")
	}
	base, err := davclient.ServerURL("--url", o.URL)
	if err != nil {
		return nil, err
	}
	if base.Path == "" {
		base.Path = "/"
	}
	root := rootOf(base)
	x := &Examination{
		Console: p, base: base, root: root, mcpPlaces: mcpPlaces(root, c),
		streamPatience: cmp.Or(o.StreamPatience, streamPatience), dav: davclient.New(base, o.User, ""),
		bare: davclient.New(base, "", ""),
	}
	x.dav.Agent, x.bare.Agent = doctorAgent, doctorAgent
	x.mail, x.config = c.Mail, c
	if o.mailTo != "" {
		if x.mailTo, err = letter.Address(o.mailTo); err != nil {
			return nil, fmt.Errorf("--mail-to: %w", err)
		}
	}
	if o.MCP != "" {
		at, err := davclient.ServerURL("--mcp-url", o.MCP)
		if err != nil {
			return nil, err
		}
		x.mcpPlaces = []*url.URL{at}
	}
	if o.CA != "" {
		transport, err := trusting(o.CA)
		if err != nil {
			return nil, err
		}
		x.dav.Transport, x.bare.Transport = transport, transport
	}
	if o.TokenFile != "" {
		if _, x.token, err = settings.ReadSecret("--token-file", o.TokenFile); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// doctorAgent is the User-Agent of the doctor's requests, in logs and other traces.
const doctorAgent = console.Program + " (doctor)"

// rootOf removes a path inside the server, because users paste the URL of a calendar.
func rootOf(base *url.URL) *url.URL {
	root := *base
	root.RawPath = ""
	if i := strings.Index(strings.TrimRight(root.Path, "/")+"/", "/dav/"); i >= 0 {
		root.Path = root.Path[:i+1]
	}
	return &root
}

// mcpPlaces are the candidates for the MCP endpoint: MCP_URL; else the path that a proxy serves it under, and the
// server's own port.
func mcpPlaces(root *url.URL, c settings.Config) []*url.URL {
	if c.MCPAt != nil {
		return []*url.URL{c.MCPAt}
	}
	beside := *root.JoinPath(settings.MCPPath)
	places := []*url.URL{root.JoinPath(settings.MCPPath)}
	own := here(root) || root.Port() == "5232" || root.Port() != "" && root.Port() == c.CalDAV.Port
	if port := c.MCP.Port; own && port != root.Port() && port != "0" {
		beside.Host, beside.Path = net.JoinHostPort(root.Hostname(), port), settings.MCPPath
		places = append(places, &beside)
	}
	return places
}

// trusting returns a transport that trusts one more certificate authority.
func trusting(file string) (http.RoundTripper, error) {
	_, pem, err := settings.ReadSecret("--ca", file)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM([]byte(pem)) {
		return nil,
			fmt.Errorf("--ca names %s, which contains no certificate: it begins with -----BEGIN CERTIFICATE-----", file)
	}
	transport := davclient.NewTransport()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return transport, nil
}

// Finding is the outcome of a check.
type Finding struct {
	Client string `json:"client"`
	Check  string `json:"check"`
	// Result is ok, failed or skipped.
	Result string `json:"result"`
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"`
}

const (
	resultOK      = "ok"
	resultFailed  = "failed"
	resultSkipped = "skipped"
)

// checkError is a failure with a known remedy.
type checkError struct{ what, mend string }

func (e *checkError) Error() string { return e.what }

// skippedError says why there is nothing to check.
type skippedError struct{ why string }

func (s skippedError) Error() string { return s.why }

// examine runs the checks in order; later ones use the results of earlier ones. If the server cannot be reached at all,
// it stops, because every other check would fail for the same reason.
func (x *Examination) examine(ctx context.Context, all []check) []Finding {
	findings := make([]Finding, 0, len(all))
	for _, c := range all {
		detail, err := c.run(x, ctx)
		f := Finding{Client: c.client, Check: c.name, Result: resultOK, Detail: detail}
		skip, skipped := errors.AsType[skippedError](err)
		switch {
		case skipped:
			f.Result, f.Detail = resultSkipped, skip.why
		case err != nil:
			f.Result = resultFailed
			f.Detail, f.Mend = diagnose(err)
		}
		findings = append(findings, f)
		if f.Result == resultFailed && (c.client == anyClient || ctx.Err() != nil) {
			break
		}
	}
	return findings
}

// Run runs all checks with the user's password.
func (x *Examination) Run(ctx context.Context, password string) []Finding {
	x.dav.Password = password
	return x.examine(ctx, x.checks())
}

// report prints the findings, and the URLs to use if all checks passed.
func (x *Examination) report(findings []Finding, json bool) error {
	if err := printFindings(x.Console, findings, json); err != nil {
		return err
	}
	failed := 0
	for _, f := range findings {
		if f.Result == resultFailed {
			failed++
		}
	}
	all := len(x.checks())
	switch {
	case failed > 0 && len(findings) < all:
		return fmt.Errorf("%d of %d checks failed, and %d were not tried: fix this first", failed, all,
			all-len(findings))
	case failed > 0:
		return fmt.Errorf("%d of %d checks failed", failed, all)
	case json:
		return nil
	}
	assistants := fmt.Sprintf("%s with a token (%s create-token creates one)", console.Shown(x.mcp.String()),
		console.Program)
	if x.walk != nil {
		assistants = fmt.Sprintf(
			"%s, which users authorize in a browser, or with a token (%s create-token creates one)",
			console.Shown(x.mcp.String()), console.Program)
	}
	_, err := fmt.Fprintf(x.Stdout,
		"\nAll is well. Give calendar apps %s with the user name %s and the password, and assistants %s.\n",
		console.Shown(x.root.String()), console.Shown(x.dav.User), assistants)
	return err
}

func printFindings(p *console.Console, findings []Finding, json bool) error {
	if json {
		return p.PrintJSON(findings)
	}
	rows := console.Each(findings, func(f Finding) []string { return []string{f.Client, f.Check, f.Result, f.Detail} })
	table := append([][]string{{"CLIENT", "CHECK", "RESULT", "DETAIL"}},
		console.Each(rows, func(row []string) []string { return console.Each(row, console.Shown) })...)
	if _, err := io.WriteString(p.Stdout, console.Columns(table)); err != nil {
		return err
	}
	told := make(map[string]bool)
	for _, f := range findings {
		if f.Mend == "" || told[f.Mend] {
			continue
		}
		told[f.Mend] = true
		if _, err := fmt.Fprintf(p.Stdout, "\n%s, %s: %s\n", f.Client, f.Check, f.Mend); err != nil {
			return err
		}
	}
	return nil
}
