package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
)

// Schema is the state of a database's tables.
type Schema struct {
	// Current is the number of the last migration in the database, 0 in an empty one; Wanted is the program's.
	Current, Wanted int
	// Pending are the program's files that the database lacks. Unknown are files in the database that the
	// program lacks, because it is older. Other are files with the same name and another content: another build
	// created the database.
	Pending, Unknown, Other []string
}

// Ready reports whether the program can work with the database.
func (s Schema) Ready() bool { return len(s.Pending) == 0 && !s.foreign() }

// Behind reports whether Store.Migrate would change existing tables.
func (s Schema) Behind() bool { return s.Current > 0 && len(s.Pending) > 0 && !s.foreign() }

func (s Schema) foreign() bool { return len(s.Unknown) > 0 || len(s.Other) > 0 }

// Migration is a file of the program, or a row of the database's table of migrations.
type Migration struct {
	Name     string
	Checksum string
	text     string // empty if it comes from the database
}

// Engine is the engine that the file is for; empty for both.
func (m Migration) Engine() string {
	if parts := fileName.FindStringSubmatch(path.Base(m.Name)); parts != nil {
		return parts[2]
	}
	return ""
}

// Number returns the number at the start of its name.
func (m Migration) Number() int { return LastNumber([]Migration{m}) }

// SameName reports whether another migration has its name.
func (m Migration) SameName(o Migration) bool { return o.Name == m.Name }

