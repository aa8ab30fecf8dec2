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
	// text asks for matches of $1 in the calendars $2 (a JSON list), of the kind $6; $3 is the
	// present time, $4 tells whether what is over by then counts, and $5 how many are wanted.
	text string
	// expression writes $1.
	expression func(calendar.SearchQuery) string
}

// searched is the order of matches: what is to come by its start, then what is over, the latest
// first. What goes on is as near as can be.
const searched = ` ORDER BY CASE WHEN span_end >= $3 THEN 0 ELSE 1 END,
	CASE WHEN span_end < $3 THEN -span_end WHEN span_start < $3 THEN $3 ELSE span_start END,
	calendar_id, name LIMIT $5 + 0`

// sqliteSearching picks the matches from the narrow rows first: objects are wide, and there may be
// thousands.
func sqliteSearching() searching {
	return searching{
		text: `SELECT ` + wholeColumns + ` FROM (
				SELECT r.calendar_id AS calendar, r.name AS object FROM search_words JOIN search_rows r ON r.id = search_words.rowid
				WHERE search_words MATCH $1 AND r.calendar_id IN (SELECT value FROM json_each($2)) AND r.kind = $6
					AND (r.span_end >= $3 OR $4)` + searched + `)
			JOIN objects ON calendar_id = calendar AND name = object WHERE NOT deleted` + searched,
		expression: sqliteExpression,
	}
}

func postgresSearching() searching {
	return searching{
		text: `SELECT ` + wholeColumns + ` FROM objects WHERE words @@ $1::tsquery AND NOT deleted
			AND calendar_id IN (SELECT jsonb_array_elements_text($2::jsonb)) AND kind = $6 AND (span_end >= $3 OR $4::boolean)` + searched,
		expression: postgresExpression,
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
		s.engine.search.expression(q), string(calendars), q.Now.Unix(), q.Past, q.Limit, q.Kind)
}

// foreign tells what stands in no word.
func foreign(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// sqliteExpression asks for each of the words in any of the calendars: a word there has its
// calendar before it.
func sqliteExpression(q calendar.SearchQuery) string {
	var all []string
	for _, word := range q.Words {
		var homes []string
		for _, cal := range q.Calendars {
			homes = append(homes, `"`+plainID(cal)+"§"+word+`"*`)
		}
		all = append(all, "("+strings.Join(homes, " OR ")+")")
	}
	return strings.Join(all, " AND ")
}

// postgresExpression asks for the words and for one of the calendars.
func postgresExpression(q calendar.SearchQuery) string {
	var homes []string
	for _, cal := range q.Calendars {
		homes = append(homes, "'§"+plainID(cal)+"'")
	}
	all := []string{"(" + strings.Join(homes, " | ") + ")"}
	for _, word := range q.Words {
		all = append(all, "'"+word+"':*")
	}
	return strings.Join(all, " & ")
}

// plainID is a calendar's id with nothing in it that could be a part of an expression.
func plainID(id calendar.CalendarID) string {
	return strings.Map(func(r rune) rune {
		if foreign(r) {
			return -1
		}
		return r
	}, string(id))
}
