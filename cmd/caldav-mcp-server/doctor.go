package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

const doctorDetails = `
It asks a running server what Apple's Calendar, Thunderbird, DAVx5, Evolution and assistants ask when they are set up, from
where it runs: call it from another machine to see what that machine sees, through every proxy on the way. It names the
first thing that is wrong and what mends it. It changes nothing on the server.

  caldav-mcp-server doctor --url https://cal.example.com --user alice

The password is asked for, or is the first line of standard input with --password-stdin. With --token-file it tries an
access token on the MCP endpoint too. The exit code is 1 when a check fails.
`

// doctorOptions are the flags of doctor.
type doctorOptions struct {
	url, user, mcp, tokenFile string
	fromStdin, json           bool
	patience                  time.Duration
}

func doctorCommand() command {
	var o doctorOptions
	return command{
		name: "doctor", summary: "check from outside what apps see of a running server", details: doctorDetails, flags: o.declare,
		run: func(ctx context.Context, p *program, _ config, _ []string) error {
			x, err := p.newExamination(o)
			if err != nil {
				return usageError{fmt.Errorf("doctor: %w (see %s doctor --help)", err, name)}
			}
			if x.dav.password, err = p.oldPassword(ctx, o.fromStdin, "password of "+o.user+": "); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(ctx, o.patience)
			defer cancel()
			return p.report(x.examine(ctx, checks()), o.json)
		},
	}
}

func (o *doctorOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.url, "url", "", "`URL` that is given to apps (needed)")
	f.StringVar(&o.user, "user", "", "`NAME` of a user (needed)")
	f.BoolVar(&o.fromStdin, "password-stdin", false, "read the password from standard input")
	f.StringVar(&o.mcp, "mcp-url", "", "`URL` of the MCP endpoint; that of the server with /mcp behind it if not given")
	f.StringVar(&o.tokenFile, "token-file", "", "`FILE` with an access token for it")
	f.DurationVar(&o.patience, "timeout", 2*time.Minute, "how `LONG` all of it may take")
	asJSON(f, &o.json)
}

// examination is what is known of a server so far.
type examination struct {
	*program
	base, mcp *url.URL
	// dav asks as the user, bare as nobody.
	dav, bare *davClient
	token     string
	// What discovery has found; nil while it has not.
	principal, home *url.URL
	calendars       []*url.URL
	// events is one of them that takes events.
	events    *url.URL
	syncToken string
}

func (p *program) newExamination(o doctorOptions) (*examination, error) {
	if o.url == "" || o.user == "" {
		return nil, errors.New("it needs --url and --user")
	}
	base, err := serverURL("--url", o.url)
	if err != nil {
		return nil, err
	}
	if base.Path == "" {
		base.Path = "/"
	}
	x := &examination{program: p, base: base, mcp: mcpBeside(base), dav: newDAVClient(base, o.user, ""), bare: newDAVClient(base, "", "")}
	if o.mcp != "" {
		if x.mcp, err = serverURL("--mcp-url", o.mcp); err != nil {
			return nil, err
		}
	}
	if o.tokenFile != "" {
		if _, x.token, err = readSecret("--token-file", o.tokenFile); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// mcpBeside is where the MCP endpoint is if nothing else was said: a proxy has both doors at one
// name; without one they have two ports.
func mcpBeside(base *url.URL) *url.URL {
	mcp := base.JoinPath(mcpPath)
	if base.Port() == "5232" {
		mcp.Host = strings.TrimSuffix(mcp.Host, "5232") + "5233"
	}
	return mcp
}

// finding is how one check went.
type finding struct {
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

// ailment is a failure whose mend is known.
type ailment struct{ what, mend string }

func (a *ailment) Error() string { return a.what }

// skipped says that a check has nothing to check.
type skippedError struct{ why string }

func (s skippedError) Error() string { return s.why }

// examine runs the checks in their order; what an earlier one has found later ones use.
func (x *examination) examine(ctx context.Context, all []check) []finding {
	findings := make([]finding, 0, len(all))
	for _, c := range all {
		detail, err := c.run(x, ctx)
		f := finding{Client: c.client, Check: c.name, Result: resultOK, Detail: detail}
		if err != nil {
			f.Result, f.Detail, f.Mend = resultFailed, err.Error(), mendOf(err)
		}
		if skip, ok := errors.AsType[skippedError](err); ok {
			f.Result, f.Detail, f.Mend = resultSkipped, skip.why, ""
		}
		findings = append(findings, f)
	}
	return findings
}

// report prints the findings.
func (p *program) report(findings []finding, json bool) error {
	if err := p.printFindings(findings, json); err != nil {
		return err
	}
	failed := 0
	for _, f := range findings {
		if f.Result == resultFailed {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed", failed, len(findings))
	}
	return nil
}

func (p *program) printFindings(findings []finding, json bool) error {
	if json {
		return p.printJSON(findings)
	}
	rows := each(findings, func(f finding) []string { return []string{f.Client, f.Check, f.Result, f.Detail} })
	table := append([][]string{{"CLIENT", "CHECK", "RESULT", "DETAIL"}}, each(rows, func(row []string) []string { return each(row, shown) })...)
	if _, err := io.WriteString(p.stdout, columns(table)); err != nil {
		return err
	}
	told := make(map[string]bool)
	for _, f := range findings {
		if f.Mend == "" || told[f.Mend] {
			continue
		}
		told[f.Mend] = true
		if _, err := fmt.Fprintf(p.stdout, "\n%s, %s: %s\n", f.Client, f.Check, f.Mend); err != nil {
			return err
		}
	}
	return nil
}
