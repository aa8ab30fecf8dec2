package main

import (
	"flag"
	"log/slog"
	"slices"
	"strings"

	"caldav-mcp-server/server"
)

// toStdout is the AUDIT_LOG that is no file.
const toStdout = "stdout"

// openAudit opens the audit log of a server; nil where there is none.
func (p *program) openAudit(c config, log *slog.Logger) (*server.Audit, error) {
	switch c.auditLog {
	case "":
		return nil, nil //nolint:nilnil // a nil one writes nothing
	case toStdout:
		return server.OpenAudit("", p.stdout, log)
	}
	return server.OpenAudit(c.auditLog, nil, log)
}

// reading are the commands that change nothing, beside those that list; serve has lines of its own.
var reading = []string{"serve", "export", "backup", "mcp", "doctor", "health", "show-server"}

// audit writes down what a command did, if the log is a file: what it prints is for its caller. Of what it was called
// with only the name of a user or a group stands in the line.
func (p *program) audit(c command, config config, flags *flag.FlagSet, operands []string, failed error) error {
	if config.auditLog == "" || config.auditLog == toStdout || slices.Contains(reading, c.name) || strings.HasPrefix(c.name, "list-") {
		return nil
	}
	a, err := p.openAudit(config, p.logger(slog.LevelWarn, false))
	if err != nil {
		return err
	}
	d := server.Deed{At: p.now().UTC(), Door: "command", Did: c.name, Outcome: "ok", Whom: whom(c, flags, operands)}
	if failed != nil {
		d.Outcome = "failed"
	}
	a.Note(d)
	return a.Close()
}

// whom a command is about: the user or the group that it is given, or whose things it works on.
func whom(c command, flags *flag.FlagSet, operands []string) string {
	if len(c.operands) > 0 && (c.operands[0] == "NAME" || c.operands[0] == "GROUP") {
		return operands[0]
	}
	if f := flags.Lookup("user"); f != nil {
		return f.Value.String()
	}
	return ""
}
