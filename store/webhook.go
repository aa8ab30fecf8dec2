package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

var webhookColumns = columns[calendar.Webhook]{
	{"w.id", func(w *calendar.Webhook) any { return &w.ID }},
	{"w.user_id", func(w *calendar.Webhook) any { return &w.User }},
	{"w.url", func(w *calendar.Webhook) any { return &w.URL }},
	{"w.kinds", func(w *calendar.Webhook) any { return filled{&w.Kinds} }},
	{"w.content", func(w *calendar.Webhook) any { return &w.Content }},
	{"w.number", func(w *calendar.Webhook) any { return &w.Number }},
	{"w.rotated", func(w *calendar.Webhook) any { return db.Seconds(&w.Rotated) }},
	{"w.state", func(w *calendar.Webhook) any { return &w.State }},
	{"NULLIF(w.failing, 0)", func(w *calendar.Webhook) any { return db.Seconds(&w.Failing) }},
	{"w.created", func(w *calendar.Webhook) any { return db.Seconds(&w.Created) }},
	{"w.maker_token", func(w *calendar.Webhook) any { return &w.Maker.Token }},
	{"w.maker", func(w *calendar.Webhook) any { return &w.Maker.Agent }},
}

// filled is a column of words; an empty text is nil.
type filled struct{ into *[]calendar.ChangeKind }

// Scan implements [database/sql.Scanner].
func (f filled) Scan(value any) error {
	err := db.Words(f.into).Scan(value)
	if len(*f.into) == 0 {
		*f.into = nil
	}
	return err
}

const (
	// ownRead and shareRead are the calendars that the owner of webhook w can read: their own, and shared ones.
	ownRead   = ` FROM webhooks w JOIN calendars c ON c.owner_id = w.user_id AND c.trashed IS NULL `
	shareRead = ` FROM webhooks w JOIN shares s ON s.user_id = w.user_id AND s.access <> 'freebusy'
		JOIN calendars c ON c.id = s.calendar_id AND c.trashed IS NULL `
	lagging = ` LEFT JOIN webhook_marks m ON m.webhook_id = w.id AND m.calendar_id = c.id
		WHERE w.state = 'on' AND (m.told IS NULL OR m.told <> c.version)
			AND w.id NOT IN (SELECT webhook_id FROM crowded) `
	markAll = `INSERT INTO webhook_marks (webhook_id, calendar_id, told) SELECT w.id, c.id, c.version`
)

// selectLags counts waiting messages once for all calendars.
var selectLags = `WITH crowded AS MATERIALIZED (
		SELECT webhook_id FROM webhook_deliveries WHERE state = 'waiting' GROUP BY webhook_id
			HAVING COUNT(*) >= $1 OR SUM(octet_length(body)) >= $3
	), lags AS (
		SELECT w.id AS hook, c.id AS calendar, COALESCE(m.told, -1) AS told, c.version AS version, c.created AS began,
		NULL AS since` + ownRead + lagging + `
		UNION ALL SELECT w.id, c.id, COALESCE(m.told, -1), c.version, c.created, s.created` + shareRead + lagging + `
	)
	SELECT ` + webhookColumns.list() + `, l.calendar, l.told, l.version, l.began, l.since FROM (
		SELECT g.*, ROW_NUMBER() OVER (PARTITION BY o.user_id ORDER BY g.hook, g.calendar) AS turn FROM lags g
		JOIN webhooks o ON o.id = g.hook
	) AS l JOIN webhooks w ON w.id = l.hook ORDER BY l.turn, w.id, l.calendar LIMIT $2`

// AddWebhook implements [calendar.Webhooks].
func (s subscriberStore) AddWebhook(ctx context.Context, w calendar.Webhook, most int) error {
	return s.transact(ctx, func(t *transaction) error {
		err := t.Run(ctx, `INSERT INTO webhooks (id, user_id, url, kinds, content, number, rotated, state, failing,
			created, maker_token, maker)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, $11)`,
			w.ID, w.User, w.URL, kindWords(w.Kinds), w.Content, w.Number, w.Rotated.Unix(), w.State, w.Created.Unix(),
			w.Maker.Token, w.Maker.Agent)
		if err != nil {
			return err
		}
		held, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM webhooks WHERE user_id = $1`, w.User)
		if err != nil {
			return err
		}
		if held > int64(most) {
			return calendar.Errorf(calendar.TooLarge, "", "a user may have at most %d webhooks", most)
		}
		for _, from := range []string{ownRead, shareRead} {
			if err := t.Run(ctx, markAll+from+`WHERE w.id = $1`, w.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

func kindWords(kinds []calendar.ChangeKind) string {
	var all []string
	for _, k := range kinds {
		all = append(all, string(k))
	}
	return strings.Join(all, " ")
}

// WebhooksOf implements [calendar.Webhooks].
func (s subscriberStore) WebhooksOf(ctx context.Context, user calendar.UserID) ([]calendar.Webhook, error) {
	return db.RowsOf(ctx, s.db.Reads, webhookColumns.scan, `SELECT `+webhookColumns.list()+` FROM webhooks w
		WHERE w.user_id = $1 ORDER BY w.created, w.id`, user)
}

// RotateWebhook implements [calendar.Webhooks].
func (s subscriberStore) RotateWebhook(
	ctx context.Context, user calendar.UserID, id calendar.WebhookID, now time.Time,
) error {
	return db.ExpectRow(s.write(ctx, `UPDATE webhooks SET number = number + 1, rotated = $3
		WHERE id = $1 AND user_id = $2`, id, user, now.Unix()))
}

// ResumeWebhook implements [calendar.Webhooks].
func (s subscriberStore) ResumeWebhook(ctx context.Context, user calendar.UserID, id calendar.WebhookID) error {
	return db.ExpectRow(s.write(ctx, `UPDATE webhooks SET state = $3, failing = 0 WHERE id = $1 AND user_id = $2`, id,
		user, calendar.WebhookOn))
}

// RemoveWebhook implements [calendar.Webhooks].
func (s subscriberStore) RemoveWebhook(ctx context.Context, user calendar.UserID, id calendar.WebhookID) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM webhooks WHERE id = $1 AND user_id = $2`, id, user))
}

