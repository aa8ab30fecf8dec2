package console

import "log/slog"

// Logger writes to standard error; standard output is only for a command's result.
func (c *Console) Logger(level slog.Leveler, json bool) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if json {
		return slog.New(slog.NewJSONHandler(c.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(c.Stderr, options))
}
