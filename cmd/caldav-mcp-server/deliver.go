package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
)

const deliverDetails = `
It reads one mail from standard input, as mail servers and filters such as procmail or sieve pipe it to programs, and
processes the scheduling message in it. Organizers can invite and cancel, attendees can respond. The sender must be
authenticated: by a DKIM signature, or by your own mail server (MAIL_AUTHSERV_ID). The command prints the result.
  caldav-mcp-server deliver --to alice@example.org < mail
The exit code is 0 even if the mail is ignored, because a bounce would go to a possibly forged address. It is 75 if the
mail server should retry later.
`

// laterError is a temporary failure: the mail server must retry.
type laterError struct{ error }

func (e laterError) Unwrap() error { return e.error }

func deliverCommand() command.Command {
	var to []calendar.MailAddress
	return command.Command{
		Name: "deliver", Settings: settings.StoreGroup | settings.MailGroup, Alone: true,
		Summary: "process one mail from standard input", Details: deliverDetails,
		Flags: func(f *flag.FlagSet) {
			f.Func("to", "recipient `ADDRESS` of the mail; may be given more than once", func(v string) error {
				address, err := letter.Address(v)
				to = append(to, address)
				return err
			})
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			raw, err := io.ReadAll(io.LimitReader(d.Stdin, mail.MailMost+1))
			if err != nil {
				return laterError{fmt.Errorf("reading the mail: %w", err)}
			}
			err = app.With(ctx, d.Console, d.Config, false,
				func(h *app.App) error { return (&program{d.Console}).deliver(ctx, d.Config, h, raw, to) })
			if _, wrong := errors.AsType[console.UsageError](err); err != nil && !wrong {
				return laterError{err}
			}
			return err
		},
	}
}

func (p *program) deliver(ctx context.Context, c settings.Config, h *app.App, raw []byte,
	to []calendar.MailAddress,
) error {
	receiver, err := p.receiver(ctx, c, h, p.Logger(slog.LevelError, false))
	if err != nil {
		return err
	}
	verdict, err := receiver.Take(ctx, raw, to)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Stdout, verdict)
	return err
}
