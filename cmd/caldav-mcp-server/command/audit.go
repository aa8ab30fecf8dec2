package command

import (
	"flag"
	"log/slog"
	"slices"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/server"
)

// toStdout is the value of AUDIT_LOG for standard output.
const toStdout = "stdout"

// OpenAudit opens the server's audit log, or returns nil if there is none.
func OpenAudit(p *console.Console, c settings.Config, log *slog.Logger) (*server.Audit, error) {
	switch c.AuditLog {
	case "":
		return nil, nil // a nil audit log writes nothing
	case toStdout:
		return server.OpenAudit("", p.Stdout, log)
	}
	return server.OpenAudit(c.AuditLog, nil, log)
}

// reading are the commands that change nothing, apart from the list commands. serve writes its own lines.
var reading = []string{"serve", "export", "backup", "mcp", "doctor", "health", "show-server"}

// audit logs a command, if the audit log is a file: standard output belongs to the command. Of its arguments, the line
// has only the names of users and groups.
func audit(p *console.Console, c Command, config settings.Config, flags *flag.FlagSet, operands []string,
	failed error,
) error {
	if config.AuditLog == "" || config.AuditLog == toStdout || slices.Contains(reading, c.Name) ||
		strings.HasPrefix(c.Name, "list-") {
		return nil
	}
	a, err := OpenAudit(p, config, p.Logger(slog.LevelWarn, false))
	if err != nil {
		return err
	}
	d := server.AuditEvent{
		At: p.Now().UTC(), Door: "command", Did: c.Name, Outcome: "ok", Whom: whom(c, flags, operands),
	}
	if failed != nil {
		d.Outcome = "failed"
	}
	a.Note(d)
	return a.Close()
}

// whom returns the user or group that a command acts on. A delegate is named after the owner.
func whom(c Command, flags *flag.FlagSet, operands []string) string {
	if slices.Equal(c.Operands, []string{"DELEGATE"}) {
		return flags.Lookup("user").Value.String() + " " + strings.Join(operands, " ")
	}
	if len(c.Operands) > 0 && (c.Operands[0] == "NAME" || c.Operands[0] == "GROUP") {
		return operands[0]
	}
	if f := flags.Lookup("user"); f != nil {
		return f.Value.String()
	}
	return ""
}
