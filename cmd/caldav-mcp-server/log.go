package main

import "log/slog"

// logger writes to standard error; standard output is only for a command's result.
func (c *console) logger(level slog.Level, json bool) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if json {
		return slog.New(slog.NewJSONHandler(c.stderr, options))
	}
	return slog.New(slog.NewTextHandler(c.stderr, options))
}
