package lookup

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/meter"
)

// ReadFactor is the memory of a parsed object relative to the size of its text.
const ReadFactor = 7

// Weigh charges a meter for parsing an object.
func Weigh(m *meter.Meter, o calendar.Object) error {
	if err := m.Text(len(o.Data)); err != nil {
		return err
	}
	return m.Hold(ReadFactor * int64(len(o.Data)))
}

// Load reads an object's data if it was left out. It first charges the meter for three copies: the driver's, the
// store's, and the one for the response.
func (s *Reader) Load(ctx context.Context, m *meter.Meter, o calendar.Object) (calendar.Object, error) {
	if !o.Light() {
		return o, nil
	}
	if err := m.Text(int(o.Size)); err != nil {
		return calendar.Object{}, err
	}
	if err := m.Hold(3 * o.Size); err != nil {
		return calendar.Object{}, err
	}
	id, name := o.Calendar, o.Name
	o, err := calendar.Object{}, calendar.ErrNoObject(name) // if it has gone meanwhile
	for only, failed := range s.store.Objects(ctx, id,
		calendar.ObjectQuery{Names: []calendar.ObjectName{name}, WithData: true}) {
		o, err = only, failed
	}
	if err == nil {
		err = o.CheckText()
	}
	return o, err
}
