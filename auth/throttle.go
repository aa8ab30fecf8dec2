package auth

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
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
// nobody can be locked out by a stranger; the count by network alone stops an attacker who walks through
// the accounts.
type throttle struct {
	now func() time.Time

	mu sync.Mutex
	// pairs, nets and sites are buckets, each kind by when it is full again.
	pairs       buckets[pair]
	nets, sites buckets[netip.Prefix]
	steps       buckets[calendar.UserID]
	// wrongs are the wrong credentials of a site in the last hours.
	wrongs buckets[netip.Prefix]
}

// wrongRate forgets one wrong credential every ten minutes. Its burst bounds the count; it refuses no attempt.
var wrongRate = Rate{Burst: 1000, Every: 10 * time.Minute}

func newThrottle(now func() time.Time, l Limits) *throttle {
	return &throttle{
		now:   now,
		pairs: newBuckets[pair](l.PerAccount, l.Buckets),
		nets:  newBuckets[netip.Prefix](l.PerNetwork, l.Buckets),
		sites: newBuckets[netip.Prefix](l.PerSite, l.Buckets),
		steps: newBuckets[calendar.UserID](l.PerSecondStep, l.Buckets), wrongs: newBuckets[netip.Prefix](wrongRate, l.Buckets),
	}
}

// take pays for one guess; only what is admitted is counted, so a flood that is refused already
// neither drains the network's bucket nor pushes other buckets out.
func (t *throttle) take(p pair) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, site := t.now(), siteOf(p.network)
	wait := max(t.pairs.wait(p, now), t.nets.wait(p.network, now), t.sites.wait(site, now))
	if wait > 0 {
		return &ThrottledError{RetryAfter: wait}
	}
	t.pairs.take(p, now)
	t.nets.take(p.network, now)
	t.sites.take(site, now)
	t.wrongs.take(site, now)
	return nil
}

// rank returns the number of recent wrong credentials from a site. An attempt counts as wrong while it is being checked.
func (t *throttle) rank(network netip.Prefix) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	full, _ := t.wrongs.full.get(siteOf(network))
	return max(0, int((full.Sub(t.now())+wrongRate.Every-1)/wrongRate.Every))
}

// giveBack returns what take took: the credential was right, or nothing was computed.
func (t *throttle) giveBack(p pair) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pairs.giveBack(p)
	t.nets.giveBack(p.network)
	t.sites.giveBack(siteOf(p.network))
	t.wrongs.giveBack(siteOf(p.network))
}

// takeStep pays for one guess of a second step.
func (t *throttle) takeStep(user calendar.UserID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if wait := t.steps.wait(user, now); wait > 0 {
		return &ThrottledError{RetryAfter: wait}
	}
	t.steps.take(user, now)
	return nil
}

// giveStepBack returns what takeStep took: the code was right.
func (t *throttle) giveStepBack(user calendar.UserID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps.giveBack(user)
}

// buckets are of one size, each by the time at which it is full again, which is all that it has to remember.
type buckets[K comparable] struct {
	rate Rate
	full *lru[K, time.Time]
}

func newBuckets[K comparable](rate Rate, most int) buckets[K] {
	return buckets[K]{rate, newLRU[K, time.Time](most)}
}

// wait is for how long there is nothing in a bucket; zero or less when there is.
func (b buckets[K]) wait(key K, now time.Time) time.Duration {
	full, _ := b.full.get(key)
	_, wait := b.rate.take(full, now)
	return wait
}

func (b buckets[K]) take(key K, now time.Time) {
	full, _ := b.full.get(key)
	next, _ := b.rate.take(full, now)
	b.full.put(key, next)
}

func (b buckets[K]) giveBack(key K) {
	if full, ok := b.full.get(key); ok {
		b.full.put(key, full.Add(-b.rate.Every))
	}
}

// take moves on the time at which a bucket is full again. A positive wait means that it is empty.
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
// IPv6, which is what a single subscriber has. Names that are no addresses share one bucket.
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

// siteOf returns what all networks of one subscriber have in common: of IPv6, where anybody can get a /48
// with 65,536 networks; for IPv4 the address is all.
func siteOf(network netip.Prefix) netip.Prefix {
	if !network.Addr().Is6() {
		return network
	}
	return netip.PrefixFrom(network.Addr(), 48).Masked()
}

// Limiter bounds what strangers may do that costs something, by where they come from.
type Limiter struct {
	now func() time.Time

	mu    sync.Mutex
	sites buckets[netip.Prefix]
}

// NewLimiter makes a Limiter that remembers so many places.
func NewLimiter(now func() time.Time, r Rate, most int) *Limiter {
	return &Limiter{now: now, sites: newBuckets[netip.Prefix](r, most)}
}

// Take pays for one thing; a positive answer says how long to wait for it instead.
func (l *Limiter) Take(from netip.Addr) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, site := l.now(), siteOf(networkOf(from))
	wait := l.sites.wait(site, now)
	if wait <= 0 {
		l.sites.take(site, now)
	}
	return wait
}
