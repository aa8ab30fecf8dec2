package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/store/db"
)

// inboxMost is the most messages in an inbox; the oldest is removed first. Most clients show the events, not
// the messages, and never empty the inbox. Proposals have their own limit, which includes removed ones, so
// other messages do not evict them.
const inboxMost = 500

// inboxBytes limits the messages of an inbox in bytes, as stored. Only messages of more than inboxBytes/inboxMost are
// worth a look at the sum: as many smaller ones as fit have at most inboxBytes. So an inbox has at most twice that.
const inboxBytes = 16 << 20

// scanInboxItem scans a message. If it cannot be unpacked it has no text, and its CheckText says so.
func scanInboxItem(row db.Scanner) (calendar.InboxItem, error) {
	var i calendar.InboxItem
	err := row.Scan(&i.Name, &i.Version, db.Seconds(&i.Created), &i.Method, &i.Gone, packedText{&i.Data, new(bool)})
	if i.Data = bytesOf(i.Data); i.Gone {
		i.Data, i.Method = nil, ""
	}
	return i, err
}

// Inbox implements [calendar.Store]. If the inbox changes between the two reads, the items are newer than the
// version, and the client gets them twice.
func (s schedulingStore) Inbox(ctx context.Context, user calendar.UserID) (calendar.Box[calendar.InboxItem], error) {
	in, err := s.InboxState(ctx, user)
	if err != nil || in.Version == 0 {
		return in, err
	}
	in.Items, err = db.RowsOf(ctx, s.db.Reads, scanInboxItem, selectInboxItems+`WHERE user_id = $1 ORDER BY name`, user)
	return in, err
}

// InboxState implements [calendar.Store].
func (s schedulingStore) InboxState(
	ctx context.Context, user calendar.UserID,
) (calendar.Box[calendar.InboxItem], error) {
	if h := prefetchedHomeOf(ctx, user); h != nil {
		return h.inbox, nil
	}
	return db.RowOrNone(ctx, s.db.Brief, scanBox[calendar.InboxItem], selectInbox, user)
}

// scanBox scans the version and the pruned version of a box.
func scanBox[T any](row db.Scanner) (in calendar.Box[T], err error) {
	err = row.Scan(&in.Version, &in.Pruned)
	return in, err
}

const selectInbox = `SELECT version, pruned FROM inboxes WHERE user_id = $1`

const selectInboxItems = `SELECT name, version, created, method, gone IS NOT NULL, data FROM inbox_items `

// InboxItem implements [calendar.Store].
func (s schedulingStore) InboxItem(
	ctx context.Context, user calendar.UserID, name calendar.ObjectName,
) (calendar.InboxItem, error) {
	i, err := db.RowOf(ctx, s.db.Reads, scanInboxItem, selectInboxItems+`WHERE user_id = $1 AND name = $2
		AND gone IS NULL`, user, name)
	return i, cmp.Or(err, i.CheckText())
}

// Proposals implements [calendar.Store].
func (s schedulingStore) Proposals(ctx context.Context, user calendar.UserID, most int) ([]calendar.InboxNote, error) {
	all, err := db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(n *calendar.InboxNote) []any {
		return []any{&n.Name, &n.Size, &n.Removed}
	}), selectProposals, user, most)
	slices.Reverse(all)
	return all, err
}

// selectProposals sorts by creation, because removing a message from the inbox gives it a later version.
const selectProposals = `SELECT name, octet_length(data), gone IS NOT NULL FROM inbox_items
	WHERE user_id = $1 AND method = 'COUNTER'
	ORDER BY created DESC, version DESC LIMIT $2`

// Proposal implements [calendar.Store].
func (s schedulingStore) Proposal(
	ctx context.Context, user calendar.UserID, name calendar.ObjectName,
) (calendar.InboxItem, error) {
	i, err := db.RowOf(ctx, s.db.Reads, scanInboxItem, `SELECT name, version, created, method, FALSE, data
		FROM inbox_items
		WHERE user_id = $1 AND name = $2 AND method = 'COUNTER'`, user, name)
	return i, cmp.Or(err, i.CheckText())
}

