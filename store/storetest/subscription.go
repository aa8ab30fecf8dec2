package storetest

import (
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

func subscriptionTests() []test {
	return []test{
		{"another process finds a stored one", subscriptionIsKept},
		{"expired ones are pruned", subscriptionEnds},
		{"beyond the limit it is refused, or replaces the oldest", subscriptionsAreBounded},
		{"they are deleted with their target", subscriptionGoesWithCalendar},
		{"the last seen state is stored", subscriptionIsSeen},
	}
}

// subscription is a subscription that is valid for a day and not stored yet.
func (b *bundle) subscription(cal calendar.Calendar, who calendar.SubscriberID, name string) calendar.Subscription {
	return calendar.Subscription{
		Subscriber: who, Name: name, User: cal.Owner, Target: calendar.Target{Calendar: cal.ID, UID: "uid"}, Seen: "1",
		Until: b.now().Add(24 * time.Hour),
	}
}

func (b *bundle) subscriptions(of calendar.SubscriberID) []calendar.Subscription {
	b.Helper()
	all, err := b.Subscriptions(b.Context(), of, b.now())
	b.must(err)
	return all
}

func (b *bundle) subscribe(sub calendar.Subscription) {
	b.Helper()
	b.must(b.Subscribe(b.Context(), sub, b.now(), 10, 10))
}

func subscriptionIsKept(b *bundle) {
	cal := b.home()
	one, two := b.subscription(cal, "s", "b"), b.subscription(cal, "s", "a")
	two.UID = ""
	b.subscribe(one)
	b.subscribe(two)
	b.subscribe(b.subscription(cal, "t", "b"))
	one.Seen = "2"
	b.subscribe(one)
	all, err := b.another().Subscriptions(b.Context(), "s", b.now())
	b.must(err)
	same(b, "subscriptions", all, []calendar.Subscription{two, one})
	b.must(b.Unsubscribe(b.Context(), "s", "b"))
	b.must(b.Unsubscribe(b.Context(), "s", "no such"))
	same(b, "after one ended", b.subscriptions("s"), []calendar.Subscription{two})
	b.must(b.Unsubscribe(b.Context(), "s", ""))
	same(b, "after all ended", b.subscriptions("s"), nil)
	if len(b.subscriptions("t")) != 1 {
		b.Error("another's subscription ended, too")
	}
}

func subscriptionEnds(b *bundle) {
	cal := b.home()
	b.subscribe(b.subscription(cal, "s", "a"))
	b.pass(24*time.Hour - time.Second)
	if len(b.subscriptions("s")) != 1 {
		b.Error("it is over too early")
	}
	b.pass(time.Second)
	same(b, "after a day", b.subscriptions("s"), nil)
	kept := func(of calendar.SubscriberID) int {
		all, err := b.Subscriptions(b.Context(), of, start())
		b.must(err)
		return len(all)
	}
	b.subscribe(b.subscription(cal, "t", "a"))
	if kept("s") != 0 {
		b.Error("it is kept although its user subscribed to something else since")
	}
	b.pass(24 * time.Hour)
	b.must(b.Prune(b.Context(), start()))
	if kept("t") != 0 {
		b.Error("it is kept for ever")
	}
}

func subscriptionsAreBounded(b *bundle) {
	cal := b.home()
	for i := range 10 {
		b.subscribe(b.subscription(cal, "s", fmt.Sprint(i)))
		b.pass(time.Second)
	}
	b.refused(b.Subscribe(b.Context(), b.subscription(cal, "s", "one more"), b.now(), 10, 10), calendar.TooLarge, "")
	if got := len(b.subscriptions("s")); got != 10 {
		b.Errorf("after one that was refused there are %d", got)
	}
	b.subscribe(b.subscription(cal, "t", "elsewhere"))
	left := b.subscriptions("s")
	if len(left) != 9 || left[0].Name != "1" || len(b.subscriptions("t")) != 1 {
		b.Errorf("left are %v", left)
	}
}

func subscriptionGoesWithCalendar(b *bundle) {
	cal := b.home()
	b.subscribe(b.subscription(cal, "s", "a"))
	b.trash(cal)
	if len(b.subscriptions("s")) != 1 {
		b.Error("a calendar in the trash may come back")
	}
	b.must(b.ForgetCalendar(b.Context(), cal.ID))
	same(b, "with the calendar gone", b.subscriptions("s"), nil)
	b.refused(b.Subscribe(b.Context(), b.subscription(cal, "s", "a"), b.now(), 10, 10), calendar.NotFound, "")
}

func subscriptionIsSeen(b *bundle) {
	cal := b.home()
	one, two := b.subscription(cal, "s", "a"), b.subscription(cal, "s", "b")
	b.subscribe(one)
	b.subscribe(two)
	changed, elsewhere := one, two
	changed.Seen, elsewhere.Seen, elsewhere.UID = "7", "7", "another" // b now has another target
	b.must(b.Seen(b.Context(), []calendar.Subscription{changed, elsewhere, b.subscription(cal, "s", "gone")}))
	same(b, "subscriptions", b.subscriptions("s"), []calendar.Subscription{changed, two})
}
