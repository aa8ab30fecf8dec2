package acme

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"go.uber.org/zap/zapcore"
)

// bridge hands certmagic's lines to our log. It tells each step of an order, which is for debugging.
type bridge struct {
	log    *slog.Logger
	fields []zapcore.Field
}

func levelOf(l zapcore.Level) slog.Level {
	switch {
	case l >= zapcore.ErrorLevel:
		return slog.LevelError
	case l >= zapcore.WarnLevel:
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// Enabled implements [zapcore.LevelEnabler].
func (b bridge) Enabled(l zapcore.Level) bool {
	return b.log.Enabled(context.Background(), levelOf(l))
}

// With implements [zapcore.Core].
func (b bridge) With(fields []zapcore.Field) zapcore.Core {
	return bridge{b.log, slices.Concat(b.fields, fields)}
}

// Check implements [zapcore.Core].
func (b bridge) Check(e zapcore.Entry, c *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if b.Enabled(e.Level) {
		return c.AddCore(e, b)
	}
	return c
}

// Write implements [zapcore.Core].
func (b bridge) Write(e zapcore.Entry, fields []zapcore.Field) error {
	said := zapcore.NewMapObjectEncoder()
	for _, f := range slices.Concat(b.fields, fields) {
		f.AddTo(said)
	}
	attrs := []slog.Attr{slog.String("says", e.Message)}
	for _, name := range slices.Sorted(maps.Keys(said.Fields)) {
		attrs = append(attrs, slog.Any(name, said.Fields[name]))
	}
	b.log.LogAttrs(context.Background(), levelOf(e.Level), "certificates", attrs...)
	return nil
}

// Sync implements [zapcore.Core].
func (b bridge) Sync() error { return nil }