// advanceInbox locks a user's inbox, creating it if needed, and increments its version.
func (t *transaction) advanceInbox(ctx context.Context, user calendar.UserID) error {
	return t.Later(ctx, db.Ignore, `INSERT INTO inboxes (user_id, version, pruned) VALUES ($1, 1, 0)
		ON CONFLICT (user_id) DO UPDATE SET version = inboxes.version + 1`, user)
}

// PutInboxItems implements [calendar.Tx]. Each message gets its own version, so that the last few hundred
// versions are the last few hundred messages. Several messages to one user are written one after another.
func (t schedulingTx) PutInboxItems(ctx context.Context, items []calendar.InboxEntry) error {
	for len(items) > 0 {
		now, later := map[calendar.UserID]calendar.InboxItem{}, []calendar.InboxEntry{}
		for _, i := range items {
			if _, had := now[i.To]; had {
				later = append(later, i)
			} else {
				now[i.To] = i.InboxItem
			}
		}
		if err := t.fillInboxes(ctx, now); err != nil {
			return err
		}
		items = later
	}
	return nil
}

// fillInboxes puts one message into each inbox. It waits for no result: an invitation with many attendees goes
// to many inboxes. They are locked in the order of their users.
func (t *transaction) fillInboxes(ctx context.Context, items map[calendar.UserID]calendar.InboxItem) error {
	for users := range inLists(t.Of(), slices.Collect(maps.Keys(items))) {
		if err := t.Later(ctx, db.Ignore, advanceInboxes.of(t.Of()), users...); err != nil {
			return err
		}
	}
	type said struct{ name, method, data string }
	same := map[said][]calendar.UserID{}
	for user, i := range items {
		key := said{string(i.Name), string(i.Method), string(i.Data)}
		same[key] = append(same[key], user)
	}
	for _, to := range same {
		i := items[to[0]]
		data := bytesOf(i.Data)
		if len(to) > 1 && i.Method != calendar.MethodCounter { // lists show the size of proposals
			data, _ = pack(&t.store.packers, data)
		}
		for users := range inLists(t.Of(), to) {
			err := t.Later(ctx, db.Ignore, insertInboxItem.of(t.Of()),
				append([]any{i.Name, i.Created.Unix(), data, i.Method}, users...)...)
			if err != nil {
				return err
			}
			room := makeRoom
			if i.Method == calendar.MethodCounter {
				room = makeRoomForProposal
			}
			if err := t.Later(ctx, db.Ignore, room.of(t.Of()),
				append([]any{t.store.now(), inboxMost, []byte{}}, users...)...); err != nil {
				return err
			}
			if i.Method == calendar.MethodCounter || len(data) <= inboxBytes/inboxMost {
				continue
			}
			if err := t.Later(ctx, db.Ignore, makeRoomOfBytes.of(t.Of()),
				append([]any{t.store.now(), inboxBytes, []byte{}}, users...)...); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	advanceInboxes = withList(1, `INSERT INTO inboxes (user_id, version, pruned) SELECT id, 1, 0 FROM users
		WHERE id§ORDER BY id
		ON CONFLICT (user_id) DO UPDATE SET version = inboxes.version + 1`)
	insertInboxItem = withList(5, `INSERT INTO inbox_items (user_id, name, version, created, gone, data, method)
		SELECT user_id, $1, version, $2, NULL, $3, $4 FROM inboxes WHERE user_id§
		ON CONFLICT (user_id, name) DO UPDATE
		SET version = excluded.version, created = excluded.created, gone = NULL, data = excluded.data,
			method = excluded.method`)
	// makeRoom removes the oldest message of each inbox that is over the limit. A subquery per inbox uses the
	// index, so the cost does not depend on the number of messages; with a join, Postgres read all messages of
	// all users. It uses the index for sorting only if ORDER BY names all of its columns. Inboxes that never
	// had so many messages are skipped.
	makeRoom = withList(4, `UPDATE inbox_items SET gone = $1, data = $3, version = f.version FROM (
			SELECT i.user_id, i.version, (SELECT o.name FROM inbox_items o
				WHERE o.user_id = i.user_id AND o.gone IS NULL
				AND o.version <= i.version - $2 AND o.method <> 'COUNTER' ORDER BY o.gone, o.version LIMIT 1) AS oldest
			FROM inboxes i WHERE i.version > $2 AND i.user_id§) f
		WHERE f.oldest IS NOT NULL AND inbox_items.user_id = f.user_id AND inbox_items.name = f.oldest`)
	// makeRoomOfBytes removes the oldest messages of each inbox that is over the limit in bytes.
	makeRoomOfBytes = withList(4, `UPDATE inbox_items SET gone = $1, data = $3, version = f.version FROM (
			SELECT i.user_id, i.version, o.name, SUM(octet_length(o.data))
				OVER (PARTITION BY o.user_id ORDER BY o.version DESC, o.name) AS total
			FROM inboxes i JOIN inbox_items o ON o.user_id = i.user_id AND o.gone IS NULL AND o.method <> 'COUNTER'
			WHERE i.user_id§) f
		WHERE f.total > $2 AND inbox_items.user_id = f.user_id AND inbox_items.name = f.name`)
	// makeRoomForProposal removes the oldest proposal of each inbox that is over the limit, after changes at the same
	// time. A row without a method is no longer a proposal.
	makeRoomForProposal = withList(4, `UPDATE inbox_items
			SET gone = COALESCE(gone, $1), data = $3, method = '', version = f.version FROM (
			SELECT i.user_id, i.version, (SELECT o.name FROM inbox_items o
				WHERE o.user_id = i.user_id AND o.method = 'COUNTER'
				ORDER BY o.created DESC, o.version DESC LIMIT 1 OFFSET $2) AS oldest
			FROM inboxes i WHERE i.version > $2 AND i.user_id§) f
		WHERE f.oldest IS NOT NULL AND inbox_items.user_id = f.user_id AND inbox_items.name = f.oldest`)
)

// CountProposals implements [calendar.Tx].
func (t schedulingTx) CountProposals(
	ctx context.Context, user calendar.UserID, but calendar.ObjectName,
) (count, bytes int64, err error) {
	found, err := db.RowOf(ctx, t, db.ScanInto(func(n *[2]int64) []any { return []any{&n[0], &n[1]} }),
		`SELECT COUNT(*), COALESCE(SUM(octet_length(data)), 0) FROM inbox_items
			WHERE user_id = $1 AND method = 'COUNTER' AND name <> $2`, user, but)
	return found[0], found[1], err
}

// DropInboxItem implements [calendar.Tx].
func (t schedulingTx) DropInboxItem(
	ctx context.Context, user calendar.UserID, name calendar.ObjectName, seen calendar.Version,
) error {
	return t.takeOut(ctx, `(gone IS NULL OR method = 'COUNTER')`, `data = $4, method = ''`, user, name, seen)
}

// HideInboxItem implements [calendar.Tx].
func (t schedulingTx) HideInboxItem(
	ctx context.Context, user calendar.UserID, name calendar.ObjectName, seen calendar.Version,
) error {
	return t.takeOut(ctx, `gone IS NULL`, `data = CASE WHEN method = 'COUNTER' THEN data ELSE $4 END`, user, name, seen)
}

// takeOut turns a message into a tombstone, so that clients learn of its removal.
func (t *transaction) takeOut(
	ctx context.Context, there, set string, user calendar.UserID, name calendar.ObjectName, seen calendar.Version,
) error {
	count, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM inbox_items
		WHERE user_id = $1 AND name = $2 AND `+there, user, name)
	if err != nil || count == 0 && seen == 0 {
		return err
	}
	if err := t.advanceInbox(ctx, user); err != nil {
		return err
	}
	err = db.ExpectRow(t.Exec(ctx, `UPDATE inbox_items
		SET gone = COALESCE(gone, $3), `+set+`, version = (SELECT version FROM inboxes WHERE user_id = $1)
		WHERE user_id = $1 AND name = $2 AND `+there+` AND ($5 = 0 OR version = $5)`, user, name,
		t.store.now(), []byte{}, seen))
	switch {
	case err == nil || calendar.ReasonOf(err) != calendar.NotFound:
		return err
	case seen == 0:
		return nil // it was removed before this transaction locked the inbox
	}
	return calendar.Errorf(calendar.Stale, "", "the message %q was changed or removed meanwhile", string(name))
}

// pruneInboxes deletes messages and tombstones from before a time. Older sync tokens are then refused.
func (s schedulingStore) pruneInboxes(ctx context.Context, older time.Time) error {
	const old = `(gone < $1 OR gone IS NULL AND created < $1)`
	return s.transact(ctx, func(t *transaction) error {
		err := t.Run(ctx, `UPDATE inboxes SET version = version + 1, pruned = version + 1
			WHERE user_id IN (SELECT user_id FROM inbox_items WHERE `+old+`)`, older.Unix())
		if err != nil {
			return err
		}
		return t.Run(ctx, `DELETE FROM inbox_items WHERE `+old, older.Unix())
	})
}

// icalTime is a column of iCalendar times without a zone; an empty text is the zero time.
type icalTime struct{ *ical.Time }

// Scan implements [database/sql.Scanner].
func (t icalTime) Scan(value any) error {
	text, _ := value.(string)
	if text == "" {
		*t.Time = ical.Time{}
		return nil
	}
	var err error
	*t.Time, err = ical.ParseTime(text, "")
	return err
}

var unverifiedColumns = columns[calendar.Unverified]{
	{"name", func(u *calendar.Unverified) any { return &u.Name }},
	{"created", func(u *calendar.Unverified) any { return db.Seconds(&u.Created) }},
	{"method", func(u *calendar.Unverified) any { return &u.Method }},
	{"sender", func(u *calendar.Unverified) any { return &u.From }},
	{"proven", func(u *calendar.Unverified) any { return &u.Proven }},
	{"organizer", func(u *calendar.Unverified) any { return &u.Organizer }},
	{"title", func(u *calendar.Unverified) any { return &u.Title }},
	{"start", func(u *calendar.Unverified) any { return icalTime{&u.Start} }},
	{"why", func(u *calendar.Unverified) any { return &u.Why }},
	{"known", func(u *calendar.Unverified) any { return &u.Known }},
}

// Unverified implements [calendar.Store].
func (s schedulingStore) Unverified(ctx context.Context, user calendar.UserID) ([]calendar.Unverified, error) {
	return db.RowsOf(ctx, s.db.Reads, unverifiedColumns.scan, `SELECT `+unverifiedColumns.list()+` FROM unverified
		WHERE user_id = $1 AND created > $2 ORDER BY created DESC, name LIMIT $3`, user, s.unverifiedSince(),
		calendar.UnverifiedMost)
}

func (s schedulingStore) unverifiedSince() int64 {
	return s.now() - int64(calendar.UnverifiedFor/time.Second)
}

// PutUnverified implements [calendar.Tx]. Two processes that write at once may exceed the daily bound, but not the
// bound on rows.
func (t schedulingTx) PutUnverified(ctx context.Context, user calendar.UserID, u calendar.Unverified) error {
	start := ""
	if !u.Start.IsZero() {
		start = u.Start.String()
	}
	today, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM unverified
		WHERE user_id = $1 AND name <> $2 AND created > $3`,
		user, u.Name, u.Created.Add(-24*time.Hour).Unix())
	if err != nil || today >= calendar.UnverifiedMost {
		return err
	}
	err = t.Run(ctx,
		`INSERT INTO unverified (user_id, name, created, method, sender, proven, organizer, title, start, why, known)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (user_id, name) DO UPDATE
		SET created = excluded.created, method = excluded.method, sender = excluded.sender,
			proven = excluded.proven, organizer = excluded.organizer, title = excluded.title, start = excluded.start,
			why = excluded.why, known = excluded.known`,
		user, u.Name, u.Created.Unix(), u.Method, u.From, u.Proven, u.Organizer, u.Title, start, u.Why, u.Known)
	if err != nil {
		return err
	}
	return t.Run(ctx, `DELETE FROM unverified WHERE user_id = $1 AND name IN (
		SELECT name FROM unverified WHERE user_id = $1 ORDER BY created DESC, name LIMIT 1000 OFFSET $2)`, user,
		calendar.UnverifiedMost)
}

// DropUnverified implements [calendar.Tx].
func (t schedulingTx) DropUnverified(ctx context.Context, user calendar.UserID, name calendar.ObjectName) error {
	return t.Run(ctx, `DELETE FROM unverified WHERE user_id = $1 AND name = $2`, user, name)
}

// pruneUnverified deletes rows that are no longer shown.
func (s schedulingStore) pruneUnverified(ctx context.Context, _ time.Time) error {
	return s.run(ctx, `DELETE FROM unverified WHERE created <= $1`, s.unverifiedSince())
}
