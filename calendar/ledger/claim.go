package ledger

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/schedule"
)

// Claim makes a change of a hold's event depend on calendars that the caller has read, so that two changes cannot take
// the same free time: each holds the locks of all these calendars until its commit.
type Claim struct {
	// Read are the calendars as they were when they were read.
	Read []calendar.Calendar
	// Now is the hold as it is now, Next as it becomes in the same transaction; see [calendar.HoldKeeper].
	Now, Next calendar.Hold
}

// ErrReadAgain is the error if one of the calendars has changed since it was read. The caller reads them and
// decides again.
var ErrReadAgain = errors.New("a calendar has changed since it was read")

// EditClaimed is EditObject under a claim. The visitor of the hold has agreed to the new time. NotFound if the hold is
// not as the claim has it, also if the event is: another request was faster.
func (s *Ledger) EditClaimed(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, uid calendar.UID, e Edit, by Claim,
) (Edited, error) {
	if err := c.May(calendar.WriteObjects, cal); err != nil {
		return Edited{}, err
	}
	r := revision{
		Ledger: s, meter: e.Meter, caller: c, cal: cal, tell: e.Telling, do: s.changing(cal, e.Change), along: by.check,
		changes: true, agreed: schedule.AddressOf(by.Now.Address),
	}
	edited, err := r.run(ctx, uid, e.When)
	if errors.Is(err, change.ErrSame) {
		err = calendar.Errorf(calendar.NotFound, "", "the event was changed at the same moment")
	}
	return edited, err
}

// check compares the versions of the calendars with the versions that the caller read, under the locks. Each lock has
// advanced its calendar by one version.
func (k Claim) check(ctx context.Context, w *work) error {
	var ids []calendar.CalendarID
	for _, read := range k.Read {
		ids = append(ids, read.ID)
	}
	if err := w.RequireLocks(ids); err != nil {
		return err
	}
	for _, read := range k.Read {
		if w.Locked[read.ID].Version != read.Version+1 {
			return ErrReadAgain
		}
	}
	return w.UpdateHold(ctx, k.Next, k.Now.State, k.Now.Moves, w.Now())
}

// CreatePicked creates the event of a poll and ends the poll in the same transaction; see [calendar.PollKeeper]. If the
// poll was changed or has ended, there is no event.
func (s *Ledger) CreatePicked(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, d edit.Draft, p calendar.Poll,
) (calendar.Saved, error) {
	return s.create(ctx, c, cal, d, calendar.TellAll, func(ctx context.Context, w *work) error {
		return w.PickPoll(ctx, p)
	})
}
