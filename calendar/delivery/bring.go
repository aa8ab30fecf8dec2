package delivery

import (
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// Daily limits of one sender for one recipient: new events, counter-proposals, and bytes of events and messages. They
// exceed any normal working day, and keep an account from being filled within a week. The list of proposals shows the
// latest hundred, so one attendee may not fill it.
const (
	broughtEvents    = 500
	broughtProposals = 50
	broughtBytes     = 32 << 20
	broughtDay       = 24 * time.Hour
	// broughtMost bounds the number of counters. Dropping a counter restarts its limit.
	broughtMost = 100_000
)

// delivering is a pair of sender and recipient. from is a user's id, or an external address.
type delivering struct {
	from string
	to   calendar.UserID
}

// burden is the amount delivered since a time.
type burden struct {
	since             time.Time
	events, proposals int
	bytes             int64
}

// with returns the sum.
func (b burden) with(more burden) burden {
	b.events, b.proposals, b.bytes = b.events+more.events, b.proposals+more.proposals, b.bytes+more.bytes
	return b
}

// tooMuch reports whether the amount exceeds a limit.
func (b burden) tooMuch() bool {
	return b.events > broughtEvents || b.proposals > broughtProposals || b.bytes > broughtBytes
}

// deliveries counts deliveries. Each process counts by itself from its start. That is good enough, because the limits
// only bound how fast an account fills.
type deliveries struct {
	mu    sync.Mutex
	known map[delivering]burden
}

// of returns the amount of the current day.
func (d *deliveries) of(which delivering, now time.Time) burden {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.known[which]
	if !now.Before(b.since.Add(broughtDay)) {
		b = burden{since: now}
	}
	return b
}

// add counts deliveries after they were committed.
func (d *deliveries) add(all map[delivering]burden, now time.Time) {
	for which, more := range all {
		b := d.of(which, now).with(more)
		d.mu.Lock()
		if d.known == nil || len(d.known) >= broughtMost {
			d.known = map[delivering]burden{}
		}
		d.known[which] = b
		d.mu.Unlock()
	}
}

// mayBring reports whether a sender may deliver this much more to a user, and counts it for the current change.
// Messages that take no space, such as cancellations, are always delivered.
func (w *Work) mayBring(which delivering, more burden) bool {
	if more == (burden{}) {
		return true
	}
	now := w.brings[which].with(more)
	if w.brought.of(which, w.Now()).with(now).tooMuch() {
		return false
	}
	if w.brings == nil {
		w.brings = map[delivering]burden{}
	}
	w.brings[which] = now
	return true
}

// admits reports whether an organizer's message is within the daily limits. Cancellations and other attendees' answers
// are always delivered.
func (m *meeting) admits(
	from string, msg schedule.Message, user calendar.User, a *calendar.Appointment, made version, i calendar.InboxItem,
) bool {
	if msg.Refresh || msg.Method == schedule.Cancel {
		return true
	}
	more := burden{bytes: max(0, int64(len(made.data))-a.Size) + int64(len(i.Data))}
	if a.ETag == "" {
		more.events = 1
	}
	return m.mayBring(delivering{from, user.ID}, more)
}

// errBrought is the error for an external message that exceeds the limits.
func errBrought() error {
	return calendar.Errorf(calendar.TooLarge, calendar.RuleQuota,
		"this sender has reached the daily limit for messages to this user")
}
