//go:build !unix

package main

import (
	"context"
	"log/slog"
)

// followLevelSignals does nothing: there are no such signals here.
func followLevelSignals(context.Context, *slog.LevelVar, *slog.Logger) (stop func()) {
	return func() {}
}
