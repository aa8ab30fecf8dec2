package db

import (
	"fmt"
	"strings"
	"testing"
)

// Like the program's, rows have values of types of their own.
type (
	home    string
	version int64
)

var manyFields = []Field{
	TextField("home"), TextField("name"), NumberField("version"), TextField("a"), BlobField("b"),
	BoolField("c"), NumberField("d"),
}

var insertMany = InsertInto("many", 2, 3, Ignore, "", manyFields...)

// copiesOf gathers so many rows that differ only in their own fields.
func copiesOf(n int, name string) *tableRows {
	var g rowBuffer
	for i := range n {
		row := make([]any, len(manyFields))
		for c, f := range manyFields {
			row[c] = map[columnType]any{texts: "same", numbers: int64(7), bools: true, blobs: []byte("same")}[f.kind]
		}
		row[0], row[1], row[2] = home(fmt.Sprint("c", i)), home(name), version(i)
		g.add(insertMany, row)
	}
	return g.rows[0]
}

// TestCopiesShareAStatement: on either engine, the shared values of an event's copies are sent once, with each
// copy's own values.
func TestCopiesShareAStatement(t *testing.T) {
	t.Parallel()
	rows := copiesOf(50, `a "name".ics`)
	last := append([]any{}, rows.rows[0]...)
	last[0], last[len(last)-1] = home("organizer"), int64(8)
	rows.add(last)
	for engine, all := range map[string][]pending{"sqlite": rows.singles(), "postgres": rows.lists()} {
		if len(all) != 2 || all[1].text != insertMany.one {
			t.Errorf("%s: %d statements", engine, len(all))
		}
	}
	args := rows.singles()[0].args
	if list, _ := args[0].(string); len(args) != len(manyFields)-2 ||
		!strings.HasPrefix(list, `[["c0","a \"name\".ics",0],["c1",`) {
		t.Errorf("%d arguments, the first is %v", len(args), args[0])
	}
	if args := rows.lists()[0].args; len(args) != len(manyFields) || len(args[0].([]string)) != 50 ||
		args[len(args)-1] != int64(7) {
		t.Errorf("%d arguments, the last is %v", len(args), args[len(args)-1])
	}
}

// TestFewCopies: a few copies have no statement of their own. On SQLite, neither have rows with names that JSON
// cannot hold, since SQLite stores any bytes.
func TestFewCopies(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]*tableRows{
		"few": copiesOf(3, "a"), "no UTF-8": copiesOf(9, "\xff"),
		"a NUL": copiesOf(9, "\x00"),
	} {
		all := rows.singles()
		if len(all) != len(rows.rows) {
			t.Errorf("%s: %d statements for %d rows", name, len(all), len(rows.rows))
		}
		for _, s := range all {
			if s.text != insertMany.one {
				t.Errorf("%s: %s", name, s.text)
			}
		}
	}
	for n, want := range map[int]string{2: insertMany.few[0], 3: insertMany.few[1]} {
		if all := copiesOf(n, "a").lists(); len(all) != 1 || all[0].text != want ||
			len(all[0].args) != n*len(manyFields) {
			t.Errorf("%d rows on Postgres: %+v", n, all)
		}
	}
}
