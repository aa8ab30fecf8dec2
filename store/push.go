package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// subscriberStore holds the subscribers to changes: push messages to devices, webhooks, and clients of MCP.
type subscriberStore struct{ *database }

// Subscribe implements [calendar.Subscriptions].
func (s subscriberStore) Subscribe(ctx context.Context, sub calendar.Subscription, now time.Time, each, all int) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, `DELETE FROM subscriptions WHERE user_id = $1 AND until <= $2`, sub.User,
			now.Unix()); err != nil {
			return err
		}
		err := t.Run(ctx, `INSERT INTO subscriptions (subscriber, name, user_id, calendar_id, uid, seen, until)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (subscriber, name) DO UPDATE
			SET calendar_id = excluded.calendar_id, uid = excluded.uid, seen = excluded.seen, until = excluded.until`,
			sub.Subscriber, sub.Name, sub.User, sub.Calendar, sub.UID, sub.Seen, sub.Until.Unix())
		if err != nil {
			return err
		}
		held, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM subscriptions
			WHERE subscriber = $1`, sub.Subscriber)
		if err != nil {
			return err
		}
		if held > int64(each) {
			return calendar.Errorf(calendar.TooLarge, "", "the subscriber has %d subscriptions", each)
		}
		t.hint.Subscribers = append(t.hint.Subscribers, sub.Subscriber)
		// The new subscription usually expires last, so it stays.
		return t.Run(ctx, `DELETE FROM subscriptions WHERE user_id = $1 AND (subscriber, name) NOT IN (
			SELECT subscriber, name FROM subscriptions WHERE user_id = $1 ORDER BY until DESC, subscriber, name
			LIMIT $2)`, sub.User, all)
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
func (s subscriberStore) Subscriptions(
	ctx context.Context, id calendar.SubscriberID, now time.Time,
) ([]calendar.Subscription, error) {
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
			err := t.Run(ctx, `UPDATE subscriptions SET seen = $3
				WHERE subscriber = $1 AND name = $2 AND calendar_id = $4 AND uid = $5`,
				sub.Subscriber, sub.Name, sub.Seen, sub.Calendar, sub.UID)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

var pushColumns = columns[calendar.PushDue]{
	{"p.id", func(p *calendar.PushDue) any { return &p.ID }},
	{"p.user_id", func(p *calendar.PushDue) any { return &p.User }},
	{"p.token_id", func(p *calendar.PushDue) any { return &p.Token }},
	{"p.calendar_id", func(p *calendar.PushDue) any { return &p.Calendar }},
	{"p.endpoint", func(p *calendar.PushDue) any { return &p.Endpoint }},
	{"p.public_key", func(p *calendar.PushDue) any { return &p.Key }},
	{"p.auth", func(p *calendar.PushDue) any { return &p.Auth }},
	{"p.expires", func(p *calendar.PushDue) any { return db.Seconds(&p.Expires) }},
	{"p.told", func(p *calendar.PushDue) any { return &p.Told }},
	{"p.told_own", func(p *calendar.PushDue) any { return &p.ToldOwn }},
	{"p.due", func(p *calendar.PushDue) any { return db.Seconds(&p.Due) }},
	{"p.tries", func(p *calendar.PushDue) any { return &p.Tries }},
}

const (
	// sumOfHome is the state of a user's home as one number, which changes when a calendar is added, removed or
	// changed. The factor keeps the removal of one calendar and the addition of another from canceling out.
	sumOfHome = `(SELECT CAST(COALESCE(SUM(h.version + 1009 * h.created), 0) AS BIGINT) FROM calendars h
		WHERE h.owner_id = p.user_id AND h.trashed IS NULL) +
		(SELECT CAST(COALESCE(SUM(h.version + 1009 * h.created + s.own_version), 0) AS BIGINT) FROM shares s
			JOIN calendars h ON h.id = s.calendar_id
			WHERE s.user_id = p.user_id AND h.trashed IS NULL AND s.access <> 'freebusy')`

	duePush   = `p.due <= $1 AND p.expires > $1`
	ownOfPush = `COALESCE(s.own_version, 0)`
)

// selectDuePushes finds subscriptions whose state differs from the last one pushed. It may be higher or, after
// a standby was promoted, lower. A home is summed once for all subscriptions of its user. The first due push of
// every user comes before anyone's second.
var selectDuePushes = `WITH homes AS MATERIALIZED (
		SELECT p.user_id, ` + sumOfHome + ` AS state
		FROM (SELECT DISTINCT user_id FROM push_subscriptions p WHERE calendar_id = '' AND ` + duePush + `) AS p
	), due AS (
		SELECT p.id, p.user_id, p.due, c.version AS now, ` + ownOfPush + ` AS now_own
			FROM push_subscriptions p JOIN calendars c ON c.id = p.calendar_id AND c.trashed IS NULL
			LEFT JOIN shares s ON s.calendar_id = p.calendar_id AND s.user_id = p.user_id
			WHERE ` + duePush + ` AND (c.version <> p.told OR ` + ownOfPush + ` <> p.told_own)
		UNION ALL SELECT p.id, p.user_id, p.due, h.state, 0
			FROM homes h JOIN push_subscriptions p ON p.user_id = h.user_id AND p.calendar_id = ''
			WHERE ` + duePush + ` AND h.state <> p.told
	), turns AS (
		SELECT id, now, now_own, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY due, id) AS turn FROM due
	)
	SELECT ` + pushColumns.list() + `, t.now, t.now_own FROM turns t JOIN push_subscriptions p ON p.id = t.id
		ORDER BY t.turn, p.due, p.id LIMIT $2`

var scanPush = db.ScanInto(func(p *calendar.PushDue) []any { return append(pushColumns.fields(p), &p.Now, &p.NowOwn) })

// DuePushes implements [calendar.Pushes].
func (s subscriberStore) DuePushes(ctx context.Context, now time.Time, most int) ([]calendar.PushDue, error) {
	return db.RowsOf(ctx, s.db.Reads, scanPush, selectDuePushes, now.Unix(), most)
}

// RegisterPush implements [calendar.Pushes].
func (s subscriberStore) RegisterPush(
	ctx context.Context, sub calendar.PushSubscription, most, homes int,
) (calendar.PushSubscription, error) {
	err := s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, `DELETE FROM push_subscriptions WHERE user_id = $1 AND expires <= $2`,
			sub.User, sub.Due.Unix()); err != nil {
			return err
		}
		id, err := db.RowOf(ctx, t, db.ScanText, `INSERT INTO push_subscriptions
			(id, user_id, token_id, calendar_id, endpoint, public_key, auth, expires, told, told_own, due, tries)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, $9, 0)
			ON CONFLICT (user_id, calendar_id, endpoint) DO UPDATE
			SET token_id = excluded.token_id, public_key = excluded.public_key,
				auth = excluded.auth, expires = excluded.expires
			RETURNING id`,
			sub.ID, sub.User, sub.Token, sub.Calendar, sub.Endpoint, sub.Key, sub.Auth,
			sub.Expires.Unix(), sub.Due.Unix())
		if err != nil {
			return err
		}
		fresh := calendar.PushID(id) == sub.ID
		sub.ID = calendar.PushID(id)
		if !fresh {
			return nil
		}
		if err := t.roomForPush(ctx, sub, most, homes); err != nil {
			return err
		}
		return t.knows(ctx, sub)
	})
	return sub, err
}

// roomForPush refuses a new subscription that exceeds its user's limits.
func (t *transaction) roomForPush(ctx context.Context, sub calendar.PushSubscription, most, homes int) error {
	type count struct{ all, homes int64 }
	held, err := db.RowOf(ctx, t, db.ScanInto(func(n *count) []any { return []any{&n.all, &n.homes} }),
		`SELECT COUNT(*), COUNT(CASE WHEN calendar_id = '' THEN 1 END) FROM push_subscriptions WHERE user_id = $1`,
		sub.User)
	switch {
	case err != nil:
		return err
	case sub.Calendar == "" && held.homes > int64(homes):
		return calendar.Errorf(calendar.TooLarge, "",
			"%d programs already watch all your calendars, which is the maximum", homes).
			Advising("register for single calendars, or end a registration: one that is not renewed ends within two " +
				"weeks")
	case held.all > int64(most):
		return calendar.Errorf(calendar.TooLarge, "", "the account has %d push registrations, which is the maximum",
			most).Advising("end a registration: one that is not renewed ends within two weeks")
	}
	return nil
}

// knows initializes a new subscription with the current state.
func (t *transaction) knows(ctx context.Context, sub calendar.PushSubscription) error {
	text := `UPDATE push_subscriptions AS p SET told = ` + sumOfHome + ` WHERE id = $1`
	if sub.Calendar != "" {
		text = `UPDATE push_subscriptions AS p
			SET told = COALESCE((SELECT c.version FROM calendars c WHERE c.id = p.calendar_id), 0),
			told_own = COALESCE((SELECT s.own_version FROM shares s
				WHERE s.calendar_id = p.calendar_id AND s.user_id = p.user_id), 0) WHERE id = $1`
	}
	return t.Run(ctx, text, sub.ID)
}

// UnregisterPush implements [calendar.Pushes].
func (s subscriberStore) UnregisterPush(ctx context.Context, user calendar.UserID, id calendar.PushID) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM push_subscriptions WHERE id = $1 AND user_id = $2`, id, user))
}

