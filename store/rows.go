package store

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A columnType is what a column of rows that are written together holds, in Postgres' words.
type columnType string

const (
	texts   columnType = "text"
	numbers columnType = "bigint"
	bools   columnType = "boolean"
	blobs   columnType = "bytea"
)

// field is a column of a table into which rows are written.
type field struct {
	name string
	kind columnType
}

// insertion writes rows of one table. How a row is written and how many are is made of the same parts.
type insertion struct {
	fields []field
	// key is how many of the first fields, texts, tell rows apart that are written over: one statement cannot write the same
	// row twice. It is 0 where that would be refused anyway.
	key int
	// one and many are the statements: of one row, with a value for each field, and of any number, with a list for each.
	one, many string
	settle    settler
}

// insertInto makes an insertion; tail is what stands behind the values.
func insertInto(table string, key int, settle settler, tail string, fields ...field) *insertion {
	names, places, lists := make([]string, len(fields)), make([]string, len(fields)), make([]string, len(fields))
	for i, f := range fields {
		names[i], places[i] = f.name, "$"+strconv.Itoa(i+1)
		lists[i] = places[i] + "::" + string(f.kind) + "[]"
	}
	into := `INSERT INTO ` + table + ` (` + strings.Join(names, ", ") + `) `
	return &insertion{
		fields: fields, key: key, settle: settle,
		one:  into + `VALUES (` + strings.Join(places, ", ") + `) ` + tail,
		many: into + `SELECT * FROM unnest(` + strings.Join(lists, ", ") + `) ` + tail,
	}
}

// excluded is the tail by which a row takes the place of the one with its key.
func excluded(conflict string, fields ...field) string {
	sets := make([]string, len(fields))
	for i, f := range fields {
		sets[i] = f.name + " = excluded." + f.name
	}
	return `ON CONFLICT (` + conflict + `) DO UPDATE SET ` + strings.Join(sets, ", ")
}

// gatheredMost bounds the rows of one statement, gatheredBytes about what is in them.
const (
	gatheredMost  = 500
	gatheredBytes = 1 << 20
)

// gathered are rows of one table on their way into one statement.
type gathered struct {
	into  *insertion
	rows  [][]any
	seen  map[string]bool
	bytes int
}

// identity is what tells a row apart.
func (in *insertion) identity(row []any) string {
	var b strings.Builder
	for _, v := range row[:in.key] {
		b.WriteString(reflect.ValueOf(v).String())
		b.WriteByte(0)
	}
	return b.String()
}

// add takes a row, unless the statement writes it already, or has enough.
func (g *gathered) add(row []any) bool {
	id := g.into.identity(row)
	if g.into.key > 0 && g.seen[id] || len(g.rows) >= gatheredMost || g.bytes >= gatheredBytes {
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

// pending is the statement that writes them.
func (g *gathered) pending() pending {
	if len(g.rows) == 1 {
		return pending{text: g.into.one, args: g.rows[0], settle: g.into.settle}
	}
	args := make([]any, len(g.into.fields))
	for i, f := range g.into.fields {
		args[i] = listsOf[f.kind](g.rows, i)
	}
	return pending{text: g.into.many, args: args, settle: g.into.settle}
}

// listsOf makes lists of columns' values as the driver takes them: its own types, where rows have ours.
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

// row writes a row at once: a statement of SQLite's costs no round trip.
func (m *member) row(ctx context.Context, into *insertion, values ...any) error {
	return into.settle(m.exec(ctx, into.one, values...))
}

// row keeps a row for the statement that writes all of its table. Rows of several tables may change places, and nothing
// else does: whatever comes next is sent behind them.
func (p *pipeline) row(_ context.Context, into *insertion, values ...any) error {
	p.note(into.one, values)
	i := slices.IndexFunc(p.rows, func(g *gathered) bool { return g.into == into })
	if i >= 0 && p.rows[i].add(values) {
		return nil
	}
	if i >= 0 {
		p.gather()
	}
	g := &gathered{into: into, seen: map[string]bool{}}
	g.add(values)
	p.rows = append(p.rows, g)
	return nil
}

// gather makes statements of the rows that were kept.
func (p *pipeline) gather() {
	for _, g := range p.rows {
		p.pending = append(p.pending, g.pending())
	}
	p.rows = nil
}
