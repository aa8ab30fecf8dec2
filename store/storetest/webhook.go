package storetest

import (
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

func webhookTests() []test {
	return []test{
		{"it lags behind its owner's view", webhookLags},
		{"a message is made once", deliveryIsMade},
		{"a message is sent until it arrives", deliveryGoes},
		{"it has been failing since its first failed attempt", webhookFails},
		{"users take turns", webhooksTakeTurns},
		{"waiting messages are limited", webhooksWaitInBounds},
		{"a removed one gets no messages", webhookEnds},
		{"its owner is notified when it ends", webhookEndIsNews},
		{"they are limited and separate per user", webhooksAreBounded},
		{"messages are pruned by age", deliveriesArePruned},
	}
}

func (b *bundle) webhook(u calendar.User) calendar.Webhook {
	b.Helper()
	w := calendar.Webhook{
		ID: calendar.WebhookID(b.id("hook")), User: u.ID, URL: "https://example.com/hook",
		Kinds:   []calendar.ChangeKind{calendar.Created, calendar.Deleted},
		Content: true, Number: 1, Rotated: b.now(), State: calendar.WebhookOn, Created: b.now(),
		Maker: calendar.Actor{Token: "token", Agent: "Claude"},
	}
	b.must(b.AddWebhook(b.Context(), w, 5))
	return w
}

func (b *bundle) lags() []calendar.WebhookLag {
	b.Helper()
	all, err := b.WebhookLags(b.Context(), calendar.WebhookRoom{Messages: 3, Bytes: 1 << 20}, 100)
	b.must(err)
	return all
}

// message creates a delivery about everything that a webhook has missed.
func (b *bundle) message(lag calendar.WebhookLag) calendar.Delivery {
	b.Helper()
	d := calendar.Delivery{
		ID: calendar.DeliveryID(b.id("msg")), Webhook: lag.ID, Calendar: lag.Calendar, Made: b.now(), Due: b.now(),
		State: calendar.DeliveryWaiting,
		Body:  []byte(`{"type":"calendar.changed"}`),
	}
	b.must(b.CatchUp(b.Context(), lag, lag.Version, &d))
	return d
}

func (b *bundle) dueDeliveries() []calendar.DueDelivery {
	b.Helper()
	all, err := b.another().DueDeliveries(b.Context(), b.now(), 100)
	b.must(err)
	return all
}

func webhookLags(b *bundle) {
	cal, ben, _ := b.shared()
	b.put(cal, "a.ics")
	b.pass(time.Minute)
	w := b.webhook(ben)
	same(b, "at first", b.lags(), nil)
	b.put(cal, "b.ics")
	same(b, "after a change", b.lags(), []calendar.WebhookLag{{
		Webhook: w, Calendar: cal.ID, Told: 1, Version: 2,
		Began: start(), Since: start(),
	}})
	b.must(b.CatchUp(b.Context(), b.lags()[0], 2, nil))
	same(b, "when it was told", b.lags(), nil)
	own := b.calendar(ben, "own")
	same(b, "a new calendar", b.lags(), []calendar.WebhookLag{{Webhook: w, Calendar: own.ID, Told: -1, Began: b.now()}})
	b.must(b.CatchUp(b.Context(), b.lags()[0], 0, nil))
	b.put(own, "a.ics")
	b.trash(own)
	same(b, "one in the trash", b.lags(), nil)
	b.must(Share(b.Context(), b, cal.ID, ben.ID, calendar.FreeBusyAccess))
	b.put(cal, "c.ics")
	same(b, "a free/busy share", b.lags(), nil)
}

func deliveryIsMade(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	w := b.webhook(ann)
	b.put(cal, "a.ics")
	lag := b.lags()[0]
	d := b.message(lag)
	b.message(lag) // from another process
	same(b, "messages", b.dueDeliveries(), []calendar.DueDelivery{{Delivery: d, To: w}})
	b.put(cal, "b.ics")
	b.message(b.lags()[0])
	b.put(cal, "c.ics")
	b.message(b.lags()[0])
	b.put(cal, "d.ics")
	same(b, "while many wait", b.lags(), nil)
	lag.ID = "no such"
	lag.Told = -1
	b.must(b.CatchUp(b.Context(), lag, 9, &calendar.Delivery{ID: "x", Webhook: "no such"}))
}

func deliveryGoes(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	w := b.webhook(ann)
	b.put(cal, "a.ics")
	b.message(b.lags()[0])
	due := b.dueDeliveries()[0]
	due.Tries, due.Due, due.Answer, due.To.Failing = 1, b.now().Add(5*time.Second), "503", b.now()
	b.settle(due, calendar.TryFailed)
	same(b, "before it is due again", b.dueDeliveries(), nil)
	b.pass(5 * time.Second)
	same(b, "then", b.dueDeliveries(), []calendar.DueDelivery{due})
	due.State, due.Ended = calendar.DeliveryDelivered, b.now()
	b.settle(due, calendar.TryTaken)
	due.Body = []byte{}
	same(b, "when it arrived", b.dueDeliveries(), nil)
	gives(b, "the list", []calendar.Delivery{due.Delivery})(b.Deliveries(b.Context(), w.ID, 10))
	gives(b, "the webhook", []calendar.Webhook{w})(b.WebhooksOf(b.Context(), ann.ID))
}

// patience is how long a webhook may keep failing.
const patience = time.Hour

func (b *bundle) settle(d calendar.DueDelivery, r calendar.TryResult) calendar.WebhookState {
	b.Helper()
	ended, err := b.SettleDelivery(b.Context(), d.Delivery,
		calendar.Settling{Result: r, Now: b.now(), Patience: patience})
	b.must(err)
	return ended
}

// webhookFails: the result of an attempt is judged by the webhook's state when it ends, not when it began.
func webhookFails(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	b.webhook(ann)
	for _, name := range []string{"a.ics", "b.ics"} {
		b.put(cal, name)
		b.message(b.lags()[0])
	}
	failing := func() time.Time {
		b.Helper()
		all, err := b.WebhooksOf(b.Context(), ann.ID)
		b.must(err)
		return all[0].Failing
	}
	due := b.dueDeliveries()
	began := b.now()
	b.settle(due[0], calendar.TryFailed)
	b.pass(patience - time.Second)
	same(b, "a second too early", b.settle(due[0], calendar.TryFailed), "")
	same(b, "since when it fails", failing(), began)
	same(b, "no try", b.settle(due[0], calendar.TryNone), "")
	due = b.dueDeliveries()
	b.pass(time.Minute)
	taken := due[1]
	taken.State, taken.Ended = calendar.DeliveryDelivered, b.now()
	same(b, "one arrives", b.settle(taken, calendar.TryTaken), "")
	same(b, "another one that was under way meanwhile does not", b.settle(due[0], calendar.TryFailed), "")
	same(b, "since when it fails then", failing(), b.now())
	b.pass(patience)
	same(b, "when it has failed for long", b.settle(due[0], calendar.TryFailed), calendar.WebhookFailing)
}

func webhooksTakeTurns(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	his := b.calendar(ben, "his")
	var hers []calendar.Calendar
	for _, name := range []calendar.Segment{"a", "b", "c"} {
		hers = append(hers, b.calendar(ann, name))
	}
	b.webhook(ann)
	b.webhook(ann)
	last := b.webhook(ben)
	for _, cal := range append(hers, his) {
		b.put(cal, "a.ics")
	}
	lags, err := b.WebhookLags(b.Context(), calendar.WebhookRoom{Messages: 3, Bytes: 1 << 20}, 2)
	b.must(err)
	if len(lags) != 2 || lags[0].User == lags[1].User {
		b.Errorf("want changes for two users, got %+v", lags)
	}
	for _, lag := range b.lags() {
		b.message(lag)
		b.pass(time.Second)
	}
	due, err := b.DueDeliveries(b.Context(), b.now(), 2)
	b.must(err)
	if len(due) != 2 || due[0].To.User == due[1].To.User || due[1].Webhook != last.ID && due[0].Webhook != last.ID {
		b.Errorf("two of what is due: %+v", due)
	}
}

func webhooksWaitInBounds(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	b.webhook(ann)
	b.put(cal, "a.ics")
	d := b.message(b.lags()[0])
	b.put(cal, "b.ics")
	with := func(bytes int) int {
		b.Helper()
		all, err := b.WebhookLags(b.Context(), calendar.WebhookRoom{Messages: 3, Bytes: int64(bytes)}, 10)
		b.must(err)
		return len(all)
	}
	same(b, "with room", with(len(d.Body)+1), 1)
	same(b, "without", with(len(d.Body)), 0)
}

func webhookEnds(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	w := b.webhook(ann)
	b.put(cal, "a.ics")
	b.message(b.lags()[0])
	b.put(cal, "b.ics")
	b.message(b.lags()[0])
	due := b.dueDeliveries()[0]
	due.State, due.Ended = calendar.DeliveryFailed, b.now()
	same(b, "its state", b.settle(due, calendar.TryGone), calendar.WebhookGone)
	same(b, "the second time", b.settle(due, calendar.TryGone), "")
	same(b, "what waits for it", b.dueDeliveries(), nil)
	b.put(cal, "c.ics")
	same(b, "what it lags behind", b.lags(), nil)
	list, err := b.Deliveries(b.Context(), w.ID, 10)
	b.must(err)
	for _, d := range list {
		same(b, "a message", d.State, calendar.DeliveryFailed)
	}
	b.must(b.ResumeWebhook(b.Context(), ann.ID, w.ID))
	if lags := b.lags(); len(lags) != 1 || lags[0].Told != 2 || lags[0].Version != 3 {
		b.Errorf("when it is on again: %+v", lags)
	}
	b.must(b.RotateWebhook(b.Context(), ann.ID, w.ID, b.now().Add(time.Hour)))
	all, err := b.WebhooksOf(b.Context(), ann.ID)
	b.must(err)
	if all[0].Number != 2 || !all[0].Rotated.Equal(b.now().Add(time.Hour)) {
		b.Errorf("after another secret: %+v", all)
	}
	b.must(b.RemoveWebhook(b.Context(), ann.ID, w.ID))
	b.refused(b.RemoveWebhook(b.Context(), ann.ID, w.ID), calendar.NotFound, "")
}

// webhookEndIsNews: the mail is queued exactly once, by the attempt that ends the webhook. If the outbox is full, the
// webhook does not end.
func webhookEndIsNews(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	b.webhook(ann)
	b.put(cal, "a.ics")
	b.message(b.lags()[0])
	due := b.dueDeliveries()[0]
	number := 0
	try := func(r calendar.TryResult, letters int) (calendar.WebhookState, error) {
		number++
		id := fmt.Sprintf("news-%d", number)
		return b.SettleDelivery(b.Context(), due.Delivery,
			calendar.Settling{Result: r, Now: b.now(), Patience: patience, News: &calendar.News{
				Letter: calendar.Letter{
					ID: calendar.LetterID(id), User: ann.ID, From: "ann@example.org", To: "ann@example.org",
					Method: calendar.MethodEnded,
					UID:    calendar.UID(id), Posted: b.now(), Due: b.now(), Data: []byte(due.Webhook),
				},
				Most: calendar.OutboxLimits{Letters: letters, Bytes: 1 << 20, Letter: 1 << 20},
			}})
	}
	waiting := func() int {
		b.Helper()
		n, _, err := b.WaitingLetters(b.Context())
		b.must(err)
		return n
	}
	for _, r := range []calendar.TryResult{calendar.TryNone, calendar.TryTaken, calendar.TryFailed} {
		state, err := try(r, 10)
		b.must(err)
		same(b, "a try that ends nothing", state, "")
	}
	same(b, "what is told of that", waiting(), 0)
	b.pass(patience)
	_, err := try(calendar.TryFailed, 0)
	b.refused(err, calendar.TooLarge, "")
	same(b, "without room", waiting(), 0)
	for i, want := range []calendar.WebhookState{calendar.WebhookFailing, ""} {
		state, err := try(calendar.TryFailed, 10)
		b.must(err)
		same(b, fmt.Sprintf("the state after try %d", i), state, want)
		same(b, "what is told then", waiting(), 1)
	}
	letters, err := b.TakeLetters(b.Context(), b.now(), b.now().Add(time.Hour), 10)
	b.must(err)
	if len(letters) != 1 || letters[0].Method != calendar.MethodEnded ||
		string(letters[0].Data) != string(due.Webhook) {
		b.Errorf("posted %+v", letters)
	}
}

func webhooksAreBounded(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	for range 5 {
		b.webhook(ann)
	}
	b.refused(b.AddWebhook(b.Context(), calendar.Webhook{ID: "more", User: ann.ID}, 5), calendar.TooLarge, "")
	w := b.webhook(ben)
	b.refused(b.RemoveWebhook(b.Context(), ann.ID, w.ID), calendar.NotFound, "")
	b.refused(b.RotateWebhook(b.Context(), ann.ID, w.ID, b.now()), calendar.NotFound, "")
	b.refused(b.ResumeWebhook(b.Context(), ann.ID, w.ID), calendar.NotFound, "")
	gives(b, "his", []calendar.Webhook{w})(b.WebhooksOf(b.Context(), ben.ID))
}

func deliveriesArePruned(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	w := b.webhook(ann)
	for _, name := range []string{"a.ics", "b.ics"} {
		b.put(cal, name)
		b.message(b.lags()[0])
	}
	due := b.dueDeliveries()[0]
	due.State, due.Ended = calendar.DeliveryDelivered, b.now()
	b.settle(due, calendar.TryTaken)
	b.pass(8 * 24 * time.Hour)
	b.must(b.Prune(b.Context(), start()))
	list, err := b.Deliveries(b.Context(), w.ID, 10)
	b.must(err)
	if len(list) != 1 || list[0].State != calendar.DeliveryWaiting {
		b.Errorf("left: %+v", list)
	}
}
