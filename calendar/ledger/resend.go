package ledger

import (
	"context"
	"slices"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

const (
	// resendAfter is how long a guest elsewhere who was told anew is not told again.
	resendAfter = time.Hour
	// resendsMost bounds what is remembered of that.
	resendsMost = 10000
)

// resending is an event of an organizer that a guest asks for.
type resending struct {
	organizer calendar.UserID
	uid       calendar.UID
	guest     schedule.Address
}

// resends remembers when guests were told anew.
type resends struct {
	mutex sync.Mutex
	at    map[resending]time.Time
}

// lately tells whether somebody was told a short while ago.
func (r *resends) lately(which resending, now time.Time) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	at, known := r.at[which]
	return known && now.Before(at.Add(resendAfter))
}

// add notes who was told, once it is kept.
func (r *resends) add(all []resending, now time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, which := range all {
		if r.at == nil || len(r.at) >= resendsMost {
			r.at = map[resending]time.Time{}
		}
		r.at[which] = now
	}
}

// resend tells a guest elsewhere anew what they take part in, as they asked to be told (RFC 5546 §3.2.6).
func (m *meeting) resend(ctx context.Context, organizer calendar.User, guest schedule.Address) error {
	a, stored, err := m.organizedBy(ctx, organizer, "the question is about")
	if err != nil {
		return err
	}
	if _, here := m.parties[guest]; here || !slices.Contains(schedule.Attendees(stored), guest) {
		return calendar.Errorf(calendar.Forbidden, "", "who asks is not invited to the event from here")
	}
	which := resending{organizer.ID, a.UID, guest}
	if m.resends.lately(which, m.now()) {
		return calendar.Errorf(calendar.Forbidden, "", "who asks was sent the event within the hour")
	}
	m.resent = append(m.resent, which)
	m.next = stored
	all, err := m.rules.Refreshed(ctx, stored, []schedule.Address{guest})
	if err != nil {
		return notApplied(err)
	}
	for _, msg := range all {
		msg.Refresh = false // they are to hear of it
		if _, err := m.post(msg); err != nil {
			return notApplied(err)
		}
	}
	return nil
}
