package main

import (
	"context"
	"runtime"

	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

func versionCommand() command.Command {
	return command.Command{
		Name: "version", Summary: "print the version", JSON: true, Alone: true,
		Run: func(_ context.Context, d *command.Context, _ []string) error {
			return d.Done(map[string]string{
				"version": d.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
			},
				"%s %s (%s, %s/%s)\n", console.Program, d.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
