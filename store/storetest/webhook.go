package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func webhookTests() []test {
	return []test{
		{"it lags behind what its owner reads", webhookLags},
		{"a message is made once", deliveryIsMade},
		{"a message goes until it arrives", deliveryGoes},
		{"one that is gone is told nothing", webhookEnds},
		{"a user has so many, and their own", webhooksAreBounded},
		{"messages are forgotten in time", deliveriesArePruned},
	}
}

func (b *bundle) webhook(u calendar.User) calendar.Webhook {
	b.Helper()
	w := calendar.Webhook{
		ID: calendar.WebhookID(b.id("hook")), User: u.ID, URL: "https://example.com/hook", Kinds: []calendar.ChangeKind{calendar.Created, calendar.Deleted},
		Content: true, Number: 1, Rotated: b.now(), State: calendar.WebhookOn, Created: b.now(),
	}
	b.must(b.AddWebhook(b.Context(), w, 5))
	return w
}

func (b *bundle) lags() []calendar.WebhookLag {
	b.Helper()
	all, err := b.WebhookLags(b.Context(), 3, 100)
	b.must(err)
	return all
}

// message makes a delivery about all that a webhook lags behind.
func (b *bundle) message(lag calendar.WebhookLag) calendar.Delivery {
	b.Helper()
	d := calendar.Delivery{
		ID: calendar.DeliveryID(b.id("msg")), Webhook: lag.ID, Calendar: lag.Calendar, Made: b.now(), Due: b.now(), State: calendar.DeliveryWaiting,
		Body: []byte(`{"type":"calendar.changed"}`),
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
	same(b, "after a change", b.lags(), []calendar.WebhookLag{{Webhook: w, Calendar: cal.ID, Told: 1, Version: 2, Began: start(), Since: start()}})
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
	same(b, "what is shared for busy times alone", b.lags(), nil)
}

func deliveryIsMade(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	w := b.webhook(ann)
	b.put(cal, "a.ics")
	lag := b.lags()[0]
	d := b.message(lag)
	b.message(lag) // by another process
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
	b.must(b.SettleDelivery(b.Context(), due, b.now()))
	same(b, "before it is due again", b.dueDeliveries(), nil)
	b.pass(5 * time.Second)
	same(b, "then", b.dueDeliveries(), []calendar.DueDelivery{due})
	due.State, due.Ended, due.To.Failing = calendar.DeliveryDelivered, b.now(), time.Time{}
	b.must(b.SettleDelivery(b.Context(), due, b.now()))
	same(b, "when it arrived", b.dueDeliveries(), nil)
	list, err := b.Deliveries(b.Context(), w.ID, 10)
	b.must(err)
	same(b, "the list", list, []calendar.Delivery{due.Delivery})
	all, err := b.WebhooksOf(b.Context(), ann.ID)
	b.must(err)
	same(b, "the webhook", all, []calendar.Webhook{w})
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
	due.State, due.Ended, due.To.State = calendar.DeliveryFailed, b.now(), calendar.WebhookGone
	b.must(b.SettleDelivery(b.Context(), due, b.now()))
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
	all, err := b.WebhooksOf(b.Context(), ben.ID)
	b.must(err)
	same(b, "his", all, []calendar.Webhook{w})
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
	b.must(b.SettleDelivery(b.Context(), due, b.now()))
	b.pass(8 * 24 * time.Hour)
	b.must(b.Prune(b.Context(), start()))
	list, err := b.Deliveries(b.Context(), w.ID, 10)
	b.must(err)
	if len(list) != 1 || list[0].State != calendar.DeliveryWaiting {
		b.Errorf("left: %+v", list)
	}
}
