package store

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"caldav-mcp-server/calendar"
)

// searching is how an engine looks for words.
type searching struct {
	// text asks for matches of $1 in the calendars $2 (a JSON list), of which $3 is the present
	// time; $4 tells whether what is over by then counts, and $5 how many are wanted.
	text string
	// any, all and prefix write $1.
	any, all, prefix, quote string
}

// searched is the order of matches: what is to come by its start, then what is over, the latest
// first. What goes on is as near as can be.
const searched = ` ORDER BY CASE WHEN span_end >= $3 THEN 0 ELSE 1 END,
	CASE WHEN span_end < $3 THEN -span_end WHEN span_start < $3 THEN $3 ELSE span_start END,
	calendar_id, name LIMIT $5`

// sqliteSearching picks the matches from the narrow rows first: objects are wide, and there may be
// thousands.
func sqliteSearching() searching {
	return searching{
		text: `SELECT ` + objectColumns + ` FROM (
				SELECT r.calendar_id AS calendar, r.name AS object FROM search_words JOIN search_rows r ON r.id = search_words.rowid
				WHERE search_words MATCH $1 AND r.calendar_id IN (SELECT value FROM json_each($2)) AND (r.span_end >= $3 OR $4)` + searched + `)
			JOIN objects ON calendar_id = calendar AND name = object WHERE NOT deleted` + searched,
		any: " OR ", all: " AND ", prefix: "*", quote: `"`,
	}
}

func postgresSearching() searching {
	return searching{
		text: `SELECT ` + objectColumns + ` FROM objects WHERE words @@ $1::tsquery AND NOT deleted
			AND calendar_id IN (SELECT jsonb_array_elements_text($2::jsonb)) AND (span_end >= $3 OR $4::boolean)` + searched,
		any: " | ", all: " & ", prefix: ":*", quote: `'`,
	}
}

// Search implements [calendar.Store].
func (s *Store) Search(ctx context.Context, q calendar.SearchQuery) ([]calendar.Object, error) {
	// A word of other characters is in no text, and could be a part of the expression.
	odd := func(word string) bool { return word == "" || strings.ContainsFunc(word, foreign) }
	if len(q.Calendars) == 0 || len(q.Words) == 0 || slices.ContainsFunc(q.Words, odd) {
		return nil, nil
	}
	calendars, err := json.Marshal(q.Calendars)
	if err != nil {
		return nil, err
	}
	return rowsOf(ctx, s.reads, scanObject, s.engine.search.text,
		s.engine.search.expression(q), string(calendars), q.Now.Unix(), q.Past, q.Limit)
}

// foreign tells what stands in no word.
func foreign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// expression writes what is looked for: one of the calendars, the kind, and all of the words.
func (e searching) expression(q calendar.SearchQuery) string {
	homes := make([]string, len(q.Calendars))
	for i, cal := range q.Calendars {
		homes[i] = e.mark(string(cal))
	}
	terms := []string{"(" + strings.Join(homes, e.any) + ")", e.mark(string(q.Kind))}
	for _, word := range q.Words {
		terms = append(terms, e.quote+word+e.quote+e.prefix)
	}
	return strings.Join(terms, e.all)
}

// mark is the word for a calendar or a kind.
func (e searching) mark(id string) string {
	plain := strings.Map(func(r rune) rune {
		if foreign(r) {
			return -1
		}
		return r
	}, id)
	return e.quote + "§" + plain + e.quote
}
