package auth

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// Rate is the limit of a token bucket: Burst at once, then one per Every.
type Rate struct {
	Burst int
	Every time.Duration
}

// ThrottledError means that too many wrong credentials came from this account or network.
type ThrottledError struct {
	// RetryAfter is when a retry may succeed.
	RetryAfter time.Duration
}

// Error includes the wait in whole seconds.
func (t *ThrottledError) Error() string {
	return fmt.Sprintf("too many failed logins; try again in %d s", t.Seconds())
}

// Seconds returns RetryAfter for the header field of that name.
func (t *ThrottledError) Seconds() int { return seconds(t.RetryAfter) }

// seconds rounds up: a client that retries too early is refused again.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

// account is the user name or token id that guesses are counted for, whether it exists or not.
type account string

// pair is an account and the network that tries it.
type pair struct {
	account account
	network netip.Prefix
}

// throttle counts attempts before they cost anything. Flooding a pair blocks neither other accounts from the same
// network nor the same account from other networks, so a stranger cannot lock a user out. The count per network stops
// an attacker who tries many accounts.
type throttle struct {
	now func() time.Time

	mu sync.Mutex
	// pairs, nets and sites are token buckets.
	pairs       buckets[pair]
	nets, sites buckets[netip.Prefix]
	steps       buckets[calendar.UserID]
	resets      buckets[account]
	// wrongs counts a site's wrong credentials of the last hours.
	wrongs buckets[netip.Prefix]
}

// wrongRate forgets one wrong credential every ten minutes. Its burst caps the count; it refuses no attempt.
var wrongRate = Rate{Burst: 1000, Every: 10 * time.Minute}

func newThrottle(now func() time.Time, l Limits) *throttle {
	return &throttle{
		now:    now,
		pairs:  newBuckets[pair](l.PerAccount, l.Buckets),
		nets:   newBuckets[netip.Prefix](l.PerNetwork, l.Buckets),
		sites:  newBuckets[netip.Prefix](l.PerSite, l.Buckets),
		steps:  newBuckets[calendar.UserID](l.PerSecondStep, l.Buckets),
		resets: newBuckets[account](l.PerReset, l.Buckets),
		wrongs: newBuckets[netip.Prefix](wrongRate, l.Buckets),
	}
}

// take pays for one guess. It counts only admitted attempts, so a flood that is refused already does not drain the
// network's bucket or evict other buckets.
func (t *throttle) take(p pair) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, site := t.now(), siteOf(p.network)
	if err := t.refusal(p, now); err != nil {
		return err
	}
	t.pairs.take(p, now)
	t.nets.take(p.network, now)
	t.sites.take(site, now)
	t.wrongs.take(site, now)
	return nil
}

// check refuses a guess that take would refuse. It pays nothing.
func (t *throttle) check(p pair) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refusal(p, t.now())
}

func (t *throttle) refusal(p pair, now time.Time) error {
	wait := max(t.pairs.wait(p, now), t.nets.wait(p.network, now), t.sites.wait(siteOf(p.network), now))
	if wait > 0 {
		return &ThrottledError{RetryAfter: wait}
	}
	return nil
}

// rank returns the number of recent wrong credentials from a site. An attempt counts as wrong while it is being
// checked.
func (t *throttle) rank(network netip.Prefix) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	full, _ := t.wrongs.full.get(siteOf(network))
	return max(0, int((full.Sub(t.now())+wrongRate.Every-1)/wrongRate.Every))
}

// giveBack undoes take: the credential was right, or no hash was computed.
func (t *throttle) giveBack(p pair) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pairs.giveBack(p)
	t.nets.giveBack(p.network)
	t.sites.giveBack(siteOf(p.network))
	t.wrongs.giveBack(siteOf(p.network))
}

// takeReset pays for one request for a new password.
func (t *throttle) takeReset(of account) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if wait := t.resets.wait(of, now); wait > 0 {
		return &ThrottledError{RetryAfter: wait}
	}
	t.resets.take(of, now)
	return nil
}

// takeStep pays for one guess of a second factor.
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

// giveStepBack undoes takeStep: the code was right.
func (t *throttle) giveStepBack(user calendar.UserID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps.giveBack(user)
}

// buckets are token buckets of one rate. Each stores only the time when it will be full.
type buckets[K comparable] struct {
	rate Rate
	full *lru[K, time.Time]
}

func newBuckets[K comparable](rate Rate, most int) buckets[K] {
	return buckets[K]{rate, newLRU[K, time.Time](most)}
}

// wait returns how long a bucket stays empty; zero or less if it is not.
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

// take returns the bucket's next time of being full. A positive wait means that it is empty.
func (r Rate) take(full, now time.Time) (next time.Time, wait time.Duration) {
	whole := time.Duration(r.Burst) * r.Every
	if full.Before(now) {
		full = now
	}
	// After the clock was set back, a bucket must not stay empty for longer than a full refill.
	if full.After(now.Add(whole)) {
		full = now.Add(whole)
	}
	next = full.Add(r.Every)
	return next, next.Sub(now) - whole
}

// networkOf returns the network that an address is counted under: the address itself for IPv4, and the /64 for IPv6,
// the block of a single subscriber. Invalid addresses share one bucket.
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

// siteOf returns the part that all networks of one subscriber share: the /48 for IPv6, since anyone can get one with
// its 65,536 networks. For IPv4 it is the address.
func siteOf(network netip.Prefix) netip.Prefix {
	if !network.Addr().Is6() {
		return network
	}
	return netip.PrefixFrom(network.Addr(), 48).Masked()
}

// Limiter limits costly actions of unauthenticated callers, by site.
type Limiter struct {
	now func() time.Time

	mu    sync.Mutex
	sites buckets[netip.Prefix]
}

// NewLimiter makes a Limiter that tracks at most so many sites.
func NewLimiter(now func() time.Time, r Rate, most int) *Limiter {
	return &Limiter{now: now, sites: newBuckets[netip.Prefix](r, most)}
}

// Take pays for one action. A positive result is the time to wait before the next attempt.
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
