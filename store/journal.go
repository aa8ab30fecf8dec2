package store

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"math"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

var insertLine = db.InsertInto("journal", 0, 3, db.Ignore, "", []db.Field{
	db.TextField("calendar_id"),
	db.NumberField("version"),
	db.TextField("object"),
	db.TextField("uid"),
	db.TextField("change"),
	db.NumberField("at"),
	db.TextField("user_id"),
	db.TextField("token_id"),
	db.TextField("agent"),
	db.TextField("whom"),
	db.TextField("given"),
	db.BlobField("before"),
	db.BoolField("scheduled"),
	db.NumberField("unpacked"),
	db.BoolField("assistant"),
	db.TextField("acting_for"),
}...).Unlisted()

const (
	insertUnit = `INSERT INTO journal_units (calendar_id, version, head_calendar, head_version)
		VALUES ($1, $2, $3, $4)`
	insertUndone = `INSERT INTO journal_undone (calendar_id, version, undone_by) VALUES ($1, $2, $3)`
)

// Log implements [calendar.Tx]. The changes of one transaction form a unit; its head is the first line.
func (t objectTx) Log(ctx context.Context, c calendar.Change) error {
	given := ""
	if c.Given > calendar.NoAccess {
		given = c.Given.Word()
	}
	before, unpacked := pack(&t.store.packers, c.Before)
	err := t.Row(ctx, insertLine,
		c.Calendar, c.Version, c.Object, c.UID, c.Did, c.At.Unix(), c.User,
		c.Token, c.Agent, c.Whom, given, before, c.Scheduled, unpacked, c.Assistant, c.For)
	if err != nil {
		return err
	}
	if c.Scheduled {
		return nil
	}
	if t.unit == (calendar.ChangeID{}) {
		t.unit = c.ID()
	} else {
		err = t.Later(ctx, db.Ignore, insertUnit, c.Calendar, c.Version, t.unit.Calendar, t.unit.Version)
	}
	for _, v := range c.Undoes {
		if err != nil {
			return err
		}
		err = t.Later(ctx, db.Ignore, insertUndone, c.Calendar, v, c.Version)
	}
	return err
}

// Join implements [calendar.Tx].
func (t objectTx) Join(head calendar.ChangeID) { t.unit = head }

// logged are the columns that Log writes, without the text before the change.
var logged = columns[calendar.Change]{
	{"j.calendar_id", func(c *calendar.Change) any { return &c.Calendar }},
	{"j.version", func(c *calendar.Change) any { return &c.Version }},
	{"j.object", func(c *calendar.Change) any { return &c.Object }},
	{"j.uid", func(c *calendar.Change) any { return &c.UID }},
	{"j.change", func(c *calendar.Change) any { return &c.Did }},
	{"j.at", func(c *calendar.Change) any { return db.Seconds(&c.At) }},
	{"j.user_id", func(c *calendar.Change) any { return &c.User }},
	{"j.token_id", func(c *calendar.Change) any { return &c.Token }},
	{"j.agent", func(c *calendar.Change) any { return &c.Agent }},
	{"j.whom", func(c *calendar.Change) any { return &c.Whom }},
	{"j.given", func(c *calendar.Change) any { return level{&c.Given} }},
	{"j.scheduled", func(c *calendar.Change) any { return &c.Scheduled }},
	{"j.assistant", func(c *calendar.Change) any { return &c.Assistant }},
	{"j.acting_for", func(c *calendar.Change) any { return &c.For }},
	{lengthBefore("j"), func(c *calendar.Change) any { return &c.Size }},
}

