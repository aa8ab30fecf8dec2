package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
)

func versionCommand() command {
	var json bool
	return command{
		name: "version", summary: "print the version",
		flags: func(f *flag.FlagSet) { asJSON(f, &json) },
		run: func(_ context.Context, p *program, _ config, _ []string) error {
			if json {
				return p.printJSON(map[string]string{
					"version": p.version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(p.stdout, "%s %s (%s, %s/%s)\n", name, p.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
