package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
	"caldav-mcp-server/store/backup"
)

// A backup during writes is of one moment: it has every calendar's changes up to a version, and no later ones.
func TestBackupIsOneMoment(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := bare(t, url, migrations.Files)
		migrate(t, s)
		fillCalendars(t, s, 4)
		ctx, stop := context.WithCancel(t.Context())
		writing := make(chan error, 1)
		begun := make(chan struct{})
		go func() { writing <- writeOn(ctx, s, begun) }()
		<-begun
		for range 5 {
			file := backedUp(t, s)
			if err := checkMoment(opened(t, file)); err != nil {
				t.Error(err)
			}
		}
		file := backedUp(t, s)
		stop()
		if err := <-writing; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := checkMoment(opened(t, backedUp(t, restored(t, file, testdb.SQLite(t))))); err != nil {
			t.Error(err)
		}
	})
}

func calendarID(n int) calendar.CalendarID { return calendar.CalendarID(fmt.Sprint("calendar-", n)) }

// fillCalendars makes a user with calendars.
func fillCalendars(t *testing.T, s *Store, calendars int) {
	t.Helper()
	if err := s.InsertUser(t.Context(), calendar.User{ID: "ann", Name: "ann"}, "hash"); err != nil {
		t.Fatal(err)
	}
	for n := range calendars {
		cal := calendar.Calendar{
			ID: calendarID(n), Owner: "ann", Segment: calendar.Segment(calendarID(n)),
			Properties: calendar.Properties{Timezone: "UTC", Kinds: calendar.AllKinds()},
		}
		if err := s.Update(t.Context(), func(tx calendar.Tx) error {
			return tx.InsertCalendar(t.Context(), cal)
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// writeOn makes objects, two calendars in each transaction, until ctx ends.
func writeOn(ctx context.Context, s *Store, begun chan<- struct{}) error {
	const calendars = 4
	for n := 0; ; n++ {
		err := s.Update(ctx, func(tx calendar.Tx) error {
			for _, in := range []int{n % (calendars - 1), n%(calendars-1) + 1} {
				if err := makeObject(ctx, tx, calendarID(in), n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n == 20 {
			close(begun)
		}
	}
}

func makeObject(ctx context.Context, tx calendar.Tx, in calendar.CalendarID, n int) error {
	cal, err := tx.Advance(ctx, in)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("object-%d", n)
	data := []byte(name + strings.Repeat("\r\nX-FILLER:about as long as a line of an event is", 18))
	o := calendar.Object{
		Calendar: in, Name: calendar.ObjectName(name), Version: cal.Version, Data: data, Size: int64(len(data)),
		Derived: calendar.Derived{UID: calendar.UID(name), Kind: calendar.Event, Search: name + " filler"},
	}
	if err := tx.PutObject(ctx, o); err != nil {
		return err
	}
	return tx.Log(ctx, calendar.Change{
		Calendar: in, Version: cal.Version, Object: o.Name, UID: o.UID,
		Did: calendar.Created,
	})
}

// checkMoment compares the calendars' versions with their objects.
func checkMoment(f *backup.File) error {
	versions, objects, lines := map[any]int64{}, map[any]int64{}, map[any]int64{}
	for table, take := range map[string]func(row map[string]any){
		"calendars": func(row map[string]any) { versions[row["id"]] = row["version"].(int64) },
		"objects":   func(row map[string]any) { objects[row["calendar_id"]]++ },
		"journal":   func(row map[string]any) { lines[row["calendar_id"]]++ },
	} {
		t := f.Table(table)
		err := f.Rows(t, func(values []any) error {
			row := map[string]any{}
			for i, c := range t.Columns {
				row[c.Name] = values[i]
			}
			take(row)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !maps.Equal(versions, objects) || !maps.Equal(versions, lines) {
		return fmt.Errorf("versions %v, objects %v, lines of the journal %v", versions, objects, lines)
	}
	var sum int64
	for _, v := range versions {
		sum += v
	}
	if sum%2 != 0 || sum == 0 {
		return fmt.Errorf("a transaction of two changes is there by half: %v", versions)
	}
	return nil
}
