package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
)

// SetDeadProperties changes the properties that are kept of something; all changes are made or none.
// Those of a calendar may come along with the ones that are understood: see PatchCalendar.
func (s *Ledger) SetDeadProperties(ctx context.Context, c calendar.Caller, h calendar.Holder, edits []calendar.DeadProperty, when calendar.Precondition) error {
	h = c.Holder(h)
	if err := c.MayWrite(h); err != nil {
		return err
	}
	return s.change(ctx, c, func(w *work) error {
		if h.Place == calendar.AtObject {
			if err := w.touch(ctx, h, when); err != nil {
				return err
			}
		}
		return w.keep(ctx, h, edits)
	})
}

// touch gives an object a new version though its bytes stay: others shall hear of it.
func (w *work) touch(ctx context.Context, h calendar.Holder, when calendar.Precondition) error {
	if _, err := w.openTo(ctx, calendar.WriteObjects, h.Calendar.ID); err != nil {
		return err
	}
	o, err := w.find(ctx, h.Calendar, h.Object, when)
	if err != nil {
		return err
	}
	_, err = w.put(ctx, o, &o)
	return err
}

// keep is the part of a change that runs in its transaction.
func (w *work) keep(ctx context.Context, h calendar.Holder, edits []calendar.DeadProperty) error {
	if len(edits) == 0 {
		return nil
	}
	if err := calendar.CheckDeadProperties(edits); err != nil {
		return err
	}
	count, err := w.Tx.SetDeadProperties(ctx, h, edits)
	if err == nil && count > calendar.MaxDeadProperties {
		err = calendar.Errorf(calendar.TooLarge, calendar.RuleDiskSpace, "no more than %d properties are kept of one resource", calendar.MaxDeadProperties)
	}
	return err
}
