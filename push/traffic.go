package push

import (
	"net/url"
	"strings"

	"caldav-mcp-server/calendar"
)

// Limits on the concurrent messages. A receiver that does not answer holds its messages until their timeout, so each
// user and each host has only a part of the slots.
const (
	slots   = 32
	perUser = 4
	perHost = 16
	// perPair limits the messages of one user to one host, so that a user's other receivers go on.
	perPair = 2
	// failingSlots and failingPerHost limit the messages to failing receivers, so that others at the same host go on.
	failingSlots, failingPerHost = 8, 4
	// failingMost limits the failing receivers in memory.
	failingMost = 100 * queueMost
)

// receiver is a host for one user: at a push service, the devices of some users may not answer while others do.
type receiver struct {
	user calendar.UserID
	host string
}

// receiverOf returns the receiver at an address.
func receiverOf(user calendar.UserID, address string) receiver {
	u, err := url.Parse(address)
	if err != nil {
		return receiver{user: user} // the message fails without being sent
	}
	return receiver{user, strings.ToLower(u.Host)}
}

// traffic counts the messages in flight.
type traffic struct {
	all   int
	users map[calendar.UserID]int
	hosts map[string]int
	pairs map[receiver]int
	// failing has the receivers whose last message failed. Messages to them count in retries and retriesAt.
	failing   map[receiver]bool
	retries   int
	retriesAt map[string]int
}

func newTraffic() *traffic {
	return &traffic{
		users: map[calendar.UserID]int{}, hosts: map[string]int{}, pairs: map[receiver]int{},
		failing: map[receiver]bool{}, retriesAt: map[string]int{},
	}
}

// room reports whether a message to a receiver may leave now, if there is a slot.
func (t *traffic) room(to receiver) bool {
	if t.failing[to] && (t.retries >= failingSlots || t.retriesAt[to.host] >= failingPerHost) {
		return false
	}
	return t.users[to.user] < perUser && t.hosts[to.host] < perHost && t.pairs[to] < perPair
}

// begin adds a message. It reports whether the receiver is failing, for end.
func (t *traffic) begin(to receiver) (failing bool) {
	failing = t.failing[to]
	t.add(to, failing, 1)
	return failing
}

// end removes a message that began, and notes whether it failed.
func (t *traffic) end(to receiver, failing, failed bool) {
	t.add(to, failing, -1)
	switch {
	case !failed:
		delete(t.failing, to)
	case len(t.failing) >= failingMost:
		clear(t.failing)
	default:
		t.failing[to] = true
	}
}

func (t *traffic) add(to receiver, failing bool, n int) {
	t.all += n
	count(t.users, to.user, n)
	count(t.hosts, to.host, n)
	count(t.pairs, to, n)
	if failing {
		t.retries += n
		count(t.retriesAt, to.host, n)
	}
}

func count[K comparable](m map[K]int, key K, n int) {
	if m[key] += n; m[key] == 0 {
		delete(m, key)
	}
}