// QuietPush implements [calendar.Pushes].
func (s subscriberStore) QuietPush(
	ctx context.Context, user calendar.UserID, ids []calendar.PushID, m calendar.Moved,
) error {
	for _, q := range []struct {
		text string
		args []any
	}{
		{quietCalendar, []any{m.Before, m.Own}},
		{quietHome, nil},
	} {
		args := append([]any{user, m.Calendar, m.After, m.By.User.ID, m.By.Token, m.By.Agent}, q.args...)
		text := q.text
		if len(ids) > 0 {
			var marks []string
			for _, id := range ids {
				args = append(args, id)
				marks = append(marks, "$"+strconv.Itoa(len(args)))
			}
			text += ` AND id IN (` + strings.Join(marks, ", ") + `)`
		}
		if err := s.run(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}

const (
	ownChange = ` AND EXISTS (SELECT 1 FROM journal
		WHERE calendar_id = $2 AND version = $3 AND user_id = $4 AND token_id = $5 AND agent = $6)`

	quietCalendar = `UPDATE push_subscriptions SET told = $3
		WHERE user_id = $1 AND calendar_id = $2 AND told = $7 AND told_own = $8` + ownChange

	// quietHome advances a home by one change, if that is all that its client does not know.
	quietHome = `UPDATE push_subscriptions AS p SET told = p.told + 1
		WHERE p.user_id = $1 AND p.calendar_id = '' AND p.told + 1 = ` + "(" + sumOfHome + ")" + ownChange
)

// SettlePushes implements [calendar.Pushes].
func (s subscriberStore) SettlePushes(ctx context.Context, all []calendar.PushSubscription) error {
	return s.transact(ctx, func(t *transaction) error {
		for _, p := range all {
			var err error
			if p.Endpoint == "" {
				err = t.Later(ctx, db.Ignore, `DELETE FROM push_subscriptions WHERE id = $1`, p.ID)
			} else {
				err = t.Later(ctx, db.Ignore, `UPDATE push_subscriptions
					SET told = $2, told_own = $3, due = $4, tries = $5 WHERE id = $1 AND endpoint = $6`,
					p.ID, p.Told, p.ToldOwn, p.Due.Unix(), p.Tries, p.Endpoint)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
