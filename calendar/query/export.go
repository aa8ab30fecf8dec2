package query

import (
	"cmp"
	"context"
	"errors"
	"io"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/calendar/meter"
)

// Export writes a calendar with its objects, those of some kinds or, for nil, all, as one iCalendar
// text, and returns how many it wrote. It reads as it writes, so that a calendar of any size takes little memory. What an
// older program took and this one cannot read goes to unreadable instead; without that, it
// is an error.
func (s *Queries) Export(ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, kinds calendar.Kinds, to io.Writer, unreadable func(calendar.Object, error)) (n int, err error) {
	if err := c.MayLook(cal); err != nil {
		return 0, err
	}
	if c.SeesBusyAlone(cal) {
		return s.exportBusy(ctx, m, c, cal, kinds, to)
	}
	return s.exportUnder(ctx, m, c, headerOf(cal), cal, kinds, to, unreadable)
}

// exportBusy is Export for a sharee of only the busy times.
func (s *Queries) exportBusy(ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, kinds calendar.Kinds, to io.Writer) (n int, err error) {
	w, err := archive.NewWriter(to, archive.Header{Name: cal.Name}, s.zones)
	if err != nil {
		return 0, err
	}
	for o, err := range s.seen(ctx, m, c, cal, calendar.ObjectQuery{Kinds: kinds, WithData: true}) {
		if err == nil {
			err = w.Add(o.Data)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, w.Close()
}

// Backup is Export with all that an import needs to make the same calendar of it.
func (s *Queries) Backup(ctx context.Context, c calendar.Caller, cal calendar.Calendar, to io.Writer, unreadable func(calendar.Object, error)) (n int, err error) {
	if err := c.May(calendar.ReadObjects, cal); err != nil {
		return 0, err
	}
	return s.exportUnder(ctx, nil, c, backupHeader(cal), cal, nil, to, unreadable)
}

// ExportHeader and BackupHeader are what Export and Backup write of a calendar beside its objects.
func (s *Queries) ExportHeader(cal calendar.Calendar, to io.Writer) error {
	return s.empty(headerOf(cal), to)
}

// BackupHeader is as above.
func (s *Queries) BackupHeader(cal calendar.Calendar, to io.Writer) error {
	return s.empty(backupHeader(cal), to)
}

func (s *Queries) empty(head archive.Header, to io.Writer) error {
	w, err := archive.NewWriter(to, head, s.zones)
	if err != nil {
		return err
	}
	return w.Close()
}

func (s *Queries) exportUnder(
	ctx context.Context, m *meter.Meter, c calendar.Caller, head archive.Header, cal calendar.Calendar, kinds calendar.Kinds, to io.Writer, unreadable func(calendar.Object, error),
) (n int, err error) {
	w, err := archive.NewWriter(to, head, s.zones)
	if err != nil {
		return 0, err
	}
	return s.exportTo(ctx, m, c, w, cal, kinds, unreadable)
}

// exportTo writes a calendar's objects and ends the text. Whether the caller may read them is known.
func (s *Queries) exportTo(ctx context.Context, m *meter.Meter, c calendar.Caller, w *archive.Writer, cal calendar.Calendar, kinds calendar.Kinds, unreadable func(calendar.Object, error)) (n int, err error) {
	mine, err := s.ownOf(ctx, m, c, cal, true)
	if err != nil {
		return 0, err
	}
	defer mine.done()
	for o, err := range s.store.At(cal).Objects(ctx, cal.ID, calendar.ObjectQuery{Kinds: kinds, WithData: true, Light: true}) {
		if err = cmp.Or(err, ctx.Err()); err == nil {
			err = s.exportOne(ctx, m, w, o, mine)
		}
		switch {
		case errors.Is(err, errGone):
		case unreadable != nil && (errors.Is(err, archive.ErrUnreadable) || errors.Is(err, calendar.ErrNoText)):
			unreadable(o, err)
		case err != nil:
			return n, err
		default:
			n++
		}
	}
	return n, w.Close()
}

// errGone says that an object has gone while others were written.
var errGone = errors.New("the object has gone meanwhile")

// exportOne writes one object. The meter knows of what it takes to read it.
func (s *Queries) exportOne(ctx context.Context, m *meter.Meter, w *archive.Writer, o calendar.Object, mine *own) error {
	before := m.Held()
	defer func() { m.Free(m.Held() - before) }()
	c := candidate{Object: o}
	if o.Light() {
		var err error
		if c, err = s.loaded(ctx, m, c); err != nil && calendar.ReasonOf(err) == calendar.NotFound {
			return errGone
		} else if err != nil {
			return err
		}
	}
	c, err := mine.seen(c)
	if err != nil {
		return err
	}
	if err := c.weigh(m); err != nil {
		return err
	}
	return w.Add(c.Data)
}

func headerOf(cal calendar.Calendar) archive.Header {
	h := archive.Header{Name: cal.Name, Timezone: cal.Timezone}
	if cal.Description != nil {
		h.Description = *cal.Description
	}
	if cal.Color != nil {
		h.Color = *cal.Color
	}
	return h
}

func backupHeader(cal calendar.Calendar) archive.Header {
	h := headerOf(cal)
	h.Backup = &archive.Backup{Address: string(cal.Address()), Order: cal.Order, Transparent: cal.Transparent, Hidden: cal.Hidden}
	for _, k := range cal.Kinds {
		h.Backup.Kinds = append(h.Backup.Kinds, string(k))
	}
	return h
}
