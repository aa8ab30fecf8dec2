package calendar

import "context"

// Usage is what a user's own calendars take, those in the trash included: each counts until it is gone for good.
type Usage struct{ Calendars, Objects, Bytes int64 }

// Plus adds two.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Calendars + v.Calendars, u.Objects + v.Objects, u.Bytes + v.Bytes}
}

// Minus is by how much a usage is more than another.
func (u Usage) Minus(v Usage) Usage {
	return Usage{u.Calendars - v.Calendars, u.Objects - v.Objects, u.Bytes - v.Bytes}
}

// Quota bounds a Usage. Of a user, 0 is what the server's settings say and Unbounded no bound; of the settings, 0 is no bound.
type Quota struct{ Calendars, Objects, Bytes int64 }

// Unbounded is the quota of a user who may have any number, whatever the settings say.
const Unbounded = -1

// Under returns the bounds in force: those of a user, and where they have none those of the settings. 0 is no bound.
func (q Quota) Under(settings Quota) Quota {
	return Quota{bound(q.Calendars, settings.Calendars), bound(q.Objects, settings.Objects), bound(q.Bytes, settings.Bytes)}
}

func bound(own, settings int64) int64 {
	if own == 0 {
		own = settings
	}
	return max(own, 0)
}

// Exceeded tells which bound a usage that grew by some breaks: what has not grown breaks none, so that anyone who has too
// much can make it less in steps. The word is fit for a sentence, and empty where all is well.
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

// UsageReader is the part of a Store that knows what users have.
type UsageReader interface {
	// Usage returns what a user has; of nobody, nothing.
	Usage(ctx context.Context, user UserID) (Usage, error)
	// Usages returns what each user has who has anything.
	Usages(ctx context.Context) (map[UserID]Usage, error)
}

// UsageKeeper is the part of a Tx that counts.
type UsageKeeper interface {
	// Count adds as much to what each of some calendars holds, which are locked; only Objects and Bytes are looked at.
	Count(ctx context.Context, ids []CalendarID, grown Usage) error
	// UsageAlone is UsageReader.Usage within the transaction, which nobody else's growth of the same user passes until it
	// has ended. It comes after all calendars are locked; of several users in the order of their ids.
	UsageAlone(ctx context.Context, user UserID) (Usage, error)
}
