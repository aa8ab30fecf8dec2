package store_test

import (
	"context"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store"
)

// theCalendar is the calendar of this package's tests.
const theCalendar = calendar.CalendarID("the-calendar")

// prepare makes the calendar.
func prepare(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.InsertUser(t.Context(), calendar.User{ID: "ann", Name: "ann"}, "hash"); err != nil {
		t.Fatal(err)
	}
	cal := calendar.Calendar{
		ID: theCalendar, Owner: "ann", Segment: "work",
		Properties: calendar.Properties{Timezone: "UTC", Kinds: calendar.AllKinds()},
	}
	if err := s.Update(t.Context(), func(tx calendar.Tx) error {
		return tx.InsertCalendar(t.Context(), cal)
	}); err != nil {
		t.Fatal(err)
	}
}

// put stores a new object as the service does, and returns its version.
func put(ctx context.Context, s *store.Store, name string) (calendar.Version, error) {
	var v calendar.Version
	err := s.Update(ctx, func(tx calendar.Tx) error {
		cal, err := tx.Advance(ctx, theCalendar)
		if err != nil {
			return err
		}
		v = cal.Version
		o := calendar.Object{
			Calendar: theCalendar, Name: calendar.ObjectName(name), Version: v, Data: []byte(name),
			Derived: calendar.Derived{UID: calendar.UID(name), Kind: calendar.Event},
		}
		if err := tx.PutObject(ctx, o); err != nil {
			return err
		}
		return tx.Log(ctx, calendar.Change{
			Calendar: theCalendar, Version: v, Object: o.Name, UID: o.UID,
			Did: calendar.Created,
		})
	})
	return v, err
}

// version returns the calendar's version.
func version(t testing.TB, s *store.Store) calendar.Version {
	t.Helper()
	cal, err := s.Calendar(t.Context(), "ann", theCalendar)
	if err != nil {
		t.Fatal(err)
	}
	return cal.Version
}

// changed returns what changed in the calendar after since, by name.
func changed(t testing.TB, s *store.Store, since calendar.Version) map[string]calendar.Version {
	t.Helper()
	all := map[string]calendar.Version{}
	for o, err := range s.Changes(t.Context(), theCalendar,
		calendar.VersionRange{After: since, Until: version(t, s), Unbroken: since}) {
		if err != nil {
			t.Fatal(err)
		}
		all[string(o.Name)] = o.Version
	}
	return all
}
