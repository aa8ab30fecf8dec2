package main

import (
	"context"
	"runtime"
)

func versionCommand() command {
	return command{
		name: "version", summary: "print the version", json: true, alone: true,
		run: func(_ context.Context, d *desk, _ []string) error {
			return d.done(map[string]string{"version": d.version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH},
				"%s %s (%s, %s/%s)\n", name, d.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
