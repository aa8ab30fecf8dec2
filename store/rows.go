package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
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
	// row twice. It is 0 where that would be refused anyway. Own is in how many of the first fields copies of one thing differ.
	key, own int
	// one, many and copies are the statements: of one row, with a value for each field; of any number, with a list for each;
	// and of any number that share all values but the first, which are sent once.
	one, many, copies string
	// few are one for 2, 3 … rows: to write many Postgres makes a table of each list first.
	few []string
	// listed is copies where the rows come as a list in JSON. It is for tables with triggers, each statement on which writes out the
	// words for the search and remembers all pages that it changes; empty for others, where a statement of its own costs a row less.
	listed string
	settle settler
}

// insertInto makes an insertion; tail is what stands behind the values.
func insertInto(table string, key, own int, settle settler, tail string, fields ...field) *insertion {
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
		few:    few,
		one:    into + `VALUES (` + list(places) + `) ` + tail,
		many:   into + `SELECT * FROM unnest(` + list(lists) + `) ` + tail,
		copies: into + `SELECT ` + list(copied) + ` FROM unnest(` + list(lists[:own]) + `) AS own (` + list(names[:own]) + `) ` + tail,
		listed: into + `SELECT ` + list(listed) + ` FROM json_each($1) WHERE TRUE ` + tail,
	}
}

// unlisted is an insertion into a table without triggers.
func (in *insertion) unlisted() *insertion {
	in.listed = ""
	return in
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

// gathered are rows of one table on their way into few statements.
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

// add takes a row, unless it is there already, or there are enough.
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

// fewMost is how many rows have a statement for their number.
const fewMost = 4

// leastCopies is how many rows that are copies of each other have a statement of their own.
const leastCopies = 4

// apart takes rows apart into stretches of copies and all others.
func (g *gathered) apart() (copies [][][]any, others [][]any) {
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

// alike tells whether rows differ in nothing but their own fields.
func (in *insertion) alike(a, b []any) bool {
	for i := in.own; i < len(a); i++ {
		x, isBytes := a[i].([]byte)
		if y, _ := b[i].([]byte); isBytes && (!bytes.Equal(x, y) || (x == nil) != (y == nil)) || !isBytes && a[i] != b[i] {
			return false
		}
	}
	return true
}

// A gathering keeps rows back for the statements that write all of their table. Rows of several tables may change places,
// and nothing else does: whatever comes next is sent behind them.
type gathering struct{ rows []*gathered }

// keep takes a row, unless what is kept must be written before.
func (g *gathering) keep(into *insertion, values []any) bool {
	for _, of := range g.rows {
		if of.into == into {
			return of.add(values)
		}
	}
	of := &gathered{into: into, seen: map[string]bool{}}
	of.add(values)
	g.rows = append(g.rows, of)
	return true
}

// let returns the rows that were kept, and keeps none.
func (g *gathering) let() []*gathered {
	rows := g.rows
	g.rows = nil
	return rows
}

// lists are the statements that write what was kept, of which none is kept any more.
func (g *gathering) lists() (all []pending) {
	for _, of := range g.let() {
		all = append(all, of.lists()...)
	}
	return all
}

// lists are statements with lists of values, as Postgres takes them.
func (g *gathered) lists() []pending {
	copies, others := g.apart()
	all := make([]pending, 0, len(copies)+1)
	for _, rows := range copies {
		all = append(all, pending{g.into.copies, append(g.into.columns(rows, g.into.own), rows[0][g.into.own:]...), g.into.settle})
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

// columns are lists of the values of the first fields.
func (in *insertion) columns(rows [][]any, fields int) []any {
	args := make([]any, fields, len(in.fields))
	for i, f := range in.fields[:fields] {
		args[i] = listsOf[f.kind](rows, i)
	}
	return args
}

// listsOf make lists of columns' values as the driver takes them: its own types, where rows have ours.
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

// singles are statements of one row each, as SQLite takes them, where a statement costs no round trip; but for copies that are listed.
func (g *gathered) singles() []pending {
	copies, others := g.apart()
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

// list is what rows have of their own as JSON, false where a text of theirs is none there: SQLite keeps any bytes as text.
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

// row keeps a row, as a pgTransaction does.
func (m *member) row(ctx context.Context, into *insertion, values ...any) error {
	if m.keep(into, values) {
		return nil
	}
	if err := m.gather(ctx); err != nil {
		return err
	}
	m.keep(into, values)
	return nil
}

// ready sees that the caller is still there, and writes what was kept for now.
func (m *member) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.gather(ctx)
}

// gather writes the rows that were kept.
func (m *member) gather(ctx context.Context) error {
	for _, g := range m.let() {
		for _, s := range g.singles() {
			if err := s.settle(m.statements.exec(context.WithoutCancel(ctx), s.text, s.args...)); err != nil {
				m.unheeded = cmp.Or(m.unheeded, err)
				return err
			}
		}
	}
	return m.unheeded
}
