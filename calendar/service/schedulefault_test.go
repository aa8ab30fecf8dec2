package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

var errDriver = errors.New("the connection was reset")

// faultyStore loses its connection as the large copies of guests are read.
type faultyStore struct{ calendar.Store }

func (s faultyStore) Update(ctx context.Context, do func(calendar.Tx) error) error {
	return s.Store.Update(ctx, func(tx calendar.Tx) error { return do(faultyTx{tx}) })
}

type faultyTx struct{ calendar.Tx }

// Appointments are those of copies that are too large to come along.
func (t faultyTx) Appointments(
	ctx context.Context, users []calendar.UserID, uid calendar.UID,
) ([]calendar.Appointment, error) {
	all, err := t.Tx.Appointments(ctx, users, uid)
	for i := range all {
		all[i].Data = nil
	}
	return all, err
}

func (t faultyTx) Duplicates(
	ctx context.Context, cal calendar.CalendarID, name calendar.ObjectName, uid calendar.UID,
) (atName, withUID *calendar.Object, err error) {
	if name == "" {
		return nil, nil, errDriver
	}
	return t.Tx.Duplicates(ctx, cal, name, uid)
}

// TestStoreFaultIsNoOutcomeOfAMessage: what the store cannot do is no word about a guest. The change is not made at
// all.
func TestStoreFaultIsNoOutcomeOfAMessage(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		meeting := meetingOf(organizedByAnn, attendees("ann", "bob"))
		g.save("ann", meeting)
		before, at := g.line("bob", "SUMMARY"), g.name("ann")

		faulty := g.config
		faulty.Store = faultyStore{g.Store}
		ann := g.people["ann"]
		moved := strings.Replace(meeting, "SUMMARY:Plans", "SUMMARY:Other plans", 1)
		_, err := service.New(faulty).Put(g.ctx, ann.Caller, ann.cal, calendar.Draft{Name: at, Data: []byte(moved)})
		if !errors.Is(err, errDriver) {
			t.Errorf("the change says %v, want what the store said", err)
		}
		g.want("the organizer's event", g.line("ann", "SUMMARY"), "SUMMARY:Plans")
		g.want("what is said of the guest", g.line("ann", "ATTENDEE;SCHEDULE-STATUS=5.1"), "")
		g.want("the guest's copy", g.line("bob", "SUMMARY"), before)
	})
}
