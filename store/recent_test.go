package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/slowtest"
)

// textFields are all texts of an object, by their fields.
func textFields(o *calendar.Object) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	var in func(reflect.Value)
	in = func(v reflect.Value) {
		for field, value := range v.Fields() {
			switch {
			case field.Anonymous:
				in(value)
			case value.Kind() == reflect.String:
				all[field.Name] = value
			}
		}
	}
	in(reflect.ValueOf(o).Elem())
	return all
}

// TestRecentHasItsOwn: what is kept of an object in memory keeps no row and no request there that its texts are parts of, and all of it counts.
func TestRecentHasItsOwn(t *testing.T) {
	t.Parallel()
	const each = 1000
	row := strings.Repeat("x", each)
	o := calendar.Object{Data: []byte(row), Size: each}
	for _, text := range textFields(&o) {
		text.SetString(row)
	}
	r := newRecent()
	r.put(1, o)
	got, there := r.get(1, o.Name)
	if !there || &got.Data[0] == &o.Data[0] {
		t.Error("the data are another's")
	}
	texts := textFields(&got)
	for name, text := range texts {
		if unsafe.StringData(text.String()) == unsafe.StringData(row) {
			t.Errorf("%s is a part of another text", name)
		}
	}
	if least := each * (len(texts) + 1); r.bytes < least {
		t.Errorf("%d bytes are counted of %d", r.bytes, least)
	}
}

// TestRecentIsBounded: those that were used last are kept, and no large ones.
func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	r := newRecent()
	put := func(era int64, name string, size int) {
		data := strings.Repeat("x", size)
		r.put(era, objectAt("busy", calendar.ObjectName(name), calendar.UID(name), data, 1))
	}
	has := func(era int64, name string) bool {
		_, there := r.get(era, calendar.ObjectName(name))
		return there
	}
	put(1, "used", 10)
	put(1, "unused", 10)
	for n := range 10000 {
		if put(2, fmt.Sprint(n), n%3000); !has(1, "used") || r.bytes > mostRecent || r.order.Len() != len(r.all) {
			t.Fatalf("behind %d others: %d bytes, %d in order, %d known", n, r.bytes, r.order.Len(), len(r.all))
		}
	}
	if has(1, "unused") || has(2, "0") || !has(2, "9999") || has(1, "9999") {
		t.Error("others are kept than those used last")
	}
	put(2, "9999", calendar.LargeObject+1)
	if has(2, "9999") {
		t.Error("the large one, or the one before it, is kept")
	}
	if put(2, "9998", calendar.LargeObject); !has(2, "9998") {
		t.Error("one that is not large is not kept")
	}
	sum := 0
	for e := r.order.Front(); e != nil; e = e.Next() {
		sum += of(e).weight()
	}
	if sum != r.bytes {
		t.Errorf("%d bytes are counted, and there are %d", r.bytes, sum)
	}
}

// random makes an object that an app may have written.
func randomObject(r *rand.Rand, name string, uid string) calendar.Object {
	text := func() string { return strings.Repeat(string(rune('a'+r.IntN(26)))+"ä\n ", r.IntN(4)) }
	number := func() *int64 {
		if r.IntN(3) == 0 {
			return nil
		}
		return new(r.Int64N(1<<33) - 1<<32)
	}
	o := objectAt("busy", calendar.ObjectName(name), calendar.UID(uid), "x"+text(), 0)
	o.ETag, o.ScheduleTag = calendar.ETagOf(o.Data), calendar.ScheduleTag(text())
	o.Created, o.Modified = time.Unix(r.Int64N(1<<32), r.Int64N(1e9)), time.Unix(r.Int64N(1<<32), 0).In(time.FixedZone("there", 3600))
	o.Kind, o.Summary, o.Search, o.Status = calendar.Event, text(), text(), strings.TrimSpace(text())
	o.Recurring, o.Transparent = r.IntN(2) == 0, r.IntN(2) == 0
	if o.Span.Start = number(); o.Span.Start != nil {
		if o.Span.End = number(); o.Span.End != nil && *o.Span.End < *o.Span.Start {
			o.Span.End = new(*o.Span.Start)
		}
	}
	if o.Span.Start != nil && r.IntN(2) == 0 {
		rhythm := calendar.RhythmOf(*o.Span.Start, *o.Span.Start+r.Int64N(10000))
		rhythm.Settle()
		o.Rhythm = &rhythm
	}
	return o
}

// TestRecentIsAsStored: memory has of the calendar and of an object what the database would answer, whatever was there before.
func TestRecentIsAsStored(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	seed := slowtest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for n := range slowtest.Rounds(t, slowtest.Random, 60, 2000) {
		name := fmt.Sprint(r.IntN(8))
		if r.IntN(6) == 0 {
			m.run(`UPDATE objects SET deleted = TRUE WHERE name = '` + name + `'`) // it is live again by what follows
		}
		o := randomObject(r, name, name)
		ctx := m.along(name)
		m.fine(m.store.transact(ctx, func(tx *Tx) error {
			cal, _, _, err := tx.AdvanceTo(ctx, "busy", o.Name, o.UID)
			if err != nil {
				return err
			}
			o.Version = cal.Version
			if err := tx.PutObject(ctx, o); err != nil {
				return err
			}
			return tx.Log(ctx, calendar.Change{Calendar: "busy", Version: cal.Version, Object: o.Name, UID: o.UID, Did: calendar.Modified})
		}))
		want := auth.AlongOf(m.along(name)).TakeOver("busy", o.Name, m.store.options.Now())
		got := m.gates.recall(home{"alice", "busy"}, o.Name, m.store.options.Now())
		if got == nil || len(got.Objects) != 1 {
			t.Fatalf("seed %d, round %d: there is %+v in memory", seed, n, got)
		}
		if m.same(got.Calendar, want.Calendar); !reflect.DeepEqual(got.Objects, want.Objects) {
			m.same(got.Objects, want.Objects)
			t.Fatalf("seed %d, round %d: in memory %+v, in the database %+v", seed, n, got.Objects, want.Objects)
		}
	}
}

// along has asked for an object of the calendar with alice's credentials.
func (m *meeting) along(name string) context.Context {
	m.Helper()
	ctx := auth.AskAlong(m.Context(), "busy", calendar.ObjectName(name), false)
	_, err := m.store.CredentialGeneration(ctx, auth.Subject{Name: "alice"})
	m.fine(err)
	return ctx
}
