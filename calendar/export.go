package calendar

import (
	"context"
	"io"

	"caldav-mcp-server/calendar/bundle"
)

// Export writes a calendar with all of its objects as one iCalendar text. It reads as it
// writes, so that a calendar of any size takes little memory.
func (s *Service) Export(ctx context.Context, c Caller, cal Calendar, out io.Writer) error {
	if err := c.May(ReadObjects, cal); err != nil {
		return err
	}
	w, err := bundle.NewWriter(out, headOf(cal))
	if err != nil {
		return err
	}
	for o, err := range s.store.Objects(ctx, cal.ID, ObjectQuery{WithData: true}) {
		if err != nil {
			return err
		}
		if err := w.Add(o.Data); err != nil {
			return Errorf(Internal, "", "%s: %v", o.Name, err)
		}
	}
	return w.Close()
}

func headOf(cal Calendar) bundle.Head {
	h := bundle.Head{ProductID: productID, Name: cal.Name, Timezone: cal.Timezone}
	if cal.Description != nil {
		h.Description = *cal.Description
	}
	if cal.Color != nil {
		h.Color = *cal.Color
	}
	return h
}
