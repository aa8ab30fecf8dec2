package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

const overviewTail = `
%[1]s help COMMAND, or %[1]s COMMAND --help, tells more.
Settings come from the environment, flags win over it: %[1]s serve --help lists them.
Exit codes: 0 done, 1 failed, 2 called wrongly.
`

// overview is the list of commands.
func overview() string {
	rows := each(commands(), func(c command) []string { return []string{"  " + c.name, c.summary} })
	return fmt.Sprintf("usage: %s COMMAND [--FLAG …] [ARGUMENT …]\n\n", name) + columns(rows) + fmt.Sprintf(overviewTail, name)
}

// help is the command "help [COMMAND]".
func (p *program) help(words []string) error {
	text := overview()
	if len(words) > 0 {
		c, err := findCommand(words[0])
		if err != nil {
			return err
		}
		text = p.helpOn(c)
	}
	_, err := io.WriteString(p.stdout, text)
	return err
}

// helpOn tells all there is to say of one command.
func (p *program) helpOn(c command) string {
	var b strings.Builder
	words := slices.Concat([]string{name, c.name, "[--FLAG …]"}, c.operands, each(c.optional, func(o string) string { return "[" + o + "]" }))
	usage := strings.Join(words, " ")
	fmt.Fprintf(&b, "usage: %s\n\n%s\n", usage, strings.TrimSpace(c.summary+"\n\n"+strings.TrimSpace(c.details)))
	if c.flags != nil {
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.flags(flags)
		b.WriteString("\nflags:\n" + flagTable(flags))
	}
	if c.settings != 0 {
		b.WriteString("\nsettings, by environment variable or by the flag beside it:\n")
		for _, s := range settings(p.environ) {
			if s.groups&c.settings != 0 {
				b.WriteString(s.help())
			}
		}
	}
	return b.String()
}

func flagTable(flags *flag.FlagSet) string {
	var rows [][]string
	flags.VisitAll(func(f *flag.Flag) {
		placeholder, usage := flag.UnquoteUsage(f)
		rows = append(rows, []string{"  " + strings.TrimSpace("--"+f.Name+" "+placeholder), usage + shownDefault(f.DefValue)})
	})
	return columns(rows)
}

// help tells what a setting is for.
func (s setting) help() string {
	text := fmt.Sprintf("  %s (--%s %s)\n      %s%s\n", s.env, s.flag(), s.placeholder, s.about, shownDefault(s.fallback))
	if s.secret {
		text += fmt.Sprintf("      %s_FILE (--%s-file FILE) names a file that holds it\n", s.env, s.flag())
	}
	return text
}

func shownDefault(value string) string {
	if value == "" || value == "false" {
		return ""
	}
	return " (default " + value + ")"
}
