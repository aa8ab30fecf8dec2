package web

import (
	"cmp"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/watch"
)

// WebhooksPath is the path of the webhooks below the path of BASE_URL, each under its id.
const WebhooksPath = root + "webhooks"

// webhookPages manage webhooks. Showing a secret and adding a webhook require a proof of identity.
func (h *Handler) webhookPages() []page {
	if h.WebhookSecret == nil {
		return nil
	}
	return []page{
		get("webhooks", people, showing("webhooks", webhookPages.webhookList)),
		get("webhooks/new", proven, webhookPages.webhookForm),
		post("webhooks/new", proven, webhookPages.addWebhook),
		get("webhooks/{webhook}", people, webhookPages.webhook),
		postBack("webhooks/{webhook}/test", people, "webhooks", webhookPages.testWebhook),
		postBack("webhooks/{webhook}/resume", people, "webhooks", webhookPages.resumeWebhook),
		postBack("webhooks/{webhook}/rotate", proven, "webhooks", webhookPages.rotateWebhook),
		postBack("webhooks/{webhook}/remove", people, "webhooks", webhookPages.removeWebhook),
	}
}

// hook is a webhook on a page.
type hook struct {
	calendar.Webhook
	// What describes its events, State its state; Off is set if it is turned off.
	What, State string
	Off         bool
	Made        string
	// By is the app that added it; "" for the visitor.
	By string
}

// hookKinds returns the events that a webhook can subscribe to, with the given ones ticked.
func (p webhookPages) hookKinds(ticked ...string) []choice {
	var all []choice
	for _, one := range []struct {
		kind calendar.ChangeKind
		text string
	}{
		{calendar.Created, "webhook.created"},
		{calendar.Modified, "webhook.modified"},
		{calendar.Deleted, "webhook.deleted"},
	} {
		value := string(one.kind)
		all = append(all, choice{value, p.lang.Text(one.text), slices.Contains(ticked, value)})
	}
	return all
}

// webhookPages manage webhooks.
type webhookPages struct{ *pageRequest }

func (p webhookPages) hook(w calendar.Webhook) hook {
	c := p.clock()
	h := hook{
		Webhook: w, Made: c.date(w.Created), By: excerpt(w.Maker.Agent), Off: w.State != calendar.WebhookOn,
		State: p.lang.Text("webhook.state-on"),
	}
	var words []string
	for _, k := range p.hookKinds() {
		if slices.Contains(w.Kinds, calendar.ChangeKind(k.Value)) {
			words = append(words, k.Label)
		}
	}
	h.What = cmp.Or(strings.Join(words, ", "), p.lang.Text("webhook.everything"))
	switch {
	case w.State == calendar.WebhookGone:
		h.State = p.lang.Text("webhook.state-gone")
	case h.Off:
		h.State = p.lang.Text("webhook.state-off", "time", c.Moment(w.Failing))
	case !w.Failing.IsZero():
		h.State = p.lang.Text("webhook.state-failing", "time", c.Moment(w.Failing))
	}
	return h
}

func (p webhookPages) webhookList() ([]hook, error) {
	all, err := p.Service.Webhooks(p.r.Context(), p.caller())
	var list []hook
	for _, w := range all {
		list = append(list, p.hook(w))
	}
	return list, err
}

// webhooksOff counts the visitor's webhooks that were turned off.
func (p webhookPages) webhooksOff() (int, error) {
	if p.WebhookSecret == nil {
		return 0, nil
	}
	all, err := p.Service.Webhooks(p.r.Context(), p.caller())
	off := 0
	for _, w := range all {
		if w.State != calendar.WebhookOn {
			off++
		}
	}
	return off, err
}

// newHook is the data of the page for a new webhook, and of the page that shows its secret.
type newHook struct {
	URL    string
	Kinds  []choice
	Titles bool
	// Secret is shown only now; ID is the webhook's.
	Secret string
	ID     calendar.WebhookID
}

