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
		get("webhooks", people, showing("webhooks", (*visit).webhookList)),
		get("webhooks/new", proven, (*visit).webhookForm),
		post("webhooks/new", proven, (*visit).addWebhook),
		get("webhooks/{webhook}", people, (*visit).webhook),
		postBack("webhooks/{webhook}/test", people, "webhooks", (*visit).testWebhook),
		postBack("webhooks/{webhook}/resume", people, "webhooks", (*visit).resumeWebhook),
		postBack("webhooks/{webhook}/rotate", proven, "webhooks", (*visit).rotateWebhook),
		postBack("webhooks/{webhook}/remove", people, "webhooks", (*visit).removeWebhook),
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

// hookKinds are the events that a webhook can subscribe to.
var hookKinds = []choice{
	{string(calendar.Created), "what is new", false},
	{string(calendar.Modified), "what was changed", false},
	{string(calendar.Deleted), "what was deleted", false},
}

func (v *visit) hook(w calendar.Webhook) hook {
	c := v.clock()
	h := hook{Webhook: w, Made: c.date(w.Created), By: excerpt(w.Maker.Agent), Off: w.State != calendar.WebhookOn, State: "It is told."}
	var words []string
	for _, k := range hookKinds {
		if slices.Contains(w.Kinds, calendar.ChangeKind(k.Value)) {
			words = append(words, k.Label)
		}
	}
	h.What = cmp.Or(strings.Join(words, ", "), "everything")
	switch {
	case w.State == calendar.WebhookGone:
		h.State = "Turned off: the program said that it is gone."
	case h.Off:
		h.State = "Turned off: nothing arrived since " + c.Moment(w.Failing) + "."
	case !w.Failing.IsZero():
		h.State = "Nothing arrived since " + c.Moment(w.Failing) + ". It is tried again, and turned off after three days."
	}
	return h
}

func (v *visit) webhookList() ([]hook, error) {
	all, err := v.Service.Webhooks(v.r.Context(), v.caller())
	var list []hook
	for _, w := range all {
		list = append(list, v.hook(w))
	}
	return list, err
}

// webhooksOff counts the visitor's webhooks that were turned off.
func (v *visit) webhooksOff() (int, error) {
	if v.WebhookSecret == nil {
		return 0, nil
	}
	all, err := v.Service.Webhooks(v.r.Context(), v.caller())
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

func (v *visit) webhookForm() error {
	return v.show("webhooknew", newHook{Kinds: hookKinds})
}

func (v *visit) addWebhook() error {
	n := newHook{URL: v.field("url"), Titles: v.field("titles") != ""}
	spec := watch.WebhookSpec{URL: n.URL, Content: n.Titles}
	for _, k := range hookKinds {
		if k.Chosen = slices.Contains(v.r.PostForm["kind"], k.Value); k.Chosen {
			spec.Kinds = append(spec.Kinds, calendar.ChangeKind(k.Value))
		}
		n.Kinds = append(n.Kinds, k)
	}
	w, err := v.Service.AddWebhook(v.r.Context(), v.caller(), spec)
	if err != nil {
		return v.again("webhooknew", n, err)
	}
	return v.showSecret(w)
}

// showSecret shows the secret of a webhook, which no other page does.
func (v *visit) showSecret(w calendar.Webhook) error {
	secret, err := v.WebhookSecret(v.r.Context(), w)
	if err != nil {
		return err
	}
	return v.show("webhooknew", newHook{URL: w.URL, Secret: secret, ID: w.ID})
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
func (v *visit) hookID() calendar.WebhookID { return calendar.WebhookID(v.r.PathValue("webhook")) }

func (v *visit) webhook() error {
	found, err := v.Service.WebhookDeliveries(v.r.Context(), v.caller(), v.hookID(), messagesShown)
	if err != nil {
		return err
	}
	all, err := v.Service.Webhooks(v.r.Context(), v.caller())
	if err != nil {
		return err
	}
	names := map[calendar.CalendarID]string{"": "none, a test"}
	calendars, err := v.Service.Calendars(v.r.Context(), v.caller())
	if err != nil {
		return err
	}
	for _, cal := range calendars {
		names[cal.ID] = calendarName(cal)
	}
	var content hookContent
	for _, w := range all {
		if w.ID == v.hookID() {
			content.hook = v.hook(w)
		}
	}
	c := v.clock()
	for _, d := range found {
		m := hookMessage{Made: c.Moment(d.Made), In: cmp.Or(names[d.Calendar], "a calendar that is gone"), State: string(d.State), Answer: excerpt(d.Answer)}
		if d.State == calendar.DeliveryWaiting && d.Tries > 0 {
			m.Next = c.Moment(d.Due)
		}
		content.Messages = append(content.Messages, m)
	}
	return v.show("webhook", content)
}

func (v *visit) testWebhook() error {
	return v.after(v.Service.TestWebhook(v.r.Context(), v.caller(), v.hookID()), "webhooks/"+string(v.hookID()), "webhook-tried")
}

func (v *visit) resumeWebhook() error {
	return v.after(v.Service.ResumeWebhook(v.r.Context(), v.caller(), v.hookID()), "webhooks/"+string(v.hookID()), "saved")
}

func (v *visit) rotateWebhook() error {
	w, err := v.Service.RotateWebhook(v.r.Context(), v.caller(), v.hookID())
	if err != nil {
		return err
	}
	return v.showSecret(w)
}

func (v *visit) removeWebhook() error {
	return v.after(v.Service.RemoveWebhook(v.r.Context(), v.caller(), v.hookID()), "webhooks", "removed")
}
