package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// searchingOf returns an engine's statements.
func searchingOf(e *db.Engine) *searching {
	found := sqliteSearching()
	if e.Name == "postgres" {
		found = postgresSearching()
	}
	return &found
}

// searchTexts selects the texts that the search looks in; calendars is a list of ids.
func searchTexts(calendars string) string {
	return `SELECT search FROM objects WHERE calendar_id IN (` + calendars + `) AND kind = $2 AND NOT deleted
		LIMIT $3 + 0`
}

// SearchTexts implements [calendar.Store].
func (r objectReader) SearchTexts(
	ctx context.Context, in []calendar.CalendarID, kind calendar.Kind, most int, take func(text string) error,
) error {
	calendars, err := json.Marshal(in)
	if err != nil || len(in) == 0 {
		return err
	}
	var refused error
	err = r.ask(ctx, func(at db.Querier) error {
		return db.Each(ctx, at, func(row db.Scanner) (bool, error) {
			text, err := db.ScanText(row)
			if err == nil {
				refused = take(text)
			}
			return refused == nil, err
		}, r.search.words, string(calendars), kind, most)
	})
	return cmp.Or(err, refused)
}

// searched is the order of matches: first future ones by their start, then past ones, the latest first. Current
// ones count as starting now.
const searched = ` ORDER BY CASE WHEN span_end >= $3 THEN 0 ELSE 1 END,
	CASE WHEN span_end < $3 THEN -span_end WHEN span_start < $3 THEN $3 ELSE span_start END,
	calendar_id, name LIMIT $5 + 0`

// sqliteSearching finds the matches in narrow rows first, since objects are wide and there may be thousands.
// Objects that wait to be indexed are checked one by one.
func sqliteSearching() searching {
	const (
		row   = `SELECT r.calendar_id, r.name, r.span_start, r.span_end FROM `
		judge = ` AND r.calendar_id IN (SELECT value FROM json_each($2)) AND r.kind = $6 AND (r.span_end >= $3 OR $4)`
		has   = `EXISTS (SELECT 1 FROM objects o WHERE o.calendar_id = r.calendar_id AND o.name = r.name
			AND NOT EXISTS (SELECT 1 FROM json_each($7, '$.`
		all   = `') WHERE instr(' ' || o.search, ' ' || value) = 0))`
		first = ` FROM search_rows WHERE turn <= $1 + 0`
	)
	return searching{
		text: `SELECT ` + lightColumns + ` FROM (SELECT calendar_id AS calendar, name AS object FROM (
				` + row + `search_words JOIN search_rows r ON r.id = search_words.rowid
					WHERE search_words MATCH $1` + judge + `
						AND (json_array_length($7, '$.common') = 0 OR ` + has + `common` + all + `)
				UNION ALL
				` + row + `search_rows r INDEXED BY search_waiting
				WHERE r.turn IS NOT NULL` + judge + ` AND ` + has + `common` + all + ` AND ` + has + `rare` + all + `
			)` + searched + `) JOIN objects ON calendar_id = calendar AND name = object WHERE NOT deleted` + searched,
		expression: sqliteExpression,
		words:      searchTexts(`SELECT value FROM json_each($1)`),
		near:       sqliteSurvey,
		some: `SELECT ` + lightColumns + ` FROM json_each($1) k CROSS JOIN objects
			WHERE calendar_id = k.value ->> 0 AND name = k.value ->> 1 AND NOT deleted`,
		waiting: `SELECT COALESCE(max(turn), 0) FROM (
			SELECT turn, sum(length) OVER (ORDER BY turn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
			FROM (
				SELECT turn, length(search) AS length
				FROM (SELECT * FROM search_rows WHERE turn IS NOT NULL ORDER BY turn LIMIT $1 + 0) r
				LEFT JOIN objects o ON o.calendar_id = r.calendar_id AND o.name = r.name))
			WHERE COALESCE(before, 0) <= $2 + 0`,
		index: `INSERT INTO search_words (rowid, words)
			SELECT id, replace(' ' || search, ' ', ' ' || replace(r.calendar_id, '-', '') || '§')
			FROM (SELECT id, calendar_id, name` + first + `) r
			JOIN objects o ON o.calendar_id = r.calendar_id AND o.name = r.name`,
		indexed: `UPDATE search_rows SET turn = NULL WHERE turn <= $1 + 0`,
	}
}

