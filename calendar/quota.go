package calendar

import "context"

// Usage is the total of a user's own calendars, including those in the trash until they are deleted for good.
type Usage struct{ Calendars, Objects, Bytes int64 }

// Plus returns the sum.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Calendars + v.Calendars, u.Objects + v.Objects, u.Bytes + v.Bytes}
}

// Minus returns the difference.
func (u Usage) Minus(v Usage) Usage {
	return Usage{u.Calendars - v.Calendars, u.Objects - v.Objects, u.Bytes - v.Bytes}
}

// Quota limits a Usage. For a user, 0 means the server's setting and Unbounded means no limit. For the server's
// settings, 0 means no limit.
type Quota struct{ Calendars, Objects, Bytes int64 }

// Unbounded is the quota of a user without a limit, whatever the server's settings.
const Unbounded = -1

// Under returns the limits in force: the user's own, or the server's settings where the user has none. 0 means no
// limit.
func (q Quota) Under(settings Quota) Quota {
	return Quota{
		bound(q.Calendars, settings.Calendars), bound(q.Objects, settings.Objects), bound(q.Bytes, settings.Bytes),
	}
}

func bound(own, settings int64) int64 {
	if own == 0 {
		own = settings
	}
	return max(own, 0)
}

// A user with a quota of bytes may have a history of historyTimes the quota: the states that changes have replaced, as
// stored, which is compressed. historyLeast is the smallest quota for this.
const historyTimes, historyLeast = 4, 1 << 20

// History returns the bytes of a user's history that stay when it is trimmed, and the growth that leads to trimming
// again. It is for quotas that limit bytes.
func (q Quota) History() (step, most int64) {
	step = max(q.Bytes, historyLeast)
	return step, (historyTimes - 1) * step
}

// Exceeded returns the limit that this growth breaks. A value that has not grown breaks no limit, so users over
// their quota can reduce their usage step by step. The word is for use in a sentence; it is empty if no limit is
// broken.
func (q Quota) Exceeded(now, grown Usage) (what string, has, may int64) {
	for _, one := range [...]struct {
		what            string
		has, grown, may int64
	}{
		{"calendars", now.Calendars, grown.Calendars, q.Calendars},
		{"objects", now.Objects, grown.Objects, q.Objects},
		{"bytes", now.Bytes, grown.Bytes, q.Bytes},
	} {
		if one.may > 0 && one.grown > 0 && one.has > one.may {
			return one.what, one.has, one.may
		}
	}
	return "", 0, 0
}

// UsageReader is the part of a Store that reads usages.
type UsageReader interface {
	// Usage returns a user's usage; zero for an unknown user.
	Usage(ctx context.Context, user UserID) (Usage, error)
	// Usages returns the usage of every user who has any.
	Usages(ctx context.Context) (map[UserID]Usage, error)
}

// HistoryTrimmer is the part of a Store that bounds histories.
type HistoryTrimmer interface {
	// TrimHistory removes texts from the journals of a user's own calendars and from deleted objects in them, the
	// oldest first, until at most this many bytes are left. The journal's lines stay.
	TrimHistory(ctx context.Context, owner UserID, most int64) error
}

// UsageKeeper is the part of a Tx that updates usages.
type UsageKeeper interface {
	// Count adds the same growth to the usage of each calendar, which must be locked. It uses only Objects and
	// Bytes.
	Count(ctx context.Context, ids []CalendarID, grown Usage) error
	// UsageAlone is UsageReader.Usage within the transaction. It locks the user's usage: no other transaction can
	// increase it until this one ends. It must come after all calendar locks, and in the order of the users' IDs.
	UsageAlone(ctx context.Context, user UserID) (Usage, error)
}
