package store

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"caldav-mcp-server/calendar"
)

// Log implements [calendar.Tx]. What is logged in one transaction is a unit, of which the first
// entry is the head.
func (t *Tx) Log(ctx context.Context, e calendar.Entry) error {
	err := t.later(ctx, ignore, `INSERT INTO journal (calendar_id, version, object, uid, change, at, user_id, token_id, agent, whom, given, before)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		e.Calendar, e.Version, e.Object, e.UID, e.Change, e.At.Unix(), e.User, e.Token, e.Agent, e.Whom, accessWord(e.Given), e.Before)
	if err != nil {
		return err
	}
	if t.unit == (calendar.ChangeID{}) {
		t.unit = e.ID()
	} else {
		err = t.later(ctx, ignore, `INSERT INTO journal_units (calendar_id, version, head_calendar, head_version)
			VALUES ($1, $2, $3, $4)`, e.Calendar, e.Version, t.unit.Calendar, t.unit.Version)
	}
	for _, v := range e.Undoes {
		if err != nil {
			return err
		}
		err = t.later(ctx, ignore, `INSERT INTO journal_undone (calendar_id, version, undone_by) VALUES ($1, $2, $3)`,
			e.Calendar, v, e.Version)
	}
	return err
}

// Join implements [calendar.Tx].
func (t *Tx) Join(head calendar.ChangeID) { t.unit = head }

const (
	entryColumns = `j.calendar_id, j.version, j.object, j.uid, j.change, j.at, j.user_id, j.token_id, j.agent, j.whom, j.given`

	selectEntries = `SELECT ` + entryColumns + `, j.before FROM journal j `

	selectLines = `SELECT ` + entryColumns + `, j.before IS NOT NULL, COALESCE(u.name, ''), COALESCE(w.name, ''), COALESCE(o.kind, ''), COALESCE(o.summary, ''),
			COALESCE(g.head_calendar, j.calendar_id), COALESCE(g.head_version, j.version)
		FROM journal j
		LEFT JOIN users u ON u.id = j.user_id
		LEFT JOIN users w ON w.id = j.whom
		LEFT JOIN objects o ON o.calendar_id = j.calendar_id AND o.name = j.object AND o.uid = j.uid
		LEFT JOIN journal_units g ON g.calendar_id = j.calendar_id AND g.version = j.version `

	journaled = `WHERE j.calendar_id = $1 AND j.version <= $2 AND j.version >= $3 AND j.at <= $4 AND ($5 = '' OR j.user_id = $5) `

	latestFirst = `ORDER BY j.version DESC LIMIT $6`
)

// ofUID is journaled for SQLite's planner, to which the bounds of the version seem narrower than a UID: they
// are looked at in what journal_uid finds.
const ofUID = `WHERE j.calendar_id = $1 AND +j.version <= $2 AND +j.version >= $3 AND j.at <= $4 AND ($5 = '' OR j.user_id = $5) `

// The narrower questions each have an index. The planners cannot know that a token is not empty.
const (
	journaledOf      = ofUID + `AND j.uid = $7 AND j.whom = '' ` + latestFirst
	journaledOfShare = journaled + `AND j.whom <> '' AND j.whom = $7 ` + latestFirst
	journaledBy      = journaled + `AND j.token_id <> '' AND j.token_id = $7 ` + latestFirst
	journaledByAndOf = ofUID + `AND j.uid = $7 AND j.whom = '' AND j.token_id = $8 ` + latestFirst
)

// where is the condition of a query, and what it takes.
func journalWhere(cal calendar.CalendarID, q calendar.EntryQuery, until calendar.Version, limit int) (text string, args []any) {
	at := int64(math.MaxInt64)
	if !q.NotAfter.IsZero() {
		at = q.NotAfter.Unix()
	}
	args = []any{cal, until, q.From, at, q.User, limit}
	switch {
	case q.Whom != "":
		return journaledOfShare, append(args, q.Whom)
	case q.Of != nil && q.Token != "":
		return journaledByAndOf, append(args, *q.Of, q.Token)
	case q.Of != nil:
		return journaledOf, append(args, *q.Of)
	case q.Token != "":
		return journaledBy, append(args, q.Token)
	}
	return journaled + latestFirst, args
}

// inJournal yields what a query selects, page by page.
func inJournal[T any](q calendar.EntryQuery, rows int, read func(until calendar.Version) ([]T, error), version func(T) calendar.Version) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		until := q.Until
		if until == 0 {
			until = math.MaxInt64
		}
		drain(func() ([]T, bool, error) {
			page, err := read(until)
			if n := len(page); n > 0 {
				until = version(page[n-1]) - 1
			}
			return page, len(page) == rows, err
		}, yield)
	}
}

// Entries implements [calendar.Store].
func (s *Store) Entries(ctx context.Context, cal calendar.CalendarID, q calendar.EntryQuery) iter.Seq2[calendar.Entry, error] {
	return entries(ctx, s.reads, cal, q)
}

// Entries implements [calendar.Tx].
func (t *Tx) Entries(ctx context.Context, cal calendar.CalendarID, q calendar.EntryQuery) iter.Seq2[calendar.Entry, error] {
	return entries(ctx, t, cal, q)
}

func entries(ctx context.Context, from querier, cal calendar.CalendarID, q calendar.EntryQuery) iter.Seq2[calendar.Entry, error] {
	return inJournal(q, firstDataRows, func(until calendar.Version) ([]calendar.Entry, error) {
		text, args := journalWhere(cal, q, until, firstDataRows)
		return rowsOf(ctx, from, scanEntry, selectEntries+text, args...)
	}, func(e calendar.Entry) calendar.Version { return e.Version })
}

// Lines implements [calendar.Store].
func (s *Store) Lines(ctx context.Context, cal calendar.CalendarID, q calendar.EntryQuery) iter.Seq2[calendar.Line, error] {
	return inJournal(q, firstDataRows, func(until calendar.Version) ([]calendar.Line, error) {
		text, args := journalWhere(cal, q, until, firstDataRows)
		lines, err := rowsOf(ctx, s.reads, scanLine, selectLines+text, args...)
		if err != nil || len(lines) == 0 {
			return nil, err
		}
		return lines, s.linkLines(ctx, cal, lines)
	}, func(l calendar.Line) calendar.Version { return l.Version })
}

// Actors implements [calendar.Store].
func (s *Store) Actors(ctx context.Context, cal calendar.CalendarID, user calendar.UserID) ([]calendar.Actor, error) {
	found, err := rowsOf(ctx, s.reads, func(row scanner) (a calendar.Actor, err error) {
		return a, row.Scan(&a.Token, &a.Agent)
	}, `SELECT token_id, agent FROM journal WHERE calendar_id = $1 AND token_id <> ''
		AND ($2 = '' OR whom = '' OR whom = $2) GROUP BY token_id, agent`, cal, user)
	slices.SortFunc(found, func(a, b calendar.Actor) int {
		return cmp.Or(cmp.Compare(a.Token, b.Token), cmp.Compare(a.Agent, b.Agent))
	})
	return found, err
}

// entryRow is what of the entryColumns is not as an entry has it.
type entryRow struct {
	at    int64
	given string
}

// fields are where the entryColumns go.
func (r *entryRow) fields(e *calendar.Entry) []any {
	return []any{
		&e.Calendar, &e.Version, &e.Object, &e.UID, &e.Change, &r.at, &e.User, &e.Token, &e.Agent, &e.Whom, &r.given,
	}
}

func (r *entryRow) complete(e *calendar.Entry) { e.At, e.Given = moment(r.at), accessOf(r.given) }

func scanLine(row scanner) (calendar.Line, error) {
	var l calendar.Line
	var r entryRow
	err := row.Scan(append(r.fields(&l.Entry), &l.Kept, &l.By, &l.With, &l.Kind, &l.Summary, &l.Unit.Calendar, &l.Unit.Version)...)
	r.complete(&l.Entry)
	return l, err
}

// undone is a row of journal_undone.
type undone struct{ version, by calendar.Version }

func scanUndone(row scanner) (undone, error) {
	var u undone
	err := row.Scan(&u.version, &u.by)
	return u, err
}

// linkLines adds to a page of lines what undid what.
func (s *Store) linkLines(ctx context.Context, cal calendar.CalendarID, lines []calendar.Line) error {
	low, high := lines[len(lines)-1].Version, lines[0].Version
	links, err := rowsOf(ctx, s.reads, scanUndone, `SELECT version, undone_by FROM journal_undone
		WHERE calendar_id = $1 AND (version BETWEEN $2 AND $3 OR undone_by BETWEEN $2 AND $3)
		ORDER BY undone_by, version`, cal, low, high)
	for _, u := range links {
		if i, ok := lineOf(lines, u.version); ok {
			lines[i].UndoneBy = u.by
		}
		if i, ok := lineOf(lines, u.by); ok {
			lines[i].Undoes = append(lines[i].Undoes, u.version)
		}
	}
	return err
}

func lineOf(lines []calendar.Line, v calendar.Version) (int, bool) {
	return slices.BinarySearchFunc(lines, v, func(l calendar.Line, v calendar.Version) int { return int(v - l.Version) })
}

// Unit implements [calendar.Store].
func (s *Store) Unit(ctx context.Context, id calendar.ChangeID) ([]calendar.ChangeID, error) {
	head, err := rowOf(ctx, s.reads, scanChangeID, `SELECT COALESCE(g.head_calendar, j.calendar_id), COALESCE(g.head_version, j.version)
		FROM journal j LEFT JOIN journal_units g ON g.calendar_id = j.calendar_id AND g.version = j.version
		WHERE j.calendar_id = $1 AND j.version = $2`, id.Calendar, id.Version)
	if err != nil {
		return nil, err
	}
	others, err := rowsOf(ctx, s.reads, scanChangeID, `SELECT calendar_id, version FROM journal_units
		WHERE head_calendar = $1 AND head_version = $2 ORDER BY calendar_id, version`, head.Calendar, head.Version)
	return append([]calendar.ChangeID{head}, others...), err
}

func scanChangeID(row scanner) (calendar.ChangeID, error) {
	var id calendar.ChangeID
	err := row.Scan(&id.Calendar, &id.Version)
	return id, err
}
