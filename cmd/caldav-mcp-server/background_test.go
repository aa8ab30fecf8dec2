package main

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// Data older than JOURNAL_DAYS is removed while the server runs: a client that was away for longer must synchronize
// from scratch.
func TestJournalIsShortened(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		ctx, log := t.Context(), slog.New(slog.DiscardHandler)
		// The clock is ahead: data written now seems to be 31 days old.
		p := &program{
			&console.Console{Now: func() time.Time { return time.Now().AddDate(0, 0, 31) }, NewID: uuid.NewString},
		}
		h := openForTest(t, database)
		h.Follows.Store(&settings.Service{JournalDays: 30, LineDays: 7})
		user, err := h.CreateUser(ctx, auth.NewUser{Name: "ann", Password: "correct horse"})
		if err != nil {
			t.Fatal(err)
		}
		cal, err := h.Calendars.CalendarAt(ctx, app.Caller(user), "personal")
		if err != nil {
			t.Fatal(err)
		}
		token := cal.SyncToken()
		draft := calendar.Draft{Name: "a.ics", Data: []byte(event("a", "A"))}
		if _, err := h.Calendars.Put(ctx, app.Caller(user), cal, draft); err != nil {
			t.Fatal(err)
		}
		if err := h.Calendars.Delete(ctx, app.Caller(user), cal, "a.ics", calendar.Precondition{}); err != nil {
			t.Fatal(err)
		}
		if err := changesSince(ctx, h, user, token); err != nil {
			t.Fatalf("before: %v", err)
		}
		pruning, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() { defer close(ended); p.pruneDaily(pruning, h, log) }()
		until(t, "the old token is refused", func() bool {
			return calendar.RuleOf(changesSince(ctx, h, user, token)) == calendar.RuleSyncToken
		})
		// Their bytes stay for longer than lines are asked for, and lines as long as their bytes.
		until(t, "the lines are gone", func() bool {
			for _, err := range h.Store.Journal(ctx, cal.ID, calendar.JournalQuery{}) {
				return err != nil
			}
			return true
		})
		stop()
		<-ended
	})
}

// A user whose guests are told is disabled at once, and deleted by the server when the mails are sent. A user who was
// enabled again meanwhile stays.
func TestUserIsDeletedWhenMailsAreSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		ctx, h := t.Context(), openForTest(t, database)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		users := map[string]calendar.User{}
		letters := map[string]calendar.Letter{}
		for _, name := range []string{"ann", "ben", "heir"} {
			u, err := h.CreateUser(ctx, auth.NewUser{Name: name, Password: "correct horse"})
			must(err)
			l := calendar.Letter{
				ID: calendar.LetterID("to " + name), User: u.ID, From: "a@example.org", To: "guest@example.com",
				UID: "u", Method: calendar.MethodCancel, Posted: time.Now(), Due: time.Now(), Data: []byte("text"),
			}
			must(h.Store.Update(ctx, func(tx calendar.Tx) error {
				return tx.Post(ctx, u.ID, []calendar.Letter{l}, calendar.DefaultLimits().Outbox)
			}))
			users[name], letters[name] = u, l
		}
		is := func(name string, disabled, later, gone bool) {
			t.Helper()
			u, err := h.Auth.User(ctx, name)
			if gone != (calendar.ReasonOf(err) == calendar.NotFound) || u.Disabled != disabled {
				t.Errorf("%s is %+v, %v", name, u, err)
			}
			got, err := h.IsDeletedLater(ctx, u)
			if got != later || err != nil {
				t.Errorf("%s is deleted later: %t, %v", name, got, err)
			}
		}
		how := calendar.UserDeletion{Tell: true, Successor: "heir"}
		for _, name := range []string{"ann", "ben"} {
			_, later, err := h.DeleteUser(ctx, users[name], how)
			must(err)
			if !later {
				t.Errorf("%s is deleted before the mails are sent", name)
			}
		}
		must(h.FinishDeletions(ctx))
		is("ann", true, true, false)
		// Enabling ends the deletion, also if the user is disabled again before the server's task runs.
		for _, disabled := range []bool{false, true} {
			_, err := h.Auth.ChangeUser(ctx, "ben", auth.UserEdit{Disabled: &disabled})
			must(err)
			is("ben", disabled, false, false)
		}
		for _, name := range []string{"ann", "ben"} {
			must(h.Store.ConcludeLetter(ctx, letters[name], false, time.Now(), 0))
		}
		// The server's task does it.
		p := &program{&console.Console{Now: time.Now, NewID: uuid.NewString}}
		running, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			p.deleteLater(running, h, slog.New(slog.DiscardHandler))
		}()
		until(t, "ann is deleted", func() bool {
			_, err := h.Auth.User(ctx, "ann")
			return calendar.ReasonOf(err) == calendar.NotFound
		})
		stop()
		<-ended
		is("ben", true, false, false)
		own, err := h.OwnCalendars(ctx, users["heir"])
		must(err)
		if len(own) != 4 {
			t.Errorf("the heir has %d calendars, want 4", len(own))
		}
		must(h.FinishDeletions(ctx))
		left, err := h.Store.Settings(ctx)
		must(err)
		for _, s := range left {
			if strings.HasPrefix(s.Name, "delete ") {
				t.Errorf("the deletion %q is still planned", s.Name)
			}
		}
	})
}

