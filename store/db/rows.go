package db

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A columnType is the Postgres type of a column in batched rows.
type columnType string

const (
	texts   columnType = "text"
	numbers columnType = "bigint"
	bools   columnType = "boolean"
	blobs   columnType = "bytea"
)

// Field is a column of a table with batched rows.
type Field struct {
	name string
	kind columnType
}

// TextField returns a column of texts.
func TextField(name string) Field { return Field{name, texts} }

// NumberField returns a column of whole numbers.
func NumberField(name string) Field { return Field{name, numbers} }

// BoolField returns a column of booleans.
func BoolField(name string) Field { return Field{name, bools} }

// BlobField returns a column of bytes.
func BlobField(name string) Field { return Field{name, blobs} }

// insertion inserts rows into one table. The statements for one row and for many are built from the same parts.
type insertion struct {
	fields []Field
	// key is how many of the first fields, all texts, identify a row that is replaced if it exists: one
	// statement cannot write the same row twice. It is 0 if the table refuses duplicates anyway. Own is in how
	// many of the first fields copies of one row differ.
	key, own int
	// one, many and copies are the statements: for one row, with a value per field; for any number of rows,
	// with a list per field; and for rows that share all but their own fields, with the shared values sent
	// once.
	one, many, copies string
	// few are the statements for 2, 3 … rows; with many, Postgres builds a table from each list first.
	few []string
	// listed is copies with the rows as a JSON list, for tables with triggers: there each statement flushes the
	// full-text index and journals all pages that it changes. It is empty for other tables, where a statement
	// per row is cheaper.
	listed string
	settle settler
}

// InsertInto builds an insertion; tail follows the values.
func InsertInto(table string, key, own int, settle settler, tail string, fields ...Field) *insertion {
	names, places, lists := make([]string, len(fields)), make([]string, len(fields)), make([]string, len(fields))
	copied, listed := make([]string, len(fields)), make([]string, len(fields))
	for i, f := range fields {
		names[i], places[i] = f.name, "$"+strconv.Itoa(i+1)
		lists[i] = places[i] + "::" + string(f.kind) + "[]"
		copied[i], listed[i] = places[i]+"::"+string(f.kind), "$"+strconv.Itoa(i+2-own)
		if i < own {
			copied[i], listed[i] = "own."+f.name, "value ->> "+strconv.Itoa(i)
		}
	}
	list := func(of []string) string { return strings.Join(of, ", ") }
	into := `INSERT INTO ` + table + ` (` + list(names) + `) `
	few, rows := make([]string, fewMost-1), `VALUES (`+list(places)+`)`
	for i := range few {
		for p := range places {
			places[p] = "$" + strconv.Itoa((i+1)*len(fields)+p+1)
		}
		rows += `, (` + list(places) + `)`
		few[i] = into + rows + ` ` + tail
	}
	for p := range places {
		places[p] = "$" + strconv.Itoa(p+1)
	}
	return &insertion{
		fields: fields, key: key, own: own, settle: settle,
		few:  few,
		one:  into + `VALUES (` + list(places) + `) ` + tail,
		many: into + `SELECT * FROM unnest(` + list(lists) + `) ` + tail,
		copies: into + `SELECT ` + list(copied) + `
			FROM unnest(` + list(lists[:own]) + `) AS own (` + list(names[:own]) + `) ` + tail,
		listed: into + `SELECT ` + list(listed) + ` FROM json_each($1) WHERE TRUE ` + tail,
	}
}

// Unlisted returns an insertion into a table without triggers.
func (in *insertion) Unlisted() *insertion {
	in.listed = ""
	return in
}

// Excluded returns the tail that makes a row replace the one with its key.
func Excluded(conflict string, fields ...Field) string {
	sets := make([]string, len(fields))
	for i, f := range fields {
		sets[i] = f.name + " = excluded." + f.name
	}
	return `ON CONFLICT (` + conflict + `) DO UPDATE SET ` + strings.Join(sets, ", ")
}

// maxTableRows is the most rows in a statement, maxTableBytes their approximate size.
const (
	maxTableRows  = 500
	maxTableBytes = 1 << 20
)

// tableRows holds deferred rows of one table.
type tableRows struct {
	into  *insertion
	rows  [][]any
	seen  map[string]bool
	bytes int
}

// identity returns the key of a row.
func (in *insertion) identity(row []any) string {
	var b strings.Builder
	for _, v := range row[:in.key] {
		b.WriteString(reflect.ValueOf(v).String())
		b.WriteByte(0)
	}
	return b.String()
}

// add defers a row. It reports false if the row is there already, or there are enough.
func (g *tableRows) add(row []any) bool {
	id := g.into.identity(row)
	if g.into.key > 0 && g.seen[id] || len(g.rows) >= maxTableRows || g.bytes >= maxTableBytes {
		return false
	}
	g.seen[id] = true
	g.rows = append(g.rows, row)
	for i, f := range g.into.fields {
		if data, _ := row[i].([]byte); f.kind == blobs {
			g.bytes += len(data)
		}
	}
	return true
}

