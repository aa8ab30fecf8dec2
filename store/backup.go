package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"caldav-mcp-server/store/backup"
	"caldav-mcp-server/store/db"
)

// Backup writes the whole store as of one moment while others keep writing. Program names the writer.
func (s *Store) Backup(
	ctx context.Context, to io.Writer, program string, tell backup.Progress,
) (m backup.Manifest, err error) {
	err = s.db.InSnapshot(ctx, func(at *db.Snapshot) error {
		m = backup.Manifest{Program: program, Engine: s.db.Engine.Name, Made: s.db.Options.Now().UTC()}
		m.Migrations, err = commonMigrations(ctx, at)
		if err != nil {
			return err
		}
		all, err := tables(ctx, at)
		if err != nil {
			return err
		}
		b := &writing{Snapshot: at, to: backup.NewWriter(to), tell: tell}
		if b.total, err = b.count(ctx, all); err != nil {
			return err
		}
		for _, t := range all {
			if err := b.table(ctx, t); err != nil {
				return fmt.Errorf("the table %s: %w", t.name, err)
			}
		}
		m, err = b.to.Close(m)
		return err
	})
	return m, err
}

// commonMigrations returns the applied migrations that both engines have.
func commonMigrations(ctx context.Context, q db.Querier) (common []backup.Migration, err error) {
	all, err := db.Applied(ctx, q)
	for _, m := range all {
		if m.Engine() == "" {
			common = append(common, backup.Migration{Name: m.Name, Checksum: m.Checksum})
		}
	}
	if err == nil && len(common) == 0 {
		err = errors.New("the database is empty")
	}
	return common, err
}

// writing is a backup in progress.
type writing struct {
	*db.Snapshot
	to          *backup.Writer
	tell        backup.Progress
	done, total int64
}

func (b *writing) count(ctx context.Context, all []table) (total int64, err error) {
	for _, t := range all {
		var n int64
		if err := b.Tx.QueryRowContext(ctx, `SELECT count(*)
			FROM `+t.name).Scan(&n); err != nil { // a name of the schema
			return 0, b.Engine.Translate(ctx, err)
		}
		total += n
	}
	return total, nil
}

// table writes all rows of a table as they arrive. A whole table may take longer than the timeout of a request.
func (b *writing) table(ctx context.Context, t table) (err error) {
	if err := b.to.Table(t.name, t.columns); err != nil {
		return err
	}
	//nolint:gosec // names of the schema
	found, err := b.Tx.QueryContext(ctx, `SELECT `+strings.Join(t.names(), ", ")+` FROM `+t.name+t.order())
	if err != nil {
		return b.Engine.Translate(ctx, err)
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	values, into := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range values {
		into[i] = &values[i]
	}
	for found.Next() {
		if err := found.Scan(into...); err != nil {
			return b.Engine.Translate(ctx, err)
		}
		if err := b.to.Row(values); err != nil {
			return err
		}
		b.done++
		b.tell(t.name, b.done, b.total)
	}
	return b.Engine.Translate(ctx, found.Err())
}

func (t table) names() (names []string) {
	for _, c := range t.columns {
		names = append(names, c.Name)
	}
	return names
}

// order makes both engines return the same rows in the same order.
func (t table) order() string {
	if len(t.key) == 0 {
		return ""
	}
	return ` ORDER BY ` + strings.Join(t.key, ", ")
}

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
	"uploads":      "are imported or discarded within a day, and can be uploaded again",
	"upload_parts": "are the content of uploads",
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
	"text": backup.Text, "bigint": backup.Integer, "int8": backup.Integer, "boolean": backup.Boolean,
	"bool": backup.Boolean, "bytea": backup.Bytes,
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
