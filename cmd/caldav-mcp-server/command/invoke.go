package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// Invoke parses a command's flags and settings, and runs it.
func Invoke(ctx context.Context, p *console.Console, c Command, args []string) error {
	d := &Context{Console: p}
	flags := c.Declared(d)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	given := settings.AddFlags(flags, c.Settings)
	operands, err := parseFlags(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(p.Stdout, Help(p, c))
		return err
	}
	if err == nil && (len(operands) < len(c.Operands) || len(operands) > len(c.Operands)+len(c.Optional)) {
		err = wrongOperands(c, operands)
	}
	if err == nil {
		err = missing(flags)
	}
	if err == nil && c.Check != nil {
		err = c.Check(d, operands)
	}
	if err != nil {
		return console.UsageError{Err: fmt.Errorf("%s: %w (see %s %s --help)", c.Name, err, console.Program, c.Name)}
	}
	if d.Config, err = settings.Load(c.Settings, p.Environ, given); err != nil {
		return console.UsageError{Err: err}
	}
	err = d.work(ctx, c, operands)
	return errors.Join(err, audit(p, c, d.Config, flags, operands, err))
}

// work opens the store and runs a command; a command that works alone gets no store.
func (d *Context) work(ctx context.Context, c Command, operands []string) error {
	if c.Alone {
		return c.Run(ctx, d, operands)
	}
	return app.With(ctx, d.Console, d.Config, c.Begins, func(h *app.App) (err error) {
		d.App = h
		if d.User != "" {
			if d.Who, err = h.Auth.User(ctx, d.User); err != nil {
				return err
			}
		}
		return c.Run(ctx, d, operands)
	})
}

// parseFlags parses flags and arguments in any order.
func parseFlags(flags *flag.FlagSet, args []string) (operands []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, betterFlagError(flags, err)
		}
		rest := flags.Args()
		if len(rest) == 0 {
			return operands, nil
		}
		if consumed := len(args) - len(rest); consumed > 0 && args[consumed-1] == "--" {
			return append(operands, rest...), nil
		}
		operands, args = append(operands, rest[0]), rest[1:]
	}
}

// betterFlagError suggests the nearest flag for an unknown one. Package flag has no type for this error, so its text is
// parsed.
func betterFlagError(flags *flag.FlagSet, err error) error {
	unknown, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return plainFlagError(flags, err)
	}
	var names []string
	flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return fmt.Errorf("unknown flag --%s%s", strings.TrimLeft(unknown, "-"),
		console.DidYouMean("--", console.Nearest(strings.TrimLeft(unknown, "-"), names)))
}

// plainFlagError explains an invalid flag value in plain words.
func plainFlagError(flags *flag.FlagSet, err error) error {
	if name, missing := strings.CutPrefix(err.Error(), "flag needs an argument: -"); missing {
		return fmt.Errorf("--%s needs a value", strings.TrimLeft(name, "-"))
	}
	parts := badValue.FindStringSubmatch(err.Error())
	if parts == nil {
		return err
	}
	why := parts[3]
	if f := flags.Lookup(parts[2]); f != nil {
		if wants := wanted(f); wants != "" {
			why = wants
		}
	}
	return fmt.Errorf("--%s: %s %s", parts[2], parts[1], why)
}

// badValue matches package flag's text for an invalid value, because there is no type for this error.
var badValue = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-+([^:]+): (.*)$`)

// wanted describes the values of a flag; "" if the flag's own error is good enough.
func wanted(f *flag.Flag) string {
	getter, ok := f.Value.(flag.Getter)
	if !ok {
		return ""
	}
	switch getter.Get().(type) {
	case time.Duration:
		return "is not a time such as 30s, 5m or 2h"
	case int, int64, uint, uint64:
		return "is not a whole number"
	case bool:
		return "is not true or false"
	}
	return ""
}

func wrongOperands(c Command, operands []string) error {
	if len(operands) < len(c.Operands) {
		return fmt.Errorf("%s is missing", c.Operands[len(operands)])
	}
	return fmt.Errorf("%q is one argument too many", operands[len(c.Operands)+len(c.Optional)])
}
