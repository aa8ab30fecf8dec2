package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// Objects implements [calendar.Store].
func (r objectReader) Objects(
	ctx context.Context, cal calendar.CalendarID, q calendar.ObjectQuery,
) iter.Seq2[calendar.Object, error] {
	return func(yield func(calendar.Object, error) bool) {
		l := newListing(r.ask, cal, q)
		drain(func() ([]packedRow, bool, error) { return l.next(ctx) }, unpacked(l.unpack, yield))
	}
}

const (
	// listed takes the first nine arguments of a listing. Planners cannot know how long spans are. The `+ 0`
	// keeps them from using the index of spans in a walk by name.
	listed = ` FROM objects WHERE calendar_id = $1 AND NOT deleted AND ($2 = '' OR kind IN ($2, $3, $4, $5, $6, $7))
		AND span_start + 0 < $8 AND span_end + 0 >= $9 `

	listedAll = listed + `AND name > $10 ORDER BY name LIMIT $11 + 0`

	// near first finds the objects near a window, one size class after another: each is a range in the index of
	// spans. With one condition and OR, SQLite would scan all objects, since it assumes that every calendar has
	// ten. MATERIALIZED is for Postgres: it would repeat the search for each object of a calendar that it
	// assumes to be empty, as it does with calendars newer than its statistics.
	near = `WITH near AS MATERIALIZED (
		SELECT name FROM objects WHERE calendar_id = $1 AND reach = 0 AND span_start >= $12 AND span_start < $8
			AND span_end >= $9
		UNION ALL
		SELECT name FROM objects WHERE calendar_id = $1 AND reach = 1 AND span_start >= $13 AND span_start < $8
			AND span_end >= $9
		UNION ALL
		SELECT name FROM objects WHERE calendar_id = $1 AND reach = 2 AND span_start >= $14 AND span_start < $8
			AND span_end >= $9
		UNION ALL
		SELECT name FROM objects WHERE calendar_id = $1 AND reach = 3 AND span_start < $8 AND span_end >= $9
		UNION ALL `

	nearYears = near + series + `) `

	series = `
		SELECT name FROM objects WHERE calendar_id = $1 AND reach = 4 AND span_start >= $13 AND span_start < $8
			AND span_end >= $9` + met + `
		UNION ALL
		SELECT name FROM objects WHERE calendar_id = $1 AND reach = 5 AND span_start >= $14 AND span_start < $8
			AND span_end >= $9` + met + `
		UNION ALL
		SELECT name FROM objects WHERE calendar_id = $1 AND reach = 6 AND span_start < $8 AND span_end >= $9` + met

	// met is the condition on a series with a recurrence index: it must have something in common with the
	// window. `reach >= 4` is for SQLite, which otherwise does not see that objects_rhythm covers all of them.
	met    = ` AND reach >= 4 ` + common
	common = `AND (known < $15
		OR ((week_1 & $16) + (week_2 & $17) + (week_3 & $18) <> 0 AND (dates & $19) <> 0 AND (dates & $20) <> 0))`

	listedBySpan = listed + `AND name > $10 AND name IN (SELECT name FROM near) ORDER BY name LIMIT $11 + 0`

	// A listing by name uses the smallest of these that fits. Their fixed number keeps the prepared statements
	// few; unused places repeat the last name.
	listedName  = listed + `AND name = $10`
	listedNames = listed + `AND name IN ($10, $11, $12, $13, $14, $15, $16, $17) ORDER BY name`
	listedMany  = listed + `AND name IN (
		$10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
		$26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41,
		$42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57,
		$58, $59, $60, $61, $62, $63, $64, $65, $66, $67, $68, $69, $70, $71, $72, $73) ORDER BY name`

	// maxSpanRows is when a listing by span turns into a walk by name: each page reads all objects within the
	// span again, so many pages would cost more than the walk.
	maxSpanRows = 1000
)

// listingTexts are the queries of a listing, for one choice of columns.
type listingTexts struct {
	all, bySpan, byHours string
	byNames              [3]namesText
}

