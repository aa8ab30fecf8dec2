package store

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

const (
	beginning = math.MinInt64 // for objects without a time
	endless   = math.MaxInt64
	day       = 24 * 60 * 60
)

// reaches are the longest spans of all size classes but the last, which has no limit. An object that overlaps a
// window starts at most one reach earlier. So the index on (reach, span_start) finds a week among years of
// events; only objects longer than 400 days are checked one by one.
var reaches = [...]int64{day, 32 * day, 400 * day}

// span is a calendar.Span as stored: plain numbers, so that an index orders them.
type span struct{ start, end int64 }

func spanOf(s calendar.Span) span {
	return span{valueOr(s.Start, beginning), valueOr(s.End, endless)}
}

func (s span) result() calendar.Span {
	return calendar.Span{Start: unless(s.start, beginning), End: unless(s.end, endless)}
}

// followed is added to the size class of a series with a recurrence index. A series within one day keeps class
// 0.
const followed = int64(len(reaches))

// class returns the size class of an object.
func class(d calendar.Derived) int64 {
	reach := spanOf(d.Span).reach()
	if d.Recurrence == nil || reach == 0 {
		return reach
	}
	return reach + followed
}

// reach returns the size class without followed.
func (s span) reach() int64 {
	for class, longest := range reaches {
		if before(s.end, longest) <= s.start {
			return int64(class)
		}
	}
	return int64(len(reaches))
}

// before goes back from a time, but not beyond the beginning.
func before(t, seconds int64) int64 {
	if t < beginning+seconds {
		return beginning
	}
	return t - seconds
}

// objectRow is a row of objects.
type objectRow struct {
	calendar.Object
	at span
	// rhythm is recurrenceColumn.
	recurrence word
}

var (
	headFields = columns[objectRow]{
		{"version", func(o *objectRow) any { return (*int64)(&o.Version) }},
		{"deleted", func(o *objectRow) any { return &o.Deleted }},
		{"size", func(o *objectRow) any { return &o.Size }},
		{"created", func(o *objectRow) any { return &o.Created }},
		{"modified", func(o *objectRow) any { return &o.Modified }},
		{"name", func(o *objectRow) any { return (*string)(&o.Name) }},
		{"etag", func(o *objectRow) any { return (*string)(&o.ETag) }},
		{"uid", func(o *objectRow) any { return (*string)(&o.UID) }},
		{"kind", func(o *objectRow) any { return (*string)(&o.Kind) }},
	}
	spanFields = columns[objectRow]{
		{"span_start", func(o *objectRow) any { return &o.at.start }},
		{"span_end", func(o *objectRow) any { return &o.at.end }},
		{recurrenceColumn, func(o *objectRow) any { return &o.recurrence }},
	}
	otherFields = columns[objectRow]{
		{"calendar_id", func(o *objectRow) any { return (*string)(&o.Calendar) }},
		{"recurring", func(o *objectRow) any { return &o.Recurring }},
		{"transparent", func(o *objectRow) any { return &o.Transparent }},
		{"status", func(o *objectRow) any { return &o.Status }},
		{"summary", func(o *objectRow) any { return &o.Summary }},
		{"schedule_tag", func(o *objectRow) any { return (*string)(&o.ScheduleTag) }},
		{"search", func(o *objectRow) any { return (*remainder)(&o.Search) }},
	}

	// packedHead is for listings without data, packedChange for changes; packedWhole has all columns but the
	// data.
	packedHead   = headFields.packed()
	packedChange = slices.Concat(headFields, spanFields).packed()
	packedWhole  = slices.Concat(headFields, spanFields, otherFields).packed()

	wholeColumns = packedWhole.selected + `, data`
	// lightColumns are the same without the data of objects larger than [calendar.LargeObject].
	lightColumns = packedWhole.selected + `, CASE WHEN size <= 65536 THEN data END`
)

// packedRow is a row of objects as received. Listings hold their pages in this form, a fifth of the parsed
// size.
type packedRow struct {
	text string
	data []byte
}

// scanPacked returns a scanner of packed rows, with data or without, followed by further columns.
func scanPacked(withData bool, behind ...any) func(db.Scanner) (packedRow, error) {
	var p packedRow
	fields := []any{&p.text}
	if withData {
		fields = append(fields, &p.data)
	}
	fields = append(fields, behind...)
	return func(row db.Scanner) (packedRow, error) {
		err := row.Scan(fields...)
		return p, err
	}
}