// WebhookLags implements [calendar.Webhooks].
func (s subscriberStore) WebhookLags(
	ctx context.Context, room calendar.WebhookRoom, most int,
) ([]calendar.WebhookLag, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(l *calendar.WebhookLag) []any {
		return append(webhookColumns.fields(&l.Webhook), &l.Calendar, &l.Told, &l.Version, db.Seconds(&l.Began),
			db.Seconds(&l.Since))
	}), selectLags, room.Messages, most, room.Bytes)
}

// CatchUp implements [calendar.Webhooks].
func (s subscriberStore) CatchUp(
	ctx context.Context, lag calendar.WebhookLag, told calendar.Version, d *calendar.Delivery,
) error {
	return s.transact(ctx, func(t *transaction) error {
		text, args := `UPDATE webhook_marks SET told = $3
			WHERE webhook_id = $1 AND calendar_id = $2 AND told = $4`, []any{lag.ID, lag.Calendar, told, lag.Told}
		if lag.Told < 0 {
			text, args = `INSERT INTO webhook_marks (webhook_id, calendar_id, told) SELECT w.id, c.id, $3
				FROM webhooks w, calendars c
				WHERE w.id = $1 AND c.id = $2 ON CONFLICT (webhook_id, calendar_id) DO NOTHING`, args[:3]
		}
		moved, err := t.Exec(ctx, text, args...)
		if err != nil || moved == 0 || d == nil {
			return err
		}
		return t.Run(ctx, `INSERT INTO webhook_deliveries (`+deliveryNames+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9)`,
			d.ID, d.Webhook, d.Calendar, d.Made.Unix(), d.Due.Unix(), d.Tries, d.State, d.Answer, string(d.Body))
	})
}

// PostDelivery implements [calendar.Webhooks].
func (s subscriberStore) PostDelivery(ctx context.Context, d calendar.Delivery, room calendar.WebhookRoom) error {
	return s.transact(ctx, func(t *transaction) error {
		waiting, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM webhook_deliveries
			WHERE webhook_id = $1 AND state = 'waiting'`, d.Webhook)
		if err == nil && waiting >= int64(room.Messages) {
			err = calendar.Errorf(calendar.TooLarge, "", "%d messages are already waiting for this webhook", waiting)
		}
		if err != nil {
			return err
		}
		return t.Run(ctx, `INSERT INTO webhook_deliveries (`+deliveryNames+`)
			SELECT $1, w.id, $3, $4, $5, 0, $6, '', 0, $7
			FROM webhooks w WHERE w.id = $2 AND w.state = 'on'`, d.ID, d.Webhook, d.Calendar, d.Made.Unix(),
			d.Due.Unix(), d.State, string(d.Body))
	})
}

const deliveryNames = `id, webhook_id, calendar_id, made, due, tries, state, answer, ended, body`

var deliveryColumns = columns[calendar.Delivery]{
	{"d.id", func(d *calendar.Delivery) any { return &d.ID }},
	{"d.webhook_id", func(d *calendar.Delivery) any { return &d.Webhook }},
	{"d.calendar_id", func(d *calendar.Delivery) any { return &d.Calendar }},
	{"d.made", func(d *calendar.Delivery) any { return db.Seconds(&d.Made) }},
	{"d.due", func(d *calendar.Delivery) any { return db.Seconds(&d.Due) }},
	{"d.tries", func(d *calendar.Delivery) any { return &d.Tries }},
	{"d.state", func(d *calendar.Delivery) any { return &d.State }},
	{"d.answer", func(d *calendar.Delivery) any { return &d.Answer }},
	{"NULLIF(d.ended, 0)", func(d *calendar.Delivery) any { return db.Seconds(&d.Ended) }},
	{"d.body", func(d *calendar.Delivery) any { return &d.Body }},
}

