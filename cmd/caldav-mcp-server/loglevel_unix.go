//go:build unix

package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// levelStep is the distance between two levels of slog.
const levelStep = slog.LevelWarn - slog.LevelInfo

// followLevelSignals changes the log's level at SIGUSR1 (more detailed) and SIGUSR2 (less). The returned function ends
// that.
func followLevelSignals(ctx context.Context, level *slog.LevelVar, log *slog.Logger) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				changed := level.Level() + levelStep
				if s == syscall.SIGUSR1 {
					changed = level.Level() - levelStep
				}
				level.Set(min(max(changed, slog.LevelDebug), slog.LevelError))
				// The line is visible at the new level.
				log.Log(ctx, max(level.Level(), slog.LevelInfo), "log level changed", "to", level.Level().String())
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		cancel()
	}
}