// scanRead is scanObject for readers: an object without its text is an error.
func scanRead(row db.Scanner) (calendar.Object, error) {
	o, err := scanObject(row)
	return o, cmp.Or(err, checkRead(o))
}

// checkRead returns an error if an object lacks its text, unless it is large and may lack it.
func checkRead(o calendar.Object) error {
	if o.Size > calendar.LargeObject {
		return nil
	}
	return o.CheckText()
}

// scanObject scans wholeColumns.
func scanObject(row db.Scanner) (calendar.Object, error) {
	s := new(packedScan[objectRow])
	s.into = [2]any{&s.text, &s.data}
	err := row.Scan(s.into[:]...)
	if err == nil {
		err = packedWhole.read(s.text, &s.one)
	}
	if err != nil {
		return calendar.Object{}, err
	}
	return s.one.whole(s.data)
}

// whole returns the object of a row with all columns.
func (o *objectRow) whole(data []byte) (calendar.Object, error) {
	var err error
	// SQLite's driver returns nil for empty bytes, but here nil means that the data was not selected.
	o.Span, o.Data = o.at.result(), bytesOf(data)
	o.Recurrence, err = o.recurrence.read()
	return o.Object, err
}

// unpackHead returns a parser for heads of one calendar's objects, unpackChange one for heads with spans.
func unpackHead(cal calendar.CalendarID) func(packedRow) (calendar.Object, error) {
	read := packedHead.reader()
	return func(p packedRow) (calendar.Object, error) {
		o, err := read(p.text)
		o.Calendar = cal
		return o.Object, err
	}
}

func unpackChange(cal calendar.CalendarID) func(packedRow) (calendar.Object, error) {
	read := packedChange.reader()
	return func(p packedRow) (calendar.Object, error) {
		o, err := read(p.text)
		o.Calendar, o.Span = cal, o.at.result()
		if err == nil {
			o.Recurrence, err = o.recurrence.read()
		}
		return o.Object, err
	}
}

// unpackWhole returns a parser for wholeColumns.
func unpackWhole() func(packedRow) (calendar.Object, error) {
	read := packedWhole.reader()
	return func(p packedRow) (calendar.Object, error) {
		o, err := read(p.text)
		if err != nil {
			return o.Object, err
		}
		whole, err := o.whole(p.data)
		return whole, cmp.Or(err, checkRead(whole))
	}
}

// unpacked turns a yield of objects into one of packed rows.
func unpacked(
	unpack func(packedRow) (calendar.Object, error), yield func(calendar.Object, error) bool,
) func(packedRow, error) bool {
	return func(p packedRow, err error) bool {
		var o calendar.Object
		if err == nil {
			o, err = unpack(p)
		}
		return yield(o, err) && (err == nil || errors.Is(err, calendar.ErrNoText))
	}
}

// recurrenceColumn selects an object's recurrence index as one word. Few objects have one, and for all others six
// numbers per row would be wasted.
const recurrenceColumn = `CASE WHEN dates = 0 THEN '-'
	ELSE concat_ws(',', known, week_1, week_2, week_3, dates, beat % 256) END`

// recurrenceOf returns the recurrence index as stored: all zero if there is none, since every series has a date.
func recurrenceOf(d calendar.Derived) calendar.RecurrenceIndex {
	if d.Recurrence == nil {
		return calendar.RecurrenceIndex{}
	}
	return *d.Recurrence
}

// read parses a recurrenceColumn.
func (w word) read() (*calendar.RecurrenceIndex, error) {
	if w == "-" {
		return nil, nil
	}
	r := new(calendar.RecurrenceIndex)
	rest := string(w)
	for _, number := range []*int64{&r.Known, &r.Hours[0], &r.Hours[1], &r.Hours[2], &r.Dates, &r.FirstHour} {
		var digits string
		digits, rest, _ = strings.Cut(rest, ",")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, errPacked
		}
		*number = n
	}
	return r, nil
}

// beatStep separates the first hours of the size classes.
const beatStep = 256

// beat returns the value of the column beat: the first hour of the index and the size class.
func beat(d calendar.Derived) int64 {
	if d.Recurrence == nil {
		return 0
	}
	return max(class(d)-followed, 0)*beatStep + d.Recurrence.FirstHour
}
