package main

import (
	"context"
	"log/slog"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
)

// deleteLater deletes the users whose last mails are sent meanwhile.
func (p *program) deleteLater(ctx context.Context, h *app.App, log *slog.Logger) {
	ticker := time.NewTicker(deleteEvery)
	defer ticker.Stop()
	for {
		if err := h.FinishDeletions(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "a user could not be deleted yet", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// deleteEvery is how often deleteLater checks for users.
const deleteEvery = time.Minute

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
