package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// subscriptionAge limits subscriptions of sessions without an expiry, as over stdio.
const subscriptionAge = 30 * 24 * time.Hour

// targetOf parses the URI of a resource as a target to watch.
func targetOf(uri string) (calendar.Target, error) {
	if word, ok := strings.CutPrefix(uri, eventAddress); ok {
		id, err := parseEventID(word)
		return calendar.Target{Calendar: id.Calendar, UID: id.UID}, err
	}
	id, ok := strings.CutPrefix(uri, calendarAddress)
	if !ok || id == "" {
		return calendar.Target{}, calendar.Errorf(calendar.NotFound, "", "there is no such resource: there are %s and %s", calendarTemplate, eventTemplate)
	}
	return calendar.Target{Calendar: calendar.CalendarID(id)}, nil
}

// follows refuses a subscription to data that the caller's tools do not return.
func (b toolbox) follows(ctx context.Context, c *call, t calendar.Target) error {
	switch {
	case c.caller.Tools == nil:
		return nil
	case t.Calendar == "":
		return listOfCalendars.check(c.caller)
	case t.UID == "":
		return allEvents.check(c.caller)
	default:
		_, err := b.eventText(ctx, c, eventID{Calendar: t.Calendar, UID: t.UID}.String())
		return err
	}
}

// subscribe serves resources/subscribe, for versions with sessions. The notifications go over the stream of the
// session, which may be on another process.
func (h *Handler) subscribe(w http.ResponseWriter, r *http.Request, x *exchange, header http.Header) {
	h.serveSession(w, r, x, header, func(ctx context.Context, c *call, s session, uri string) error {
		target, err := targetOf(uri)
		if err != nil {
			return err
		}
		if _, err := h.box.calendarNamed(ctx, c, target.Calendar); err != nil {
			return err
		}
		if err := h.box.follows(ctx, c, target); err != nil {
			return err
		}
		return h.box.service.Subscribe(ctx, c.caller, calendar.Subscription{
			Subscriber: subscriberOf(x.session), Name: uri, Target: target, Until: s.opened.Add(min(h.config.Limits.SessionAge, subscriptionAge)),
		})
	})
}

// unsubscribe serves resources/unsubscribe. It succeeds even without a subscription.
func (h *Handler) unsubscribe(w http.ResponseWriter, r *http.Request, x *exchange, header http.Header) {
	h.serveSession(w, r, x, header, func(ctx context.Context, _ *call, _ session, uri string) error {
		return h.box.service.Unsubscribe(ctx, subscriberOf(x.session), uri)
	})
}

// serveSession serves a request about a resource that needs a session; the transport knows no sessions.
func (h *Handler) serveSession(w http.ResponseWriter, r *http.Request, x *exchange, header http.Header, work func(context.Context, *call, session, string) error) {
	if x.version.modern() {
		h.forward(w, r, x, header) // it knows no such method in this version
		return
	}
	var params struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(x.message.params, &params) != nil || params.URI == "" {
		sendError(w, statusOf(x.version, codeParams), x.message.id, rpcErrorf(codeParams, `%s takes "uri", the address of a resource`, x.message.method))
		return
	}
	s, ok := h.sessions.resume(ownerOf(x.caller), x.session)
	if !ok {
		sendError(w, http.StatusBadRequest, x.message.id, rpcErrorf(codeRequest, "%s needs a session: open one with initialize", x.message.method))
		return
	}
	ctx := x.within(r.Context())
	h.attend(ctx, func(c *call) error { return work(ctx, c, s, params.URI) })
	h.send(w, x, struct{}{})
}
