package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// TestProcessesFollowTheServersSettings: every running process follows changes by set-server, and the settings that a
// server was started with take precedence.
func TestProcessesFollowTheServersSettings(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		ctx := t.Context()
		one, other := openForTest(t, database), openForTest(t, database)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(one.Declare(ctx, nil))
		usual := settings.Service{JournalDays: 30, NewUsers: auth.Defaults{Reminder: calendar.NoReminder}}
		if got := one.Service(); got != usual {
			t.Errorf("by default there is %+v", got)
		}
		var log bytes.Buffer
		logged := slog.New(slog.NewTextHandler(&log, nil))
		must(other.Consult(ctx))
		done := make(chan struct{})
		ctx, stop := context.WithCancel(ctx)
		go func() { defer close(done); other.Follow(ctx, time.Now, 5*time.Millisecond, logged) }()

		must(one.ChangeService(ctx,
			map[string]string{"JOURNAL_DAYS": "90", "QUOTA_BYTES": "5MB", "USER_DIRECTORY": "true"}, nil))
		until(t, "the other process follows", func() bool {
			return other.Service().JournalDays == 90 && other.Calendars.Policy().OpenDirectory &&
				other.Calendars.Policy().Quota.Bytes == 5e6
		})
		must(other.Declare(ctx, map[string]string{"JOURNAL_DAYS": "7"}))
		must(one.Consult(ctx))
		if got := one.Service(); got.JournalDays != 7 || !got.OpenDirectory {
			t.Errorf("beside a server that was started with another value there is %+v", got)
		}
		err := one.ChangeService(ctx, map[string]string{"JOURNAL_DAYS": "60"}, []string{"USER_DIRECTORY"})
		if err == nil || !strings.Contains(err.Error(), "started with JOURNAL_DAYS=7, which takes precedence") {
			t.Errorf("to change what a server was started with: %v", err)
		}
		must(one.Declare(ctx, nil))
		if got := one.Service(); got.JournalDays != 90 || !got.OpenDirectory {
			t.Errorf("after a start without it there is %+v", got)
		}
		must(one.ChangeService(ctx, nil, []string{"JOURNAL_DAYS", "USER_DIRECTORY"}))
		until(t, "it follows back", func() bool {
			return other.Service().JournalDays == 30 && !other.Calendars.Policy().OpenDirectory
		})

		must(one.Store.ChangeSettings(ctx, map[string]string{"JOURNAL_DAYS": "a month"}, nil))
		if err := one.Consult(ctx); err == nil ||
			!strings.Contains(err.Error(), `JOURNAL_DAYS in the database is malformed: "a month"`) {
			t.Errorf("what cannot be read: %v", err)
		}
		if other.Service().JournalDays != 30 {
			t.Error("what cannot be read is in force")
		}
		stop()
		<-done
		if !strings.Contains(log.String(), "settings were changed") {
			t.Errorf("the log has %q", log.String())
		}
	})
}
