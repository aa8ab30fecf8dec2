package main

import (
	"fmt"
	"io"

	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

const overviewTail = `
For details: %[1]s help COMMAND, or %[1]s COMMAND --help.
Settings come from the environment; flags override it. %[1]s serve --help lists them.
Exit codes: 0 success, 1 failure, 2 wrong usage.
`

// overview is the list of commands.
func overview() string {
	rows := console.Each(commands(), func(c command.Command) []string { return []string{"  " + c.Name, c.Summary} })
	return fmt.Sprintf("usage: %s COMMAND [--FLAG …] [ARGUMENT …]\n\n", console.Program) + console.Columns(rows) +
		fmt.Sprintf(overviewTail, console.Program)
}

// help is the command "help [COMMAND]".
func (p *program) help(words []string) error {
	text := overview()
	if len(words) > 0 {
		c, err := findCommand(words[0])
		if err != nil {
			return err
		}
		text = command.Help(p.Console, c)
	}
	_, err := io.WriteString(p.Stdout, text)
	return err
}
