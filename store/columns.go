package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
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
func (c columns[T]) scan(row db.Scanner) (T, error) { return db.ScanInto(c.fields)(row) }

// fields returns pointers to the fields that receive the values.
func (c columns[T]) fields(one *T) []any {
	into := make([]any, len(c))
	for i, each := range c {
		into[i] = each.into(one)
	}
	return into
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
	err := db.Words(c.into).Scan(value)
	slices.Sort(*c.into)
	return err
}