// namesText is a query for a number of names.
type namesText struct {
	names int
	text  string
}

// The listings without data, with spans, with all data, and with the data of all but large objects.
var (
	headTexts   = textsOf(packedHead.selected)
	spanTexts   = textsOf(packedChange.selected)
	objectTexts = textsOf(wholeColumns)
	lightTexts  = textsOf(lightColumns)
)

func textsOf(columns string) *listingTexts {
	show := `SELECT ` + columns
	return &listingTexts{
		show + listedAll, nearYears + show + listedBySpan, nearHours + show + listedBySpan,
		[3]namesText{{1, show + listedName}, {8, show + listedNames}, {64, show + listedMany}},
	}
}

// listing is the state of one run of Objects.
type listing struct {
	ask    snapshotReader
	texts  *listingTexts
	scan   func(db.Scanner) (packedRow, error)
	unpack func(packedRow) (calendar.Object, error)
	// filter holds the first nine arguments.
	filter []any
	window span
	// near holds the last arguments of a listing by span.
	near    []any
	bySpan  bool
	byNames bool
	// names are those not read yet.
	names []calendar.ObjectName
	last  calendar.ObjectName
	// rows is the size of the next page, seen the number of objects read so far.
	rows, seen int
}

func newListing(ask snapshotReader, cal calendar.CalendarID, q calendar.ObjectQuery) *listing {
	l := &listing{
		ask: ask, texts: headTexts, scan: scanPacked(q.WithData), unpack: unpackHead(cal),
		window:  span{valueOr(q.From, beginning), valueOr(q.Until, endless)},
		near:    nearArgs(q),
		bySpan:  q.From != nil || q.Until != nil,
		byNames: q.Names != nil,
		names:   slices.Compact(slices.Sorted(slices.Values(q.Names))),
		rows:    pageRows,
	}
	switch {
	case q.WithData && q.Light:
		l.texts, l.unpack, l.rows = lightTexts, unpackWhole(), firstDataRows
	case q.WithData:
		l.texts, l.unpack, l.rows = objectTexts, unpackWhole(), firstDataRows
	case q.WithSpan:
		l.texts, l.unpack, l.rows = spanTexts, unpackChange(cal), spanRows
	}
	if q.WithData && l.bySpan {
		l.rows = firstSpanRows
	}
	l.filter = []any{cal}
	for _, kind := range kindSlots(q.Kinds) {
		l.filter = append(l.filter, kind)
	}
	l.filter = append(l.filter, l.window.end, l.window.start)
	return l
}

// kindSlots fills the arguments for kinds; an empty first one means any kind.
func kindSlots(kinds calendar.Kinds) [6]string {
	var slots [6]string
	if kinds == nil {
		return slots
	}
	filled := 0
	for _, kind := range calendar.AllKinds() {
		if kinds.Has(kind) {
			slots[filled] = string(kind)
			filled++
		}
	}
	for ; filled < len(slots); filled++ {
		slots[filled] = "-" // no kind has this name
	}
	return slots
}

// next reads a page.
func (l *listing) next(ctx context.Context) ([]packedRow, bool, error) {
	switch {
	case l.byNames:
		return l.nextNames(ctx)
	case l.bySpan && l.seen < maxSpanRows:
		text := l.texts.bySpan
		if len(l.near) > fewestNear {
			text = l.texts.byHours
		}
		return l.page(ctx, text, slices.Concat([]any{l.last, l.rows}, l.near)...)
	default:
		return l.page(ctx, l.texts.all, l.last, l.rows)
	}
}

// page reads up to l.rows objects, and sets the size of the next page.
func (l *listing) page(ctx context.Context, text string, args ...any) ([]packedRow, bool, error) {
	objects, cut, err := l.read(ctx, text, args...)
	more := cut || len(objects) == l.rows
	if more && err == nil {
		l.last, err = l.nameOf(objects[len(objects)-1])
	}
	l.seen += len(objects)
	if cut {
		l.rows = max(1, len(objects))
	} else {
		l.rows = min(2*l.rows, pageRows)
	}
	return objects, more, err
}

