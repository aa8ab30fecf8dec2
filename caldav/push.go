package caldav

import (
	"context"
	"encoding/xml"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// pushNS is the namespace of WebDAV-Push.
const pushNS = "https://bitfire.at/webdav-push"

// pushClass is added to the DAV header if push is on.
const pushClass = "webdav-push"

// Push holds the settings for push notifications.
type Push struct {
	// Key is the public key for the signatures of messages, in base64url.
	Key string
	// Topics derives the name of a topic.
	Topics calendar.TopicKey
	// Parse parses a subscription. Its errors are shown to the client.
	Parse func(endpoint, key, auth string) (calendar.PushSubscription, error)
}

func pushed(local string) xml.Name { return xml.Name{Space: pushNS, Local: local} }

// pushProperties are the properties that clients read before they register. DAVx⁵ recognizes a calendar by its topic.
func pushProperties() []property {
	return under("WebDAV-Push",
		serverProperty(pushed("transports"), atHome|atCalendar, 0, writePushTransports),
		serverProperty(pushed("topic"), atHome|atCalendar, 0, writePushTopic),
		serverProperty(pushed("supported-triggers"), atHome|atCalendar, 0, writePushTriggers),
	)
}

// pushTold reports whether the caller may register for changes of this resource.
func (r *resource) pushTold() bool {
	if r.x.Push == nil || r.x.caller.ActsFor() || r.calendar.Proposed() {
		return false
	}
	if r.at.kind() == atHome {
		return r.x.caller.MayOwn(calendar.ReadObjects) == nil
	}
	return r.x.caller.May(calendar.ReadObjects, r.calendar) == nil
}

func writePushTransports(r *resource, m *dav.Markup) error {
	if !r.pushTold() {
		return dav.ErrAbsent
	}
	return m.Raw(`<web-push><vapid-public-key type="p256ecdsa">`).Text(r.x.Push.Key).
		Raw("</vapid-public-key></web-push>").OK()
}

func writePushTopic(r *resource, m *dav.Markup) error {
	if !r.pushTold() {
		return dav.ErrAbsent
	}
	return m.Text(r.x.Push.Topics.Topic(r.x.caller.User.ID, r.calendar.ID)).OK()
}

func writePushTriggers(r *resource, m *dav.Markup) error {
	if !r.pushTold() {
		return dav.ErrAbsent
	}
	return m.Raw(`<content-update><d:depth>1</d:depth></content-update>`).OK()
}

// pushRegister is push-register. DAVx⁵ omits elements that have only one valid value.
type pushRegister struct {
	Subscription *struct {
		WebPush *struct {
			Resource string `xml:"https://bitfire.at/webdav-push push-resource"`
			Encoding string `xml:"https://bitfire.at/webdav-push content-encoding"`
			Key      struct {
				Type string `xml:"type,attr"`
				Text string `xml:",chardata"`
			} `xml:"https://bitfire.at/webdav-push subscription-public-key"`
			Auth string `xml:"https://bitfire.at/webdav-push auth-secret"`
		} `xml:"https://bitfire.at/webdav-push web-push-subscription"`
	} `xml:"https://bitfire.at/webdav-push subscription"`
	Trigger *struct {
		Content *struct{} `xml:"https://bitfire.at/webdav-push content-update"`
	} `xml:"https://bitfire.at/webdav-push trigger"`
	Expires string `xml:"https://bitfire.at/webdav-push expires"`
}

// breachOfPush is a condition of WebDAV-Push.
func breachOfPush(condition, format string, args ...any) *dav.StatusError {
	return dav.Breach("p:"+condition+` xmlns:p="`+pushNS+`"`, format, args...)
}

// understand validates the request and returns its subscription.
func (q *pushRegister) understand(p *Push) (sub calendar.PushSubscription, err error) {
	switch {
	case p == nil:
		return sub, breachOfPush("push-not-available", "this server sends no push messages")
	case q.Subscription == nil || q.Subscription.WebPush == nil:
		return sub, breachOfPush("invalid-subscription", "the subscription holds no web-push-subscription")
	case q.Trigger != nil && q.Trigger.Content == nil:
		return sub, breachOfPush("no-supported-trigger", "the only supported trigger is content-update")
	}
	w := q.Subscription.WebPush
	if e := strings.TrimSpace(w.Encoding); e != "" && e != "aes128gcm" {
		return sub, breachOfPush("invalid-subscription", "the encryption must be aes128gcm, not %.40q", e)
	}
	if w.Key.Type != "" && w.Key.Type != "p256dh" {
		return sub, breachOfPush("invalid-subscription", "the public key must be p256dh, not %.40q", w.Key.Type)
	}
	if sub, err = p.Parse(w.Resource, w.Key.Text, w.Auth); err != nil {
		return sub, breachOfPush("invalid-subscription", "%s", err)
	}
	if text := strings.TrimSpace(q.Expires); text != "" {
		if sub.Expires, err = http.ParseTime(text); err != nil {
			return sub, breachOfPush("invalid-subscription", "expires must be a date like %q", http.TimeFormat)
		}
	}
	return sub, nil
}

// registerPush answers the registration of a client, or its renewal.
func registerPush(x *request, q *pushRegister) error {
	if x.caller.ActsFor() {
		return breachOfPush("push-not-available", "a delegate gets no push messages: poll the calendar")
	}
	sub, err := q.understand(x.Push)
	if err != nil {
		return err
	}
	if x.at.kind() == atCalendar {
		cal, err := x.calendarAt(x.at)
		if err != nil {
			return err
		}
		sub.Calendar = cal.ID
	}
	sub, err = x.Service.RegisterPush(x.R.Context(), x.caller, sub)
	switch reason := calendar.ReasonOf(err); {
	case err != nil && reason == calendar.TooLarge:
		return breachOfPush("push-not-available", "%s", err)
	case err != nil && reason == calendar.Invalid:
		return breachOfPush("invalid-subscription", "%s", err)
	}
	if err != nil {
		return err
	}
	x.W.Header().Set("Location", x.registration(sub.ID))
	x.W.Header().Set("Expires", sub.Expires.Format(http.TimeFormat))
	return x.Done(false)
}

// registration returns the absolute URL of a registration, because clients store it without a base.
func (x *request) registration(id calendar.PushID) string {
	return strings.TrimSuffix(x.published, "/") + "/" + strings.Join(pushPath, "/") + "/" + url.PathEscape(string(id))
}

// registrationAt returns the ID if the request's path is a registration.
func (x *request) registrationAt() (calendar.PushID, bool) {
	segments, err := dav.Split(dav.PathOf(x.R.URL))
	if err != nil || x.Push == nil {
		return "", false
	}
	if n := len(x.base); n > 0 && len(segments) > n && slices.Equal(segments[:n], x.base) {
		segments = segments[n:]
	}
	if n := len(pushPath); len(segments) == n+1 && slices.Equal(segments[:n], pushPath) {
		return calendar.PushID(segments[n]), true
	}
	return "", false
}

// serveRegistration answers a request for a registration. Only DELETE is supported.
func serveRegistration(x *request, id calendar.PushID) error {
	if x.R.Method != http.MethodDelete {
		x.W.Header().Set("Allow", http.MethodDelete)
		return &dav.StatusError{Status: http.StatusMethodNotAllowed, Message: "a registration can only be deleted"}
	}
	if err := x.Service.UnregisterPush(x.R.Context(), x.caller, id); err != nil {
		return err
	}
	return x.Done(false)
}

// dontNotify is the header that lists the client's own registrations: they need no notification of its change.
const dontNotify = "Push-Dont-Notify"

// maxDontNotify limits the registrations in the header: a client has one for each calendar.
const maxDontNotify = 20

// serveQuietly runs a method without notifying the client's own registrations of its change. It compares the calendar's
// state before and after, so that a concurrent change by another client is still notified.
func serveQuietly(x *request, serve func(*request) error) error {
	header := strings.TrimSpace(strings.Join(x.R.Header.Values(dontNotify), ","))
	at := x.at
	if at.kind() == atObject {
		at = at.parent()
	}
	// A delegate has no registrations here, and the owner's programs shall hear of the delegate's changes.
	if x.Push == nil || x.caller.ActsFor() || header == "" || at.kind() != atCalendar || x.R.Method == http.MethodGet {
		return serve(x)
	}
	ids, all := x.dontNotified(header)
	before, err := x.calendarAt(at)
	if err != nil || len(ids) == 0 && !all {
		return serve(x)
	}
	if err := serve(x); err != nil {
		return err
	}
	// The change is committed. If its client is notified after all, the request has still succeeded.
	err = x.Service.QuietPush(context.WithoutCancel(x.R.Context()), x.caller, ids, before)
	if err != nil && !errors.Is(err, context.Canceled) && calendar.ReasonOf(err) != calendar.NotFound {
		x.Logger.LogAttrs(x.R.Context(), slog.LevelWarn, "a client is notified of its own change",
			slog.String("error", service.ForLog(err)))
	}
	return nil
}

// dontNotified parses the header: quoted registration URLs, or a star for all registrations of the caller.
func (x *request) dontNotified(header string) (ids []calendar.PushID, all bool) {
	if header == "*" {
		return nil, true
	}
	for part := range strings.SplitSeq(header, ",") {
		address := strings.Trim(strings.TrimSpace(part), `"`)
		if id, ours := strings.CutPrefix(address, x.registration("")); ours && id != "" && len(ids) < maxDontNotify {
			ids = append(ids, calendar.PushID(id))
		}
	}
	return ids, false
}

// posted is an XML body of a POST; its root element selects the kind.
type posted struct {
	push *pushRegister
	// other receives any body that is no registration.
	other any
}

// UnmarshalXML implements [xml.Unmarshaler].
func (p *posted) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	if start.Name != pushed("push-register") {
		return d.DecodeElement(p.other, &start)
	}
	p.push = new(pushRegister)
	return d.DecodeElement(p.push, &start)
}

// readOrRegister reads a body into other. If it is a registration, it answers that instead.
func readOrRegister(x *request, other any) (answered bool, err error) {
	p := posted{other: other}
	if err := x.Read(&p); err != nil || p.push == nil {
		return false, err
	}
	return true, about(x.at, "d:read", registerPush(x, p.push))
}
