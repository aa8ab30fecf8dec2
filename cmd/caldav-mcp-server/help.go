package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

const overviewTail = `
%[1]s help COMMAND, or %[1]s COMMAND --help, tells more.
Settings come from the environment, flags win over it: %[1]s serve --help lists them.
Exit codes: 0 done, 1 failed, 2 called wrongly.
`

func writeOverview(w io.Writer) {
	fmt.Fprintf(w, "usage: %s COMMAND [--FLAG …] [ARGUMENT …]\n\n", name)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(table, "  %s\t%s\n", c.name, c.summary)
	}
	_ = table.Flush()
	fmt.Fprintf(w, overviewTail, name)
}

// help is the command "help [COMMAND]".
func (p *program) help(words []string) error {
	if len(words) == 0 {
		writeOverview(p.stdout)
		return nil
	}
	c, err := findCommand(words[0])
	if err != nil {
		return err
	}
	p.writeHelp(p.stdout, c)
	return nil
}

// writeHelp tells all there is to say of one command.
func (p *program) writeHelp(w io.Writer, c command) {
	fmt.Fprintf(w, "usage: %s %s%s", name, c.name, " [--FLAG …]")
	for _, o := range c.operands {
		fmt.Fprintf(w, " %s", o)
	}
	fmt.Fprintf(w, "\n\n%s\n", strings.TrimSpace(c.summary+"\n\n"+strings.TrimSpace(c.details)))
	if c.flags != nil {
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.flags(flags)
		fmt.Fprint(w, "\nflags:\n")
		writeFlags(w, flags)
	}
	if c.settings != 0 {
		fmt.Fprint(w, "\nsettings, by environment variable or by the flag under it:\n")
		writeSettings(w, c.settings, p.environ)
	}
}

func writeFlags(w io.Writer, flags *flag.FlagSet) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	flags.VisitAll(func(f *flag.Flag) {
		placeholder, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(table, "  --%s\t%s\n", strings.TrimSpace(f.Name+" "+placeholder), usage+shownDefault(f.DefValue))
	})
	_ = table.Flush()
}

func writeSettings(w io.Writer, groups group, environ []string) {
	for _, s := range settings(environ) {
		if s.groups&groups == 0 {
			continue
		}
		fmt.Fprintf(w, "  %s  (--%s %s)\n      %s%s\n", s.env, s.flag(), s.placeholder, s.help, shownDefault(s.fallback))
		if s.secret {
			fmt.Fprintf(w, "      %s_FILE (--%s-file FILE) names a file that holds it\n", s.env, s.flag())
		}
	}
}

func shownDefault(value string) string {
	if value == "" || value == "false" {
		return ""
	}
	return " (default " + value + ")"
}