func (l *listing) nameOf(p packedRow) (calendar.ObjectName, error) {
	o, err := l.unpack(p)
	return o.Name, err
}

// nextNames reads the next few of the requested names.
func (l *listing) nextNames(ctx context.Context) ([]packedRow, bool, error) {
	if len(l.names) == 0 {
		return nil, false, nil
	}
	few := len(l.texts.byNames) - 1
	for few > 0 && l.texts.byNames[few-1].names >= len(l.names) {
		few--
	}
	args := make([]any, l.texts.byNames[few].names)
	for i := range args {
		args[i] = l.names[min(i, len(l.names)-1)]
	}
	objects, cut, err := l.read(ctx, l.texts.byNames[few].text, args...)
	if cut && err == nil {
		l.last, err = l.nameOf(objects[len(objects)-1])
		past, _ := slices.BinarySearch(l.names, l.last)
		l.names = l.names[min(past+1, len(l.names)):]
	} else {
		l.names = l.names[min(len(args), len(l.names)):]
	}
	return objects, len(l.names) > 0, err
}

// read runs a query of the listing until no rows are left. It stops early, and reports cut, when the page has
// enough bytes.
func (l *listing) read(ctx context.Context, text string, args ...any) (objects []packedRow, cut bool, err error) {
	err = l.ask(ctx, func(at db.Querier) error {
		room := pageBytes
		objects, cut = nil, false
		return db.Each(ctx, at, func(row db.Scanner) (bool, error) {
			p, err := l.scan(row)
			objects = append(objects, p)
			room -= len(p.data) + len(p.text)
			cut = room <= 0
			return !cut, err
		}, text, slices.Concat(l.filter, args)...)
	})
	return objects, cut, err
}

// fewestNear is the number of arguments of a listing by span from $12 on; one by first hours has as many more as
// there are slots.
const fewestNear = 9

// nearHours is near for a window of some hours. It finds series with regular hours by the first hours that the window
// touches, and does not look at the other series of the year. Series whose recurrence index ends before the window are
// found by a condition of their own.
var nearHours = near + nearBeats() + `
		UNION ALL
		SELECT name FROM objects WHERE calendar_id = $1 AND known > 0 AND known < 9223372036854775807 AND known < $15
			AND span_start < $8 AND span_end >= $9) `

// nearBeats finds the series of each size class with the first hours from $21 on.
func nearBeats() string {
	arms := make([]string, 0, followed)
	for class, since := range [...]string{"AND span_start >= $13 ", "AND span_start >= $14 ", ""} {
		places := make([]string, slots)
		for i := range places {
			places[i] = fmt.Sprintf("$%d + %d", 12+fewestNear+i, beatStep*(class+1))
		}
		arms = append(arms, `
		SELECT name FROM objects WHERE calendar_id = $1 AND beat > 0 AND beat IN (`+strings.Join(places, ", ")+`) `+
			since+`AND span_start < $8 AND span_end >= $9 `+common)
	}
	return strings.Join(arms, `
		UNION ALL`)
}

// nearArgs returns the arguments of a listing by span from $12 on. First, for each size class, the earliest
// start of objects that can overlap the window. Then the recurrence index that series must share with the
// window, and for a short window its first hours. A window open on one side matches every series.
func nearArgs(q calendar.ObjectQuery) []any {
	args := make([]any, 0, fewestNear+slots)
	for _, reach := range reaches {
		args = append(args, before(valueOr(q.From, beginning), reach))
	}
	window, bounded := q.Window()
	if !bounded {
		const all = 1<<56 - 1
		return append(args, int64(beginning), int64(all), int64(all), int64(all), int64(calendar.DaysOfMonth),
			int64(calendar.MonthsOfYear))
	}
	args = append(args, window.Known, window.Hours[0], window.Hours[1], window.Hours[2],
		window.Dates&calendar.DaysOfMonth, window.Dates&calendar.MonthsOfYear)
	if hours := window.FirstHours(slots); hours != nil {
		for i := range slots {
			args = append(args, hours[min(i, len(hours)-1)])
		}
	}
	return args
}