// A change is read either with its former text or with the columns of lists.
var (
	withBefore = append(slices.Clip(logged),
		column[calendar.Change]{"j.before", func(c *calendar.Change) any {
			return packedText{&c.Before, &c.Unreadable}
		}})

	asListed = append(slices.Clip(logged), columns[calendar.Change]{
		{"COALESCE(u.name, '')", func(c *calendar.Change) any { return &c.UserName }},
		{"COALESCE(w.name, '')", func(c *calendar.Change) any { return &c.WhomName }},
		{"COALESCE(f.name, '')", func(c *calendar.Change) any { return &c.ForName }},
		{"COALESCE(o.kind, '')", func(c *calendar.Change) any { return &c.Kind }},
		{"COALESCE(o.summary, '')", func(c *calendar.Change) any { return &c.Summary }},
		{"COALESCE(g.head_calendar, j.calendar_id)", func(c *calendar.Change) any { return &c.Unit.Calendar }},
		{"COALESCE(g.head_version, j.version)", func(c *calendar.Change) any { return &c.Unit.Version }},
		{
			`COALESCE((SELECT MAX(+x.undone_by) FROM journal_undone x
				WHERE x.calendar_id = j.calendar_id AND x.version = j.version), 0)`,
			func(c *calendar.Change) any { return &c.UndoneBy },
		},
		{
			`COALESCE((SELECT string_agg(CAST(x.version AS TEXT), ' ') FROM journal_undone x
			WHERE x.calendar_id = j.calendar_id AND x.undone_by = j.version), '')`,
			func(c *calendar.Change) any { return versions{&c.Undoes} },
		},
	}...)
)

var (
	selectWithBefore = `SELECT ` + withBefore.list() + ` FROM journal j `

	selectListed = `SELECT ` + asListed.list() + ` FROM journal j
		LEFT JOIN users u ON u.id = j.user_id
		LEFT JOIN users w ON w.id = j.whom
		LEFT JOIN users f ON f.id = j.acting_for
		LEFT JOIN objects o ON o.calendar_id = j.calendar_id AND o.name = j.object AND o.uid = j.uid
		LEFT JOIN journal_units g ON g.calendar_id = j.calendar_id AND g.version = j.version `
)

const (
	journaled = `WHERE j.calendar_id = $1 AND j.version <= $2 AND j.version >= $3 AND j.at <= $4
		AND ($5 = '' OR j.user_id = $5) `

	byVersion = `ORDER BY j.version DESC LIMIT $6`
)

// ofUID is journaled for SQLite's planner, which takes the bounds on the version to be narrower than a UID. The
// plus signs keep them out of the index search, so they are checked on the rows that journal_copies finds.
const ofUID = `WHERE j.calendar_id = $1 AND +j.version <= $2 AND +j.version >= $3 AND j.at <= $4
	AND ($5 = '' OR j.user_id = $5) `

// Each narrower query has its own index. The conditions `<> ”` are needed because planners cannot know that a
// token is not empty.
const (
	journaledOf      = ofUID + `AND j.uid = $7 AND j.whom = '' ` + byVersion
	journaledOfShare = journaled + `AND j.whom <> '' AND j.whom = $7 ` + byVersion
	journaledBy      = journaled + `AND j.token_id <> '' AND j.token_id = $7 ` + byVersion
	journaledByMCP   = journaled + `AND j.assistant ` + byVersion
	journaledByAndOf = ofUID + `AND j.uid = $7 AND j.whom = '' AND j.token_id = $8 ` + byVersion
	// Unused places repeat the last UID. No index has the order of ORDER BY: for an indexed order, planners
	// would walk the whole journal, although the few UIDs have only some lines each.
	journaledAmong = ofUID + `AND j.whom = '' AND j.uid IN (
		$7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
		$23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38)
		ORDER BY +j.version DESC LIMIT $6`
)

// journalWhere returns the condition of a query and its arguments.
func journalWhere(
	cal calendar.CalendarID, q calendar.JournalQuery, until calendar.Version, limit int,
) (text string, args []any) {
	at := int64(math.MaxInt64)
	if !q.NotAfter.IsZero() {
		at = q.NotAfter.Unix()
	}
	args = []any{cal, until, q.From, at, q.User, limit}
	switch {
	case q.Whom != "":
		return journaledOfShare, append(args, q.Whom)
	case len(q.Among) > 0:
		for i := range calendar.MaxAmong {
			args = append(args, q.Among[min(i, len(q.Among)-1)])
		}
		return journaledAmong, args
	case q.Of != nil && q.Token != "":
		return journaledByAndOf, append(args, *q.Of, q.Token)
	case q.Of != nil:
		return journaledOf, append(args, *q.Of)
	case q.Token != "":
		return journaledBy, append(args, q.Token)
	case q.Assistant:
		return journaledByMCP, args
	}
	return journaled + byVersion, args
}