func (p webhookPages) webhookForm() error {
	return p.show("webhooknew", newHook{Kinds: p.hookKinds()})
}

func (p webhookPages) addWebhook() error {
	n := newHook{
		URL: p.field("url"), Titles: p.field("titles") != "", Kinds: p.hookKinds(p.r.PostForm["kind"]...),
	}
	spec := watch.WebhookSpec{URL: n.URL, Content: n.Titles}
	for _, k := range n.Kinds {
		if k.Chosen {
			spec.Kinds = append(spec.Kinds, calendar.ChangeKind(k.Value))
		}
	}
	w, err := p.Service.AddWebhook(p.r.Context(), p.caller(), spec)
	if err != nil {
		return p.again("webhooknew", n, err)
	}
	return p.showSecret(w)
}

// showSecret shows the secret of a webhook, which no other page does.
func (p webhookPages) showSecret(w calendar.Webhook) error {
	secret, err := p.WebhookSecret(p.r.Context(), w)
	if err != nil {
		return err
	}
	return p.show("webhooknew", newHook{URL: w.URL, Secret: secret, ID: w.ID})
}

// deliveryTexts are the ids of texts about deliveries.
var deliveryTexts = map[calendar.DeliveryState]string{
	calendar.DeliveryWaiting: "webhook.waiting", calendar.DeliveryDelivered: "webhook.delivered",
	calendar.DeliveryFailed: "webhook.failed",
}

// hookMessage is a delivery on a page.
type hookMessage struct{ Made, In, State, Answer, Next string }

// messagesShown limits the deliveries that a page lists.
const messagesShown = 50

// hookContent is a webhook with its latest deliveries.
type hookContent struct {
	hook
	Messages []hookMessage
}

// hookID returns the webhook id in the path.
func (p webhookPages) hookID() calendar.WebhookID {
	return calendar.WebhookID(p.r.PathValue("webhook"))
}

func (p webhookPages) webhook() error {
	found, err := p.Service.WebhookDeliveries(p.r.Context(), p.caller(), p.hookID(), messagesShown)
	if err != nil {
		return err
	}
	all, err := p.Service.Webhooks(p.r.Context(), p.caller())
	if err != nil {
		return err
	}
	names := map[calendar.CalendarID]string{"": p.lang.Text("webhook.none-test")}
	calendars, err := p.Service.Calendars(p.r.Context(), p.caller())
	if err != nil {
		return err
	}
	for _, cal := range calendars {
		names[cal.ID] = calendarName(cal)
	}
	var content hookContent
	for _, w := range all {
		if w.ID == p.hookID() {
			content.hook = p.hook(w)
		}
	}
	c := p.clock()
	for _, d := range found {
		m := hookMessage{
			Made: c.Moment(d.Made), In: cmp.Or(names[d.Calendar], p.lang.Text("webhook.calendar-gone")),
			State:  p.lang.Text(deliveryTexts[d.State]),
			Answer: excerpt(d.Answer),
		}
		if d.State == calendar.DeliveryWaiting && d.Tries > 0 {
			m.Next = c.Moment(d.Due)
		}
		content.Messages = append(content.Messages, m)
	}
	return p.show("webhook", content)
}

func (p webhookPages) testWebhook() error {
	return p.after(p.Service.TestWebhook(p.r.Context(), p.caller(), p.hookID()), "webhooks/"+string(p.hookID()),
		"webhook-tried")
}

func (p webhookPages) resumeWebhook() error {
	return p.after(p.Service.ResumeWebhook(p.r.Context(), p.caller(), p.hookID()), "webhooks/"+string(p.hookID()),
		"saved")
}

func (p webhookPages) rotateWebhook() error {
	w, err := p.Service.RotateWebhook(p.r.Context(), p.caller(), p.hookID())
	if err != nil {
		return err
	}
	return p.showSecret(w)
}

func (p webhookPages) removeWebhook() error {
	return p.after(p.Service.RemoveWebhook(p.r.Context(), p.caller(), p.hookID()), "webhooks", "removed")
}
