package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestPackedTexts: texts that look like what is around them in a packed row come out as they went in.
func TestPackedTexts(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		ctx := t.Context()
		s, err := Open(ctx, url, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if err := s.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1_790_000_000, 0).UTC()
		start, end := int64(-5), int64(7)
		cal := calendar.Calendar{ID: "1 2 3", Owner: "u", Segment: "s", Properties: calendar.Properties{Kinds: calendar.AllKinds()}}
		want := calendar.Object{
			Calendar: cal.ID, Name: "7 8 9 é.ics", ETag: `" 1"`, Version: 1, Size: 3, Data: []byte("\x00 1"), Created: at, Modified: at,
			Derived: calendar.Derived{
				UID: " 42 ", Kind: calendar.Todo, Summary: "0 日本 ", Search: " 1 2", Status: "IN PROCESS",
				Span: calendar.Span{Start: &start, End: &end}, Recurring: true, Transparent: true,
			},
		}
		if err := s.InsertUser(ctx, calendar.User{ID: "u", Name: "u"}, "hash"); err != nil {
			t.Fatal(err)
		}
		err = s.Update(ctx, func(tx calendar.Tx) error {
			if err := tx.InsertCalendar(ctx, cal); err != nil {
				return err
			}
			return tx.PutObject(ctx, want)
		})
		if err != nil {
			t.Fatal(err)
		}
		head := want
		head.Data, head.Derived = nil, calendar.Derived{UID: want.UID, Kind: want.Kind}
		for withData, want := range map[bool]calendar.Object{false: head, true: want} {
			for got, err := range s.Objects(ctx, cal.ID, calendar.ObjectQuery{WithData: withData}) {
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("with data %v: %v (-want +got)\n%s", withData, err, diff)
				}
			}
		}
	})
}

// TestBrokenRows: a row that is not what was asked for is an error, never another object.
func TestBrokenRows(t *testing.T) {
	t.Parallel()
	const whole = "1 0 3 4 5 5 2 3 6 a.ics\"\"uidVEVENT"
	unpack := unpackHead("c")
	if o, err := unpack(packedRow{text: whole}); err != nil || o.Name != "a.ics" || o.Kind != calendar.Event {
		t.Fatalf("%+v, %v", o, err)
	}
	for _, text := range []string{"", "1", whole[:len(whole)-1], "x" + whole, strings.Replace(whole, " 5 2 ", " -5 2 ", 1)} {
		if o, err := unpack(packedRow{text: text}); !errors.Is(err, errPacked) {
			t.Errorf("%q is %+v, %v", text, o, err)
		}
		if o, err := unpackWhole(packedRow{text: text}); !errors.Is(err, errPacked) {
			t.Errorf("%q is the whole of %+v, %v", text, o, err)
		}
	}
}
