package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
)

// quiet is a startup without systemd, with a clock that advances an hour at each reading.
func quiet() *startup {
	now := time.Now()
	return &startup{log: slog.New(slog.DiscardHandler), notify: func(...string) {}, now: func() time.Time {
		now = now.Add(time.Hour)
		return now
	}}
}

// An index made by older rules is rebuilt when the server starts, and only then: before serving if it hides events,
// otherwise in the background.
func TestAnOldIndexIsRebuilt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		ctx, up := t.Context(), quiet()
		h := openForTest(t, database)
		user, err := h.CreateUser(ctx, auth.NewUser{Name: "ann", Password: "correct horse"})
		if err != nil {
			t.Fatal(err)
		}
		cal, err := h.Calendars.CalendarAt(ctx, app.Caller(user), "personal")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Calendars.Put(ctx, app.Caller(user), cal,
			calendar.Draft{Name: "a.ics", Data: []byte(event("a", "A"))}); err != nil {
			t.Fatal(err)
		}
		spoil := func(o calendar.Object) calendar.Derived {
			o.Summary = "stale"
			return o.Derived
		}
		summary := func() string {
			o, err := h.Store.Object(ctx, cal.ID, "a.ics")
			if err != nil {
				t.Fatal(err)
			}
			return o.Summary
		}
		if made, err := h.Store.Derivation(ctx); err != nil || made != calendar.Derivation {
			t.Errorf("a new store says %d, %v", made, err)
		}
		for _, c := range []struct {
			made         int64
			served, want string
		}{
			{0, "A", "A"},
			{calendar.Findable - 1, "A", "A"},
			{calendar.Findable, "stale", "A"},
			{calendar.Derivation, "stale", "stale"},
			{calendar.Derivation + 1, "stale", "stale"},
		} {
			if _, err := h.Store.Rederive(ctx, calendar.Walk{}, spoil); err != nil {
				t.Fatal(err)
			}
			if err := h.Store.SetDerivation(ctx, c.made); err != nil {
				t.Fatal(err)
			}
			if err := refreshBlind(ctx, h, up); err != nil {
				t.Fatal(err)
			}
			if got := summary(); got != c.served {
				t.Errorf("made by rules %d: served with the summary %q, want %q", c.made, got, c.served)
			}
			refreshMeanwhile(ctx, h, up)
			if got := summary(); got != c.want {
				t.Errorf("made by rules %d: summary %q, want %q", c.made, got, c.want)
			}
			if made, err := h.Store.Derivation(ctx); err != nil || made != max(c.made, calendar.Derivation) {
				t.Errorf("the store says %d, %v", made, err)
			}
		}
	})
}

// A server that was stopped while it rebuilt the index goes on where it was, and says how far it is meanwhile.
func TestAnIndexIsRebuiltOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		h := openForTest(t, database)
		user, err := h.CreateUser(t.Context(), auth.NewUser{Name: "ann", Password: "correct horse"})
		if err != nil {
			t.Fatal(err)
		}
		cal, err := h.Calendars.CalendarAt(t.Context(), app.Caller(user), "personal")
		if err != nil {
			t.Fatal(err)
		}
		const objects = 150
		for n := range objects {
			uid := fmt.Sprintf("e%03d", n)
			if _, err := h.Calendars.Put(t.Context(), app.Caller(user), cal,
				calendar.Draft{Name: calendar.ObjectName(uid + ".ics"), Data: []byte(event(uid, "A"))}); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Store.SetDerivation(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		up := quiet()
		told := 0
		up.notify = func(...string) {
			if told++; told == 2 {
				stop()
			}
		}
		if err := refreshBlind(ctx, h, up); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped in the midst of it: %v", err)
		}
		if says := up.ask(t.Context()); says == nil || !strings.Contains(says.Error(), "of 150 objects") {
			t.Errorf("meanwhile it says %v", says)
		}
		var log bytes.Buffer
		up = quiet()
		up.log = slog.New(slog.NewTextHandler(&log, nil))
		if err := refreshBlind(t.Context(), h, up); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.String(), fmt.Sprint("objects=", objects, " from")) ||
			!strings.Contains(log.String(), "rebuilt the index") {
			t.Errorf("it began anew:\n%s", log.String())
		}
		if made, err := h.Store.Derivation(t.Context()); err != nil || made != calendar.Derivation {
			t.Errorf("the store says %d, %v", made, err)
		}
	})
}

// A server responds while it rebuilds an index that hides nothing, but not before it has rebuilt one that may hide
// events.
func TestTheIndexIsRebuiltBesideRequests(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		h := openForTest(t, database)
		if _, err := h.CreateUser(t.Context(), auth.NewUser{Name: "ann", Password: "correct horse"}); err != nil {
			t.Fatal(err)
		}
		for made, want := range map[int64][]string{
			0: {"rebuilt the index", "ready"}, calendar.Findable: {"ready", "rebuilt the index"},
		} {
			if err := h.Store.SetDerivation(t.Context(), made); err != nil {
				t.Fatal(err)
			}
			server := serve(t, on(database))
			until(t, "the index is rebuilt", func() bool {
				made, err := h.Store.Derivation(t.Context())
				return err == nil && made == calendar.Derivation &&
					strings.Contains(server.log.String(), "rebuilt the index")
			})
			if err := server.interrupt(); err != nil {
				t.Fatal(err)
			}
			log := server.log.String()
			if first, then := strings.Index(log, `"msg":"`+want[0]+`"`), strings.Index(log,
				`"msg":"`+want[1]+`"`); first < 0 || then < first {
				t.Errorf("made by rules %d: want %q before %q in\n%s", made, want[0], want[1], log)
			}
		}
	})
}

// TestFirstCalendarsInTheUsersLanguage: the names of the first calendars are in the user's language, or in that of the
// browser in which the user was made. Their addresses are the same for all.
func TestFirstCalendarsInTheUsersLanguage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		h := openForTest(t, database)
		for _, tt := range []struct{ language, browser, personal, tasks string }{
			{"de", "fr", "Persönlich", "Aufgaben"},
			{"", "fr", "Personnel", "Tâches"},
			{"", "", "Personal", "Tasks"},
		} {
			user, err := h.CreateUser(t.Context(), auth.NewUser{
				Name: "u" + tt.language + tt.browser, Password: "correct horse", Language: tt.language,
				BrowserLanguage: tt.browser,
			})
			if err != nil {
				t.Fatal(err)
			}
			for at, want := range map[calendar.Segment]string{"personal": tt.personal, "tasks": tt.tasks} {
				cal, err := h.Calendars.CalendarAt(t.Context(), app.Caller(user), at)
				if err != nil || cal.Name != want {
					t.Errorf("%s is called %q, want %q: %v", at, cal.Name, want, err)
				}
			}
		}
	})
}
