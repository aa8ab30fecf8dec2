package query

import (
	"context"
	"iter"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
)

// QueryMessages yields the messages in the caller's inbox that match a filter, the latest last.
func (s *Queries) QueryMessages(ctx context.Context, c calendar.Caller, q Query) iter.Seq2[calendar.InboxItem, error] {
	if err := q.Filter.Check(); err != nil {
		return failed[calendar.InboxItem](unknownCollation(err))
	}
	all, err := s.Messages(ctx, c)
	if err != nil {
		return failed[calendar.InboxItem](err)
	}
	in := filter.Context{Zones: s.zones, Floating: q.Timezone, Budget: answerBudget(), Meter: q.Meter}
	if in.Floating == nil {
		in.Floating, _ = s.zones.Lookup(c.User.Timezone)
	}
	return func(yield func(calendar.InboxItem, error) bool) {
		for _, i := range all {
			ok, err := matches(ctx, q.Filter, candidate{Object: i.Object()}, in)
			if (ok || err != nil) && (!yield(i, err) || err != nil) {
				return
			}
		}
	}
}
