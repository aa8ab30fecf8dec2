package push

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/outbound"
)

// schedule are the pauses between tries, as recommended by Standard Webhooks.
var schedule = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

const (
	// failingFor is how long all deliveries may fail before the webhook is turned off.
	failingFor = 3 * 24 * time.Hour
	// changesMost and bodyMost limit one message: a body should be smaller than 20 kB.
	changesMost = 100
	bodyMost    = 16 << 10
)

// told is the body of a webhook message.
type told struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      toldData  `json:"data"`
}

type toldData struct {
	Calendar calendar.CalendarID `json:"calendar_id"`
	// Version is the calendar's version after the last of the changes.
	Version calendar.Version `json:"version"`
	Changes []toldChange     `json:"changes"`
}

type toldChange struct {
	Kind    calendar.ChangeKind `json:"kind"`
	Subject calendar.Subject    `json:"subject"`
	UID     calendar.UID        `json:"uid,omitempty"`
	At      time.Time           `json:"at"`
	Title   string              `json:"title,omitempty"`
}

// changedType is the only event type.
const changedType = "calendar.changed"

// catchUpAll creates the missing messages of webhooks.
func (s *Courier) catchUpAll(ctx context.Context, lags []calendar.WebhookLag) error {
	var failed []error
	ctx, end := s.Task(ctx, "webhook news")
	defer func() { end(len(failed) > 0, slog.Int("calendars", len(lags))) }()
	for _, lag := range lags {
		if err := s.catchUp(ctx, lag); err != nil {
			failed = append(failed, fmt.Errorf("webhook %s: %w", lag.ID, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// catchUp creates the next message about one calendar, if there is any change to report.
func (s *Courier) catchUp(ctx context.Context, lag calendar.WebhookLag) error {
	caller, ok, err := s.Owner(ctx, lag.User)
	if err != nil {
		return err
	}
	var cal calendar.Calendar
	if ok {
		cal, ok, err = s.readable(ctx, caller, lag.Calendar)
	}
	// If a calendar was shared after the webhook was created, its earlier changes are not reported.
	shared := lag.Told < 0 && lag.Began.Before(lag.Created)
	if err != nil || !ok || shared || lag.Told > lag.Version {
		if err != nil {
			return err
		}
		return s.Store.CatchUp(ctx, lag, lag.Version, nil)
	}
	if again, lost, err := s.lostMeanwhile(ctx, lag); err != nil || lost {
		if err != nil {
			return err
		}
		return s.Store.CatchUp(ctx, lag, again, nil)
	}
	until := min(lag.Version, max(lag.Told, 0)+changesMost)
	data, err := s.changes(ctx, lag, caller, cal, &until)
	if err != nil || len(data) == 0 {
		if err != nil {
			return err
		}
		return s.Store.CatchUp(ctx, lag, until, nil)
	}
	now := s.Now().UTC().Truncate(time.Second)
	body, err := json.Marshal(told{changedType, now, toldData{lag.Calendar, until, data}})
	if err != nil {
		return err
	}
	return s.Store.CatchUp(ctx, lag, until, &calendar.Delivery{
		ID: calendar.DeliveryID("msg_" + s.NewID()), Webhook: lag.ID, Calendar: lag.Calendar, Made: now, Due: now,
		State: calendar.DeliveryWaiting, Body: body,
	})
}

// lostMeanwhile reports whether the owner lost access to the calendar since the last message, and the version since
// when they have it again. Earlier changes are not reported. It is the version of the share after the last loss or,
// if the share had to be accepted, of the acceptance.
func (s *Courier) lostMeanwhile(ctx context.Context,
	lag calendar.WebhookLag,
) (again calendar.Version, lost bool, err error) {
	var given, accepted calendar.Version
	for line, err := range s.Store.Journal(ctx, lag.Calendar, calendar.JournalQuery{
		From: max(lag.Told, 0) + 1, Until: lag.Version, Whom: lag.User,
	}) {
		switch {
		case err != nil:
			return 0, false, err
		case line.Did == calendar.Accepted:
			accepted = line.Version
		case line.Given < calendar.ReadAccess, line.Did == calendar.Declined:
			return cmp.Or(accepted, given, line.Version), true, nil
		default:
			given = line.Version
		}
	}
	// A calendar that was never reported and is shared by another user: the owner could not read it earlier.
	again = cmp.Or(accepted, given)
	return again, again > 0 && lag.Told < 0 && !lag.Since.IsZero(), nil
}

// changes returns the changes of a message, the oldest first, and sets until to the version of the last one.
func (s *Courier) changes(ctx context.Context, lag calendar.WebhookLag, c calendar.Caller, cal calendar.Calendar,
	until *calendar.Version,
) ([]toldChange, error) {
	var lines []calendar.Change
	for change, err := range s.Store.Journal(ctx, lag.Calendar, calendar.JournalQuery{
		From: max(lag.Told, 0) + 1, Until: *until,
	}) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, change)
	}
	slices.Reverse(lines)
	var all []toldChange
	room := bodyMost
	for _, l := range lines {
		if !c.SeesChange(cal, l) || l.At.Before(lag.Since) || len(lag.Kinds) > 0 && !slices.Contains(lag.Kinds, l.Did) {
			continue
		}
		one := toldChange{Kind: l.Did, Subject: l.Subject(), UID: l.UID, At: l.At}
		if lag.Content {
			one.Title = shortened(l.Summary)
		}
		text, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		if room -= len(text) + 1; room < 0 && len(all) > 0 {
			*until = l.Version - 1
			break
		}
		all = append(all, one)
	}
	return all, nil
}

// titleMost limits the length of a title.
const titleMost = 200

func shortened(title string) string {
	if r := []rune(title); len(r) > titleMost {
		return string(r[:titleMost]) + "…"
	}
	return title
}

// toWebhook returns the message to a webhook.
func (s *Courier) toWebhook(d calendar.DueDelivery) errand {
	return errand{
		task: "webhook message", key: "webhook " + string(d.ID),
		to: receiverOf(d.To.User, d.To.URL),
		run: func(ctx context.Context) outcome {
			next, result, err := s.deliver(ctx, d)
			if err != nil {
				s.report(ctx, err)
				return outcome{failed: true}
			}
			return outcome{
				note:   func(ctx context.Context) error { return s.settle(ctx, next, result) },
				failed: result != calendar.TryTaken,
			}
		},
		later: func(due time.Time) outcome {
			d.Due = due
			return outcome{note: func(ctx context.Context) error { return s.settle(ctx, d, calendar.TryNone) }}
		},
	}
}

// settle records the outcome of a message. If the webhook is turned off because of it, it writes a log line and a
// letter to the owner.
func (s *Courier) settle(ctx context.Context, d calendar.DueDelivery, r calendar.TryResult) error {
	by := calendar.Settling{Result: r, Now: s.Now(), Patience: failingFor, News: s.news(ctx, d.To, r)}
	ended, err := s.Store.SettleDelivery(ctx, d.Delivery, by)
	if by.News != nil && calendar.ReasonOf(err) == calendar.TooLarge {
		by.News = nil // its owner's outbox is full
		ended, err = s.Store.SettleDelivery(ctx, d.Delivery, by)
	}
	if err == nil && ended != "" {
		s.Logger.WarnContext(ctx, "a webhook is turned off", "webhook", d.Webhook, "user", d.To.User, "state", ended)
	}
	return err
}

// news returns the letter to the owner if this outcome may turn the webhook off. Errors are logged only.
func (s *Courier) news(ctx context.Context, w calendar.Webhook, r calendar.TryResult) *calendar.News {
	failed := r == calendar.TryFailed && !w.Failing.IsZero() && s.Now().Sub(w.Failing) >= failingFor
	if s.Ending == nil || r != calendar.TryGone && !failed {
		return nil
	}
	n, err := s.Ending(ctx, w)
	s.report(ctx, err)
	return n
}

// mayHear reports whether the owner may still read the calendar of a message.
func (s *Courier) mayHear(ctx context.Context, d calendar.DueDelivery) (bool, error) {
	s.asking <- struct{}{}
	defer func() { <-s.asking }()
	caller, may, err := s.Owner(ctx, d.To.User)
	if err == nil && may && d.Calendar != "" {
		_, may, err = s.readable(ctx, caller, d.Calendar)
	}
	return may, err
}

// deliver tries a message once and returns the outcome. An error comes from the store and changes nothing.
func (s *Courier) deliver(ctx context.Context,
	d calendar.DueDelivery,
) (calendar.DueDelivery, calendar.TryResult, error) {
	may, err := s.mayHear(ctx, d)
	if err != nil {
		return d, calendar.TryNone, err
	}
	now := s.Now()
	if !may {
		d.State, d.Ended, d.Answer = calendar.DeliveryFailed, now,
			"not sent: the calendar is no longer its owner's to read"
		return d, calendar.TryNone, nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.To.URL, bytes.NewReader(d.Body))
	if err != nil {
		d.State, d.Ended, d.Answer = calendar.DeliveryFailed, now, "not sent: its address cannot be read"
		return d, calendar.TryNone, nil //nolint:nilerr // the address is at fault, and the message says so
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Webhook-Id", string(d.ID))
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	signatures, err := Signatures(s.Secret, d.To, d.ID, now, d.Body)
	if err != nil {
		return d, calendar.TryNone, err
	}
	r.Header.Set("Webhook-Signature", signatures)
	answer, err := s.Send(r)
	d, result := s.judge(d, answer, err)
	return d, result, nil
}

// judge evaluates a response: the message's next state, and the result for its webhook.
func (s *Courier) judge(d calendar.DueDelivery, answer Answer, err error) (calendar.DueDelivery, calendar.TryResult) {
	now := s.Now()
	d.Tries++
	d.Answer = fmt.Sprintf("%d %s", answer.Status, http.StatusText(answer.Status))
	if err != nil {
		d.Answer = err.Error()
	}
	switch {
	case err == nil && answer.Status/100 == 2:
		d.State, d.Ended = calendar.DeliveryDelivered, now
		return d, calendar.TryTaken
	case err == nil && answer.Status == http.StatusGone:
		d.State, d.Ended = calendar.DeliveryFailed, now
		return d, calendar.TryGone
	case int(d.Tries) > len(schedule):
		d.State, d.Ended = calendar.DeliveryFailed, now
	default:
		// 10 % jitter, derived from the id, so that messages which failed together do not return together.
		wait := schedule[d.Tries-1]
		wait += wait / 100 * time.Duration(int(d.ID[len(d.ID)-1])%21-10)
		d.Due = now.Add(max(wait, outbound.RetryAfter(answer.Header)))
	}
	return d, calendar.TryFailed
}
