package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"caldav-mcp-server/store/backup"
	"caldav-mcp-server/store/db"
)

// Backup writes the whole store as of one moment while others keep writing. Program names the writer.
func (s *Store) Backup(ctx context.Context, to io.Writer, program string, tell backup.Progress) (m backup.Manifest, err error) {
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
		if err := b.Tx.QueryRowContext(ctx, `SELECT count(*) FROM `+t.name).Scan(&n); err != nil { // a name of the schema
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
	found, err := b.Tx.QueryContext(ctx, `SELECT `+strings.Join(t.names(), ", ")+` FROM `+t.name+t.order()) //nolint:gosec // names of the schema
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
