package store

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/db"
)

// TestPackedTexts: texts that look like the surrounding parts of a packed row are read unchanged.
func TestPackedTexts(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		ctx, s := t.Context(), openMigrated(t, url)
		at := time.Unix(1_790_000_000, 0).UTC()
		start, end := int64(-5), int64(7)
		cal := calendar.Calendar{
			ID: "1 2 3", Owner: "u", Segment: "s",
			Properties: calendar.Properties{Kinds: calendar.AllKinds()},
		}
		want := calendar.Object{
			Calendar: cal.ID, Name: "7 8 9 é.ics", ETag: `" 1"`, Version: 1, Size: 3, Data: []byte("\x00 1"),
			Created: at, Modified: at,
			Derived: calendar.Derived{
				UID: " 42 ", Kind: calendar.Todo, Summary: "0 日本 ", Search: " 1 2", Status: "IN PROCESS",
				Span: calendar.Span{Start: &start, End: &end}, Recurring: true, Transparent: true,
			},
		}
		if err := s.InsertUser(ctx, calendar.User{ID: "u", Name: "u"}, "hash"); err != nil {
			t.Fatal(err)
		}
		err := s.Update(ctx, func(tx calendar.Tx) error {
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

// TestPackedCalendars: so are the texts of a calendar, including a sharee's own; NULL and the empty text stay
// different.
func TestPackedCalendars(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_790_000_000, 0).UTC()
	odd, empty, blank, least, none := "1 2 日本", "", " ", int64(math.MinInt64), int64(0)
	full := calendar.Properties{
		Name: "-1 0 ", Color: &blank, Description: &odd, Order: &least,
		Kinds:    calendar.Kinds{calendar.Todo, calendar.Event},
		Timezone: "Europe/Berlin", TimezoneData: &odd, Transparent: true, Hidden: true,
	}
	for name, props := range map[string]calendar.Properties{
		"full":  full,
		"bare":  {Timezone: "UTC"},
		"empty": {Timezone: "UTC", Color: &empty, Description: &empty, TimezoneData: &empty, Order: &none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, func(t *testing.T, url string) {
				s := openMigrated(t, url)
				for id, name := range map[calendar.UserID]string{"u 1": " 7 owner", "u 2": "sharee"} {
					if err := s.InsertUser(t.Context(), calendar.User{ID: id, Name: name, DisplayName: "3 " + name},
						"hash"); err != nil {
						t.Fatal(err)
					}
				}
				want := calendar.Calendar{
					ID: "1 2 3", Owner: "u 1", Segment: " 4 ", Properties: props,
					Created: at, Modified: at,
				}
				own := calendar.Arrangement{Name: &odd, Color: &empty, Order: &least, Opaque: true}
				err := s.Update(t.Context(), func(tx calendar.Tx) error {
					return errors.Join(tx.InsertCalendar(t.Context(), want), tx.PutShare(t.Context(), calendar.Share{
						Calendar: want.ID, User: calendar.User{ID: "u 2"}, Access: calendar.WriteAccess,
						Status: calendar.ShareAccepted, Created: at,
					}), tx.Arrange(t.Context(), want.ID, "u 2", own))
				})
				if err != nil {
					t.Fatal(err)
				}
				if want.Epoch, err = s.Epoch(t.Context()); err != nil {
					t.Fatal(err)
				}
				want.OwnerName, want.OwnerTitle = " 7 owner", "3  7 owner"
				want.OwnerFree, want.Access, want.Shared = props.Transparent, calendar.OwnerAccess, true
				got, err := s.Calendar(t.Context(), "u 1", want.ID)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("the owner sees: %v (-want +got)\n%s", err, diff)
				}
				want.Access, want.Shared, want.Properties = calendar.WriteAccess, false, own.Over(props)
				got, err = s.Calendar(t.Context(), "u 2", want.ID)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("the sharee sees: %v (-want +got)\n%s", err, diff)
				}
			})
		})
	}
}

func openMigrated(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBrokenRows: a row that does not match its packing is an error, never another object.
func TestBrokenRows(t *testing.T) {
	t.Parallel()
	const whole = "1 0 3 4 5 5 2 3 6 a.ics\"\"uidVEVENT"
	unpack := unpackHead("c")
	if o, err := unpack(packedRow{text: whole}); err != nil || o.Name != "a.ics" || o.Kind != calendar.Event {
		t.Fatalf("%+v, %v", o, err)
	}
	for _, text := range []string{
		"", "1", whole[:len(whole)-1], "x" + whole,
		strings.Replace(whole, " 5 2 ", " -5 2 ", 1),
	} {
		if o, err := unpack(packedRow{text: text}); !errors.Is(err, errPacked) {
			t.Errorf("%q is %+v, %v", text, o, err)
		}
		if o, err := unpackWhole()(packedRow{text: text}); !errors.Is(err, errPacked) {
			t.Errorf("%q is the whole of %+v, %v", text, o, err)
		}
	}
}

// TestBrokenCalendars: the same for calendars.
func TestBrokenCalendars(t *testing.T) {
	t.Parallel()
	const row = "5 0 1 1 0 0 0 0 0 epoch 0 0 1 1 1 1 6 3 -1 -1 0 0 0 -1 cusnVEVENTUTCowner\n0\n0\n7\nMs Owner"
	if c, err := unpackCalendar(row); err != nil || c.ID != "c" || c.Timezone != "UTC" || c.OwnerName != "owner" ||
		c.OwnerTitle != "Ms Owner" || c.OwnerQuota.Bytes != 7 || c.Color != nil {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, text := range []string{
		"", "5", row[:40], "x" + row, strings.Replace(row, " 3 -1", " 99 -1", 1),
		strings.Replace(row, " -1", " -2", 1),
	} {
		if c, err := unpackCalendar(text); !errors.Is(err, errPacked) {
			t.Errorf("%q is %+v, %v", text, c, err)
		}
	}
}