// Migrate applies migrations. When none are left, it calls end in the same transaction as that check.
func (d *DB) Migrate(ctx context.Context, wanted []Migration, end func(context.Context, *Tx) error) error {
	for more, waits := true, false; more; {
		err := d.behindIndexes(ctx, wanted, func() error {
			return d.Transact(ctx, func(t *Tx) error {
				var err error
				more, err = t.migrateOnce(ctx, wanted)
				if err == nil && !more {
					err = end(ctx, t)
				}
				return err
			})
		})
		if errors.Is(err, errInUse) {
			err = d.untilFree(ctx, &waits)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errInUse reports that others held a migration's tables for longer than it waits; see package migrations.
var errInUse = errors.New("other processes are using the tables that a migration changes")

// untilFree pauses, so that requests waiting for the migration's locks can proceed.
func (d *DB) untilFree(ctx context.Context, waits *bool) error {
	if !*waits {
		*waits = true
		d.Options.Logger.WarnContext(ctx, "a migration waits for long reads of its tables to end; it retries, and other requests go on meanwhile")
	}
	return aheadPause(ctx)
}

// migrateOnce applies the first pending migration, if there is one.
func (t *Tx) migrateOnce(ctx context.Context, wanted []Migration) (more bool, err error) {
	if err := t.MaybeScript(ctx, t.Of().migrate); err != nil {
		return false, err
	}
	const table = `CREATE TABLE IF NOT EXISTS migrations (
		name TEXT NOT NULL PRIMARY KEY, checksum TEXT NOT NULL, applied BIGINT NOT NULL)`
	if err := t.Run(ctx, table); err != nil {
		return false, err
	}
	if err := t.MaybeScript(ctx, t.Of().collate); err != nil {
		return false, err
	}
	applied, err := Applied(ctx, t)
	if err != nil {
		return false, err
	}
	left, err := compare(wanted, applied)
	if err != nil {
		return false, err
	}
	if len(left) == 0 {
		return false, nil
	}
	if tell := t.db.Options.Migrating; tell != nil {
		tell(left[0].Name, len(wanted)-len(left)+1, len(wanted))
	}
	err = t.apply(ctx, left[0])
	if kind := t.Of().fault(err); t.Of().migrate != "" && (kind == faultConflict || kind == faultLocked) {
		err = errInUse // retried at once, it would keep others waiting
	}
	return true, err
}

func (t *Tx) apply(ctx context.Context, m Migration) error {
	if err := t.script(ctx, m.text); err != nil {
		return fmt.Errorf("migration %s: %w", m.Name, err)
	}
	if err := t.MaybeScript(ctx, t.Of().collate); err != nil {
		return fmt.Errorf("setting the collation after migration %s: %w", m.Name, err)
	}
	return t.Run(ctx, `INSERT INTO migrations (name, checksum, applied) VALUES ($1, $2, $3)`,
		m.Name, m.Checksum, t.db.Now())
}

// Schema returns the state of the database's tables.
func (d *DB) Schema(ctx context.Context) (Schema, error) {
	wanted, err := d.Wanted()
	if err != nil {
		return Schema{}, err
	}
	applied, err := Applied(ctx, d.Reads)
	if err != nil {
		return Schema{}, err
	}
	return Schema{
		Current: LastNumber(applied), Wanted: LastNumber(wanted),
		Pending: Missing(wanted, applied), Unknown: Missing(applied, wanted), Other: Altered(wanted, applied),
	}, nil
}

// Applied returns the migrations in the database, none if it has no table of migrations yet.
func Applied(ctx context.Context, q Querier) ([]Migration, error) {
	tables, err := RowOf(ctx, q, ScanNumber, q.Of().countMigrations)
	if err != nil || tables == 0 {
		return nil, err
	}
	return RowsOf(ctx, q, ScanInto(func(m *Migration) []any { return []any{&m.Name, &m.Checksum} }), `SELECT name, checksum FROM migrations ORDER BY name`)
}

// fileName matches a migration's name: number, words, and the engine that it is for, if not all.
var fileName = regexp.MustCompile(`^(\d{4})_[a-z0-9_]+(?:\.([a-z]+))?\.sql$`)

// Wanted returns the program's migrations for this engine, in order.
func (d *DB) Wanted() ([]Migration, error) {
	names, err := fs.Glob(d.Files, "*.sql")
	if err != nil {
		return nil, err
	}
	var all []Migration
	for _, name := range names {
		parts := fileName.FindStringSubmatch(path.Base(name))
		if parts == nil {
			return nil, fmt.Errorf("the migration %s is not named NNNN_words.sql or NNNN_words.ENGINE.sql", name)
		}
		if parts[2] != "" && parts[2] != d.Engine.Name {
			continue
		}
		text, err := fs.ReadFile(d.Files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, Migration{name, checksum(text), string(text)})
	}
	return all, nil
}

// checksum ignores how a checkout ends its lines.
func checksum(text []byte) string {
	sum := sha256.Sum256([]byte(strings.ReplaceAll(string(text), "\r\n", "\n")))
	return hex.EncodeToString(sum[:])
}

// compare returns the wanted migrations that are not applied. It refuses a database that another build or a
// newer program created.
func compare(wanted, applied []Migration) ([]Migration, error) {
	if other := Altered(wanted, applied); len(other) > 0 {
		return nil, calendar.Errorf(calendar.Unsupported, "",
			"the database was made by another build of this program, with another %s, and is left as it is; to bring the calendars over, "+
				"let that build `export --user NAME --out DIR` for each user, then name a new database, and let this one `create-user NAME` and `import --user NAME DIR`",
			strings.Join(other, ", "))
	}
	if unknown := Missing(applied, wanted); len(unknown) > 0 {
		return nil, calendar.Errorf(calendar.Unsupported, "",
			"the database is newer than this program: it has %s, which this program does not know; run the newer program, or restore a backup",
			strings.Join(unknown, ", "))
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(m Migration) bool {
		return slices.ContainsFunc(applied, m.SameName)
	}), nil
}

// Missing returns the names of migrations that are not among the others.
func Missing(those, others []Migration) []string {
	var names []string
	for _, m := range those {
		if !slices.ContainsFunc(others, m.SameName) {
			names = append(names, m.Name)
		}
	}
	return names
}

// Altered returns the names of applied migrations whose files have changed since.
func Altered(wanted, applied []Migration) []string {
	var names []string
	for _, m := range wanted {
		i := slices.IndexFunc(applied, m.SameName)
		if i >= 0 && applied[i].Checksum != m.Checksum {
			names = append(names, m.Name)
		}
	}
	return names
}

// LastNumber returns the number at the start of the last migration's name.
func LastNumber(all []Migration) int {
	if len(all) == 0 {
		return 0
	}
	digits, _, _ := strings.Cut(all[len(all)-1].Name, "_")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
