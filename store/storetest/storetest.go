// Package storetest tests the contract of the store, which every engine must fulfill.
//
// There is one file per noun. A test gets an empty database and may open several stores on it, like several
// processes.
package storetest

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
)

// Store is the interface under test.
type Store interface {
	calendar.Store
	auth.Store
	oauth.Store
	calendar.Reminders
	NewEpoch(ctx context.Context) error
	Prune(ctx context.Context, older time.Time) error
	PruneLines(ctx context.Context, older time.Time) error
}

// Open opens a store on a migrated database.
type Open func(t testing.TB, now func() time.Time) Store

// Run runs the suite. database creates an empty database and returns a function that opens stores on it.
func Run(t *testing.T, database func(t *testing.T) Open) {
	t.Helper()
	for noun, tests := range map[string][]test{
		"User": userTests(), "Directory": directoryTests(), "Token": tokenTests(), "Link": linkTests(),
		"Session": sessionTests(), "Factor": factorTests(), "PasswordLink": passwordLinkTests(),
		"AppLogin": appLoginTests(), "Identity": identityTests(),
		"Address": addressTests(),
		"Client":  clientTests(), "Grant": grantTests(), "Generation": generationTests(), "Along": alongTests(),
		"Calendar": calendarTests(),
		"Share":    shareTests(), "Delegate": delegateTests(),
		"Notice": noticeTests(), "Object": objectTests(), "Listing": listingTests(),
		"Change": changeTests(),
		"Order":  orderTests(), "Transaction": transactionTests(), "Writers": writerTests(),
		"Prune": pruneTests(), "Rederive": rederiveTests(), "DeadProperty": deadPropertyTests(),
		"OwnPart": ownPartTests(), "Home": homeTests(), "Trash": trashTests(), "Attempt": attemptTests(),
		"Search": searchTests(), "Journal": journalTests(), "Watch": watchTests(),
		"Subscription": subscriptionTests(), "Outbox": outboxTests(), "Push": pushTests(),
		"Webhook": webhookTests(), "Upload": uploadTests(), "Suggestion": suggestionTests(),
		"Digest": digestTests(), "Lease": leaseTests(),
		"Reminder": reminderTests(),
		"Account":  accountTests(), "Mirror": mirrorTests(), "Scheduling": schedulingTests(),
		"BookingPage": bookingPageTests(), "Poll": pollTests(),
		"Inbox": inboxTests(), "Booking": bookingTests(), "ToldEvent": toldEventTests(),
	} {
		t.Run(noun, func(t *testing.T) {
			t.Parallel()
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					t.Parallel()
					test.run(newBundle(t, database(t)))
				})
			}
		})
	}
}

// test checks one promise of the contract.
type test struct {
	name string
	run  func(*bundle)
}

// start is the initial time of every test.
func start() time.Time { return time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC) }

// bundle is a test with its store.
type bundle struct {
	*testing.T
	Store
	open  Open
	clock *atomic.Int64
	ids   *atomic.Int64
}

func newBundle(t *testing.T, open Open) *bundle {
	b := &bundle{T: t, open: open, clock: new(atomic.Int64), ids: new(atomic.Int64)}
	b.clock.Store(start().Unix())
	b.Store = open(t, b.now)
	return b
}

func (b *bundle) now() time.Time { return time.Unix(b.clock.Load(), 0).UTC() }

// pass advances the clock.
func (b *bundle) pass(d time.Duration) { b.clock.Add(int64(d / time.Second)) }

// another opens a second store on the same database, like another process.
func (b *bundle) another() Store {
	b.Helper()
	return b.open(b.T, b.now)
}

func (b *bundle) id(of string) string { return fmt.Sprintf("%s-%04d", of, b.ids.Add(1)) }

func (b *bundle) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// update runs a transaction, which must succeed.
func (b *bundle) update(fn func(tx calendar.Tx) error) {
	b.Helper()
	b.must(b.Update(b.Context(), fn))
}

// refused checks that an error has this reason and this rule ("" for none).
func (b *bundle) refused(err error, reason calendar.Reason, rule calendar.Rule) {
	b.Helper()
	if err == nil || calendar.ReasonOf(err) != reason || calendar.RuleOf(err) != rule {
		b.Errorf("got error %v (%v, %q), want one of %v, %q", err, calendar.ReasonOf(err),
			calendar.RuleOf(err), reason, rule)
	}
}

