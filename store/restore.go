package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/backup"
	"caldav-mcp-server/store/db"
)

// Restore fills an empty store from a backup, of either engine. The whole backup is checked before any change,
// and restored in full or not at all. Afterwards the tables are migrated and a new epoch starts, because the
// backup lacks later changes that clients have seen.
func (s *Store) Restore(ctx context.Context, file *backup.File, tell backup.Progress) error {
	if err := file.Check(func(string, int64, int64) {}); err != nil {
		return err
	}
	wanted, err := s.upTo(file.Migrations)
	if err != nil {
		return err
	}
	if err := s.requireEmpty(ctx, wanted); err != nil {
		return err
	}
	if err := s.db.Migrate(ctx, wanted, func(context.Context, *db.Tx) error { return nil }); err != nil {
		return err
	}
	if err := s.transact(ctx, func(t *transaction) error { return t.restore(ctx, file, tell) }); err != nil {
		return err
	}
	if err := s.Migrate(ctx); err != nil {
		return fmt.Errorf("bringing the restored tables up to date: %w", err)
	}
	if s.db.Engine.Analyze != "" {
		s.analyze(ctx)
	}
	return s.NewEpoch(ctx)
}

// upTo returns the program's migrations up to the backup's. It refuses a backup of another or a newer program.
func (s *Store) upTo(had []backup.Migration) ([]db.Migration, error) {
	all, err := s.db.Wanted()
	if err != nil {
		return nil, err
	}
	var theirs []db.Migration
	for _, m := range had {
		theirs = append(theirs, db.Migration{Name: m.Name, Checksum: m.Checksum})
	}
	if unknown := db.Missing(theirs, all); len(unknown) > 0 {
		return nil, calendar.Errorf(calendar.Unsupported, "", "the backup was made by a newer program: it has %s, "+
			"which this program does not know; restore it with the newer program",
			strings.Join(unknown, ", "))
	}
	if other := db.Altered(all, theirs); len(other) > 0 {
		return nil, calendar.Errorf(calendar.Unsupported, "", "the backup was made by another build of this program, "+
			"with another %s: restore it with that build",
			strings.Join(other, ", "))
	}
	last := db.LastNumber(theirs)
	if !slices.ContainsFunc(all, func(m db.Migration) bool { return m.Engine() == "" && m.Number() > last }) {
		last = db.LastNumber(all)
	}
	// Of the migrations for this engine only, take all that the backup's tables may have needed, and the rest
	// if no common one follows.
	return slices.DeleteFunc(all, func(m db.Migration) bool {
		return m.Number() > last || m.Engine() == "" && !slices.ContainsFunc(theirs, m.SameName)
	}), nil
}

// requireEmpty refuses a store that has users, and one whose tables differ from the backup's.
func (s *Store) requireEmpty(ctx context.Context, wanted []db.Migration) error {
	have, err := db.Applied(ctx, s.db.Reads)
	if err != nil || len(have) == 0 {
		return err
	}
	users, err := s.Users(ctx)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return calendar.Errorf(calendar.Exists, "",
			"the database is not empty, it has %d users: restore into a new one; nothing was changed", len(users))
	}
	if left, more := db.Missing(wanted, have), db.Missing(have, wanted); len(left) > 0 || len(more) > 0 {
		return calendar.Errorf(calendar.Exists, "", "the database already has tables, in another version than the "+
			"backup's: restore into a new one; nothing was changed")
	}
	return nil
}

// restore writes all rows of a backup, after deleting the rows that migrations inserted.
func (t *transaction) restore(ctx context.Context, file *backup.File, tell backup.Progress) error {
	if err := t.MaybeScript(ctx, t.Of().Endless); err != nil {
		return err
	}
	all, err := tables(ctx, t)
	if err != nil {
		return err
	}
	for _, one := range slices.Backward(all) {
		if err := t.Run(ctx, `DELETE FROM `+one.name); err != nil {
			return err
		}
	}
	r := &reading{transaction: t, tell: tell, total: file.Manifest.Rows()}
	for _, one := range all {
		if err := r.table(ctx, file, one); err != nil {
			return fmt.Errorf("the table %s: %w", one.name, err)
		}
	}
	err = t.Run(ctx, `UPDATE meta SET epoch = $1 WHERE id = 1`, db.NewEpoch())
	t.hint.Everything = true
	return err
}

// reading is a restore in progress.
type reading struct {
	*transaction
	tell        backup.Progress
	done, total int64
}

// table reads one table. The migrations guarantee the same columns, but not their order.
func (r *reading) table(ctx context.Context, file *backup.File, into table) error {
	from := file.Table(into.name)
	if len(from.Columns) != len(into.columns) {
		return fmt.Errorf("the backup has %d of its columns, the database has %d", len(from.Columns), len(into.columns))
	}
	var names []string
	for _, c := range from.Columns {
		if !slices.Contains(into.columns, c) {
			return fmt.Errorf("the backup has a column %s of type %s, which the database lacks", c.Name, c.Kind)
		}
		names = append(names, c.Name)
	}
	most := max(1, r.Of().Bulk/len(names))
	many, one := insertRows(into.name, names, most), insertRows(into.name, names, 1)
	var waiting []any
	err := file.Rows(from, func(values []any) error {
		if waiting = append(waiting, values...); len(waiting) < most*len(names) {
			return nil
		}
		_, err := r.Exec(ctx, many, waiting...)
		r.done += int64(most)
		r.tell(into.name, r.done, r.total)
		waiting = nil
		return err
	})
	for ; err == nil && len(waiting) > 0; waiting = waiting[len(names):] {
		_, err = r.Exec(ctx, one, waiting[:len(names)]...)
		r.done++
		r.tell(into.name, r.done, r.total)
	}
	return err
}

// insertRows returns a statement that inserts that many rows.
func insertRows(table string, columns []string, rows int) string {
	var b strings.Builder
	b.WriteString(`INSERT INTO ` + table + ` (` + strings.Join(columns, ", ") + `) VALUES `)
	for n := range rows * len(columns) {
		switch {
		case n == 0:
			b.WriteString("(")
		case n%len(columns) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(n+1))
	}
	b.WriteString(")")
	return b.String()
}
