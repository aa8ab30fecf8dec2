package lookup

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/personal"
)

// AsSeen returns an object as the caller sees it. In a shared calendar the caller's private part replaces the
// owner's.
func (s *Reader) AsSeen(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, o calendar.Object,
) (calendar.Object, error) {
	if cal.Owner == c.User.ID {
		return o, nil
	}
	p, err := s.store.OwnPart(ctx, cal.ID, c.User.ID, o.UID)
	if err != nil {
		return calendar.Object{}, err
	}
	return Exchanged(m, o, p)
}

// Exchanged returns an object with a sharee's private part in place of the owner's. An object that an older version
// stored and that does not parse stays unchanged.
func Exchanged(m *meter.Meter, o calendar.Object, p calendar.OwnPart) (calendar.Object, error) {
	o.ETag = p.Tag(o.ETag)
	if len(o.Data) == 0 {
		return o, nil
	}
	if err := Weigh(m, o); err != nil {
		return o, err
	}
	defer m.Free(ReadFactor * int64(len(o.Data)))
	if text, _, err := personal.Exchange(o.Data, p.Data); err == nil {
		o.Data, o.Size = text, int64(len(text))
	}
	return o, nil
}