// Journal implements [calendar.Store].
func (s objectStore) Journal(
	ctx context.Context, cal calendar.CalendarID, q calendar.JournalQuery,
) iter.Seq2[calendar.Change, error] {
	return journal(ctx, s.db.Reads, cal, q)
}

// Journal implements [calendar.Tx].
func (t objectTx) Journal(
	ctx context.Context, cal calendar.CalendarID, q calendar.JournalQuery,
) iter.Seq2[calendar.Change, error] {
	return journal(ctx, t, cal, q)
}

func journal(
	ctx context.Context, from db.Querier, cal calendar.CalendarID, q calendar.JournalQuery,
) iter.Seq2[calendar.Change, error] {
	first := firstJournalRows
	if len(q.Among) > 0 {
		first = firstDataRows
	}
	return latestFirst(q.Until, first, func(until calendar.Version, most int) ([]calendar.Change, bool, error) {
		text, args := journalWhere(cal, q, until, most)
		if q.WithBefore {
			return journalPage(ctx, from, most, selectWithBefore+text, args...)
		}
		page, err := db.RowsOf(ctx, from, asListed.scan, selectListed+text, args...)
		return page, len(page) == most, err
	})
}

// firstJournalRows is the size of the first page. It usually holds everything that the caller reads, and
// objects may be large.
const firstJournalRows = 16

// latestFirst yields changes page by page, the latest first; first is the size of the first page. Read gets the
// latest version to return and the number of rows.
func latestFirst(
	until calendar.Version, first int, read func(until calendar.Version, most int) (page []calendar.Change,
		more bool, err error),
) iter.Seq2[calendar.Change, error] {
	return func(yield func(calendar.Change, error) bool) {
		until, most := cmp.Or(until, math.MaxInt64), first
		drain(func() ([]calendar.Change, bool, error) {
			page, more, err := read(until, most)
			if n := len(page); n > 0 {
				until, most = page[n-1].Version-1, min(firstDataRows, 2*n)
			}
			return page, more, err
		}, yield)
	}
}

// journalPage reads changes with their text until no rows are left or the page exceeds pageBytes.
func journalPage(
	ctx context.Context, from db.Querier, most int, text string, args ...any,
) (page []calendar.Change, more bool, err error) {
	room := int64(pageBytes)
	err = db.Each(ctx, from, func(row db.Scanner) (bool, error) {
		c, err := scanWithBefore(ctx, from)(row)
		page = append(page, c)
		room -= c.Size
		return room > 0, err
	}, text, args...)
	return page, room <= 0 || len(page) == most, err
}

// scanWithBefore returns a scanner of changes with their text. It logs lines that cannot be read.
func scanWithBefore(ctx context.Context, from db.Querier) func(db.Scanner) (calendar.Change, error) {
	return func(row db.Scanner) (calendar.Change, error) {
		c, err := withBefore.scan(row)
		if c.Unreadable {
			from.Of().Damaged(c.ID(), func(log *slog.Logger) {
				log.ErrorContext(ctx, "a line of the journal is damaged: its text cannot be read", "calendar",
					c.Calendar, "version", c.Version)
			})
		}
		return c, err
	}
}

// Actors implements [calendar.Store].
func (s objectStore) Actors(
	ctx context.Context, cal calendar.CalendarID, user calendar.UserID,
) ([]calendar.Actor, error) {
	found, err := db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(a *calendar.Actor) []any {
		return []any{&a.Token, &a.Agent}
	}), `SELECT token_id, agent FROM journal WHERE calendar_id = $1 AND token_id <> ''
		AND ($2 = '' OR whom = '' OR whom = $2) GROUP BY token_id, agent`, cal, user)
	slices.SortFunc(found, func(a, b calendar.Actor) int {
		return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Agent, b.Agent))
	})
	return found, err
}

