package push

import (
	"context"
	"encoding/xml"
	"net/http"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/outbound"
	"caldav-mcp-server/webpush"
)

const (
	// between is the minimum interval between two messages to a device.
	between = 3 * time.Second
	// firstPause and longestPause limit the pauses between tries, which double.
	firstPause   = 30 * time.Second
	longestPause = 6 * time.Hour
)

// toDevice returns the message to a device.
func (s *Courier) toDevice(p calendar.PushDue) errand {
	return errand{
		task: "push message", key: "device " + string(p.ID),
		to: receiverOf(p.User, p.Endpoint),
		run: func(ctx context.Context) outcome {
			sub, err := s.tell(ctx, p)
			if err != nil {
				s.report(ctx, err)
				return outcome{failed: true}
			}
			return outcome{device: &sub, failed: sub.Tries > p.Tries}
		},
		later: func(due time.Time) outcome {
			p.Due = due
			return outcome{device: &p.PushSubscription}
		},
	}
}

// tell sends a message and returns the updated subscription. An error comes from the store and changes nothing.
func (s *Courier) tell(ctx context.Context, p calendar.PushDue) (calendar.PushSubscription, error) {
	forgotten := calendar.PushSubscription{ID: p.ID}
	now, token, may, err := s.state(ctx, p)
	if err != nil || !may {
		return forgotten, err
	}
	text, err := message(s.Topics.Topic(p.User, p.Calendar), token)
	if err != nil {
		return forgotten, err
	}
	r, err := s.From.Request(ctx, webpush.Subscription{Endpoint: p.Endpoint, Key: p.Key, Auth: p.Auth}, webpush.Message{
		Text: text, TTL: max(0, p.Expires.Sub(s.Now())), Urgency: webpush.Normal, Topic: s.Topics.Slot(p.ID),
	}, s.Now())
	if err != nil {
		return forgotten, err
	}
	answer, err := s.Send(r)
	if ctx.Err() != nil && err == nil {
		err = ctx.Err()
	}
	sub := p.PushSubscription
	switch {
	case err == nil && answer.Status/100 == 2:
		sub.Told, sub.ToldOwn, sub.Tries, sub.Due = now.Version, now.Own, 0, s.Now().Add(between)
	case err == nil && (answer.Status == http.StatusNotFound || answer.Status == http.StatusGone):
		return forgotten, nil // RFC 8030 §7.3: the subscription has ended
	default:
		sub.Due = s.Now().Add(max(pause(sub.Tries), outbound.RetryAfter(answer.Header)))
		sub.Tries++
	}
	return sub, nil
}

// point is the state that a device has last been notified of.
type point struct{ Version, Own calendar.Version }

// state returns the present state and its sync token, if any; may is set if the device may still read the calendar.
func (s *Courier) state(ctx context.Context, p calendar.PushDue) (now point, token string, may bool, err error) {
	s.asking <- struct{}{}
	defer func() { <-s.asking }()
	caller, ok, err := s.Program(ctx, p.User, p.Token)
	if err != nil || !ok {
		return now, "", false, err
	}
	if p.Calendar == "" {
		return point{Version: p.Now}, "", caller.MayOwn(calendar.ReadObjects) == nil, nil
	}
	cal, ok, err := s.readable(ctx, caller, p.Calendar)
	return point{cal.Version, cal.Own}, cal.SyncToken().String(), ok, err
}

// readable returns a calendar, and whether the caller may read it.
func (s *Courier) readable(ctx context.Context, c calendar.Caller,
	id calendar.CalendarID,
) (calendar.Calendar, bool, error) {
	cal, err := s.Calendar(ctx, c, id)
	if err == nil {
		err = c.May(calendar.ReadObjects, cal)
	}
	switch {
	case err == nil:
		return cal, true, nil
	case calendar.ReasonOf(err) == calendar.NotFound, calendar.ReasonOf(err) == calendar.Forbidden:
		return cal, false, nil
	}
	return cal, false, err
}

// pushMessage is the push-message element of WebDAV-Push.
type pushMessage struct {
	XMLName xml.Name `xml:"https://bitfire.at/webdav-push push-message"`
	Topic   string   `xml:"topic"`
	Content struct {
		Token string `xml:"DAV: sync-token,omitempty"`
	} `xml:"content-update"`
}

func message(topic, token string) ([]byte, error) {
	m := pushMessage{Topic: topic}
	m.Content.Token = token
	text, err := xml.Marshal(m)
	return append([]byte(xml.Header), text...), err
}

// pause returns the wait after a number of failed tries.
func pause(tries int64) time.Duration { return min(firstPause<<min(tries, 12), longestPause) }
