package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// letterColumns are the columns of waiting iTIP mails, lightLetter the same without the large ones.
const (
	letterHead = `id, user_id, sender, recipient, method, uid, recurrence, sequence, first, posted,
		due, tries, status, `
	letterColumns = letterHead + `data`
	lightLetter   = letterHead + `NULL`
	selectWaiting = `SELECT ` + lightLetter + `, taken, CAST($3 AS BIGINT) FROM letters WHERE user_id = $1 AND uid = $2
		ORDER BY number + 0`
	takeLetters = `UPDATE letters SET taken = $2, tries = tries + 1 WHERE taken <= $1 AND id IN (
		SELECT id FROM letters AS l WHERE due <= $1 AND taken <= $1 AND NOT EXISTS (
			SELECT 1 FROM letters AS e WHERE e.user_id = l.user_id AND e.uid = l.uid AND e.recipient = l.recipient
				AND e.number < l.number)
		ORDER BY due, id LIMIT $3) RETURNING ` + letterColumns
	toldLetter = `id, user_id, sender, recipient, method, uid, recurrence, sequence, first, posted, at,
		tries, status, data`
)

var scanLetter = db.ScanInto(func(l *calendar.Letter) []any {
	return []any{
		&l.ID, &l.User, &l.From, &l.To, &l.Method, &l.UID, &l.Recurrence, &l.Sequence, &l.First,
		db.Seconds(&l.Posted),
		db.Seconds(&l.Due),
		&l.Tries, &l.Status, &l.Data,
	}
})

// held is an iTIP mail in the outbox; taken is set while a process sends it.
type held struct {
	calendar.Letter
	taken bool
}

func scanHeld(row db.Scanner) (held, error) {
	var until, now int64
	l, err := db.Beside(scanLetter, &until, &now)(row)
	return held{l, until > now || l.Status != ""}, err
}

// Post implements [calendar.Poster].
func (t schedulingTx) Post(
	ctx context.Context, user calendar.UserID, letters []calendar.Letter, most calendar.OutboxLimits,
) error {
	number, err := db.RowOf(ctx, t, db.ScanNumber, `INSERT INTO outboxes (user_id, number) VALUES ($1, $2)
		ON CONFLICT (user_id) DO UPDATE SET number = outboxes.number + $2 RETURNING number`, user, len(letters))
	if err != nil {
		return err
	}
	number -= int64(len(letters))
	waiting := map[calendar.UID][]held{}
	for _, l := range letters {
		if int64(len(l.Data)) > most.Letter {
			return calendar.Errorf(calendar.TooLarge, calendar.RuleMaxSize,
				"a mail of %d bytes to %s is larger than mail servers accept", len(l.Data), l.To)
		}
		if _, known := waiting[l.UID]; !known {
			waiting[l.UID], err = t.waiting(ctx, user, l.UID)
			if err != nil {
				return err
			}
		}
		number++
		if waiting[l.UID], err = t.post(ctx, number, l, waiting[l.UID]); err != nil {
			return err
		}
	}
	return t.checkOutbox(ctx, user, most)
}

func (t *transaction) waiting(ctx context.Context, user calendar.UserID, uid calendar.UID) ([]held, error) {
	return db.RowsOf(ctx, t, scanHeld, selectWaiting, user, uid, t.store.now())
}

// post adds one mail, and returns the mails that now wait with its UID.
func (t *transaction) post(ctx context.Context, number int64, next calendar.Letter, waiting []held) ([]held, error) {
	var mine []calendar.Letter
	ahead := false
	for _, h := range waiting {
		switch {
		case h.To != next.To:
		case h.taken:
			ahead = true
		default:
			mine = append(mine, h.Letter)
		}
	}
	next, post, dropped := calendar.Coalesce(mine, ahead, next)
	gone := map[calendar.LetterID]bool{}
	for _, id := range dropped {
		gone[id] = true
		if err := t.Later(ctx, db.Ignore, `DELETE FROM letters WHERE id = $1`, id); err != nil {
			return nil, err
		}
	}
	var left []held
	for _, h := range waiting {
		if !gone[h.ID] {
			left = append(left, h)
		}
	}
	if !post {
		return left, nil
	}
	err := t.Later(ctx, db.Ignore, `INSERT INTO letters (`+letterColumns+`, number, taken, size)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, '', $12, $13, 0, $14)`,
		next.ID, next.User, next.From, next.To, next.Method, next.UID, next.Recurrence, next.Sequence, next.First,
		next.Posted.Unix(), next.Due.Unix(), next.Data, number, len(next.Data))
	next.Data = nil
	return append(left, held{Letter: next}), err
}

