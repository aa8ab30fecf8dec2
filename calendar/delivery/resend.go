package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

const (
	// resendAfter is the shortest time between two copies of an event for the same external attendee.
	resendAfter = time.Hour
	// resendsMost bounds the number of remembered copies.
	resendsMost = 10000
)

// copyRequest is an organizer's event that an attendee has asked for.
type copyRequest struct {
	organizer calendar.UserID
	uid       calendar.UID
	guest     schedule.Address
}

// resends remembers when attendees last got a copy.
type resends struct {
	mutex sync.Mutex
	at    map[copyRequest]time.Time
}

// lately reports whether an attendee got a copy within resendAfter.
func (r *resends) lately(which copyRequest, now time.Time) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	at, known := r.at[which]
	return known && now.Before(at.Add(resendAfter))
}

// add records copies after they were committed.
func (r *resends) add(all []copyRequest, now time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, which := range all {
		if r.at == nil || len(r.at) >= resendsMost {
			r.at = map[copyRequest]time.Time{}
		}
		r.at[which] = now
	}
}

// resend sends an external attendee a new copy of the event, at their request (REFRESH, RFC 5546 §3.2.6).
func (m *incoming) resend(ctx context.Context) error {
	organizer, guest := m.user, m.from
	a, stored, err := m.organizedBy(ctx, organizer, "the question is about")
	if err != nil {
		return err
	}
	if _, here := m.parties[guest]; here || !slices.Contains(schedule.Attendees(stored), guest) {
		return calendar.Errorf(calendar.Forbidden, "", "the sender is not an external attendee of the event")
	}
	which := copyRequest{organizer.ID, a.UID, guest}
	if m.resends.lately(which, m.Now()) {
		return calendar.Errorf(calendar.Forbidden, "", "the sender was sent the event less than an hour ago")
	}
	m.resent = append(m.resent, which)
	m.next = stored
	all, err := m.rules.Refreshed(ctx, stored, []schedule.Address{guest})
	if err != nil {
		return notApplied(err)
	}
	for _, msg := range all {
		msg.Refresh = false // this message must be delivered
		if _, err := m.post(msg); err != nil {
			return notApplied(err)
		}
	}
	return nil
}
