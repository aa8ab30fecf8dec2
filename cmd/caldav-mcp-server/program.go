package main

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// exitCode is the program's exit code.
type exitCode = int

// The exit codes.
const (
	exitDone   exitCode = 0
	exitFailed exitCode = 1  // the command failed; standard error says why
	exitUsage  exitCode = 2  // wrong arguments, or a malformed setting
	exitLater  exitCode = 75 // from deliver only: a temporary failure (EX_TEMPFAIL), which mail servers retry
)

// program is the program with its console.
type program struct{ *console.Console }

// errInterrupted replaces the error of a command that was interrupted by Ctrl-C.
var errInterrupted = errors.New("interrupted")

// run executes the command in the arguments.
func (p *program) run(ctx context.Context, args []string) exitCode {
	err := p.dispatch(ctx, args)
	if err == nil {
		return exitDone
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = errInterrupted
	}
	p.Say("%s: %v\n", console.Program, err)
	if p.Database != "" {
		p.Say("  (the database is %s)\n", p.Database)
	}
	// Invalid input for the service layer came from the arguments, such as a malformed color.
	if _, wrong := errors.AsType[console.UsageError](err); wrong || calendar.ReasonOf(err) == calendar.Invalid {
		return exitUsage
	}
	if _, passes := errors.AsType[laterError](err); passes {
		return exitLater
	}
	return exitFailed
}

func (p *program) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		p.Say("%s", overview())
		return console.WrongUsage("no command given")
	}
	if isHelp(args[0]) {
		return p.help(args[1:])
	}
	if args[0] == "--version" || args[0] == "-version" {
		args = append([]string{"version"}, args[1:]...)
	}
	c, err := findCommand(args[0])
	if err != nil {
		return err
	}
	return command.Invoke(ctx, p.Console, c, args[1:])
}

func isHelp(word string) bool {
	return word == "help" || word == "-h" || word == "-help" || word == "--help"
}
