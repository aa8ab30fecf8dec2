package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const completionDetails = `
It writes a script with which a shell completes commands and flags. SHELL is bash, zsh or fish.
  bash  eval "$(caldav-mcp-server completion bash)", in ~/.bashrc
  zsh   eval "$(caldav-mcp-server completion zsh)", in ~/.zshrc after compinit
  fish  caldav-mcp-server completion fish > ~/.config/fish/completions/caldav-mcp-server.fish
`

// shells are the supported shells, each with the function that writes its script.
var shells = map[string]func([]completion) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}

func completionCommand() command.Command {
	return command.Command{
		Name: "completion", Operands: []string{"SHELL"}, Alone: true,
		Summary: "write a shell script that completes commands and flags", Details: completionDetails,
		Run: func(_ context.Context, d *command.Context, operands []string) error {
			write, known := shells[operands[0]]
			if !known {
				return console.WrongUsage("completion is for bash, zsh and fish, not for %q", operands[0])
			}
			_, err := io.WriteString(d.Stdout, write(completionsOf()))
			return err
		},
	}
}

// completion holds the words to complete for a command.
type completion struct {
	name, summary string
	flags         []completedFlag
}

type completedFlag struct {
	name, usage string
	// takes is set if the flag has a value.
	takes bool
}

// completionsOf returns the completions of all commands.
func completionsOf() []completion {
	return console.Each(commands(), func(c command.Command) completion {
		return completion{c.Name, c.Summary, console.Each(flagsOf(c), func(f *flag.Flag) completedFlag {
			placeholder, usage := flag.UnquoteUsage(f)
			return completedFlag{f.Name, usage, placeholder != ""}
		})}
	})
}

// flagsOf returns a command's flags by name, including those for settings.
func flagsOf(c command.Command) (all []*flag.Flag) {
	flags := c.Declared(new(command.Context))
	settings.AddFlags(flags, c.Settings)
	flags.VisitAll(func(f *flag.Flag) { all = append(all, f) })
	return all
}

// quoted puts a text in single quotes for a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func namesOf(c completion) string {
	return strings.Join(console.Each(c.flags, func(f completedFlag) string { return "--" + f.name }), " ")
}

func bashCompletion(all []completion) string {
	var b strings.Builder
	b.WriteString("_caldav_mcp_server() {\n\tlocal current=${COMP_WORDS[COMP_CWORD]} words=\n\tCOMPREPLY=()\n\tif [ " +
		"\"$COMP_CWORD\" -eq 1 ]; then\n")
	fmt.Fprintf(&b,
		"\t\twords=%s\n\telse\n\t\tcase $current in -*) ;; *) return ;; esac\n\t\tcase ${COMP_WORDS[1]} in\n",
		quoted(strings.Join(slices.Concat([]string{"help"}, console.Each(all, func(c completion) string {
			return c.name
		})),
			" ")))
	for _, c := range all {
		fmt.Fprintf(&b, "\t\t%s) words=%s ;;\n", c.name, quoted(namesOf(c)))
	}
	fmt.Fprintf(&b, "\t\tesac\n\tfi\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"+
		"complete -o default -F _caldav_mcp_server %s\n",
		console.Program)
	return b.String()
}

// described is an entry for zsh's _describe: a word and its description.
func described(word, about string) string {
	return quoted(strings.ReplaceAll(word, ":", `\:`) + ":" + about)
}

func zshCompletion(all []completion) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %s\n_caldav_mcp_server() {\n\tlocal -a commands flags\n\tcommands=(\n", console.Program)
	for _, c := range all {
		fmt.Fprintf(&b, "\t\t%s\n", described(c.name, c.summary))
	}
	b.WriteString("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase " +
		"$words[2] in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "\t%s) flags=(%s) ;;\n", c.name,
			strings.Join(console.Each(c.flags, func(f completedFlag) string { return described("--"+f.name, f.usage) }),
				" "))
	}
	fmt.Fprintf(&b, "\tesac\n\tif [[ $PREFIX == -* ]]; then _describe -o flag flags; else _files; fi\n}\n"+
		"if [ \"$funcstack[1]\" = _caldav_mcp_server ]; then _caldav_mcp_server \"$@\"; "+
		"else compdef _caldav_mcp_server %s; fi\n",
		console.Program)
	return b.String()
}

func fishCompletion(all []completion) string {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "complete -c %s -f -n __fish_use_subcommand -a %s -d %s\n", console.Program, c.name,
			fishQuoted(c.summary))
	}
	for _, c := range all {
		for _, f := range c.flags {
			takes := ""
			if f.takes {
				takes = " -r"
			}
			fmt.Fprintf(&b, "complete -c %s -n '__fish_seen_subcommand_from %s' -l %s -d %s%s\n", console.Program,
				c.name,
				f.name, fishQuoted(f.usage), takes)
		}
	}
	return b.String()
}

// fishQuoted is quoted for fish, which has escapes within single quotes.
func fishQuoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
