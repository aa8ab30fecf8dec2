package main

import (
	"context"
	"runtime"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

func versionCommand() command {
	return command{
		name: "version", summary: "print the version", json: true, alone: true,
		run: func(_ context.Context, d *desk, _ []string) error {
			return d.done(map[string]string{"version": d.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH},
				"%s %s (%s, %s/%s)\n", console.Program, d.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
