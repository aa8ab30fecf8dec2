package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
)

// SetDeadProperties changes the dead properties of a resource: all or none. PatchCalendar changes a calendar's dead
// properties together with its live ones.
func (s *Ledger) SetDeadProperties(
	ctx context.Context, c calendar.Caller, h calendar.Holder, edits []calendar.DeadProperty,
	when calendar.Precondition,
) error {
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

// touch gives an object a new version with the same bytes, so that clients notice. The journal gets no entry, as for
// the dead properties of calendars: the entry would repeat the bytes, up to 4 MB for a request of a hundred bytes.
func (w *work) touch(ctx context.Context, h calendar.Holder, when calendar.Precondition) error {
	if _, err := w.LockFor(ctx, calendar.WriteObjects, h.Calendar.ID); err != nil {
		return err
	}
	o, err := w.FindObject(ctx, h.Calendar, h.Object, when)
	if err != nil {
		return err
	}
	cal, err := w.NextVersion(ctx, h.Calendar.ID)
	if err != nil {
		return err
	}
	o.Version = cal.Version
	if err := w.TouchObject(ctx, o.Calendar, o.Name, o.Version); err != nil {
		return err
	}
	cal.Note(o)
	return nil
}

// renote records that the dead properties of a subscription have changed: they may contain the URL that the server
// follows.
func (w *work) renote(h calendar.Holder) {
	if h.Place == calendar.AtCalendar && h.Calendar.Followed() {
		w.NoteFollowed(h.Calendar)
	}
}

// keep is the transactional part. The dead properties of objects count towards their calendar, because there may be any
// number of them.
func (w *work) keep(ctx context.Context, h calendar.Holder, edits []calendar.DeadProperty) error {
	if len(edits) == 0 {
		return nil
	}
	if err := calendar.CheckDeadProperties(edits); err != nil {
		return err
	}
	w.renote(h)
	all, grown, err := w.Tx.SetDeadProperties(ctx, h, edits)
	if err == nil {
		err = calendar.CheckKept(all, grown)
	}
	if cal := w.Locked[h.Calendar.ID]; h.Place == calendar.AtObject && cal != nil {
		cal.Grow(0, grown, false)
	}
	return err
}
