package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/store"
	"caldav-mcp-server/trace"
)

const reindexDetails = `
It rebuilds the index of every object from the stored text. Clients see no difference, and the server can keep running.
`

func reindexCommand() command.Command {
	return command.Command{
		Name: "reindex", Settings: settings.StoreGroup, JSON: true,
		Summary: "rebuild the index of all objects", Details: reindexDetails,
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			n, err := reindex(ctx, d.App, calendar.Walk{})
			if err != nil {
				return err
			}
			return d.Done(map[string]int{"objects": n}, "rebuilt the index of %d objects\n", n)
		},
	}
}

// reindex rebuilds the index of all objects in a walk, and stores the version of its rules.
func reindex(ctx context.Context, h *app.App, walk calendar.Walk) (int, error) {
	n, err := h.Calendars.Reindex(ctx, walk)
	if err != nil {
		return n, err
	}
	if err := h.Store.Recount(ctx); err != nil {
		return n, fmt.Errorf("counting the objects of the calendars: %w", err)
	}
	return n, h.Store.SetDerivation(ctx, calendar.Derivation)
}

// errRefreshed ends a walk because another process has finished the index.
var errRefreshed = errors.New("the index is up to date")

// refreshBlind rebuilds the index before serving, if the old one would hide events from searches.
func refreshBlind(ctx context.Context, h *app.App, up *startup) error {
	made, err := h.Store.Derivation(ctx)
	if err != nil || made >= calendar.Findable {
		return err
	}
	return refreshIndex(ctx, h, up, 0)
}

// refreshAgain is the delay before a failed rebuild is retried.
const refreshAgain = time.Minute

// refreshMeanwhile rebuilds the index while the server runs. It pauses as long as it works, so that requests come
// first.
func refreshMeanwhile(ctx context.Context, h *app.App, up *startup) {
	for ctx.Err() == nil {
		err := refreshIndex(ctx, h, up, 1)
		if err == nil {
			up.notify(statusReady)
			return
		}
		if ctx.Err() == nil {
			up.log.WarnContext(ctx, "the index is rebuilt later", "error", err)
		}
		_ = idle(ctx, refreshAgain)
	}
}

// refreshIndex rebuilds an index from an older program; it leaves one from a newer program. An interrupted run
// continues where it stopped. After each step it pauses rests times as long as the step took.
func refreshIndex(ctx context.Context, h *app.App, up *startup, rests int) error {
	made, err := h.Store.Derivation(ctx)
	if err != nil || made >= calendar.Derivation {
		return err
	}
	begun, err := h.Store.Deriving(ctx, calendar.Derivation)
	if err != nil {
		return err
	}
	up.log.InfoContext(ctx, "rebuilding the index", "objects", begun.Total, "done", begun.Walked, "from", made, "to",
		calendar.Derivation)
	noted, rested := up.now(), time.Now()
	within, end := trace.Task(ctx, "reindex")
	n, err := reindex(within, h, calendar.Walk{
		After: begun.Last,
		Reached: func(ctx context.Context, last calendar.ObjectAddress, walked int) error {
			at := begun
			at.Last, at.Walked = last, begun.Walked+int64(walked)
			up.tell(ctx, "rebuilding the index: %d of %d objects", at.Walked, at.Total)
			if up.now().Sub(noted) >= noteEvery {
				noted = up.now()
				if err := noteDeriving(ctx, h, at); err != nil {
					return err
				}
			}
			err := idle(ctx, time.Duration(rests)*time.Since(rested))
			rested = time.Now()
			return err
		},
	})
	end(err != nil && !errors.Is(err, errRefreshed), slog.Int("objects", n))
	if errors.Is(err, errRefreshed) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("rebuilding the index: %w", err)
	}
	up.log.InfoContext(ctx, "rebuilt the index", "objects", n, "from", made, "to", calendar.Derivation)
	return nil
}

// noteEvery is the interval for saving the position; after an interruption at most that much is repeated.
const noteEvery = 2 * time.Second

// noteDeriving saves the position, unless another process has finished the index.
func noteDeriving(ctx context.Context, h *app.App, at store.Deriving) error {
	made, err := h.Store.Derivation(ctx)
	if err != nil {
		return err
	}
	if made >= calendar.Derivation {
		return errRefreshed
	}
	return h.Store.NoteDeriving(ctx, calendar.Derivation, at)
}

// idle sleeps until d has passed or ctx ends.
func idle(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
