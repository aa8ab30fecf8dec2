package store

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/store/db"
)

// SQLite's driver takes some hundred nanoseconds for each column of each row, which makes up most of the time
// of a listing. So rows of objects and calendars arrive as one text: first numbers, which include the lengths
// of texts, then the texts. The layout follows from the list of columns, and the type of a column from its
// field.

// word is a text without spaces, which needs no length; remainder is the last text, which needs none either.
type (
	word      string
	remainder string
)

// packing describes how rows of some columns are packed.
type packing[T any] struct {
	// selected is the one column that a query selects instead of them.
	selected string
	// numbers and texts are the columns in their packed order.
	numbers, texts columns[T]
	// lengths is how many of the texts have a length.
	lengths int
}

// mostTexts is the most texts in a packed row.
const mostTexts = 16

// packed returns the packing of the columns.
func (c columns[T]) packed() packing[T] {
	var p packing[T]
	var numbers, lengths, texts []string
	for _, one := range c {
		switch one.into(new(T)).(type) {
		case *bool:
			numbers = append(numbers, `CASE WHEN `+one.text+` THEN 1 ELSE 0 END`)
		case **int64:
			numbers = append(numbers, `CASE WHEN `+one.text+` IS NULL THEN 0 ELSE 1 END, COALESCE(`+one.text+`, 0)`)
		case *int64, *time.Time, *word:
			numbers = append(numbers, one.text)
		case *string:
			lengths, texts = append(lengths, `octet_length(`+one.text+`)`), append(texts, one.text)
		case **string:
			lengths, texts = append(lengths, `COALESCE(octet_length(`+one.text+`), -1)`),
				append(texts, `COALESCE(`+one.text+`, '')`)
		case *remainder:
			texts = append(texts, one.text)
		}
		if len(texts) > len(p.texts) {
			p.texts = append(p.texts, one)
		} else {
			p.numbers = append(p.numbers, one)
		}
	}
	p.lengths = len(lengths)
	// SQLite's driver copies each column's name with each query, and the default name is the whole expression.
	p.selected = `concat_ws(' ', ` + strings.Join(append(numbers, lengths...), ", ") + `, ` + strings.Join(texts,
		" || ") + `) AS packed`
	return p
}

// reader returns a function that parses one row after another.
func (p *packing[T]) reader() func(row string) (T, error) {
	one := new(T) // shared by all rows, which fill the same columns, to allocate it only once
	return func(row string) (T, error) {
		err := p.read(row, one)
		return *one, err
	}
}

// read parses a row.
func (p *packing[T]) read(row string, one *T) error {
	u := unpacker{rest: row}
	for i := range p.numbers {
		switch at := p.numbers[i].into(one).(type) {
		case *int64:
			*at = u.number()
		case *bool:
			*at = u.number() == 1
		case *time.Time:
			*at = moment(u.number())
		case **int64:
			*at = u.maybeNumber()
		case *word:
			*at = word(u.word())
		}
	}
	var lengths [mostTexts]int64
	for i := range p.texts[:p.lengths] {
		lengths[i] = u.number()
	}
	for i := range p.texts {
		switch at := p.texts[i].into(one).(type) {
		case *string:
			*at = u.text(lengths[i])
		case **string:
			*at = u.maybeText(lengths[i])
		case *remainder:
			*at = remainder(u.rest)
		}
	}
	return u.err()
}

// packedScan is the memory for scanning one packed row, in one allocation.
type packedScan[T any] struct {
	packedRow
	one  T
	into [2]any
}

// scan scans a row with only the packed column.
func (p *packing[T]) scan(row db.Scanner) (T, error) {
	s := new(packedScan[T])
	s.into[0] = &s.text
	err := row.Scan(s.into[:1]...)
	if err == nil {
		err = p.read(s.text, &s.one)
	}
	return s.one, err
}

// unpacker parses a packed row. The texts that it returns share the row's memory.
type unpacker struct {
	rest   string
	broken bool
}

// errPacked reports a row that does not match its packing.
var errPacked = errors.New("a row cannot be parsed")

func (u *unpacker) number() int64 {
	word, rest, found := strings.Cut(u.rest, " ")
	n, err := strconv.ParseInt(word, 10, 64)
	u.rest, u.broken = rest, u.broken || !found || err != nil
	return n
}

// maybeNumber reads a nullable number, which follows a flag.
func (u *unpacker) maybeNumber() *int64 {
	there, n := u.number(), u.number()
	if there != 1 {
		return nil
	}
	return new(n)
}

func (u *unpacker) word() string {
	word, rest, found := strings.Cut(u.rest, " ")
	u.rest, u.broken = rest, u.broken || !found
	return word
}

// maybeText reads a nullable text; a length of -1 means NULL.
func (u *unpacker) maybeText(bytes int64) *string {
	if bytes == -1 {
		return nil
	}
	text := u.text(bytes)
	return &text
}

// text cuts off the next bytes.
func (u *unpacker) text(bytes int64) string {
	if bytes < 0 || bytes > int64(len(u.rest)) {
		u.broken = true
		return ""
	}
	text := u.rest[:bytes]
	u.rest = u.rest[bytes:]
	return text
}

func (u *unpacker) err() error {
	if u.broken {
		return errPacked
	}
	return nil
}
