package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// subscriberStore holds the subscribers to changes: push messages to devices, webhooks, and clients of MCP.
type subscriberStore struct{ *database }

// Subscribe implements [calendar.Subscriptions].
func (s subscriberStore) Subscribe(ctx context.Context, sub calendar.Subscription, now time.Time, each, all int) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, `DELETE FROM subscriptions WHERE user_id = $1 AND until <= $2`, sub.User, now.Unix()); err != nil {
			return err
		}
		err := t.Run(ctx, `INSERT INTO subscriptions (subscriber, name, user_id, calendar_id, uid, seen, until) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (subscriber, name) DO UPDATE SET calendar_id = excluded.calendar_id, uid = excluded.uid, seen = excluded.seen, until = excluded.until`,
			sub.Subscriber, sub.Name, sub.User, sub.Calendar, sub.UID, sub.Seen, sub.Until.Unix())
		if err != nil {
			return err
		}
		held, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM subscriptions WHERE subscriber = $1`, sub.Subscriber)
		if err != nil {
			return err
		}
		if held > int64(each) {
			return calendar.Errorf(calendar.TooLarge, "", "the subscriber has %d subscriptions", each)
		}
		t.hint.Subscribers = append(t.hint.Subscribers, sub.Subscriber)
		// The new subscription usually expires last, so it stays.
		return t.Run(ctx, `DELETE FROM subscriptions WHERE user_id = $1 AND (subscriber, name) NOT IN (
			SELECT subscriber, name FROM subscriptions WHERE user_id = $1 ORDER BY until DESC, subscriber, name LIMIT $2)`, sub.User, all)
	})
}

// Unsubscribe implements [calendar.Subscriptions].
func (s subscriberStore) Unsubscribe(ctx context.Context, id calendar.SubscriberID, name string) error {
	return s.transact(ctx, func(t *transaction) error {
		t.hint.Subscribers = append(t.hint.Subscribers, id)
		return t.Run(ctx, `DELETE FROM subscriptions WHERE subscriber = $1 AND (name = $2 OR $2 = '')`, id, name)
	})
}

// Subscriptions implements [calendar.Subscriptions].
func (s subscriberStore) Subscriptions(ctx context.Context, id calendar.SubscriberID, now time.Time) ([]calendar.Subscription, error) {
	return db.RowsOf(ctx, s.db.Reads, scanSubscription, `SELECT subscriber, name, user_id, calendar_id, uid, seen, until
		FROM subscriptions WHERE subscriber = $1 AND until > $2 ORDER BY name`, id, now.Unix())
}

var scanSubscription = db.ScanInto(func(sub *calendar.Subscription) []any {
	return []any{&sub.Subscriber, &sub.Name, &sub.User, &sub.Calendar, &sub.UID, &sub.Seen, db.Seconds(&sub.Until)}
})

// Seen implements [calendar.Subscriptions].
func (s subscriberStore) Seen(ctx context.Context, known []calendar.Subscription) error {
	return s.transact(ctx, func(t *transaction) error {
		for _, sub := range known {
			err := t.Run(ctx, `UPDATE subscriptions SET seen = $3 WHERE subscriber = $1 AND name = $2 AND calendar_id = $4 AND uid = $5`,
				sub.Subscriber, sub.Name, sub.Seen, sub.Calendar, sub.UID)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
