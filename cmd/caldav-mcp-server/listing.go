package main

import (
	"context"
	"flag"
	"time"
)

// listing is a command that shows all there is of something: a table for people, JSON for programs.
type listing[T, J any] struct {
	command
	find  func(ctx context.Context, h *house) ([]T, error)
	json  func(T) J
	heads []string
	row   func(one T, now time.Time) []string
}

// asCommand is the command that the listing is, with its flag for JSON.
func (l listing[T, J]) asCommand() command {
	made, flags, json := l.command, l.flags, false
	made.settings = storeSettings
	made.flags = func(f *flag.FlagSet) {
		if flags != nil {
			flags(f)
		}
		asJSON(f, &json)
	}
	made.run = func(ctx context.Context, p *program, c config, _ []string) error {
		return p.withHouse(ctx, c, func(h *house) error {
			found, err := l.find(ctx, h)
			if err != nil {
				return err
			}
			if json {
				return p.printJSON(each(found, l.json))
			}
			return p.printTable(l.heads, each(found, func(one T) []string { return l.row(one, p.now()) }))
		})
	}
	return made
}
