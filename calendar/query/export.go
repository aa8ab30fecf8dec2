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

// Export writes a calendar and its objects as one iCalendar text and returns the number of objects. kinds selects some
// kinds; nil means all. Export streams, so that a calendar of any size takes little memory. Objects that an older
// version stored and this one cannot read go to unreadable; if that is nil, they are an error.
func (s *Queries) Export(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, kinds calendar.Kinds, to io.Writer,
	unreadable func(calendar.Object, error),
) (n int, err error) {
	if err := c.MayLook(cal); err != nil {
		return 0, err
	}
	if c.SeesBusyAlone(cal) {
		return s.exportBusy(ctx, m, c, cal, kinds, to)
	}
	return s.exportUnder(ctx, m, c, headerOf(cal), cal, kinds, to, unreadable)
}

// exportBusy is Export for a sharee with free/busy access only.
func (s *Queries) exportBusy(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, kinds calendar.Kinds, to io.Writer,
) (n int, err error) {
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

// Backup is Export plus the settings that an import needs to recreate the calendar.
func (s *Queries) Backup(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, to io.Writer,
	unreadable func(calendar.Object, error),
) (n int, err error) {
	if err := c.May(calendar.ReadObjects, cal); err != nil {
		return 0, err
	}
	return s.exportUnder(ctx, nil, c, backupHeader(cal), cal, nil, to, unreadable)
}

// ExportHeader writes the text of Export without any objects.
func (s *Queries) ExportHeader(cal calendar.Calendar, to io.Writer) error {
	return s.empty(headerOf(cal), to)
}

// BackupHeader writes the text of Backup without any objects.
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
	ctx context.Context, m *meter.Meter, c calendar.Caller, head archive.Header, cal calendar.Calendar,
	kinds calendar.Kinds, to io.Writer, unreadable func(calendar.Object, error),
) (n int, err error) {
	w, err := archive.NewWriter(to, head, s.zones)
	if err != nil {
		return 0, err
	}
	return s.exportTo(ctx, m, c, w, cal, kinds, unreadable)
}

// exportTo writes a calendar's objects and closes the text. The caller must have checked access.
func (s *Queries) exportTo(
	ctx context.Context, m *meter.Meter, c calendar.Caller, w *archive.Writer, cal calendar.Calendar,
	kinds calendar.Kinds, unreadable func(calendar.Object, error),
) (n int, err error) {
	mine, err := s.ownOf(ctx, m, c, cal, true)
	if err != nil {
		return 0, err
	}
	defer mine.done()
	for o, err := range s.store.At(cal).Objects(ctx, cal.ID,
		calendar.ObjectQuery{Kinds: kinds, WithData: true, Light: true}) {
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

// errGone means that an object was deleted during the export.
var errGone = errors.New("the object has gone meanwhile")

// exportOne writes one object. The meter counts the memory to read it.
func (s *Queries) exportOne(
	ctx context.Context, m *meter.Meter, w *archive.Writer, o calendar.Object, mine *own,
) error {
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
	h.Backup = &archive.Backup{
		Address: string(cal.Address()), Order: cal.Order, Transparent: cal.Transparent, Hidden: cal.Hidden,
	}
	for _, k := range cal.Kinds {
		h.Backup.Kinds = append(h.Backup.Kinds, string(k))
	}
	return h
}
