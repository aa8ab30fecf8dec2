package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"caldav-mcp-server/store/backup"
	"caldav-mcp-server/store/db"
)

// table is a table as described by the database itself.
type table struct {
	name    string
	columns []backup.Column
	// key has the columns of the primary key, in order.
	key []string
	// needs are the tables that its rows refer to.
	needs []string
}

// leftOut are the tables that are not in a backup, with the reason. All others are. A name that ends in * is a
// prefix.
var leftOut = map[string]string{
	"migrations":   "lists the applied migration files; the manifest has them, and a restore applies its own",
	"leases":       "says which process currently holds which lease",
	"search_rows":  "is made from the objects by triggers, and only on SQLite",
	"search_words": "is made from the objects by triggers, and only on SQLite",
	// SQLite's internal tables for search_words.
	"search_words_*": "is SQLite's own",
}

// leftOutColumns are the columns that are not in a backup, as "table.column".
var leftOutColumns = map[string]string{
	"meta.watched":  "says until when a process listens to this Postgres",
	"meta.timeline": "identifies the Postgres of the epoch's start; a restored store starts its own epoch",
	"meta.cluster":  "identifies the Postgres of the epoch's start; a restored store starts its own epoch",
}

func isLeftOut(name string) bool {
	for pattern := range leftOut {
		prefix, many := strings.CutSuffix(pattern, "*")
		if name == pattern || many && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// kinds maps the engines' names of column types.
var kinds = map[string]backup.Kind{
	"text": backup.Text, "bigint": backup.Integer, "int8": backup.Integer, "boolean": backup.Boolean, "bool": backup.Boolean, "bytea": backup.Bytes,
}

// tables returns the tables of a backup, ordered so that none refers to a later one.
func tables(ctx context.Context, q db.Querier) ([]table, error) {
	all := map[string]*table{}
	err := db.Each(ctx, q, func(row db.Scanner) (bool, error) {
		var name, column, kind string
		var key int
		if err := row.Scan(&name, &column, &kind, &key); err != nil {
			return false, err
		}
		return true, addColumn(all, name, column, kind, key)
	}, q.Of().Columns)
	if err != nil {
		return nil, err
	}
	err = db.Each(ctx, q, func(row db.Scanner) (bool, error) {
		var from, to string
		err := row.Scan(&from, &to)
		if t := all[from]; t != nil && from != to {
			t.needs = append(t.needs, to)
		}
		return true, err
	}, q.Of().References)
	if err != nil {
		return nil, err
	}
	return inOrder(all)
}

// addColumn adds a column, with its position in the key from 1 on.
func addColumn(all map[string]*table, name, column, kind string, key int) error {
	if isLeftOut(name) || leftOutColumns[name+"."+column] != "" {
		return nil
	}
	k, known := kinds[strings.ToLower(kind)]
	if !known {
		return fmt.Errorf("the column %s.%s has the type %s, which backups do not support", name, column, kind)
	}
	t := all[name]
	if t == nil {
		t = &table{name: name}
		all[name] = t
	}
	t.columns = append(t.columns, backup.Column{Name: column, Kind: k})
	if key > 0 {
		t.key = append(t.key, make([]string, max(0, key-len(t.key)))...)
		t.key[key-1] = column
	}
	return nil
}

// inOrder sorts tables by their references, then by name.
func inOrder(all map[string]*table) ([]table, error) {
	var done []table
	placed := map[string]bool{}
	for len(done) < len(all) {
		before := len(done)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			t := all[name]
			waits := slices.ContainsFunc(t.needs, func(need string) bool { return !placed[need] })
			if !placed[name] && !waits {
				placed[name] = true
				done = append(done, *t)
			}
		}
		if len(done) == before {
			return nil, fmt.Errorf("tables refer to each other in a circle, after %d others", before)
		}
	}
	return done, nil
}
