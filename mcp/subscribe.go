package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/watch"
	"caldav-mcp-server/mcp/wire"
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

// subscriberOf is the store's name for a session; it cannot be used as an id.
func subscriberOf(id wire.SessionID) calendar.SubscriberID {
	sum := sha256.Sum256([]byte(id))
	return calendar.SubscriberID(hex.EncodeToString(sum[:]))
}

// watched watches for one caller. It implements watching.
type watched struct {
	*watch.Watch
	caller calendar.Caller
}

// Changed implements watching.
func (w watched) Changed(ctx context.Context) ([]wire.Change, error) {
	changed, err := w.Watch.Changed(ctx, w.caller)
	return each(changed, func(s calendar.Subscription) wire.Change {
		return wire.Change{Name: s.Name, Told: func() { w.Told(s) }}
	}), err
}

func (b bridge) Subscribe(ctx context.Context, x *wire.Exchange, s wire.Session, uri string) {
	b.h.attend(ctx, func(in *call) error {
		target, err := targetOf(uri)
		if err != nil {
			return err
		}
		if _, err := b.h.box.calendarNamed(ctx, in, target.Calendar); err != nil {
			return err
		}
		if err := b.h.box.follows(ctx, in, target); err != nil {
			return err
		}
		return b.h.box.service.Subscribe(ctx, in.caller, calendar.Subscription{
			Subscriber: subscriberOf(x.Session), Name: uri, Target: target, Until: s.Opened.Add(min(b.h.config.Limits.SessionAge, subscriptionAge)),
		})
	})
}

func (b bridge) Unsubscribe(ctx context.Context, x *wire.Exchange, _ wire.Session, uri string) {
	b.h.attend(ctx, func(*call) error { return b.h.box.service.Unsubscribe(ctx, subscriberOf(x.Session), uri) })
}

func (b bridge) Forget(ctx context.Context, id wire.SessionID) {
	if err := b.h.box.service.Unsubscribe(ctx, subscriberOf(id), ""); err != nil {
		b.h.log.WarnContext(ctx, "the subscriptions of an ended session were not deleted: they stay until they expire", slog.String("error", service.ForLog(err)))
	}
}

// Watch starts to watch a session's subscriptions and the list of resources. Clients of the first version do not
// expect the list, and tokens restricted to other tools do not get it.
func (b bridge) Watch(ctx context.Context, who wire.Peer, id wire.SessionID, s wire.Session) (wire.Watch, error) {
	caller := visitorOf(who).Caller
	watch := b.h.box.service.Watch(subscriberOf(id))
	if s.Version.Plain() || !listOfCalendars.to(caller) {
		return watched{watch, caller}, nil
	}
	err := watch.Follow(ctx, caller, wire.ListName, calendar.Target{})
	if err != nil && calendar.ReasonOf(err) != calendar.Forbidden {
		return nil, errors.Join(err, watch.Close(ctx))
	}
	return watched{watch, caller}, nil
}

func (b bridge) Listen(ctx context.Context, x *wire.Exchange) (wire.Watch, mcpgo.SubscriptionFilter) {
	w := b.h.box.service.Watch("")
	var granted mcpgo.SubscriptionFilter
	b.h.attend(ctx, func(in *call) error {
		var asked mcpgo.SubscriptionsListenParams
		err := json.Unmarshal(x.Message.Params, &asked)
		if err == nil {
			granted, err = b.grant(ctx, in, w, asked.Notifications)
		}
		return err
	})
	return watched{w, callerOf(x)}, granted
}

// grant subscribes to the requested resources that the caller can read. It silently drops all others, so that callers
// cannot tell inaccessible resources from missing ones. The lists of tools and prompts never change.
func (b bridge) grant(ctx context.Context, in *call, w *watch.Watch, asked mcpgo.SubscriptionFilter) (granted mcpgo.SubscriptionFilter, err error) {
	if len(asked.ResourceSubscriptions) >= watch.MaxFollowed {
		return granted, errArgument("a subscription names fewer than %d resources", watch.MaxFollowed)
	}
	if asked.ResourcesListChanged {
		if granted.ResourcesListChanged, err = b.follow(ctx, in, w, wire.ListName, calendar.Target{}); err != nil {
			return granted, err
		}
	}
	seen := make(map[string]bool)
	for _, uri := range asked.ResourceSubscriptions {
		target, err := targetOf(uri)
		if err != nil || seen[uri] {
			continue
		}
		seen[uri] = true
		ok, err := b.follow(ctx, in, w, uri, target)
		if err != nil {
			return granted, err
		}
		if ok {
			granted.ResourceSubscriptions = append(granted.ResourceSubscriptions, uri)
		}
	}
	return granted, nil
}

// follow subscribes to a target, and reports whether the caller may read it.
func (b bridge) follow(ctx context.Context, in *call, w *watch.Watch, name string, target calendar.Target) (bool, error) {
	err := b.h.box.follows(ctx, in, target)
	if err == nil {
		err = w.Follow(ctx, in.caller, name, target)
	}
	if err != nil && (calendar.ReasonOf(err) == calendar.NotFound || calendar.ReasonOf(err) == calendar.Forbidden) {
		return false, nil
	}
	return err == nil, err
}
