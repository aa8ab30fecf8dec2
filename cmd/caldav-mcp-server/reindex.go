package main

import (
	"context"
	"fmt"
)

const reindexDetails = `
It rebuilds what the database indexes of every object from the object's own bytes. It changes nothing that a
client sees, and the server may run meanwhile.
`

func reindexCommand() command {
	return command{
		name: "reindex", settings: storeSettings,
		summary: "rebuild the index of all objects", details: reindexDetails,
		run: func(ctx context.Context, p *program, c config, _ []string) error {
			return p.withHouse(ctx, c, func(h *house) error {
				n, err := h.calendars.Reindex(ctx)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(p.stdout, "rebuilt the index of %d objects\n", n)
				return err
			})
		},
	}
}
