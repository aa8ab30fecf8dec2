package change

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
)

// shownMost bounds the objects of a calendar that are passed to Config.Written.
const shownMost = 256

// Note records a written object, up to the limit.
func (cal *LockedCalendar) Note(o calendar.Object) {
	if len(cal.written) <= shownMost {
		o.Data = nil
		cal.written = append(cal.written, o)
	}
}

// Grow counts the growth of a calendar. Growth from another user's change counts, but is never refused: an organizer
// cannot know the attendees' quotas.
func (cal *LockedCalendar) Grow(objects, bytes int64, scheduled bool) {
	by := calendar.Usage{Objects: objects, Bytes: bytes}
	cal.Grown = cal.Grown.Plus(by)
	if !scheduled {
		cal.Wanted = cal.Wanted.Plus(by)
	}
}

// sizeOf returns the usage of an object, or zero if it is nil or deleted.
func sizeOf(o *calendar.Object) (objects, bytes int64) {
	if o == nil || o.Deleted {
		return 0, 0
	}
	return 1, o.Size
}

// CheckQuotas stores the growth of calendars and checks the quotas of their owners.
func (w *Tx) CheckQuotas(ctx context.Context) error {
	wanted, quotas := map[calendar.UserID]calendar.Usage{}, map[calendar.UserID]calendar.Quota{}
	alike := map[calendar.Usage][]calendar.CalendarID{} // the copies of an event have the same size
	for _, cal := range w.Locked {
		if cal.Grown != cal.counted {
			more := cal.Grown.Minus(cal.counted)
			alike[more] = append(alike[more], cal.ID)
		}
		wanted[cal.Owner] = wanted[cal.Owner].Plus(cal.Wanted)
		quotas[cal.Owner] = cal.OwnerQuota
	}
	for more, ids := range alike {
		if err := w.Count(ctx, ids, more); err != nil {
			return err
		}
	}
	if w.NoQuota {
		return nil
	}
	for _, owner := range slices.SortedFunc(maps.Keys(wanted), cmp.Compare) {
		if err := w.afford(ctx, owner, quotas[owner], wanted[owner]); err != nil {
			return err
		}
	}
	return nil
}

// exceeded are the messages for each limit of a quota.
var exceeded = map[string]string{
	"calendars": "that would be %d calendars, and the account may have %d",
	"objects":   "that would be %d objects, and the account may have %d",
	"bytes":     "that would be %d bytes, and the account may have %d",
}

// afford refuses growth over a user's quota. It reads the usage only if there is a quota and growth.
func (w *Tx) afford(ctx context.Context, owner calendar.UserID, q calendar.Quota, grown calendar.Usage) error {
	if !w.bounded(q, grown) {
		return nil
	}
	q = q.Under(w.writer.reader.Policy().Quota)
	now, err := w.UsageAlone(ctx, owner)
	if err != nil {
		return err
	}
	what, has, may := q.Exceeded(now.Plus(w.Foreseen[owner]), grown)
	switch {
	case what == "":
		return nil
	case owner != w.Caller.User.ID:
		return calendar.Errorf(calendar.TooLarge, calendar.RuleQuota,
			"the calendar's owner has reached a limit of their account")
	}
	return calendar.Errorf(calendar.TooLarge, calendar.RuleQuota, exceeded[what], has, may).
		Advising("delete calendars and events (a deleted calendar counts until the trash is emptied), or ask the " +
			"administrator for more room")
}

// bounded reports whether any quota limits this growth.
func (w *Tx) bounded(q calendar.Quota, grown calendar.Usage) bool {
	what, _, _ := q.Under(w.writer.reader.Policy().Quota).Exceeded(calendar.Usage{
		Calendars: most, Objects: most, Bytes: most,
	}, grown)
	return what != ""
}

// most exceeds every quota.
const most = int64(1) << 62