// same checks that two values are equal.
func same[T any](b *bundle, what string, got, want T) {
	b.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		b.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// gives checks the result of a query.
func gives[T any](b *bundle, what string, want T) func(got T, err error) {
	return func(got T, err error) {
		b.Helper()
		b.must(err)
		same(b, what, got, want)
	}
}

// givesNone checks that a query returns a zero value, such as a nil list.
func (b *bundle) givesNone(what string) func(got any, err error) {
	return func(got any, err error) {
		b.Helper()
		b.must(err)
		if !reflect.ValueOf(got).IsZero() {
			b.Errorf("%s: got %v, want nothing", what, got)
		}
	}
}

// does checks that a query succeeds, and ignores its result.
func (b *bundle) does(_ any, err error) {
	b.Helper()
	b.must(err)
}

// refuses checks that a query is refused.
func (b *bundle) refuses(reason calendar.Reason, rule calendar.Rule) func(got any, err error) {
	return func(_ any, err error) {
		b.Helper()
		b.refused(err, reason, rule)
	}
}

func (b *bundle) user(name string) calendar.User {
	b.Helper()
	u := calendar.User{
		ID: calendar.UserID(b.id("user")), Name: name, DisplayName: "Ms " + name, Email: name + "@example.com",
		Timezone: "Europe/Berlin", Created: b.now(),
	}
	b.must(b.InsertUser(b.Context(), u, "hash of "+auth.Hash(name)))
	return u
}

// blank returns a calendar that is not stored yet.
func (b *bundle) blank(owner calendar.User, segment calendar.Segment) calendar.Calendar {
	return calendar.Calendar{
		ID: calendar.CalendarID(b.id("calendar")), Owner: owner.ID, OwnerName: owner.Name,
		OwnerTitle: owner.Title(), Segment: segment,
		Properties: calendar.Properties{Name: string(segment), Timezone: "UTC", Kinds: calendar.AllKinds()},
		Created:    b.now(), Modified: b.now(), Access: calendar.OwnerAccess, Epoch: b.epoch(),
	}
}

func (b *bundle) epoch() calendar.Epoch {
	b.Helper()
	epoch, err := b.Epoch(b.Context())
	b.must(err)
	return epoch
}

func (b *bundle) calendar(owner calendar.User, segment calendar.Segment) calendar.Calendar {
	b.Helper()
	cal := b.blank(owner, segment)
	b.insert(cal)
	return cal
}

func (b *bundle) insert(cal calendar.Calendar) {
	b.Helper()
	b.update(func(tx calendar.Tx) error { return tx.InsertCalendar(b.Context(), cal) })
}

// home creates a user with a calendar, for tests that are about neither.
func (b *bundle) home() calendar.Calendar {
	b.Helper()
	return b.calendar(b.user("ann"), "work")
}

// event returns an object that is not stored yet.
func (b *bundle) event(cal calendar.Calendar, name string) calendar.Object {
	data := []byte("BEGIN:VCALENDAR\r\nX-NAME:" + name + "\r\nEND:VCALENDAR\r\n")
	from := start().Unix()
	until := from + 3600
	return calendar.Object{
		Calendar: cal.ID, Name: calendar.ObjectName(name), ETag: calendar.ETagOf(data),
		Size: int64(len(data)), Data: data,
		Created: b.now(), Modified: b.now(),
		Derived: calendar.Derived{
			UID: calendar.UID("uid of " + name), Kind: calendar.Event, Summary: "Summary of " + name,
			Search: "search " + name,
			Span:   calendar.Span{Start: &from, End: &until}, Status: "CONFIRMED",
		},
	}
}

// write stores an object like the service: with a new version and a journal entry.
func (b *bundle) write(s calendar.Store, o calendar.Object) (calendar.Object, error) {
	err := s.Update(b.Context(), func(tx calendar.Tx) error { return b.writeIn(tx, &o) })
	return o, err
}

// writeIn is write within a transaction.
func (b *bundle) writeIn(tx calendar.Tx, o *calendar.Object) error {
	cal, err := tx.Advance(b.Context(), o.Calendar)
	if err != nil {
		return err
	}
	o.Version = cal.Version
	if err := tx.PutObject(b.Context(), *o); err != nil {
		return err
	}
	return tx.Log(b.Context(), b.entry(*o, calendar.Modified))
}

func (b *bundle) entry(o calendar.Object, change calendar.ChangeKind) calendar.Change {
	return calendar.Change{
		Calendar: o.Calendar, Version: o.Version, Object: o.Name, UID: o.UID, Did: change, At: b.now(),
		User: "user", Token: "token", Agent: "agent", Before: o.Data, Size: int64(len(o.Data)),
	}
}

// put stores a new event.
func (b *bundle) put(cal calendar.Calendar, name string) calendar.Object {
	b.Helper()
	o, err := b.write(b.Store, b.event(cal, name))
	b.must(err)
	return o
}

// bury turns an object into a tombstone and returns that.
func (b *bundle) bury(o calendar.Object) calendar.Object {
	b.Helper()
	b.update(func(tx calendar.Tx) error { return b.buryIn(tx, &o) })
	return o
}

// buryIn is bury within a transaction.
func (b *bundle) buryIn(tx calendar.Tx, o *calendar.Object) error {
	cal, err := tx.Advance(b.Context(), o.Calendar)
	if err != nil {
		return err
	}
	o.Version, o.Deleted = cal.Version, true
	if err := tx.BuryObject(b.Context(), o.Calendar, o.Name, o.Version); err != nil {
		return err
	}
	return tx.Log(b.Context(), b.entry(*o, calendar.Deleted))
}

// read returns a calendar as its owner sees it.
func (b *bundle) read(cal calendar.Calendar) calendar.Calendar {
	b.Helper()
	now, err := b.Calendar(b.Context(), cal.Owner, cal.ID)
	b.must(err)
	return now
}

// linesGone returns the last of the lines that a calendar's journal has pruned.
func (b *bundle) linesGone(cal calendar.Calendar) calendar.LinesGone {
	b.Helper()
	gone, err := b.LinesGone(b.Context(), cal.ID)
	b.must(err)
	return gone
}

// all collects a listing.
func (b *bundle) all(listing iter.Seq2[calendar.Object, error]) []calendar.Object {
	b.Helper()
	var objects []calendar.Object
	for o, err := range listing {
		b.must(err)
		objects = append(objects, o)
	}
	return objects
}

// names returns the names of objects.
func names(objects []calendar.Object) []string {
	var all []string
	for _, o := range objects {
		all = append(all, string(o.Name))
	}
	return all
}

// head is an object as in listings without data.
func head(o calendar.Object) calendar.Object {
	o.Data, o.Derived = nil, calendar.Derived{UID: o.UID, Kind: o.Kind}
	return o
}

// change is an object as in the list of changes.
func change(o calendar.Object) calendar.Object {
	h := head(o)
	h.Span = o.Span
	return h
}
