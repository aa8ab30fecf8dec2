package store

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// A listing's time on SQLite is what its driver takes for each column of each row, some hundred
// nanoseconds, so that rows of objects come as one text: numbers, among them the lengths of the
// texts, and behind them the texts.
const (
	packedNumbers = `version, CASE WHEN deleted THEN 1 ELSE 0 END, size, created, modified,
		octet_length(name), octet_length(etag), octet_length(uid), octet_length(kind)`
	packedTexts = `name || etag || uid || kind`

	// headColumns are what listings without data show.
	headColumns = `concat_ws(' ', ` + packedNumbers + `, ` + packedTexts + `)`
	// wholeColumns are all there is.
	packedWhole = `concat_ws(' ', ` + packedNumbers + `, octet_length(calendar_id), octet_length(status), octet_length(summary),
		span_start, span_end, CASE WHEN recurring THEN 1 ELSE 0 END, CASE WHEN transparent THEN 1 ELSE 0 END,
		` + packedTexts + ` || calendar_id || status || summary || search), `
	wholeColumns = packedWhole + `data`
	// lightColumns are the same without the data of what is larger than [calendar.LargeObject].
	lightColumns = packedWhole + `CASE WHEN size <= 65536 THEN data END`
)

// unpacker takes a packed row apart. The texts that it returns share the row's memory.
type unpacker struct {
	rest   string
	broken bool
}

// errPacked says that a row is not as it was asked for.
var errPacked = errors.New("a row cannot be taken apart")

func (u *unpacker) number() int64 {
	word, rest, found := strings.Cut(u.rest, " ")
	n, err := strconv.ParseInt(word, 10, 64)
	u.rest, u.broken = rest, u.broken || !found || err != nil
	return n
}

func (u *unpacker) numbers(into ...*int64) {
	for _, n := range into {
		*n = u.number()
	}
}

func (u *unpacker) yes() bool { return u.number() == 1 }

func (u *unpacker) time() time.Time { return moment(u.number()) }

// maybeNumber is a number that may be NULL: before it stands whether it is there.
func (u *unpacker) maybeNumber() *int64 {
	there, n := u.yes(), u.number()
	if !there {
		return nil
	}
	return &n
}

// word is a text without blanks, which needs no length.
func (u *unpacker) word() string {
	word, rest, found := strings.Cut(u.rest, " ")
	u.rest, u.broken = rest, u.broken || !found
	return word
}

// maybeText is a text that may be NULL: one of -1 bytes.
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

// packedHead is what heads and whole objects begin with.
type packedHead struct{ name, etag, uid, kind int64 }

func (u *unpacker) head(o *calendar.Object) (lengths packedHead) {
	u.numbers((*int64)(&o.Version))
	o.Deleted = u.yes()
	u.numbers(&o.Size)
	o.Created, o.Modified = u.time(), u.time()
	u.numbers(&lengths.name, &lengths.etag, &lengths.uid, &lengths.kind)
	return lengths
}

func (u *unpacker) headTexts(o *calendar.Object, lengths packedHead) {
	o.Name = calendar.ObjectName(u.text(lengths.name))
	o.ETag = calendar.ETag(u.text(lengths.etag))
	o.UID = calendar.UID(u.text(lengths.uid))
	o.Kind = calendar.Kind(u.text(lengths.kind))
}

// packedRow is a row of objects as it came. Listings hold their pages so, a fifth of the size.
type packedRow struct {
	text string
	data []byte
}

// scanPacked makes what scans packed rows, which have data or not, and columns behind them.
func scanPacked(withData bool, behind ...any) func(scanner) (packedRow, error) {
	var p packedRow
	fields := []any{&p.text}
	if withData {
		fields = append(fields, &p.data)
	}
	fields = append(fields, behind...)
	return func(row scanner) (packedRow, error) {
		err := row.Scan(fields...)
		return p, err
	}
}

// scanObject scans the wholeColumns.
func scanObject(row scanner) (calendar.Object, error) {
	p, err := scanPacked(true)(row)
	if err != nil {
		return calendar.Object{}, err
	}
	return unpackWhole(p)
}

// unpackHead makes what takes apart the headColumns of one calendar's objects.
func unpackHead(cal calendar.CalendarID) func(packedRow) (calendar.Object, error) {
	return func(p packedRow) (calendar.Object, error) {
		u, o := unpacker{rest: p.text}, calendar.Object{Calendar: cal}
		u.headTexts(&o, u.head(&o))
		return o, u.err()
	}
}

// unpackChange makes what takes apart the changeColumns of one calendar's objects.
func unpackChange(cal calendar.CalendarID) func(packedRow) (calendar.Object, error) {
	return func(p packedRow) (calendar.Object, error) {
		u, o := unpacker{rest: p.text}, calendar.Object{Calendar: cal}
		var at span
		head := u.head(&o)
		u.numbers(&at.start, &at.end)
		o.Span = at.result()
		u.headTexts(&o, head)
		return o, u.err()
	}
}

// unpackWhole takes apart the wholeColumns.
func unpackWhole(p packedRow) (calendar.Object, error) {
	u, o := unpacker{rest: p.text}, calendar.Object{}
	var cal, status, summary int64
	var at span
	head := u.head(&o)
	u.numbers(&cal, &status, &summary, &at.start, &at.end)
	o.Span, o.Recurring, o.Transparent = at.result(), u.yes(), u.yes()
	u.headTexts(&o, head)
	o.Calendar, o.Status, o.Summary = calendar.CalendarID(u.text(cal)), u.text(status), u.text(summary)
	o.Search = u.rest
	// SQLite's driver has nil for no bytes, which here means that nobody asked for them.
	o.Data = bytesOf(p.data)
	return o, u.err()
}

// unpacked makes what yields packed rows to who takes objects.
func unpacked(unpack func(packedRow) (calendar.Object, error), yield func(calendar.Object, error) bool) func(packedRow, error) bool {
	return func(p packedRow, err error) bool {
		var o calendar.Object
		if err == nil {
			o, err = unpack(p)
		}
		return yield(o, err) && err == nil
	}
}