// checkOutbox refuses a change that makes too much mail of a user wait.
func (t *transaction) checkOutbox(ctx context.Context, user calendar.UserID, most calendar.OutboxLimits) error {
	letters, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM letters WHERE user_id = $1`, user)
	if err != nil {
		return err
	}
	bytes, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM letters
		WHERE user_id = $1`, user)
	if err != nil {
		return err
	}
	if letters > int64(most.Letters) || bytes > most.Bytes {
		return &calendar.Error{
			Reason: calendar.TooLarge, Message: "too much of your mail is waiting to be sent",
			Hint: "try again after some of it was sent",
		}
	}
	return nil
}

// TakeLetters implements [calendar.Outbox]. The condition on taken is there twice: on Postgres another process
// may take the same mails meanwhile, and after the wait for a row only the outer condition is checked again.
func (s schedulingStore) TakeLetters(ctx context.Context, now, until time.Time, most int) ([]calendar.Letter, error) {
	var taken []calendar.Letter
	err := s.transact(ctx, func(t *transaction) error {
		var err error
		taken, err = db.RowsOf(ctx, t, scanLetter, takeLetters, now.Unix(), until.Unix(), most)
		return err
	})
	slices.SortFunc(taken, func(a, b calendar.Letter) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID))
	})
	return taken, err
}

var holdLetters = withList(2, `UPDATE letters SET taken = $1 WHERE taken > 0 AND id§`)

// HoldLetters implements [calendar.Outbox].
func (s schedulingStore) HoldLetters(ctx context.Context, ids []calendar.LetterID, until time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		for some := range inLists(t.Of(), ids) {
			if err := t.Run(ctx, holdLetters.of(t.Of()), append([]any{until.Unix()}, some...)...); err != nil {
				return err
			}
		}
		return nil
	})
}

// SettleLetter implements [calendar.Outbox].
func (s schedulingStore) SettleLetter(ctx context.Context, l calendar.Letter) error {
	return db.ExpectRow(s.write(ctx, `UPDATE letters SET status = $3, due = $4, taken = 0 WHERE id = $1 AND tries = $2`,
		l.ID, l.Tries, l.Status, l.Due.Unix()))
}

// ConcludeLetter implements [calendar.Outbox].
func (s schedulingStore) ConcludeLetter(
	ctx context.Context, l calendar.Letter, sent bool, now time.Time, most int64,
) error {
	return s.transact(ctx, func(t *transaction) error {
		gone, err := t.Exec(ctx, `DELETE FROM letters WHERE id = $1 AND tries = $2`, l.ID, l.Tries)
		if err != nil || gone == 0 || !sent || l.Method.Leaves() {
			return err
		}
		return t.tell(ctx, l, now, most)
	})
}

const (
	// bareLetter is the approximate size of a remembered mail without its text.
	bareLetter = 512
	// stripTold drops the largest texts, the oldest first among equally large ones, until the rest fits in $2
	// bytes.
	stripTold = `UPDATE told SET data = $3, size = $4 WHERE user_id = $1 AND id IN (SELECT id FROM (
		SELECT id, SUM(size - $4) OVER (ORDER BY size, at DESC, id) + (
			SELECT SUM(CASE WHEN size > $4 THEN $4 ELSE size END) FROM told WHERE user_id = $1) AS smaller
		FROM told WHERE user_id = $1 AND size > $4) AS t WHERE smaller > $2)`
)

