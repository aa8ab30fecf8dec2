package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// command is a row in the table of commands.
type command struct {
	name string
	// operands are the names of the required arguments.
	operands []string
	// optional are the names of the optional arguments that follow.
	optional []string
	// summary is one line for the overview; details are the rest of the help text.
	summary, details string
	// settings are the groups of settings that the command reads.
	settings settings.Group
	// user is the usage of --user, which fills desk.who. If it is empty, the command has no such flag.
	user string
	// json adds the flag --json.
	json  bool
	flags func(*flag.FlagSet)
	// check validates the arguments, before the store is opened.
	check func(d *desk, operands []string) error
	// run does the work. A command with begins may create a database. A command with alone opens none, or does so
	// itself.
	run           func(ctx context.Context, d *desk, operands []string) error
	begins, alone bool
}

// desk is the context of a command: the program, the open store unless the command is alone, and the arguments.
type desk struct {
	*console.Console
	*app.App
	config settings.Config
	// user is the value of --user, who the user of that name.
	user string
	who  calendar.User
	json bool
}

// caller returns the user as a caller from the command line.
func (d *desk) caller() calendar.Caller { return app.Caller(d.who) }

// done prints the result: a line for people, or JSON.
func (d *desk) done(value any, format string, args ...any) error {
	if d.json {
		return d.PrintJSON(value)
	}
	_, err := fmt.Fprintf(d.Stdout, format, args...)
	return err
}

// declared returns a command's flags, including the common ones.
func (c command) declared(d *desk) *flag.FlagSet {
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	if c.user != "" {
		f.StringVar(&d.user, "user", "", c.user+" "+needed)
	}
	if c.json {
		f.BoolVar(&d.json, "json", false, "print JSON for a program to read")
	}
	if c.flags != nil {
		c.flags(f)
	}
	return f
}

// needed marks a required flag in its usage.
const needed = "(needed)"

// missing lists the required flags, if one of them was not given.
func missing(f *flag.FlagSet) error {
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var all []string
	lacks := false
	f.VisitAll(func(f *flag.Flag) {
		if !strings.Contains(f.Usage, needed) {
			return
		}
		at := len(all)
		if f.Name == "user" {
			at = 0
		}
		all = slices.Insert(all, at, "--"+f.Name)
		_, text := f.Value.(flag.Getter) // a flag with a function has no value to check
		lacks = lacks || !given[f.Name] || text && f.Value.String() == ""
	})
	if !lacks {
		return nil
	}
	return fmt.Errorf("it needs %s", and(all))
}

// and joins words as in a sentence.
func and(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
