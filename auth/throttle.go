package auth

import (
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// Rate is how often something may be done: Burst times at once, then once in Every.
type Rate struct {
	Burst int
	Every time.Duration
}

// ThrottledError says that too many wrong credentials came from where this one came from.
type ThrottledError struct {
	// RetryAfter is when it makes sense to try again.
	RetryAfter time.Duration
}

// Error tells how long to wait, in whole seconds.
func (t *ThrottledError) Error() string {
	return fmt.Sprintf("too many failed logins; try again in %d s", t.Seconds())
}

// Seconds returns RetryAfter as the header of that name has it.
func (t *ThrottledError) Seconds() int { return seconds(t.RetryAfter) }

// seconds rounds up: to come back a moment too early is to be refused again.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

// account is what guesses are counted for: a user name or a token's id, whether it exists or not.
type account string

// pair is an account as tried from one network.
type pair struct {
	account account
	network netip.Prefix
}

// throttle counts wrong credentials before they cost anything. A pair that is flooded blocks
// neither another account from the same network nor the same account from another one, so that
// nobody can be locked out by a stranger; the count by network alone stops who walks through
// the accounts.
type throttle struct {
	now             func() time.Time
	perPair, perNet Rate

	mu    sync.Mutex
	pairs *lru[pair, time.Time]
	nets  *lru[netip.Prefix, time.Time]
}

func newThrottle(now func() time.Time, l Limits) *throttle {
	return &throttle{
		now: now, perPair: l.PerAccount, perNet: l.PerNetwork,
		pairs: newLRU[pair, time.Time](l.Buckets), nets: newLRU[netip.Prefix, time.Time](l.Buckets),
	}
}

// take pays for one guess; only what is admitted is counted, so a flood that is refused already
// neither drains the network's bucket nor pushes other buckets out.
func (t *throttle) take(p pair) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	ofPair, _ := t.pairs.get(p)
	ofNet, _ := t.nets.get(p.network)
	ofPair, waitPair := t.perPair.take(ofPair, now)
	ofNet, waitNet := t.perNet.take(ofNet, now)
	if wait := max(waitPair, waitNet); wait > 0 {
		return &ThrottledError{RetryAfter: wait}
	}
	t.pairs.put(p, ofPair)
	t.nets.put(p.network, ofNet)
	return nil
}

// giveBack returns what take took: the credential was right, or nothing was computed.
func (t *throttle) giveBack(p pair) {
	t.mu.Lock()
	defer t.mu.Unlock()
	giveBack(t.pairs, p, t.perPair.Every)
	giveBack(t.nets, p.network, t.perNet.Every)
}

func giveBack[K comparable](buckets *lru[K, time.Time], key K, every time.Duration) {
	if full, ok := buckets.get(key); ok {
		buckets.put(key, full.Add(-every))
	}
}

// take moves on the time at which a bucket is full again, which is all that a bucket has to
// remember. A positive wait means that it is empty.
func (r Rate) take(full, now time.Time) (next time.Time, wait time.Duration) {
	whole := time.Duration(r.Burst) * r.Every
	if full.Before(now) {
		full = now
	}
	// A clock that was set back must not keep anybody out for as long.
	if full.After(now.Add(whole)) {
		full = now.Add(whole)
	}
	next = full.Add(r.Every)
	return next, next.Sub(now) - whole
}

// networkOf returns the network that an address is counted under: itself for IPv4, its /64 for
// IPv6, which is what a single subscriber has. What is no address shares one bucket.
func networkOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
