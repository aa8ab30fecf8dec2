package store

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// selectHome returns a row per member, and at least one, for the user $1 at $2. 64 is [calendar.ScopePropose].
const selectHome = `SELECT life.epoch, COALESCE(h.version, 0), COALESCE(h.pruned, 0), COALESCE(h.replaced, 0),
		COALESCE(m.address, ''),
		COALESCE(m.calendar_id, ''), COALESCE(m.seen, 0), COALESCE(m.access, 0), COALESCE(m.version, 0),
		m.gone IS NOT NULL, COALESCE(m.private, FALSE),
		EXISTS (SELECT 1 FROM tokens k WHERE k.user_id = $1 AND (k.scopes & 64) <> 0 AND k.revoked IS NULL
			AND (k.expires IS NULL OR k.expires > $2))
		OR EXISTS (SELECT 1 FROM suggestions s JOIN tokens k ON k.id = s.token_id AND k.revoked IS NULL
			WHERE s.user_id = $1 AND s.state = 'open' AND s.expires > $2)
	FROM life LEFT JOIN homes h ON h.user_id = $1 LEFT JOIN home_members m ON m.user_id = h.user_id
	ORDER BY m.version`

// Home implements [calendar.Store].
func (s calendarStore) Home(ctx context.Context, user calendar.UserID) (calendar.Home, error) {
	if h := prefetchedHomeOf(ctx, user); h != nil {
		return h.home(), nil
	}
	return homeOf(ctx, s.db.Lists, user, s.now())
}

func homeOf(ctx context.Context, q db.Querier, user calendar.UserID, now int64) (calendar.Home, error) {
	var home calendar.Home
	err := db.Each(ctx, q, takeHome(&home), selectHome, user, now)
	return home, err
}

func takeHome(home *calendar.Home) db.Taker {
	return func(row db.Scanner) (bool, error) {
		var m calendar.Member
		err := row.Scan(&home.Epoch, &home.Version, &home.Pruned, &home.Replaced,
			&m.Address, &m.Calendar, &m.Seen, &m.Access, &m.Version, &m.Gone, &m.Private, &home.Suggests)
		// Members are numbered from 1.
		if m.Version > 0 {
			home.Members = append(home.Members, m)
		}
		return true, err
	}
}

// LockHome implements [calendar.Tx].
func (t calendarTx) LockHome(ctx context.Context, user calendar.UserID) (calendar.Home, []calendar.Calendar, error) {
	err := t.Run(ctx, `INSERT INTO homes (user_id, version, pruned) VALUES ($1, 0, 0)
		ON CONFLICT (user_id) DO UPDATE SET version = homes.version`, user)
	if err != nil {
		return calendar.Home{}, nil, err
	}
	home, err := homeOf(ctx, t, user, t.store.now())
	if err != nil {
		return home, nil, err
	}
	calendars, err := calendarsOf(ctx, t, user)
	return home, calendars, err
}

// PutMembers implements [calendar.Tx].
func (t calendarTx) PutMembers(
	ctx context.Context, user calendar.UserID, home calendar.Home, changed []calendar.Member, now time.Time,
) error {
	for _, m := range changed {
		var gone *int64
		if m.Gone {
			at := now.Unix()
			gone = &at
		}
		err := t.Run(ctx, `INSERT INTO home_members (user_id, address, calendar_id, seen, access, version, gone,
				private)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (user_id, address) DO UPDATE SET calendar_id = excluded.calendar_id, seen = excluded.seen,
				access = excluded.access, version = excluded.version, gone = excluded.gone, private = excluded.private`,
			user, m.Address, m.Calendar, m.Seen, int64(m.Access), m.Version, gone, m.Private)
		if err != nil {
			return err
		}
	}
	return t.Run(ctx, `UPDATE homes SET version = $2, replaced = $3
		WHERE user_id = $1`, user, home.Version, home.Replaced)
}

// pruneHomes deletes the records of calendars that left a home before a time. Sync tokens from before such a
// removal are then refused.
func (s calendarStore) pruneHomes(ctx context.Context, older time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		err := t.Run(ctx, `UPDATE homes SET pruned = (
				SELECT MAX(m.version) FROM home_members m WHERE m.user_id = homes.user_id AND m.gone < $1)
			WHERE user_id IN (SELECT user_id FROM home_members WHERE gone < $1)`, older.Unix())
		if err != nil {
			return err
		}
		return t.Run(ctx, `DELETE FROM home_members WHERE gone < $1`, older.Unix())
	})
}

// ReadHome implements [calendar.Reader].
func (s calendarStore) ReadHome(ctx context.Context, user calendar.UserID) (context.Context, error) {
	h := &prefetchedHome{user: user, ofCalendars: map[calendar.CalendarID][]calendar.DeadProperty{}}
	err := s.db.Brief.Ask(ctx, []db.Question{
		{Take: db.TakeAll(&h.calendars, scanCalendar), Text: selectCalendarsOf, Args: []any{string(user)}},
		{Take: takeHome(&h.record), Text: selectHome, Args: []any{string(user), s.now()}},
		{Take: h.takeRest, Text: selectRestOfHome, Args: []any{string(user)}},
		{Take: takeKept(h.ofCalendars), Text: selectKept, Args: []any{string(user)}},
	})
	if err != nil {
		return ctx, err
	}
	sortHome(h.calendars)
	sortKept(h.ofCalendars)
	h.epoch, h.kept = h.record.Epoch, h.ofCalendars[""]
	delete(h.ofCalendars, "")
	return context.WithValue(ctx, prefetchedHomeKey{}, h), nil
}

// selectRestOfHome is one statement: several would take longer to start than to run.
const selectRestOfHome = `SELECT u.calendars, u.objects, u.bytes, COALESCE(s.calendar_id, ''), s.availability,
		COALESCE(i.version, 0), COALESCE(i.pruned, 0)
		FROM (` + selectUsage + `) AS u LEFT JOIN scheduling s ON s.user_id = $1 LEFT JOIN inboxes i ON i.user_id = $1`

// selectKept returns the dead properties of the calendars, followed by the home's.
const selectKept = selectDeadInHome + ` UNION ALL SELECT '', k.space, k.name, k.value FROM user_kept k
	WHERE k.owner = $1 AND k.item = 'home'`

func (h *prefetchedHome) takeRest(row db.Scanner) (more bool, err error) {
	return false, row.Scan(append(usageFields(&h.usage), &h.scheduling.Default, &h.scheduling.Availability,
		&h.inbox.Version, &h.inbox.Pruned)...)
}
