// Package command defines commands: their arguments, settings and help. It calls them, and logs them for the audit.
package command

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

// Command is a row in the table of commands.
type Command struct {
	Name string
	// Operands are the names of the required arguments.
	Operands []string
	// Optional are the names of the optional arguments that follow.
	Optional []string
	// Summary is one line for the overview; Details are the rest of the help text.
	Summary, Details string
	// Settings are the groups of settings that the command reads.
	Settings settings.Group
	// User is the usage of --user, which fills Context.Who. If it is empty, the command has no such flag.
	User string
	// JSON adds the flag --json.
	JSON  bool
	Flags func(*flag.FlagSet)
	// Check validates the arguments, before the store is opened.
	Check func(d *Context, operands []string) error
	// Run does the work. A command with Begins may create a database. A command with Alone opens none, or does so
	// itself.
	Run           func(ctx context.Context, d *Context, operands []string) error
	Begins, Alone bool
}

// Context is the context of a command: the program, the open store unless the command is alone, and the arguments.
type Context struct {
	*console.Console
	*app.App
	Config settings.Config
	// User is the value of --user, Who the user of that name.
	User string
	Who  calendar.User
	JSON bool
}

// Caller returns the user as a caller from the command line.
func (d *Context) Caller() calendar.Caller { return app.Caller(d.Who) }

// Done prints the result: a line for people, or JSON.
func (d *Context) Done(value any, format string, args ...any) error {
	if d.JSON {
		return d.PrintJSON(value)
	}
	_, err := fmt.Fprintf(d.Stdout, format, args...)
	return err
}

// Declared returns a command's flags, including the common ones.
func (c Command) Declared(d *Context) *flag.FlagSet {
	f := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	if c.User != "" {
		f.StringVar(&d.User, "user", "", c.User+" "+needed)
	}
	if c.JSON {
		f.BoolVar(&d.JSON, "json", false, "print JSON for a program to read")
	}
	if c.Flags != nil {
		c.Flags(f)
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
