package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
)

// Usage returns the caller's usage and quota. It is forbidden to a token limited to some calendars.
func (s *Ledger) Usage(ctx context.Context, c calendar.Caller) (calendar.Usage, calendar.Quota, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return calendar.Usage{}, calendar.Quota{}, err
	}
	now, err := s.store.Usage(ctx, c.User.ID)
	return now, c.User.Quota.Under(s.Policy().Quota), err
}