// postgresSearching also finds the keys first: sorting thousands of whole rows would spill to disk.
func postgresSearching() searching {
	return searching{
		text: `SELECT ` + lightColumns + ` FROM (
				SELECT calendar_id AS calendar, name AS object FROM objects WHERE words @@ $1::tsquery AND NOT deleted
					AND calendar_id IN (SELECT jsonb_array_elements_text($2::jsonb)) AND kind = $6
					AND (span_end >= $3 OR $4::boolean)
					AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements_text($7::jsonb -> 'common') w (value)
						WHERE strpos(' ' || search, ' ' || w.value) = 0)` + searched + `) found
			JOIN objects ON calendar_id = calendar AND name = object WHERE NOT deleted` + searched,
		expression: postgresExpression,
		words:      searchTexts(`SELECT jsonb_array_elements_text($1::jsonb)`),
		near:       postgresSurvey,
		some: `SELECT ` + lightColumns + ` FROM jsonb_array_elements($1::jsonb) k (value)
			JOIN objects ON calendar_id = k.value ->> 0 AND name = k.value ->> 1 AND NOT deleted`,
	}
}

// Search implements [calendar.Store].
func (r objectReader) Search(ctx context.Context, q calendar.SearchQuery) (found []calendar.Object, err error) {
	// No text has a word with other characters, and such a word could be a part of the expression.
	odd := func(word string) bool { return word == "" || strings.ContainsFunc(word, foreign) }
	if len(q.Calendars) == 0 || len(q.Words) == 0 || slices.ContainsFunc(q.Words, odd) {
		return nil, nil
	}
	calendars, err := json.Marshal(q.Calendars)
	if err != nil {
		return nil, err
	}
	err = r.ask(ctx, func(at db.Querier) error {
		seen, err := r.search.survey(ctx, at, q, string(calendars))
		if err != nil {
			return err
		}
		if first, enough := seen.nearest(q); enough {
			found, err = r.search.pick(ctx, at, first)
			return err
		}
		found, err = r.search.lookUp(ctx, at, q, seen, string(calendars))
		return err
	})
	return found, err
}

// lookUp queries the index.
func (e *searching) lookUp(
	ctx context.Context, at db.Querier, q calendar.SearchQuery, seen survey, calendars string,
) ([]calendar.Object, error) {
	rare, common := seen.rare(q.Words)
	words, err := json.Marshal(map[string][]string{"rare": rare, "common": append([]string{}, common...)})
	if err != nil {
		return nil, err
	}
	q.Words = rare
	return db.RowsOf(ctx, at, sparingly(), e.text,
		e.expression(q), calendars, q.Now.Unix(), q.Past, q.Limit, q.Kind, string(words))
}

// foreign reports whether a rune is in no word.
func foreign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// sqliteExpression asks for each word in any of the calendars: in the index, each word has its calendar as a
// prefix.
func sqliteExpression(q calendar.SearchQuery) string {
	return wordsIn(q, " OR ", " AND ", func(id, word string) string { return `"` + id + "§" + word + `"*` })
}

// keyLength is how much of a calendar's id precedes a word on Postgres: the last characters, which are random.
const keyLength = 8

func postgresExpression(q calendar.SearchQuery) string {
	return wordsIn(q, " | ", " & ", func(id, word string) string {
		return "'" + id[max(0, len(id)-keyLength):] + "§" + word + "':*"
	})
}

// wordsIn renders that each word must be in one of the calendars.
func wordsIn(q calendar.SearchQuery, or, and string, term func(id, word string) string) string {
	all := make([]string, 0, len(q.Words))
	for _, word := range q.Words {
		homes := make([]string, 0, len(q.Calendars))
		for _, cal := range q.Calendars {
			homes = append(homes, term(plainID(cal), word))
		}
		all = append(all, "("+strings.Join(homes, or)+")")
	}
	return strings.Join(all, and)
}

// plainID returns a calendar's id without characters that could be a part of an expression.
func plainID(id calendar.CalendarID) string {
	return strings.Map(func(r rune) rune {
		if foreign(r) {
			return -1
		}
		return r
	}, string(id))
}

// indexedMost is the most objects indexed in one transaction, indexedText the approximate size of their texts,
// so that requests do not wait for it: some events have a hundred times as much text as others.
const indexedMost, indexedText = 500, 512 << 10

// IndexWords adds waiting texts to the full-text index. Only copies of an event wait, such as the copies of an
// invitation, and only on SQLite. Until then, searches scan their texts. Several processes may call it at once.
func (s objectStore) IndexWords(ctx context.Context) error {
	if s.search.waiting == "" {
		return nil
	}
	for {
		last, err := s.indexSome(ctx)
		if err != nil || last == 0 {
			return err
		}
	}
}

// indexSome indexes the texts that have waited longest, and returns the turn of the last one, or 0 if none
// wait.
func (s objectStore) indexSome(ctx context.Context) (last int64, err error) {
	if last, err = db.RowOf(ctx, s.db.Reads, db.ScanNumber, s.search.waiting, indexedMost, indexedText); err != nil ||
		last == 0 {
		return 0, err
	}
	return last, s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, s.search.index, last); err != nil {
			return err
		}
		return t.Run(ctx, s.search.indexed, last)
	})
}