// Deliveries implements [calendar.Webhooks].
func (s subscriberStore) Deliveries(ctx context.Context, id calendar.WebhookID, most int) ([]calendar.Delivery, error) {
	return db.RowsOf(ctx, s.db.Reads, deliveryColumns.scan, `SELECT `+deliveryColumns.list()+`
		FROM webhook_deliveries d WHERE d.webhook_id = $1 ORDER BY d.made DESC, d.id DESC LIMIT $2`, id, most)
}

// DueDeliveries implements [calendar.Webhooks].
func (s subscriberStore) DueDeliveries(ctx context.Context, now time.Time, most int) ([]calendar.DueDelivery, error) {
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(d *calendar.DueDelivery) []any {
		return slices.Concat(deliveryColumns.fields(&d.Delivery), webhookColumns.fields(&d.To))
	}), selectDueDeliveries, now.Unix(), most)
}

// selectDueDeliveries reads no bodies of messages that are not due.
var selectDueDeliveries = `SELECT ` + deliveryColumns.list() + `, ` + webhookColumns.list() + ` FROM (
		SELECT v.id, ROW_NUMBER() OVER (PARTITION BY o.user_id ORDER BY v.due, v.id) AS turn
			FROM webhook_deliveries v JOIN webhooks o ON o.id = v.webhook_id
			WHERE v.state = 'waiting' AND o.state = 'on' AND v.due <= $1
	) AS t JOIN webhook_deliveries d ON d.id = t.id JOIN webhooks w ON w.id = d.webhook_id
	ORDER BY t.turn, d.due, d.id LIMIT $2`

// settleWebhook has the statement for each result that changes an active webhook: its state, and since when it
// fails.
var settleWebhook = map[calendar.TryResult]string{
	calendar.TryNone:  "",
	calendar.TryTaken: `UPDATE webhooks SET failing = 0 WHERE id = $1 AND state = 'on' AND failing <> 0`,
	calendar.TryFailed: `UPDATE webhooks SET failing = CASE failing WHEN 0 THEN $2 ELSE failing END,
		state = CASE WHEN failing <> 0 AND failing <= $2 - $3 THEN 'failing' ELSE state END
		WHERE id = $1 AND state = 'on' RETURNING state`,
	calendar.TryGone: `UPDATE webhooks SET state = 'gone' WHERE id = $1 AND state = 'on' RETURNING state`,
}

// SettleDelivery implements [calendar.Webhooks].
func (s subscriberStore) SettleDelivery(
	ctx context.Context, d calendar.Delivery, by calendar.Settling,
) (calendar.WebhookState, error) {
	ended := int64(0)
	if !d.Ended.IsZero() {
		ended = d.Ended.Unix()
	}
	var off calendar.WebhookState
	err := s.transact(ctx, func(t *transaction) error {
		off = ""
		err := t.Run(ctx, `UPDATE webhook_deliveries SET due = $2, tries = $3, state = $4, answer = $5, ended = $6,
			body = CASE WHEN $4 = 'waiting' THEN body ELSE '' END
			WHERE id = $1`, d.ID, d.Due.Unix(), d.Tries, d.State, d.Answer, ended)
		if err != nil || by.Result == calendar.TryNone {
			return err
		}
		if by.Result == calendar.TryTaken {
			return t.Run(ctx, settleWebhook[by.Result], d.Webhook)
		}
		args := []any{d.Webhook}
		if by.Result == calendar.TryFailed {
			args = append(args, by.Now.Unix(), int64(by.Patience/time.Second))
		}
		states, err := db.RowsOf(ctx, t, db.ScanText, settleWebhook[by.Result], args...)
		if err != nil || len(states) == 0 || states[0] == string(calendar.WebhookOn) {
			return err
		}
		off = calendar.WebhookState(states[0])
		err = t.Run(ctx, `UPDATE webhook_deliveries SET state = $2, ended = $3, body = ''
			WHERE webhook_id = $1 AND state = $4`,
			d.Webhook, calendar.DeliveryFailed, by.Now.Unix(), calendar.DeliveryWaiting)
		if err != nil || by.News == nil {
			return err
		}
		return schedulingTx{t}.Post(ctx, by.News.Letter.User, []calendar.Letter{by.News.Letter}, by.News.Most)
	})
	return off, err
}

const (
	// endedFor is how long a finished message is listed, endedMost how many per webhook.
	endedFor  = 7 * 24 * time.Hour
	endedMost = 200
)

// pruneDeliveries deletes messages that ended long ago, or many messages ago.
func (s subscriberStore) pruneDeliveries(ctx context.Context, _ time.Time) error {
	return s.run(ctx, `DELETE FROM webhook_deliveries WHERE state <> 'waiting' AND (ended < $1 OR id IN (
		SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY webhook_id ORDER BY made DESC, id) AS place
			FROM webhook_deliveries) AS t WHERE place > $2))`,
		s.db.Options.Now().Add(-endedFor).Unix(), endedMost)
}
