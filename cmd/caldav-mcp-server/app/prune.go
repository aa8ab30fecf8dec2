package app

import (
	"context"
	"log/slog"
	"time"

	"caldav-mcp-server/trace"
)

// forget prunes the journal and deleted objects. Journal lines are never removed before their bodies.
func (h *App) forget(ctx context.Context, now time.Time) error {
	keep := h.Service()
	if err := h.Store.Prune(ctx, now.AddDate(0, 0, -keep.JournalDays)); err != nil {
		return err
	}
	if keep.LineDays > 0 {
		if err := h.Store.PruneLines(ctx, now.AddDate(0, 0, -max(keep.LineDays, keep.JournalDays))); err != nil {
			return err
		}
	}
	if err := h.trimHistories(ctx); err != nil {
		return err
	}
	return h.Store.Shrink(ctx)
}

// trimHistories removes old history of users with a quota. Changes do so as well, but each process counts only its own,
// and a quota may be new.
func (h *App) trimHistories(ctx context.Context) error {
	users, err := h.Store.Users(ctx)
	if err != nil {
		return err
	}
	for _, u := range users {
		if q := u.Quota.Under(h.Service().Policy.Quota); q.Bytes > 0 {
			_, most := q.History()
			if err := h.Store.TrimHistory(ctx, u.ID, most); err != nil {
				return err
			}
		}
	}
	return nil
}

// Prune runs forget, and records the outcome.
func (h *App) Prune(ctx context.Context, now time.Time, log *slog.Logger) {
	ctx, end := trace.Task(ctx, "prune")
	before := h.Store.Done()
	err := h.forget(ctx, now)
	after := h.Store.Done()
	end(err != nil, slog.Int64("bodies", after.Bodies-before.Bodies),
		slog.Int64("tombstones", after.Tombstones-before.Tombstones))
	switch {
	case err == nil:
		h.Pruned.Store(now.Unix())
	case ctx.Err() == nil:
		h.Unpruned.Add(1)
		log.WarnContext(ctx, "the journal could not be pruned", "error", err)
	}
}
