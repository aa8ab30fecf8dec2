package store

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// TestAlongIsDecidedOn: a change is decided on what was asked for along with the credentials where that is all there is to know, and on
// nothing else. What was asked for shows by this: another process has changed the calendar since.
func TestAlongIsDecidedOn(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	m.fine(m.other.InsertUser(t.Context(), calendar.User{ID: "bob", Name: "bob"}, "hash"))
	m.fine(m.other.InsertToken(t.Context(), auth.Token{ID: "token", User: "alice", Name: "laptop"}, "hash", "seal"))
	m.calendar("bobs", "bob")
	m.fine(m.other.Update(t.Context(), func(tx calendar.Tx) error { return tx.MoveCalendar(t.Context(), "bobs", "busy") }))
	large := strings.Repeat("x", calendar.LargeObject)
	for _, d := range []draft{
		{name: "a.ics", uid: "a"},
		{name: "b.ics", uid: "foreign"},
		{name: "c.ics", uid: "c", data: large},
		{name: "d.ics", uid: "d", data: large + "x"},
		{name: "elsewhere.ics", uid: "e"},
		{name: "f.ics", uid: "f"},
	} {
		_, err := m.put(t.Context(), m.other, d)
		m.fine(err)
	}
	m.run(`UPDATE objects SET deleted = TRUE WHERE name = 'f.ics'`)
	alice := auth.Subject{Name: "alice"}
	for _, c := range []struct {
		what   string
		of     auth.Subject
		at     calendar.Segment
		draft  draft
		passes time.Duration
		used   bool
		seen   try
	}{
		{"nothing there", alice, "busy", draft{name: "new.ics", uid: "new"}, 0, true, try{AtName: "none", WithUID: "none"}},
		{"nothing there, by a token", auth.Subject{Token: "token"}, "busy", draft{name: "newer.ics", uid: "newer"}, 0, true, try{AtName: "none", WithUID: "none"}},
		{"an object", alice, "busy", draft{name: "a.ics", uid: "a"}, 0, true, try{AtName: "a.ics", WithUID: "a.ics"}},
		{"an object by a token", auth.Subject{Token: "token"}, "busy", draft{name: "a.ics", uid: "a"}, 0, true, try{AtName: "a.ics", WithUID: "a.ics"}},
		{"an object with a foreign UID", alice, "busy", draft{name: "b.ics", uid: "foreign"}, 0, true, try{AtName: "b.ics", WithUID: "b.ics"}},
		{"an object that is nearly large", alice, "busy", draft{name: "c.ics", uid: "c", data: "c"}, 0, true, try{AtName: large, WithUID: large}},
		{"a large object", alice, "busy", draft{name: "d.ics", uid: "d", data: "d"}, 0, false, try{AtName: large + "x", WithUID: large + "x"}},
		{"a tombstone", alice, "busy", draft{name: "f.ics", uid: "f"}, 0, true, try{AtName: "f.ics", WithUID: "none"}},
		{"the UID elsewhere", alice, "busy", draft{name: "e.ics", uid: "e"}, 0, true, try{AtName: "none", WithUID: "elsewhere.ics"}},
		{"a foreign UID", alice, "busy", draft{name: "g.ics", uid: "unlike"}, 0, false, try{AtName: "none", WithUID: "none"}},
		{"another UID than there", alice, "busy", draft{name: "a.ics", uid: "h"}, 0, false, try{AtName: "a.ics", WithUID: "none"}},
		{"too late", alice, "busy", draft{name: "a.ics", uid: "a"}, 100 * time.Millisecond, false, try{AtName: "a.ics", WithUID: "a.ics"}},
		{"just in time", alice, "busy", draft{name: "a.ics", uid: "a"}, 50 * time.Millisecond, true, try{AtName: "a.ics", WithUID: "a.ics"}},
		{"another calendar", alice, "rest", draft{name: "a.ics", uid: "a"}, 0, false, try{AtName: "a.ics", WithUID: "a.ics"}},
		{"another's calendar", auth.Subject{Name: "bob"}, "busy", draft{name: "a.ics", uid: "a"}, 0, false, try{AtName: "a.ics", WithUID: "a.ics"}},
		{"another object", alice, "busy", draft{name: "a.ics", uid: "a", along: "b.ics"}, 0, false, try{AtName: "a.ics", WithUID: "a.ics"}},
	} {
		m.alongOnce(c.what, c.of, c.at, c.draft, c.passes, c.used, c.seen)
	}
}

// version is the calendar's.
func (m *meeting) version() calendar.Version {
	m.Helper()
	cal, err := m.other.Calendar(m.Context(), "alice", "busy")
	m.fine(err)
	return cal.Version
}

// alongOnce asks along for what is to be written, lets another process change the calendar, and gives the change up once it has seen what is there.
func (m *meeting) alongOnce(what string, of auth.Subject, at calendar.Segment, d draft, passes time.Duration, used bool, seen try) {
	m.Helper()
	d.when = func(try) error { return context.Canceled }
	ctx := auth.AskAlong(m.Context(), at, calendar.ObjectName(cmp.Or(d.along, d.name)))
	_, err := m.store.CredentialGeneration(ctx, of)
	m.fine(err)
	seen.Early, seen.Version = true, m.version()+2
	if used {
		seen.Version--
	}
	m.fine(m.other.Update(m.Context(), func(tx calendar.Tx) error {
		_, err := tx.Advance(m.Context(), "busy")
		return err
	}))
	m.passed.Add(int64(passes))
	tries, _ := m.put(ctx, m.store, d)
	if len(tries) != 1 || tries[0] != seen {
		m.Errorf("%s: %.300v, want %.300v", what, tries, seen)
	}
}

// TestAlongOfAnotherCalendar: what was asked for along is of one calendar, and nothing for whoever writes to another.
func TestAlongOfAnotherCalendar(t *testing.T) {
	t.Parallel()
	m := newMeeting(t)
	for id, want := range map[calendar.CalendarID]bool{"rest": true, "busy": false} {
		ctx := auth.AskAlong(t.Context(), "rest", "a.ics")
		_, err := m.store.CredentialGeneration(ctx, auth.Subject{Name: "alice"})
		m.fine(err)
		if got := auth.AlongOf(ctx).TakeOver(id, "a.ics", m.store.options.Now()); (got != nil) != want {
			t.Errorf("for %s there is %+v", id, got)
		}
	}
}
