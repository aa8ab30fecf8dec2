package ledger

import (
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/schedule"
)

// What one sender may bring into one user's account in a day: new events, proposals of other times, and bytes of events and
// messages. Nobody's working day has as much, and no account is full of it in a week. Of proposals a list looks at the latest
// hundred, which are to be no single guest's.
const (
	broughtEvents    = 500
	broughtProposals = 50
	broughtBytes     = 32 << 20
	broughtDay       = 24 * time.Hour
	// broughtMost bounds how many pairs are counted at once; one that is forgotten may do as much again.
	broughtMost = 100_000
)

// delivering is what a sender brings to a user. From is a user's id, or the address of somebody elsewhere.
type delivering struct {
	from string
	to   calendar.UserID
}

// burden is how much was brought since a time.
type burden struct {
	since             time.Time
	events, proposals int
	bytes             int64
}

// with is that and more.
func (b burden) with(more burden) burden {
	b.events, b.proposals, b.bytes = b.events+more.events, b.proposals+more.proposals, b.bytes+more.bytes
	return b
}

// tooMuch tells whether it is more than one may bring.
func (b burden) tooMuch() bool {
	return b.events > broughtEvents || b.proposals > broughtProposals || b.bytes > broughtBytes
}

// deliveries counts what senders brought to users. Each process counts for itself, from its start: what is bounded is how
// fast an account fills, and not a right that somebody has.
type deliveries struct {
	mu    sync.Mutex
	known map[delivering]burden
}

// of is what was brought within the day.
func (d *deliveries) of(which delivering, now time.Time) burden {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.known[which]
	if !now.Before(b.since.Add(broughtDay)) {
		b = burden{since: now}
	}
	return b
}

// add notes what was brought, once it is kept.
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

// mayBring tells whether a sender may bring a user so much more, and counts it for the change under way. What takes no room,
// such as that an event is called off, comes always.
func (w *work) mayBring(which delivering, more burden) bool {
	if more == (burden{}) {
		return true
	}
	now := w.brings[which].with(more)
	if w.brought.of(which, w.now()).with(now).tooMuch() {
		return false
	}
	if w.brings == nil {
		w.brings = map[delivering]burden{}
	}
	w.brings[which] = now
	return true
}

// admits tells whether a message of an organizer's is not too much for one day. What others have answered, and that an event is
// called off, comes always.
func (m *meeting) admits(from string, msg schedule.Message, user calendar.User, a *calendar.Appointment, made version, i calendar.InboxItem) bool {
	if msg.Refresh || msg.Method == schedule.Cancel {
		return true
	}
	more := burden{bytes: max(0, int64(len(made.data))-a.Size) + int64(len(i.Data))}
	if a.ETag == "" {
		more.events = 1
	}
	return m.mayBring(delivering{from, user.ID}, more)
}

// errBrought refuses what somebody elsewhere brings beyond that.
func errBrought() error {
	return calendar.Errorf(calendar.TooLarge, calendar.RuleQuota, "this sender has brought the user as much today as one may")
}
