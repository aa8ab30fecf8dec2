package push

import (
	"context"
	"net/http"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/outbound"
	"caldav-mcp-server/webpush"
)

// toBrowser returns a notification to a browser. The service worker in the browser shows its body.
func (s *Courier) toBrowser(m calendar.BrowserDue) errand {
	return errand{
		task: "notification", key: "browser " + string(m.ID),
		to: receiverOf(m.To.User, m.To.Endpoint),
		run: func(ctx context.Context) outcome {
			note, failed := s.notify(ctx, m)
			return outcome{note: note, failed: failed}
		},
		later: func(due time.Time) outcome {
			m.Due = due
			return outcome{note: func(ctx context.Context) error {
				return s.Store.SettleBrowserMessage(ctx, m.BrowserMessage)
			}}
		},
	}
}

// notify sends a notification, and returns the function that records the outcome. If the push service reports that
// the subscription has ended, the browser is deleted with its other notifications.
func (s *Courier) notify(ctx context.Context, m calendar.BrowserDue) (note func(context.Context) error, failed bool) {
	next, now := m.BrowserMessage, s.Now()
	ended := func(ctx context.Context) error { return s.Store.EndBrowser(ctx, m.To.ID) }
	r, err := s.From.Request(ctx, webpush.Subscription{Endpoint: m.To.Endpoint, Key: m.To.Key, Auth: m.To.Auth},
		webpush.Message{Text: m.Body, TTL: max(0, m.Expires.Sub(now)), Urgency: webpush.High}, now)
	if err != nil {
		return ended, true
	}
	answer, err := s.Send(r)
	if ctx.Err() != nil && err == nil {
		err = ctx.Err()
	}
	switch {
	case err == nil && answer.Status/100 == 2:
		next.Due = next.Expires // it is delivered
	case err == nil && (answer.Status == http.StatusNotFound || answer.Status == http.StatusGone):
		return ended, false // RFC 8030 §7.3: the subscription has ended
	case err == nil && answer.Status/100 == 4 && answer.Status != http.StatusTooManyRequests:
		next.Due, failed = next.Expires, true // the service will not take it later, either
	default:
		next.Due = now.Add(max(pause(next.Tries), outbound.RetryAfter(answer.Header)))
		next.Tries++
		failed = true
	}
	return func(ctx context.Context) error { return s.Store.SettleBrowserMessage(ctx, next) }, failed
}