// The words of an event that others have as well wait on SQLite, and are in the index a moment later while the server
// runs.
func TestWordsAreIndexed(t *testing.T) {
	t.Parallel()
	database := sqlite(t)
	h := openForTest(t, database)
	for _, name := range []string{"ann", "bob"} {
		user, err := h.CreateUser(t.Context(), auth.NewUser{Name: name, Password: "correct horse"})
		if err != nil {
			t.Fatal(err)
		}
		cal, err := h.Calendars.CalendarAt(t.Context(), app.Caller(user), "personal")
		if err == nil {
			_, err = h.Calendars.Put(t.Context(), app.Caller(user), cal, calendar.Draft{
				Name: "a.ics", Data: []byte(event("a", "A")),
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", strings.TrimPrefix(database, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	waiting := func() (n int) {
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM search_rows WHERE turn IS NOT NULL`).
			Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	if waiting() != 1 {
		t.Error("the words of the second do not wait")
	}
	indexing, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	p := &program{&console.Console{Now: time.Now}}
	go func() { defer close(ended); p.indexWords(indexing, h, slog.New(slog.DiscardHandler)) }()
	until(t, "the words are in the index", func() bool { return waiting() == 0 })
	stop()
	<-ended
}

// openForTest opens the app in this process.
func openForTest(t *testing.T, database string) *app.App {
	t.Helper()
	p := &program{&console.Console{Now: time.Now, NewID: uuid.NewString}}
	h, err := app.Open(t.Context(), p.Console, settings.Config{DatabaseURL: database}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Store.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := h.Store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// changesSince asks for the changes of ann's calendar, as it is now.
func changesSince(ctx context.Context, h *app.App, user calendar.User, token calendar.SyncToken) error {
	cal, err := h.Calendars.CalendarAt(ctx, app.Caller(user), "personal")
	if err != nil {
		return err
	}
	for _, err := range h.Calendars.Changes(ctx, nil, app.Caller(user), cal, token) {
		if err != nil {
			return err
		}
	}
	return nil
}

// A command that meets a database from before the first release says how to migrate the calendars. A restart of the
// server would not help.
func TestCommandRefusesOlderBuild(t *testing.T) {
	t.Parallel()
	path := strings.TrimPrefix(testdb.SQLite(t), "sqlite:")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(),
		`CREATE TABLE migrations (name TEXT NOT NULL PRIMARY KEY, checksum TEXT NOT NULL, applied BIGINT NOT NULL);
		INSERT INTO migrations VALUES ('0001_schema.sql', 'another', 0)`); err != nil {
		t.Fatal(err)
	}
	p := &program{&console.Console{Stderr: io.Discard, Now: time.Now, NewID: uuid.NewString}}
	err = app.With(t.Context(), p.Console, settings.Config{DatabaseURL: path}, false, func(*app.App) error {
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "`export --user NAME --out DIR`") {
		t.Errorf("got error %v", err)
	}
}

// An app without tables is not ready, and says so in words that tell nothing of the inside.
func TestReady(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, database string) {
		p := &program{&console.Console{Now: time.Now, NewID: uuid.NewString}}
		h, err := app.Open(t.Context(), p.Console, settings.Config{DatabaseURL: database}, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Store.Close()
		if err := readiness(t.Context(), h); err == nil ||
			err.Error() != "the database has the tables of another version" {
			t.Errorf("without tables: %v", err)
		}
		if err := h.Store.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := readiness(t.Context(), h); err != nil {
			t.Errorf("with tables: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := readiness(gone, h); err == nil || err.Error() != "the database does not respond" {
			t.Errorf("with no answer: %v", err)
		}
	})
}

// Two processes on one store share what seals the sessions of assistants.
func TestSessionKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		var keys []string
		for range 2 {
			key, err := sessionKey(t.Context(), openForTest(t, database))
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, string(key))
		}
		if keys[0] != keys[1] || len(keys[0]) != 32 {
			t.Errorf("the keys are %x", keys)
		}
	})
}