// tell remembers a mail as the last one about its event or instance. A mail about the whole event replaces
// those about its instances. Beyond most bytes it first drops the largest texts, so that one large meeting does
// not cost the others their links; bounces are still recognized without a text. Then it drops the oldest mails.
func (t *transaction) tell(ctx context.Context, l calendar.Letter, now time.Time, most int64) error {
	err := t.Run(ctx, `DELETE FROM told WHERE user_id = $1 AND recipient = $2 AND uid = $3
		AND (recurrence = $4 OR $4 = '')`,
		l.User, l.To, l.UID, l.Recurrence)
	if err != nil {
		return err
	}
	err = t.Run(ctx, `INSERT INTO told (`+toldLetter+`, size)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		l.ID, l.User, l.From, l.To, l.Method, l.UID, l.Recurrence, l.Sequence, l.First, l.Posted.Unix(), now.Unix(),
		l.Tries, l.Status,
		l.Data, len(l.Data))
	if err != nil {
		return err
	}
	if err := t.Run(ctx, stripTold, l.User, most, []byte{}, bareLetter); err != nil {
		return err
	}
	return t.Run(ctx, `DELETE FROM told WHERE user_id = $1 AND id IN (
		SELECT id FROM (SELECT id, SUM(size) OVER (ORDER BY at DESC, id) AS newer FROM told WHERE user_id = $1) AS t
		WHERE newer > $2)`, l.User, most)
}

// Told implements [calendar.Outbox].
func (s schedulingStore) Told(
	ctx context.Context, user calendar.UserID, to calendar.MailAddress, uid calendar.UID,
) ([]calendar.Letter, error) {
	return db.RowsOf(ctx, s.db.Reads, scanLetter, `SELECT `+toldLetter+` FROM told
		WHERE user_id = $1 AND recipient = $2 AND uid = $3 ORDER BY recurrence`, user, to, uid)
}

// WroteTo implements [calendar.Outbox].
func (s schedulingStore) WroteTo(ctx context.Context, r calendar.Recipient) (bool, error) {
	n, err := db.RowOf(ctx, s.db.Reads, db.ScanNumber, `SELECT CASE
		WHEN EXISTS (SELECT 1 FROM told WHERE user_id = $1 AND recipient = $2)
		OR EXISTS (SELECT 1 FROM letters WHERE user_id = $1 AND recipient = $2) THEN 1 ELSE 0 END`, r.User, r.To)
	return n > 0, err
}

// WaitingFor implements [calendar.Outbox].
func (s schedulingStore) WaitingFor(
	ctx context.Context, user calendar.UserID, to calendar.MailAddress, uid calendar.UID,
) ([]calendar.Letter, error) {
	return db.RowsOf(ctx, s.db.Reads, scanLetter, `SELECT `+lightLetter+` FROM letters
		WHERE user_id = $1 AND uid = $2 AND recipient = $3 ORDER BY number + 0`, user, uid, to)
}

// ToldBy implements [calendar.Outbox].
func (s schedulingStore) ToldBy(ctx context.Context, id calendar.LetterID) (calendar.Letter, error) {
	return db.RowOf(ctx, s.db.Reads, scanLetter, `SELECT `+toldLetter+` FROM told WHERE id = $1`, id)
}

// WaitingOf implements [calendar.Outbox].
func (s schedulingStore) WaitingOf(ctx context.Context, user calendar.UserID) (int, error) {
	n, err := db.RowOf(ctx, s.db.Reads, db.ScanNumber,
		`SELECT COUNT(*) FROM letters WHERE user_id = $1`, user)
	return int(n), err
}

// WaitingLetters implements [calendar.Outbox].
func (s schedulingStore) WaitingLetters(ctx context.Context) (letters int, oldest time.Time, err error) {
	type count struct{ letters, oldest int64 }
	c, err := db.RowOf(ctx, s.db.Reads, db.ScanInto(func(c *count) []any {
		return []any{&c.letters, &c.oldest}
	}), `SELECT COUNT(*), COALESCE(MIN(posted), 0) FROM letters`)
	if c.letters > 0 {
		oldest = moment(c.oldest)
	}
	return int(c.letters), oldest, err
}

// toldFor is how much longer an invitation is remembered than other mails, since its event may change late.
const toldFor = 365 * 24 * time.Hour

// pruneTold deletes the mails to external attendees from before a time. A later mail about the same event
// cannot show any more which details changed.
func (s schedulingStore) pruneTold(ctx context.Context, older time.Time) error {
	return s.run(ctx, `DELETE FROM told WHERE at < $2 OR at < $1 AND method <> $3`, older.Unix(),
		older.Add(-toldFor).Unix(), calendar.MethodRequest)
}
