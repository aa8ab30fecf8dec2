package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// reminderStore holds reminders, and the browsers that show them.
type reminderStore struct{ *database }

var reminderSettingsColumns = columns[calendar.ReminderSettings]{
	{"r.user_id", func(s *calendar.ReminderSettings) any { return &s.User }},
	{"r.before", func(s *calendar.ReminderSettings) any { return &s.Before }},
	{"r.alarms", func(s *calendar.ReminderSettings) any { return &s.Alarms }},
	{"r.invitations", func(s *calendar.ReminderSettings) any { return &s.Invitations }},
	{"r.shares", func(s *calendar.ReminderSettings) any { return &s.Shares }},
	{"r.changes", func(s *calendar.ReminderSettings) any { return &s.Changes }},
	{"r.mails", func(s *calendar.ReminderSettings) any { return &s.Mails }},
	{"r.number", func(s *calendar.ReminderSettings) any { return &s.Number }},
	{"r.since", func(s *calendar.ReminderSettings) any { return db.Seconds(&s.Since) }},
	{"r.zone", func(s *calendar.ReminderSettings) any { return &s.Zone }},
	{"r.inbox", func(s *calendar.ReminderSettings) any { return &s.Inbox }},
	{"r.notices", func(s *calendar.ReminderSettings) any { return &s.Notices }},
}

// ReminderSettings implements [calendar.Reminders].
func (s reminderStore) ReminderSettings(
	ctx context.Context, user calendar.UserID,
) (calendar.ReminderSettings, error) {
	found, err := db.RowOrNone(ctx, s.db.Reads, reminderSettingsColumns.scan,
		`SELECT `+reminderSettingsColumns.list()+` FROM reminder_settings r WHERE r.user_id = $1`, user)
	if found.User = user; found.Number == 0 {
		found.Before = calendar.NoReminder
		found.Alarms, found.Invitations = calendar.NoChannel, calendar.NoChannel
		found.Shares, found.Changes = calendar.NoChannel, calendar.NoChannel
	}
	return found, err
}

// SetReminderSettings implements [calendar.Reminders].
func (s reminderStore) SetReminderSettings(ctx context.Context, n calendar.ReminderSettings) error {
	return s.run(ctx, `INSERT INTO reminder_settings
		(user_id, before, alarms, invitations, shares, changes, mails, number, since, zone, inbox, notices)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, COALESCE((SELECT timezone FROM users WHERE id = $1), ''),
			COALESCE((SELECT version FROM inboxes WHERE user_id = $1), 0),
			COALESCE((SELECT version FROM notice_boxes WHERE user_id = $1), 0))
		ON CONFLICT (user_id) DO UPDATE SET before = excluded.before, alarms = excluded.alarms,
			invitations = excluded.invitations, shares = excluded.shares, changes = excluded.changes,
			mails = excluded.mails, number = reminder_settings.number + 1, since = excluded.since,
			zone = excluded.zone, inbox = excluded.inbox, notices = excluded.notices`,
		n.User, n.Before, n.Alarms, n.Invitations, n.Shares, n.Changes, n.Mails, n.Since.Unix())
}

// ReminderSwitches implements [calendar.Reminders].
func (s reminderStore) ReminderSwitches(
	ctx context.Context, user calendar.UserID,
) (map[calendar.CalendarID]bool, error) {
	type choice struct {
		id       calendar.CalendarID
		switched string
	}
	all, err := db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(c *choice) []any { return []any{&c.id, &c.switched} }),
		`SELECT calendar_id, switched FROM reminder_calendars WHERE user_id = $1 AND switched <> ''`, user)
	on := make(map[calendar.CalendarID]bool, len(all))
	for _, c := range all {
		on[c.id] = c.switched == "on"
	}
	return on, err
}

