package query

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// TrashedObjects yields the deleted objects of a calendar, the latest first.
func (s *Queries) TrashedObjects(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar,
) iter.Seq2[calendar.Change, error] {
	return func(yield func(calendar.Change, error) bool) {
		if err := c.May(calendar.ReadObjects, cal); err != nil {
			yield(calendar.Change{}, err)
			return
		}
		for e, err := range s.store.Deletions(ctx, cal.ID) {
			e.In = cal
			// An object that an older version stored and this one cannot read is in the trash, too.
			if text, unreadable := content.Read(e.Before, ical.Limits{}); unreadable == nil {
				e.Kind, e.Summary = calendar.Kind(text.Kind), text.Summary()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