// selectAssistants searches by UID alone, since few calendars have the same one.
var selectAssistants = withList(1, `SELECT j.calendar_id, j.uid, j.agent FROM journal j
	WHERE j.assistant AND j.change = 'created' AND j.uid § AND NOT EXISTS (SELECT 1 FROM journal k
		WHERE k.calendar_id = j.calendar_id AND k.uid = j.uid AND k.version > j.version AND k.change = 'created')`)

// Assistants implements [calendar.JournalReader].
func (s objectStore) Assistants(
	ctx context.Context, objects []calendar.ObjectUID,
) (map[calendar.ObjectUID]string, error) {
	uids, wanted := make([]calendar.UID, len(objects)), map[calendar.ObjectUID]bool{}
	for i, o := range objects {
		uids[i], wanted[o] = o.UID, true
	}
	type maker struct {
		of    calendar.ObjectUID
		agent string
	}
	found, err := rowsOfList(ctx, s.db.Reads, slices.Compact(slices.Sorted(slices.Values(uids))),
		db.ScanInto(func(m *maker) []any { return []any{&m.of.Calendar, &m.of.UID, &m.agent} }), selectAssistants)
	made := map[calendar.ObjectUID]string{}
	for _, m := range found {
		if wanted[m.of] {
			made[m.of] = m.agent
		}
	}
	return made, err
}

// selectTexts takes up to eight versions. The text after a change is the text before the next change of the
// same object.
var selectTexts = `SELECT j.version, n.version IS NULL,
		CASE WHEN ` + lengthBefore("j") + ` <= $2 THEN j.before END,
		CASE WHEN n.version IS NOT NULL AND ` + lengthBefore("n") + ` <= $2 THEN n.before
			WHEN n.version IS NULL AND o.size <= $2 THEN o.data END
	FROM journal j
	LEFT JOIN journal n ON n.calendar_id = j.calendar_id AND n.version = (SELECT MIN(k.version) FROM journal k
		WHERE k.calendar_id = j.calendar_id AND k.uid = j.uid AND k.whom = j.whom AND k.version > j.version)
	LEFT JOIN objects o ON o.calendar_id = j.calendar_id AND o.uid = j.uid AND NOT o.deleted
	WHERE j.calendar_id = $1 AND j.version IN ($3, $4, $5, $6, $7, $8, $9, $10)`

// Texts implements [calendar.Store].
func (s objectStore) Texts(
	ctx context.Context, cal calendar.CalendarID, changes []calendar.Version, most int64,
) ([]calendar.ChangeTexts, error) {
	var all []calendar.ChangeTexts
	for some := range slices.Chunk(changes, 8) {
		args := []any{cal, most}
		for i := range 8 {
			args = append(args, some[min(i, len(some)-1)])
		}
		found, err := db.RowsOf(ctx, s.db.Reads, db.ScanInto(func(t *calendar.ChangeTexts) []any {
			return []any{&t.Version, &t.Latest, packedText{&t.Before, new(bool)}, packedText{&t.After, new(bool)}}
		}), selectTexts, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Unit implements [calendar.Store].
func (s objectStore) Unit(ctx context.Context, id calendar.ChangeID) ([]calendar.ChangeID, error) {
	head, err := db.RowOf(ctx, s.db.Reads, scanChangeID, `SELECT COALESCE(g.head_calendar, j.calendar_id),
		COALESCE(g.head_version, j.version)
		FROM journal j LEFT JOIN journal_units g ON g.calendar_id = j.calendar_id AND g.version = j.version
		WHERE j.calendar_id = $1 AND j.version = $2`, id.Calendar, id.Version)
	if err != nil {
		return nil, err
	}
	others, err := db.RowsOf(ctx, s.db.Reads, scanChangeID, `SELECT calendar_id, version FROM journal_units
		WHERE head_calendar = $1 AND head_version = $2 ORDER BY calendar_id, version`, head.Calendar, head.Version)
	return append([]calendar.ChangeID{head}, others...), err
}

var scanChangeID = db.ScanInto(func(id *calendar.ChangeID) []any { return []any{&id.Calendar, &id.Version} })