// SetReminderSwitches implements [calendar.Reminders].
func (s reminderStore) SetReminderSwitches(
	ctx context.Context, user calendar.UserID, on map[calendar.CalendarID]bool, now time.Time,
) error {
	return s.transact(ctx, func(t *transaction) error {
		for id, is := range on {
			word := "off"
			if is {
				word = "on"
			}
			err := t.Run(ctx, `INSERT INTO reminder_calendars
				(user_id, calendar_id, switched, number, since, version, own, reported, token, epoch)
				SELECT $1, id, $3, 0, $4, 0, 0, -1, '', '' FROM calendars WHERE id = $2
				ON CONFLICT (user_id, calendar_id) DO UPDATE SET switched = excluded.switched, number = 0,
					since = excluded.since, version = 0, own = 0, reported = -1, token = '', epoch = ''
				WHERE reminder_calendars.switched <> excluded.switched`, user, id, word, now.Unix())
			if err == nil && !is {
				err = t.Run(ctx, `DELETE FROM reminders WHERE user_id = $1 AND calendar_id = $2`, user, id)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

var planColumns = columns[calendar.ReminderPlan]{
	{"l.user_id", func(p *calendar.ReminderPlan) any { return &p.User }},
	{"l.calendar_id", func(p *calendar.ReminderPlan) any { return &p.Calendar }},
	{"COALESCE(p.number, 0)", func(p *calendar.ReminderPlan) any { return &p.Number }},
	{"NULLIF(p.since, 0)", func(p *calendar.ReminderPlan) any { return db.Seconds(&p.Since) }},
	{"COALESCE(p.version, 0)", func(p *calendar.ReminderPlan) any { return &p.Version }},
	{"COALESCE(p.own, 0)", func(p *calendar.ReminderPlan) any { return &p.Own }},
	{"COALESCE(p.epoch, '')", func(p *calendar.ReminderPlan) any { return &p.Epoch }},
	{"COALESCE(p.token, '')", func(p *calendar.ReminderPlan) any { return &p.Token }},
	{"COALESCE(p.reported, -1)", func(p *calendar.ReminderPlan) any { return &p.Reported }},
}

const (
	plansAny = `(r.alarms <> 'none' OR r.mails OR r.changes <> 'none') AND u.place = '' AND NOT u.disabled`
	// lagsBehind compares a plan with its calendar and the settings. An empty calendar is planned by one row, too.
	lagsBehind = `(p.version <> c.version OR p.number <> r.number OR p.epoch <> (SELECT epoch FROM life))`
	// isFeed are the calendars that ring only if their user says so: copies that cannot be written to.
	isFeed = `(c.origin <> '' AND NOT c.origin_writable)`
)

var selectReminderLags = `WITH lags AS (
		SELECT r.user_id, c.id AS calendar_id FROM reminder_settings r JOIN users u ON u.id = r.user_id
			JOIN calendars c ON c.owner_id = r.user_id AND c.trashed IS NULL
			LEFT JOIN reminder_calendars p ON p.user_id = r.user_id AND p.calendar_id = c.id
			WHERE ` + plansAny + ` AND (p.user_id IS NULL OR ` + lagsBehind + `) AND (p.switched = 'on'
				OR COALESCE(p.switched, '') = '' AND NOT ` + isFeed + `)
		UNION ALL SELECT r.user_id, c.id FROM reminder_settings r JOIN users u ON u.id = r.user_id
			JOIN reminder_calendars p ON p.user_id = r.user_id AND p.switched = 'on'
			JOIN shares s ON s.user_id = p.user_id AND s.calendar_id = p.calendar_id AND s.access <> 'freebusy'
			JOIN calendars c ON c.id = p.calendar_id AND c.trashed IS NULL
			WHERE ` + plansAny + ` AND (` + lagsBehind + ` OR p.own <> s.own_version)
	)
	SELECT ` + planColumns.list() + ` FROM (
		SELECT g.*, ROW_NUMBER() OVER (PARTITION BY g.user_id ORDER BY g.calendar_id) AS turn FROM lags g
	) AS l LEFT JOIN reminder_calendars p ON p.user_id = l.user_id AND p.calendar_id = l.calendar_id
	ORDER BY l.turn, l.user_id LIMIT $1`

// ReminderLags implements [calendar.Reminders].
func (s reminderStore) ReminderLags(ctx context.Context, most int) ([]calendar.ReminderPlan, error) {
	return db.RowsOf(ctx, s.db.Reads, planColumns.scan, selectReminderLags, most)
}

var reminderColumns = columns[calendar.Reminder]{
	{"user_id", func(r *calendar.Reminder) any { return &r.User }},
	{"calendar_id", func(r *calendar.Reminder) any { return &r.Calendar }},
	{"name", func(r *calendar.Reminder) any { return &r.Object }},
	{"snoozed", func(r *calendar.Reminder) any { return &r.Snoozed }},
	{"at", func(r *calendar.Reminder) any { return db.Seconds(&r.At) }},
	{"NULLIF(rung, 0)", func(r *calendar.Reminder) any { return db.Seconds(&r.Rung) }},
}

// PlannedReminders implements [calendar.Reminders].
func (s reminderStore) PlannedReminders(
	ctx context.Context, user calendar.UserID, cal calendar.CalendarID, names []calendar.ObjectName,
) ([]calendar.Reminder, error) {
	if len(names) == 0 {
		return nil, nil
	}
	args, marks := []any{user, cal}, make([]string, len(names))
	for i, name := range names {
		args = append(args, name)
		marks[i] = "$" + strconv.Itoa(len(args))
	}
	return db.RowsOf(ctx, s.db.Reads, reminderColumns.scan, `SELECT `+reminderColumns.list()+` FROM reminders
		WHERE user_id = $1 AND calendar_id = $2 AND snoozed = '' AND name IN (`+strings.Join(marks, ", ")+`)`, args...)
}

// SavePlan implements [calendar.Reminders].
func (s reminderStore) SavePlan(
	ctx context.Context, before, after calendar.ReminderPlan, all []calendar.Reminder, out calendar.Alerts,
	old time.Time,
) error {
	return s.transact(ctx, func(t *transaction) error {
		// The calendar or the user may be gone.
		moved, err := t.Exec(
			ctx,
			`INSERT INTO reminder_calendars
			(user_id, calendar_id, switched, number, since, version, own, reported, token, epoch)
			SELECT $1, c.id, '', $3, 0, $4, $5, $6, $7, $8 FROM calendars c JOIN users u ON u.id = $1 WHERE c.id = $2
			ON CONFLICT (user_id, calendar_id) DO UPDATE SET number = excluded.number, version = excluded.version,
				own = excluded.own, reported = excluded.reported, token = excluded.token, epoch = excluded.epoch
			WHERE reminder_calendars.token = $9 AND reminder_calendars.number = $10
				AND reminder_calendars.since = $11`,
			after.User,
			after.Calendar,
			after.Number,
			after.Version,
			after.Own,
			after.Reported,
			after.Token,
			after.Epoch,
			before.Token,
			before.Number,
			valueOr(unlessZero(before.Since), 0),
		)
		if err != nil || moved == 0 {
			return err
		}
		for _, r := range all {
			if err := t.putReminder(ctx, r); err != nil {
				return err
			}
		}
		if err := t.forgetRung(ctx, after.User, old); err != nil {
			return err
		}
		return t.queue(ctx, after.User, out)
	})
}

// putReminder stores a reminder. One that never rings again stays only if it rang.
func (t *transaction) putReminder(ctx context.Context, r calendar.Reminder) error {
	if r.At.IsZero() && (r.Rung.IsZero() || r.Snoozed != "") {
		return t.Later(ctx, db.Ignore, `DELETE FROM reminders WHERE user_id = $1 AND calendar_id = $2 AND name = $3
			AND snoozed = $4`, r.User, r.Calendar, r.Object, r.Snoozed)
	}
	return t.Later(ctx, db.Ignore, `INSERT INTO reminders (user_id, calendar_id, name, snoozed, at, rung)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (user_id, calendar_id, name, snoozed) DO UPDATE SET at = excluded.at, rung = excluded.rung`,
		r.User, r.Calendar, r.Object, r.Snoozed, unlessZero(r.At), valueOr(unlessZero(r.Rung), 0))
}

// forgetRung deletes reminders that rang before a time and never ring again. Later ones must not ring twice.
func (t *transaction) forgetRung(ctx context.Context, user calendar.UserID, old time.Time) error {
	return t.Later(ctx, db.Ignore, `DELETE FROM reminders WHERE user_id = $1 AND at IS NULL AND rung < $2`,
		user, old.Unix())
}

// DueReminders implements [calendar.Reminders]. It looks at one row of each user, and reads at most each rows of the
// users with a due one.
func (s reminderStore) DueReminders(ctx context.Context, now time.Time, each int) ([]calendar.Reminder, error) {
	users, err := db.RowsOf(ctx, s.db.Reads, db.ScanOnly[calendar.UserID], `SELECT r.user_id FROM reminder_settings r
		WHERE EXISTS (SELECT 1 FROM reminders d WHERE d.user_id = r.user_id AND d.at <= $1) ORDER BY r.user_id`,
		now.Unix())
	if err != nil {
		return nil, err
	}
	var all []calendar.Reminder
	for _, user := range users {
		due, err := db.RowsOf(ctx, s.db.Reads, reminderColumns.scan, `SELECT `+reminderColumns.list()+`
			FROM reminders WHERE user_id = $1 AND at <= $2 ORDER BY at, calendar_id, name, snoozed LIMIT $3`,
			user, now.Unix(), each)
		if err != nil {
			return nil, err
		}
		all = append(all, due...)
	}
	return all, nil
}

// FireReminders implements [calendar.Reminders].
func (s reminderStore) FireReminders(
	ctx context.Context, user calendar.UserID, fired []calendar.FiredReminder, out calendar.Alerts, old time.Time,
) (bool, error) {
	mine := false
	err := s.transact(ctx, func(t *transaction) error {
		mine = false
		for _, f := range fired {
			b := f.Before
			claimed, err := t.Exec(ctx, `UPDATE reminders SET at = NULL
				WHERE user_id = $1 AND calendar_id = $2 AND name = $3 AND snoozed = $4 AND at = $5`,
				b.User, b.Calendar, b.Object, b.Snoozed, b.At.Unix())
			if err != nil {
				return err
			}
			if claimed == 0 {
				return errTakenElsewhere
			}
			if err := t.putReminder(ctx, f.After); err != nil {
				return err
			}
		}
		if err := t.forgetRung(ctx, user, old); err != nil {
			return err
		}
		mine = true
		return t.queue(ctx, user, out)
	})
	if err != nil && calendar.ReasonOf(err) == calendar.Stale {
		return false, nil
	}
	return mine && err == nil, err
}

// errTakenElsewhere ends a transaction whose reminders another process has fired.
var errTakenElsewhere = calendar.Errorf(calendar.Stale, "", "another process was first")

// Snooze implements [calendar.Reminders].
func (s reminderStore) Snooze(ctx context.Context, r calendar.Reminder, most int) error {
	return s.transact(ctx, func(t *transaction) error {
		err := t.Run(ctx, `INSERT INTO reminders (user_id, calendar_id, name, snoozed, at, rung)
			SELECT $1, c.id, $3, $4, $5, $6 FROM calendars c WHERE c.id = $2
			ON CONFLICT (user_id, calendar_id, name, snoozed) DO UPDATE SET at = excluded.at, rung = excluded.rung`,
			r.User, r.Calendar, r.Object, r.Snoozed, r.At.Unix(), valueOr(unlessZero(r.Rung), 0))
		if err != nil {
			return err
		}
		held, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM reminders
			WHERE user_id = $1 AND snoozed <> ''`, r.User)
		if err == nil && held > int64(most) {
			err = calendar.Errorf(calendar.TooLarge, "", "%d reminders are already put off, which is the maximum", most)
		}
		return err
	})
}

// Unsnooze implements [calendar.Reminders].
func (s reminderStore) Unsnooze(ctx context.Context, r calendar.Reminder) error {
	return s.run(ctx, `DELETE FROM reminders WHERE user_id = $1 AND calendar_id = $2 AND name = $3 AND snoozed = $4`,
		r.User, r.Calendar, r.Object, r.Snoozed)
}

// ReportLags implements [calendar.Reminders].
func (s reminderStore) ReportLags(ctx context.Context, most int) ([]calendar.ReminderSettings, error) {
	return db.RowsOf(ctx, s.db.Reads, reminderSettingsColumns.scan, `SELECT `+reminderSettingsColumns.list()+`
		FROM reminder_settings r JOIN users u ON u.id = r.user_id LEFT JOIN inboxes i ON i.user_id = r.user_id
			LEFT JOIN notice_boxes n ON n.user_id = r.user_id
		WHERE u.place = '' AND NOT u.disabled AND (r.invitations <> 'none' AND COALESCE(i.version, 0) <> r.inbox
			OR r.shares <> 'none' AND COALESCE(n.version, 0) <> r.notices OR r.zone <> u.timezone
			OR r.invitations <> 'none' AND EXISTS (SELECT 1 FROM suggestions s JOIN tokens k ON k.id = s.token_id
				AND k.revoked IS NULL WHERE s.user_id = r.user_id AND s.state = 'open' AND NOT s.told
				AND s.expires > $2))
		ORDER BY r.user_id LIMIT $1`, most, s.now())
}

// Report implements [calendar.Reminders].
func (s reminderStore) Report(
	ctx context.Context, r calendar.ReminderSettings, n calendar.Reported, out calendar.Alerts,
) error {
	err := s.transact(ctx, func(t *transaction) error {
		moved, err := t.Exec(ctx, `UPDATE reminder_settings SET inbox = $2, notices = $3
			WHERE user_id = $1 AND inbox = $4 AND notices = $5 AND number = $6`,
			r.User, n.Inbox, n.Notices, r.Inbox, r.Notices, r.Number)
		if err != nil || moved == 0 {
			return err
		}
		for _, id := range n.Suggestions {
			told, err := t.Exec(ctx, `UPDATE suggestions SET told = TRUE
				WHERE id = $1 AND user_id = $2 AND NOT told`, id, r.User)
			if err != nil {
				return err
			}
			if told == 0 {
				return errTakenElsewhere
			}
		}
		return t.queue(ctx, r.User, out)
	})
	if err != nil && calendar.ReasonOf(err) == calendar.Stale {
		return nil
	}
	return err
}

// browserQueue limits the waiting notifications of a user.
const browserQueue = 500

// queue queues notifications of a user: for each browser, and as mail. Expired ones make room.
func (t *transaction) queue(ctx context.Context, user calendar.UserID, out calendar.Alerts) error {
	for i, m := range out.Messages {
		if i == 0 {
			if err := t.Run(ctx, `DELETE FROM browser_messages WHERE user_id = $1 AND expires <= $2`, user,
				m.Due.Unix()); err != nil {
				return err
			}
		}
		err := t.Run(ctx, `INSERT INTO browser_messages (id, browser_id, user_id, due, expires, tries, body)
			SELECT $2 || '-' || b.id, b.id, b.user_id, $3, $4, 0, $5 FROM browsers b WHERE b.user_id = $1
				AND (SELECT COUNT(*) FROM browser_messages w WHERE w.user_id = $1) < $6
			ON CONFLICT (id) DO NOTHING`,
			user, m.ID, m.Due.Unix(), m.Expires.Unix(), m.Body, browserQueue)
		if err != nil {
			return err
		}
	}
	if len(out.Letters) == 0 {
		return nil
	}
	return schedulingTx{t}.Post(ctx, user, out.Letters, out.Most)
}

var browserColumns = columns[calendar.Browser]{
	{"b.id", func(b *calendar.Browser) any { return &b.ID }},
	{"b.user_id", func(b *calendar.Browser) any { return &b.User }},
	{"b.session_id", func(b *calendar.Browser) any { return &b.Session }},
	{"b.agent", func(b *calendar.Browser) any { return &b.Agent }},
	{"b.created", func(b *calendar.Browser) any { return db.Seconds(&b.Created) }},
	{"b.endpoint", func(b *calendar.Browser) any { return &b.Endpoint }},
	{"b.public_key", func(b *calendar.Browser) any { return &b.Key }},
	{"b.auth", func(b *calendar.Browser) any { return &b.Auth }},
}

// AddBrowser implements [calendar.BrowserKeeper]. A push service gives each browser profile an endpoint, so the person
// who is signed in last gets the notifications there.
func (s reminderStore) AddBrowser(ctx context.Context, b calendar.Browser, most int) error {
	return s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, `DELETE FROM browsers WHERE endpoint = $1`, b.Endpoint); err != nil {
			return err
		}
		err := t.Run(ctx, `INSERT INTO browsers (id, user_id, session_id, agent, created, endpoint, public_key, auth)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			b.ID, b.User, b.Session, b.Agent, b.Created.Unix(), b.Endpoint, b.Key, b.Auth)
		if err != nil {
			return err
		}
		held, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM browsers WHERE user_id = $1`, b.User)
		if err == nil && held > int64(most) {
			err = calendar.Errorf(
				calendar.TooLarge,
				"",
				"%d browsers already get your notifications, which is the maximum",
				most,
			).Advising(
				"remove one that you no longer use",
			)
		}
		return err
	})
}

// BrowsersOf implements [calendar.BrowserKeeper].
func (s reminderStore) BrowsersOf(ctx context.Context, user calendar.UserID) ([]calendar.Browser, error) {
	return db.RowsOf(ctx, s.db.Reads, browserColumns.scan, `SELECT `+browserColumns.list()+` FROM browsers b
		WHERE b.user_id = $1 ORDER BY b.created, b.id`, user)
}

// RemoveBrowser implements [calendar.BrowserKeeper].
func (s reminderStore) RemoveBrowser(ctx context.Context, user calendar.UserID, id calendar.BrowserID) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM browsers WHERE id = $1 AND user_id = $2`, id, user))
}

// PostToBrowser implements [calendar.BrowserKeeper].
func (s reminderStore) PostToBrowser(
	ctx context.Context, user calendar.UserID, id calendar.BrowserID, m calendar.BrowserMessage,
) error {
	return db.ExpectRow(s.write(ctx, `INSERT INTO browser_messages (id, browser_id, user_id, due, expires, tries, body)
		SELECT $3, b.id, b.user_id, $4, $5, 0, $6 FROM browsers b WHERE b.user_id = $1 AND b.id = $2
			AND (SELECT COUNT(*) FROM browser_messages w WHERE w.user_id = $1) < $7`,
		user, id, m.ID, m.Due.Unix(), m.Expires.Unix(), m.Body, browserQueue))
}

var scanBrowserDue = db.ScanInto(func(d *calendar.BrowserDue) []any {
	return append([]any{&d.ID, db.Seconds(&d.Due), db.Seconds(&d.Expires), &d.Tries, &d.Body},
		browserColumns.fields(&d.To)...)
})

// DueBrowserMessages implements [calendar.BrowserKeeper].
func (s reminderStore) DueBrowserMessages(
	ctx context.Context, now time.Time, most int,
) ([]calendar.BrowserDue, error) {
	return db.RowsOf(ctx, s.db.Reads, scanBrowserDue, `SELECT m.id, m.due, m.expires, m.tries, m.body, `+
		browserColumns.list()+` FROM (
			SELECT w.*, ROW_NUMBER() OVER (PARTITION BY w.user_id ORDER BY w.due, w.id) AS turn
			FROM browser_messages w WHERE w.due <= $1 AND w.expires > $1
		) AS m JOIN browsers b ON b.id = m.browser_id ORDER BY m.turn, m.due, m.id LIMIT $2`, now.Unix(), most)
}

// SettleBrowserMessage implements [calendar.BrowserKeeper].
func (s reminderStore) SettleBrowserMessage(ctx context.Context, m calendar.BrowserMessage) error {
	if !m.Due.Before(m.Expires) {
		return s.run(ctx, `DELETE FROM browser_messages WHERE id = $1`, m.ID)
	}
	return s.run(ctx, `UPDATE browser_messages SET due = $2, tries = $3 WHERE id = $1`, m.ID, m.Due.Unix(), m.Tries)
}

// EndBrowser implements [calendar.BrowserKeeper].
func (s reminderStore) EndBrowser(ctx context.Context, id calendar.BrowserID) error {
	return s.run(ctx, `DELETE FROM browsers WHERE id = $1`, id)
}