// fewMost is the most rows that have a statement for their number.
const fewMost = 4

// leastCopies is the fewest copies of a row that are written by a statement of their own.
const leastCopies = 4

// split splits rows into runs of copies and all others.
func (g *tableRows) split() (copies [][][]any, others [][]any) {
	for rest := g.rows; len(rest) > 0; {
		n := 1
		for n < len(rest) && g.into.alike(rest[0], rest[n]) {
			n++
		}
		if n >= leastCopies {
			copies = append(copies, rest[:n])
		} else {
			others = append(others, rest[:n]...)
		}
		rest = rest[n:]
	}
	return copies, others
}

// alike reports whether rows differ only in their own fields.
func (in *insertion) alike(a, b []any) bool {
	for i := in.own; i < len(a); i++ {
		x, isBytes := a[i].([]byte)
		if y, _ := b[i].([]byte); isBytes && (!bytes.Equal(x, y) || (x == nil) != (y == nil)) ||
			!isBytes && a[i] != b[i] {
			return false
		}
	}
	return true
}

// A rowBuffer defers rows, to write all rows of a table with one statement. It may reorder rows of different
// tables, but no other statements: these flush it first.
type rowBuffer struct{ rows []*tableRows }

// add defers a row. It reports false if the deferred rows must be written first.
func (g *rowBuffer) add(into *insertion, values []any) bool {
	for _, of := range g.rows {
		if of.into == into {
			return of.add(values)
		}
	}
	of := &tableRows{into: into, seen: map[string]bool{}}
	of.add(values)
	g.rows = append(g.rows, of)
	return true
}

// take returns the deferred rows and forgets them.
func (g *rowBuffer) take() []*tableRows {
	rows := g.rows
	g.rows = nil
	return rows
}

// batches returns the statements that write the deferred rows, and forgets these.
func (g *rowBuffer) batches() (all []pending) {
	for _, of := range g.take() {
		all = append(all, of.lists()...)
	}
	return all
}

// lists returns statements with lists of values, for Postgres.
func (g *tableRows) lists() []pending {
	copies, others := g.split()
	all := make([]pending, 0, len(copies)+1)
	for _, rows := range copies {
		all = append(all, pending{
			g.into.copies, append(g.into.columns(rows, g.into.own), rows[0][g.into.own:]...),
			g.into.settle,
		})
	}
	switch n := len(others); {
	case n == 1:
		all = append(all, pending{g.into.one, others[0], g.into.settle})
	case n > fewMost:
		all = append(all, pending{g.into.many, g.into.columns(others, len(g.into.fields)), g.into.settle})
	case n > 1:
		all = append(all, pending{g.into.few[n-2], slices.Concat(others...), g.into.settle})
	}
	return all
}

// columns returns lists of the values of the first fields.
func (in *insertion) columns(rows [][]any, fields int) []any {
	args := make([]any, fields, len(in.fields))
	for i, f := range in.fields[:fields] {
		args[i] = listsOf[f.kind](rows, i)
	}
	return args
}

// listsOf build lists of a column's values in the driver's types, since rows hold our own.
var listsOf = map[columnType]func(rows [][]any, column int) any{
	texts:   listOf(func(v any) string { return reflect.ValueOf(v).String() }),
	numbers: listOf(func(v any) int64 { return reflect.ValueOf(v).Int() }),
	bools:   listOf(func(v any) bool { return reflect.ValueOf(v).Bool() }),
	blobs:   listOf(func(v any) []byte { return reflect.ValueOf(v).Bytes() }),
}

func listOf[T any](value func(any) T) func([][]any, int) any {
	return func(rows [][]any, column int) any {
		list := make([]T, len(rows))
		for i, row := range rows {
			list[i] = value(row[column])
		}
		return list
	}
}

// singles returns one statement per row, for SQLite, where a statement costs no round trip. Copies in a table
// with listed get one statement.
func (g *tableRows) singles() []pending {
	copies, others := g.split()
	all := make([]pending, 0, len(copies)+len(others))
	for _, rows := range copies {
		if list, ok := g.into.list(rows); ok && g.into.listed != "" {
			all = append(all, pending{g.into.listed, append([]any{list}, rows[0][g.into.own:]...), g.into.settle})
		} else {
			others = append(others, rows...)
		}
	}
	for _, row := range others {
		all = append(all, pending{g.into.one, row, g.into.settle})
	}
	return all
}

// list returns the rows' own fields as JSON. It reports false if a text is not valid JSON: SQLite accepts any
// bytes as text.
func (in *insertion) list(rows [][]any) (string, bool) {
	own := make([][]any, len(rows))
	for i, row := range rows {
		own[i] = row[:in.own]
		for c, f := range in.fields[:in.own] {
			text := reflect.ValueOf(row[c]).String()
			if f.kind == texts && (!utf8.ValidString(text) || strings.ContainsRune(text, 0)) {
				return "", false
			}
		}
	}
	list, err := json.Marshal(own)
	return string(list), err == nil
}
