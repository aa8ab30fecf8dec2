package main

import (
	"log/slog"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// An index that older rules made is rebuilt when the server starts, and only then.
func TestAnOldIndexIsRebuilt(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		ctx, log := t.Context(), slog.New(slog.DiscardHandler)
		h := openForTest(t, database)
		user, err := h.createUser(ctx, auth.NewUser{Name: "ann", Password: "correct horse"})
		if err != nil {
			t.Fatal(err)
		}
		cal, err := h.calendars.CalendarAt(ctx, caller(user), "personal")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.calendars.Put(ctx, caller(user), cal, calendar.Draft{Name: "a.ics", Data: []byte(event("a", "A"))}); err != nil {
			t.Fatal(err)
		}
		spoil := func(o calendar.Object) calendar.Derived {
			o.Summary = "stale"
			return o.Derived
		}
		for _, c := range []struct {
			made int64
			want string
		}{{0, "A"}, {calendar.Derivation, "stale"}, {calendar.Derivation + 1, "stale"}} {
			if _, err := h.store.Rederive(ctx, spoil); err != nil {
				t.Fatal(err)
			}
			if err := h.store.SetDerivation(ctx, c.made); err != nil {
				t.Fatal(err)
			}
			if err := h.refreshIndex(ctx, log); err != nil {
				t.Fatal(err)
			}
			o, err := h.store.Object(ctx, cal.ID, "a.ics")
			if err != nil {
				t.Fatal(err)
			}
			if o.Summary != c.want {
				t.Errorf("made by rules %d: summary %q, want %q", c.made, o.Summary, c.want)
			}
			if made, err := h.store.Derivation(ctx); err != nil || made != max(c.made, calendar.Derivation) {
				t.Errorf("the store says %d, %v", made, err)
			}
		}
	})
}
