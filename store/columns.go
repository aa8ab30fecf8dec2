package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// column is a column or an expression, and the field that receives its value.
type column[T any] struct {
	text string
	into func(*T) any
}

// columns describes the select list of a query. The list, its order and the parsing of a row all come from one
// table.
type columns[T any] []column[T]

// list returns the select list.
func (c columns[T]) list() string {
	texts := make([]string, len(c))
	for i, one := range c {
		texts[i] = one.text
	}
	return strings.Join(texts, ", ")
}

// scan parses a row.
func (c columns[T]) scan(row scanner) (T, error) { return scanInto(c.fields)(row) }

// fields returns pointers to the fields that receive the values.
func (c columns[T]) fields(one *T) []any {
	into := make([]any, len(c))
	for i, each := range c {
		into[i] = each.into(one)
	}
	return into
}

// seconds is a column of Unix seconds; NULL is the zero time.
type seconds struct{ *time.Time }

// Scan implements [database/sql.Scanner].
func (s seconds) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*s.Time = time.Time{}
	case int64:
		*s.Time = moment(v)
	default:
		return fmt.Errorf("%T is not a time", value)
	}
	return nil
}

// level is a column with the name of an access level.
type level struct{ *calendar.Access }

// Scan implements [database/sql.Scanner].
func (l level) Scan(value any) error {
	word, ok := value.(string)
	if !ok {
		return fmt.Errorf("%T is not an access level", value)
	}
	*l.Access = calendar.ParseAccess(word)
	return nil
}

// versions is a column of versions separated by spaces, in any order.
type versions struct{ into *[]calendar.Version }

// Scan implements [database/sql.Scanner].
func (v versions) Scan(value any) error {
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("%T is not a list of versions", value)
	}
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return err
		}
		*v.into = append(*v.into, calendar.Version(n))
	}
	slices.Sort(*v.into)
	return nil
}

// calendarIDs is a column of ids separated by spaces, in any order.
type calendarIDs struct{ into *[]calendar.CalendarID }

// Scan implements [database/sql.Scanner].
func (c calendarIDs) Scan(value any) error {
	err := words[calendar.CalendarID](c).Scan(value)
	slices.Sort(*c.into)
	return err
}

// words is a column of words separated by spaces; NULL is nil, the empty text an empty list.
type words[T ~string] struct{ into *[]T }

// Scan implements [database/sql.Scanner].
func (w words[T]) Scan(value any) error {
	switch text := value.(type) {
	case nil:
		*w.into = nil
	case string:
		*w.into = []T{}
		for word := range strings.FieldsSeq(text) {
			*w.into = append(*w.into, T(word))
		}
	default:
		return fmt.Errorf("%T is not a list of words", value) // in a token, an empty list would mean every calendar
	}
	return nil
}
