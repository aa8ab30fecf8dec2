package main

import (
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
var reading = []string{"serve", "export", "backup", "mcp", "doctor", "health"}

// audit writes down what a command did, if the log is a file: what it prints is for whoever called it. Of its operands
// only names of users and groups stand in the line.
func (p *program) audit(c command, config config, operands []string, failed error) error {
	if config.auditLog == "" || config.auditLog == toStdout || slices.Contains(reading, c.name) || strings.HasPrefix(c.name, "list-") {
		return nil
	}
	a, err := p.openAudit(config, p.logger(slog.LevelWarn, false))
	if err != nil {
		return err
	}
	d := server.Deed{At: p.now().UTC(), Door: "command", Did: c.name, Outcome: "ok"}
	if len(c.operands) > 0 && (c.operands[0] == "NAME" || c.operands[0] == "GROUP") {
		d.Whom = operands[0]
	}
	if failed != nil {
		d.Outcome = "failed"
	}
	a.Note(d)
	return a.Close()
}
