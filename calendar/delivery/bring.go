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
	dailyEvents    = 500
	dailyProposals = 50
	dailyBytes     = 32 << 20
	// proposalMost and proposalBytes limit the undecided proposals to a user. dailyProposalBytes leaves room for other
	// senders.
	dailyProposalBytes = 8 << 20
	proposalMost       = 500
	proposalBytes      = 32 << 20
	dayLength          = 24 * time.Hour
	// countersMost bounds the number of counters. Dropping a counter restarts its limit.
	countersMost = 100_000
)

// route is a pair of sender and recipient. from is a user's id, or an external address.
type route struct {
	from string
	to   calendar.UserID
}

// amount is the amount delivered since a time.
type amount struct {
	since             time.Time
	events, proposals int
	bytes             int64
	proposalBytes     int64
}

// with returns the sum.
func (b amount) with(more amount) amount {
	b.events, b.proposals, b.bytes = b.events+more.events, b.proposals+more.proposals, b.bytes+more.bytes
	b.proposalBytes += more.proposalBytes
	return b
}

// tooMuch reports whether the amount exceeds a limit.
func (b amount) tooMuch() bool {
	return b.events > dailyEvents || b.proposals > dailyProposals || b.bytes > dailyBytes ||
		b.proposalBytes > dailyProposalBytes
}

// deliveries counts deliveries. Each process counts by itself from its start. That is good enough, because the limits
// only bound how fast an account fills.
type deliveries struct {
	mu    sync.Mutex
	known map[route]amount
}

// of returns the amount of the current day.
func (d *deliveries) of(which route, now time.Time) amount {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.known[which]
	if !now.Before(b.since.Add(dayLength)) {
		b = amount{since: now}
	}
	return b
}

// add counts deliveries after they were committed.
func (d *deliveries) add(all map[route]amount, now time.Time) {
	for which, more := range all {
		b := d.of(which, now).with(more)
		d.mu.Lock()
		if d.known == nil || len(d.known) >= countersMost {
			d.known = map[route]amount{}
		}
		d.known[which] = b
		d.mu.Unlock()
	}
}

// mayDeliver reports whether a sender may deliver this much more to a user, and counts it for the current change.
// Messages that take no space, such as cancellations, are always delivered.
func (w *Work) mayDeliver(which route, more amount) bool {
	if more == (amount{}) {
		return true
	}
	now := w.delivered[which].with(more)
	if w.deliveries.of(which, w.Now()).with(now).tooMuch() {
		return false
	}
	if w.delivered == nil {
		w.delivered = map[route]amount{}
	}
	w.delivered[which] = now
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
	more := amount{bytes: max(0, int64(len(made.data))-a.Size) + int64(len(i.Data))}
	if a.ETag == "" {
		more.events = 1
	}
	return m.mayDeliver(route{from, user.ID}, more)
}

// errFullOfProposals refuses a proposal while the organizer has not decided about others. An older one does not make
// room, because its sender was told that it arrived. A mail is tried again later.
var errFullOfProposals = calendar.Errorf(calendar.Unavailable, "", "the organizer has too many undecided proposals")

// errDailyLimit is the error for an external message that exceeds the limits.
func errDailyLimit() error {
	return calendar.Errorf(calendar.TooLarge, calendar.RuleQuota,
		"this sender has reached the daily limit for messages to this user")
}
