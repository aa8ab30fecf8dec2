package query

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// TrashedObjects yields the deleted objects of a calendar, the latest first.
func (s *Queries) TrashedObjects(ctx context.Context, c calendar.Caller, cal calendar.Calendar) iter.Seq2[calendar.TrashedObject, error] {
	return func(yield func(calendar.TrashedObject, error) bool) {
		if err := c.May(calendar.ReadObjects, cal); err != nil {
			yield(calendar.TrashedObject{}, err)
			return
		}
		for e, err := range s.store.Deletions(ctx, cal.ID) {
			o := calendar.TrashedObject{Entry: e}
			// What an older program took, and this one cannot read, is in the trash all the same.
			if text, unreadable := content.Read(e.Before, ical.Limits{}); unreadable == nil {
				o.Kind, o.Summary = calendar.Kind(text.Kind), text.Summary()
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}
