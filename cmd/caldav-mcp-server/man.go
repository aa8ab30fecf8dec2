package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const manDetails = `
It writes a manual page of all commands and settings, for man:
  caldav-mcp-server man > caldav-mcp-server.1
`

func manCommand() command.Command {
	return command.Command{
		Name: "man", Summary: "write the manual page", Details: manDetails, Alone: true,
		Run: func(_ context.Context, d *command.Context, _ []string) error {
			_, err := io.WriteString(d.Stdout, manual(d.Console))
			return err
		},
	}
}

// manual is the manual page, generated from the tables of commands and settings.
func manual(p *console.Console) string {
	var m manPage
	m.add(".TH %s 1 \"\" %s \"User Commands\"\n", strings.ToUpper(manText(console.Program)),
		quotedMan(console.Program+" "+p.Version))
	m.section("NAME")
	m.line(console.Program + " - a calendar server for apps (CalDAV) and assistants (MCP)")
	m.section("SYNOPSIS")
	m.add(".B %s\n.I COMMAND\n[\\-\\-\\fIFLAG\\fR ...] [\\fIARGUMENT\\fR ...]\n", manText(console.Program))
	m.section("COMMANDS")
	for _, c := range commands() {
		m.command(c)
	}
	m.section("SETTINGS")
	m.line("They come from the environment; flags override it.")
	for _, s := range settings.All(nil) {
		m.setting(s)
	}
	m.section("EXIT STATUS")
	m.line("0 success, 1 failure, 2 wrong usage.")
	return m.String()
}

// manPage is a manual page (roff with the man macros).
type manPage struct{ strings.Builder }

// add formats and appends a text. Writes to a builder never fail.
func (m *manPage) add(form string, values ...any) { _, _ = fmt.Fprintf(m, form, values...) }

// manText escapes a text for roff.
func manText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}

func quotedMan(text string) string { return `"` + strings.ReplaceAll(manText(text), `"`, `\(dq`) + `"` }

func (m *manPage) line(text string) { m.add("%s\n", manText(text)) }

func (m *manPage) section(title string) { m.add(".SH %s\n", title) }

// paragraphs writes paragraphs; indented lines keep their line breaks.
func (m *manPage) paragraphs(text string) {
	example := false
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		indented := strings.HasPrefix(line, " ")
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case indented && !example:
			m.add(".PP\n.nf\n")
		case !indented && example:
			m.add(".fi\n.PP\n")
		}
		example = indented
		m.line(line)
	}
	if example {
		m.add(".fi\n")
	}
}

// entry writes a term and its description.
func (m *manPage) entry(word, about string) {
	m.add(".TP\n.B %s\n", manText(word))
	m.line(about)
}

func (m *manPage) command(c command.Command) {
	m.add(".SS %s\n", quotedMan(c.Name))
	m.line(c.Summary + ".")
	if c.Details != "" {
		m.add(".PP\n")
		m.paragraphs(c.Details)
	}
	c.Declared(new(command.Context)).VisitAll(func(f *flag.Flag) {
		placeholder, usage := flag.UnquoteUsage(f)
		m.entry(strings.TrimSpace("--"+f.Name+" "+placeholder), usage+settings.ShownDefault(f.DefValue))
	})
}

func (m *manPage) setting(s settings.Setting) {
	word := s.Env
	if !s.Hidden {
		word += " (--" + s.Flag() + " " + s.Placeholder + ")"
	}
	m.entry(word, s.About+settings.ShownDefault(s.Fallback))
}
