package main

import (
	"context"
	"log/slog"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
)

// answerBookings lets rooms answer invitations that a stopped server left unanswered. Several processes can run it at
// once.
func (p *program) answerBookings(ctx context.Context, h *app.App, log *slog.Logger) {
	ticker := time.NewTicker(answerEvery)
	defer ticker.Stop()
	for {
		if _, err := h.Calendars.AnswerBookings(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "a room could not respond to an invitation", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// answerEvery is how often rooms are checked for unanswered invitations.
const answerEvery = time.Minute
