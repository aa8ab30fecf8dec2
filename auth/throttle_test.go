package auth

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// throttled returns a throttle that lets 3 wrong credentials a pair and 8 a network through, then
// one in 10 s and one in 2 s, and its clock.
func throttled(buckets int) (*throttle, *time.Time) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return newThrottle(func() time.Time { return now }, Limits{
		PerAccount: Rate{Burst: 3, Every: 10 * time.Second}, PerNetwork: Rate{Burst: 8, Every: 2 * time.Second},
		PerSite: Rate{Burst: 20, Every: time.Second}, Buckets: buckets,
	}), &now
}

func at(name, address string) pair {
	return pair{account(name), networkOf(netip.MustParseAddr(address))}
}

// admitted counts how many of so many attempts are let through.
func admitted(th *throttle, p pair, attempts int) (count int) {
	for range attempts {
		if th.take(p) == nil {
			count++
		}
	}
	return count
}

func TestThrottleCountsByAccountAndNetwork(t *testing.T) {
	t.Parallel()
	th, now := throttled(100)
	for _, step := range []struct {
		name  string
		after time.Duration
		pair  pair
		want  int
	}{
		{"a flood on one pair", 0, at("alice", "192.0.2.1"), 3},
		{"the same account from another address", 0, at("alice", "192.0.2.2"), 3},
		{"another account from the same address", 0, at("bob", "192.0.2.1"), 3},
		{"a third, until the network's bucket is empty", 0, at("carol", "192.0.2.1"), 2},
		{"a fourth: the network has none left", 0, at("dave", "192.0.2.1"), 0},
		{"a moment before the next is due", 10*time.Second - 1, at("alice", "192.0.2.1"), 0},
		{"when it is", 1, at("alice", "192.0.2.1"), 1},
		{"after an hour, all is full again", time.Hour, at("alice", "192.0.2.1"), 3},
	} {
		*now = now.Add(step.after)
		if got := admitted(th, step.pair, 1000); got != step.want {
			t.Errorf("%s: %d let through, want %d", step.name, got, step.want)
		}
	}
}

func TestThrottleSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	th, now := throttled(100)
	alice := at("alice", "192.0.2.1")
	admitted(th, alice, 3)
	*now = now.Add(3500 * time.Millisecond)
	err := th.take(alice)
	var refused *ThrottledError
	if !errors.As(err, &refused) || refused.RetryAfter != 6500*time.Millisecond {
		t.Fatalf("%#v; want RetryAfter 6.5s", err)
	}
	if want := "too many failed logins; try again in 7 s"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	*now = now.Add(refused.RetryAfter)
	if err := th.take(alice); err != nil {
		t.Errorf("at the time it said: %v", err)
	}
}

func TestThrottleGivesBack(t *testing.T) {
	t.Parallel()
	th, _ := throttled(100)
	alice := at("alice", "192.0.2.1")
	for i := range 100 {
		if err := th.take(alice); err != nil {
			t.Fatalf("right login %d: %v", i, err)
		}
		th.giveBack(alice)
	}
	if got := admitted(th, alice, 100); got != 3 {
		t.Errorf("%d wrong ones let through after right ones, want 3", got)
	}
}

func TestThrottleForgivesAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	th, now := throttled(100)
	alice := at("alice", "192.0.2.1")
	admitted(th, alice, 3)
	*now = now.Add(-24 * time.Hour)
	var refused *ThrottledError
	if err := th.take(alice); !errors.As(err, &refused) || refused.RetryAfter > 10*time.Second {
		t.Errorf("%v; want to wait no longer than 10s", err)
	}
}

func TestThrottleIsBounded(t *testing.T) {
	t.Parallel()
	th, _ := throttled(50)
	for i := range 1000 {
		if err := th.take(at(fmt.Sprint("user", i), fmt.Sprintf("10.0.%d.%d", i/250, i%250))); err != nil {
			t.Fatal(err)
		}
	}
	if th.pairs.full.len() != 50 || th.nets.full.len() != 50 {
		t.Errorf("%d pairs, %d networks; want 50 of each", th.pairs.full.len(), th.nets.full.len())
	}
}

// A flood that is refused must not push others' buckets out, or the flood itself would end the refusal.
func TestThrottleKeepsNothingOfWhatItRefuses(t *testing.T) {
	t.Parallel()
	th, _ := throttled(20)
	for i := range 1000 {
		_ = th.take(at(fmt.Sprint("user", i), "192.0.2.1"))
	}
	if th.pairs.full.len() != 8 {
		t.Errorf("%d pairs are counted, want the 8 that were let through", th.pairs.full.len())
	}
}

// TestThrottleCountsSites: anyone who has an IPv6 /48 has 65,536 networks, and must not fill the line with them
// (security L12).
func TestThrottleCountsSites(t *testing.T) {
	t.Parallel()
	th, now := throttled(1000)
	flood := func(networks int, format string) (count int) {
		for i := range networks {
			count += admitted(th, at("alice", fmt.Sprintf(format, i)), 10)
		}
		return count
	}
	if got := flood(100, "2001:db8:1:%x::1"); got != 20 {
		t.Errorf("100 networks of a site: %d let through, want 20", got)
	}
	if got := flood(1, "2001:db8:%x::1"); got != 3 {
		t.Errorf("another site: %d let through, want 3", got)
	}
	if got := flood(10, "192.0.2.%d"); got != 30 {
		t.Errorf("10 addresses of IPv4: %d let through, want 30", got)
	}
	*now = now.Add(5 * time.Second)
	if got := flood(100, "2001:db8:1:ff%02x::1"); got != 5 {
		t.Errorf("the site after five seconds: %d let through, want 5", got)
	}
	l := DefaultLimits()
	if l.PerSite.Burst >= l.Line || l.PerSite.Burst < l.PerNetwork.Burst {
		t.Errorf("a site may have %d at once of a line for %d", l.PerSite.Burst, l.Line)
	}
}

func TestNetworkOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.1":                 "192.0.2.1/32",
		"::ffff:192.0.2.1":          "192.0.2.1/32",
		"2001:db8:1:2:3:4:5:6":      "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff:ffff::1": "2001:db8:1:2::/64",
		"2001:db8:1:3:ffff:ffff::1": "2001:db8:1:3::/64",
		"fe80::1%eth0":              "fe80::/64",
		"::1":                       "::/64",
	} {
		if got := networkOf(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if got := networkOf(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("no address: %v, want the zero network", got)
	}
}

// Each wrong credential of the last hours puts those that come after it from the same site further back; right ones do
// not.
func TestThrottleRanksBySite(t *testing.T) {
	t.Parallel()
	th, now := throttled(100)
	for range 2 {
		for _, address := range []string{"2001:db8::1", "2001:db8:0:1::1"} {
			if err := th.take(at("ann", address)); err != nil {
				t.Fatal(err)
			}
		}
	}
	rank := func(address string) int { return th.rank(at("x", address).network) }
	if crowd, other := rank("2001:db8:0:2::1"), rank("192.0.2.1"); crowd != 4 || other != 0 {
		t.Errorf("ranks %d and %d, want 4 and 0", crowd, other)
	}
	th.giveBack(at("ann", "2001:db8::1"))
	*now = now.Add(10 * time.Minute)
	if got := rank("2001:db8::1"); got != 2 {
		t.Errorf("ten minutes after one was right, the rank is %d, want 2", got)
	}
}
