package command

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// Help is the full help text of a command.
func Help(p *console.Console, c Command) string {
	var b strings.Builder
	words := slices.Concat([]string{console.Program, c.Name, "[--FLAG …]"}, c.Operands,
		console.Each(c.Optional, func(o string) string { return "[" + o + "]" }))
	usage := strings.Join(words, " ")
	fmt.Fprintf(&b, "usage: %s\n\n%s", usage, flowed(strings.TrimSpace(c.Summary+"\n\n"+strings.TrimSpace(c.Details))))
	if table := flagTable(c.Declared(new(Context))); table != "" {
		b.WriteString("\nflags:\n" + table)
	}
	b.WriteString(settingsHelp(p, c.Settings))
	return b.String()
}

// databaseHelp replaces the database settings, which almost every command has. serve's help explains them.
const databaseHelp = `
The database must be the server's: DATABASE_URL (--database-url) or DATA_DIR (--data-dir).
%s serve --help explains these settings.
`

// settingsHelp is the help text for some groups of settings.
func settingsHelp(p *console.Console, groups settings.Group) string {
	var b strings.Builder
	if groups&settings.StoreGroup != 0 && groups&settings.ServeGroup == 0 {
		fmt.Fprintf(&b, databaseHelp, console.Program)
		groups &^= settings.StoreGroup
	}
	if groups == 0 {
		return b.String()
	}
	b.WriteString("\nsettings, by environment variable or by flag:\n")
	for _, s := range settings.All(p.Environ) {
		if s.Groups&groups != 0 {
			b.WriteString(s.Help())
		}
	}
	return b.String()
}

func flagTable(flags *flag.FlagSet) string {
	var rows [][]string
	flags.VisitAll(func(f *flag.Flag) {
		placeholder, usage := flag.UnquoteUsage(f)
		rows = append(rows, []string{"  " + strings.TrimSpace("--"+f.Name+" "+placeholder), usage +
			settings.ShownDefault(f.DefValue)})
	})
	return console.Columns(rows)
}

// flowed refills the lines of a text. Lines without indentation form a paragraph, up to an empty line. An indented line
// stays separate, together with the more deeply indented lines below it.
func flowed(text string) string {
	var b strings.Builder
	var paragraph []string
	hang, first := 0, 0 // the indentations of the paragraph and of its first line
	flush := func() {
		if len(paragraph) > 0 {
			b.WriteString(console.Folded(strings.Join(paragraph, " "), hang))
		}
		paragraph, hang = nil, 0
	}
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		switch {
		case trimmed == "":
			flush()
			b.WriteString("\n")
		case indent == 0 && hang == 0, indent > first && indent == hang:
			paragraph = append(paragraph, trimmed)
		default:
			flush()
			paragraph, hang, first = []string{line}, secondColumn(line), indent
		}
	}
	flush()
	return b.String()
}

// secondColumn is the column of the explanation in a line such as "  list   shows …".
func secondColumn(line string) int {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if gap := strings.LastIndex(line, "  "); gap >= indent {
		return gap + console.ColumnGap
	}
	return indent
}
