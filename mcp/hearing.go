package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// hearing is an event stream that sends notifications of changes.
type hearing struct {
	stream
	caller calendar.Caller
	out    sse
	// begin sends the first message of the stream, if there is one.
	begin func() error
	// tag is the id of the request that opened the stream, or nil.
	tag json.RawMessage
}

// listName is the subscription name for the list of resources. No resource has an empty URI.
const listName = ""

// notification is a message without a response.
type notification struct {
	JSONRPC string         `json:"jsonrpc"`
	Method  string         `json:"method"`
	Params  map[string]any `json:"params,omitempty"`
}

// notify returns a notification for a stream. In a subscription it carries the subscription's id.
func (s *hearing) notify(method string, params map[string]any) notification {
	if s.tag != nil {
		if params == nil {
			params = make(map[string]any)
		}
		params["_meta"] = subscriptionMeta(s.tag)
	}
	return notification{JSONRPC: mcpgo.JSONRPC_VERSION, Method: method, Params: params}
}

func subscriptionMeta(id json.RawMessage) map[string]any {
	return map[string]any{mcpgo.MetaKeySubscriptionID: id}
}

// hear sends notifications until ctx ends, the client disconnects, or the token becomes invalid.
func (h *Handler) hear(ctx context.Context, s *hearing) {
	beat := time.NewTicker(h.config.Limits.StreamPause)
	defer beat.Stop()
	var ready <-chan struct{}
	if s.watch != nil {
		ready = s.watch.Ready()
	}
	listening := ready
	var calm <-chan time.Time
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if err = h.vouch(ctx, s.caller); err == nil || away(err) {
				err = s.out.comment()
			}
		case <-calm:
			listening = ready
		case <-listening:
			err = h.tell(ctx, s)
			// Frequent changes are reported at intervals.
			listening, calm = nil, time.After(h.config.Limits.Calm)
		}
		if err != nil {
			h.log.LogAttrs(ctx, slog.LevelDebug, "a stream ends", slog.String("user", s.caller.User.Name),
				slog.String("token", string(s.caller.Token)), slog.String("why", service.ForLog(err)))
			return
		}
	}
}

// tell sends notifications for all changes. It checks the token after it has read the changes, so that a token revoked
// in the meantime gets nothing.
func (h *Handler) tell(ctx context.Context, s *hearing) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !h.streams.speaks(&s.stream) {
		return nil
	}
	changed, err := s.watch.Changed(ctx, s.caller)
	if err == nil {
		err = h.vouch(ctx, s.caller)
	}
	switch {
	case away(err):
		s.watch.Again()
		return nil
	case err != nil && ctx.Err() == nil && !errors.Is(err, auth.ErrUnauthorized):
		h.log.ErrorContext(ctx, "changes could not be sent to a stream", slog.String("user", s.caller.User.Name), slog.String("error", service.ForLog(err)))
	}
	for _, sub := range changed {
		if err != nil {
			return err
		}
		err = s.out.send(s.notificationOf(sub))
		if err == nil {
			s.watch.Told(sub)
		}
	}
	return err
}

func (s *hearing) notificationOf(sub calendar.Subscription) notification {
	if sub.Name == listName {
		return s.notify(mcpgo.MethodNotificationResourcesListChanged, nil)
	}
	return s.notify(mcpgo.MethodNotificationResourceUpdated, map[string]any{"uri": sub.Name})
}

// vouch checks that the caller's token is still valid, because streams stay open for long.
func (h *Handler) vouch(ctx context.Context, c calendar.Caller) error {
	if !c.Expires.IsZero() && !h.now().Before(c.Expires) {
		return auth.ErrUnauthorized
	}
	if h.config.Good == nil {
		return nil
	}
	return h.config.Good(ctx, c)
}

// away reports whether the store is temporarily unavailable.
func away(err error) bool { return err != nil && calendar.ReasonOf(err) == calendar.Unavailable }

// closeWatch stops watching, and stores which changes the client has seen.
func (h *Handler) closeWatch(ctx context.Context, s *hearing) {
	if s.watch == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := s.watch.Close(ctx); err != nil {
		h.log.WarnContext(ctx, "the position of a stream was not stored: its session may get some notifications again", slog.String("error", service.ForLog(err)))
	}
}

// closeTimeout limits the cleanup after a client has disconnected.
const closeTimeout = 5 * time.Second
