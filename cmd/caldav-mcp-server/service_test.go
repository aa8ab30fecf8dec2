package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/internal/testdb"
)

// TestProcessesFollowTheServersSettings: every running process follows changes by set-server, and the settings that a
// server was started with take precedence.
func TestProcessesFollowTheServersSettings(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, database string) {
		ctx := t.Context()
		one, other := openForTest(t, database), openForTest(t, database)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(one.declare(ctx, nil))
		if got := one.service(); got != (settings.Service{JournalDays: 30}) {
			t.Errorf("by default there is %+v", got)
		}
		var log bytes.Buffer
		logged := slog.New(slog.NewTextHandler(&log, nil))
		must(other.consult(ctx))
		done := make(chan struct{})
		ctx, stop := context.WithCancel(ctx)
		go func() { defer close(done); other.follow(ctx, 5*time.Millisecond, logged) }()

		must(one.changeService(ctx, map[string]string{"JOURNAL_DAYS": "90", "QUOTA_BYTES": "5MB", "USER_DIRECTORY": "true"}, nil))
		until(t, "the other process follows", func() bool {
			return other.service().JournalDays == 90 && other.calendars.Policy().OpenDirectory && other.calendars.Policy().Quota.Bytes == 5e6
		})
		must(other.declare(ctx, map[string]string{"JOURNAL_DAYS": "7"}))
		must(one.consult(ctx))
		if got := one.service(); got.JournalDays != 7 || !got.OpenDirectory {
			t.Errorf("beside a server that was started with another value there is %+v", got)
		}
		err := one.changeService(ctx, map[string]string{"JOURNAL_DAYS": "60"}, []string{"USER_DIRECTORY"})
		if err == nil || !strings.Contains(err.Error(), "started with JOURNAL_DAYS=7, which takes precedence") {
			t.Errorf("to change what a server was started with: %v", err)
		}
		must(one.declare(ctx, nil))
		if got := one.service(); got.JournalDays != 90 || !got.OpenDirectory {
			t.Errorf("after a start without it there is %+v", got)
		}
		must(one.changeService(ctx, nil, []string{"JOURNAL_DAYS", "USER_DIRECTORY"}))
		until(t, "it follows back", func() bool { return other.service().JournalDays == 30 && !other.calendars.Policy().OpenDirectory })

		must(one.store.ChangeSettings(ctx, map[string]string{"JOURNAL_DAYS": "a month"}, nil))
		if err := one.consult(ctx); err == nil || !strings.Contains(err.Error(), `JOURNAL_DAYS in the database is malformed: "a month"`) {
			t.Errorf("what cannot be read: %v", err)
		}
		if other.service().JournalDays != 30 {
			t.Error("what cannot be read is in force")
		}
		stop()
		<-done
		if !strings.Contains(log.String(), "settings were changed") {
			t.Errorf("the log has %q", log.String())
		}
	})
}
