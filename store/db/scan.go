package db

import (
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Seconds is a column of Unix seconds; NULL is the zero time.
func Seconds(t *time.Time) sql.Scanner { return seconds{t} }

type seconds struct{ *time.Time }

// Scan implements [database/sql.Scanner].
func (s seconds) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*s.Time = time.Time{}
	case int64:
		*s.Time = time.Unix(v, 0).UTC()
	default:
		return fmt.Errorf("%T is not a time", value)
	}
	return nil
}

// Words is a column of words separated by spaces; NULL is nil, the empty text an empty list.
func Words[T ~string](list *[]T) sql.Scanner { return words[T]{list} }

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
