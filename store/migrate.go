package store

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

// migration is a file of the program, or a row of the database's table of migrations.
type migration struct {
	name     string
	checksum string
	text     string // empty if it comes from the database
}

// engine is the engine that the file is for; empty for both.
func (m migration) engine() string {
	if parts := fileName.FindStringSubmatch(path.Base(m.name)); parts != nil {
		return parts[2]
	}
	return ""
}

func (m migration) number() int { return lastNumber([]migration{m}) }

func (m migration) sameName(o migration) bool { return o.name == m.name }

// migrate applies migrations. When none are left, it calls end in the same transaction as that check.
func (d *DB) migrate(ctx context.Context, wanted []migration, end func(context.Context, *dbTx) error) error {
	for more, waits := true, false; more; {
		err := d.behindIndexes(ctx, wanted, func() error {
			return d.transact(ctx, func(t *dbTx) error {
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
		d.options.Logger.WarnContext(ctx, "a migration waits for long reads of its tables to end; it retries, and other requests go on meanwhile")
	}
	return aheadPause(ctx)
}

// migrateOnce applies the first pending migration, if there is one.
func (t *dbTx) migrateOnce(ctx context.Context, wanted []migration) (more bool, err error) {
	if err := t.maybeScript(ctx, t.of().migrate); err != nil {
		return false, err
	}
	const table = `CREATE TABLE IF NOT EXISTS migrations (
		name TEXT NOT NULL PRIMARY KEY, checksum TEXT NOT NULL, applied BIGINT NOT NULL)`
	if err := t.run(ctx, table); err != nil {
		return false, err
	}
	if err := t.maybeScript(ctx, t.of().collate); err != nil {
		return false, err
	}
	applied, err := applied(ctx, t)
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
	if tell := t.db.options.Migrating; tell != nil {
		tell(left[0].name, len(wanted)-len(left)+1, len(wanted))
	}
	err = t.apply(ctx, left[0])
	if kind := t.of().fault(err); t.of().migrate != "" && (kind == faultConflict || kind == faultLocked) {
		err = errInUse // retried at once, it would keep others waiting
	}
	return true, err
}

func (t *dbTx) apply(ctx context.Context, m migration) error {
	if err := t.script(ctx, m.text); err != nil {
		return fmt.Errorf("migration %s: %w", m.name, err)
	}
	if err := t.maybeScript(ctx, t.of().collate); err != nil {
		return fmt.Errorf("setting the collation after migration %s: %w", m.name, err)
	}
	return t.run(ctx, `INSERT INTO migrations (name, checksum, applied) VALUES ($1, $2, $3)`,
		m.name, m.checksum, t.db.now())
}

// Schema returns the state of the database's tables.
func (d *DB) Schema(ctx context.Context) (Schema, error) {
	wanted, err := d.wanted()
	if err != nil {
		return Schema{}, err
	}
	applied, err := applied(ctx, d.reads)
	if err != nil {
		return Schema{}, err
	}
	return Schema{
		Current: lastNumber(applied), Wanted: lastNumber(wanted),
		Pending: missing(wanted, applied), Unknown: missing(applied, wanted), Other: altered(wanted, applied),
	}, nil
}

// applied returns the migrations in the database, none if it has no table of migrations yet.
func applied(ctx context.Context, q querier) ([]migration, error) {
	tables, err := rowOf(ctx, q, scanNumber, q.of().countMigrations)
	if err != nil || tables == 0 {
		return nil, err
	}
	return rowsOf(ctx, q, scanInto(func(m *migration) []any { return []any{&m.name, &m.checksum} }), `SELECT name, checksum FROM migrations ORDER BY name`)
}

// fileName matches a migration's name: number, words, and the engine that it is for, if not all.
var fileName = regexp.MustCompile(`^(\d{4})_[a-z0-9_]+(?:\.([a-z]+))?\.sql$`)

// wanted returns the program's migrations for this engine, in order.
func (d *DB) wanted() ([]migration, error) {
	names, err := fs.Glob(d.files, "*.sql")
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, name := range names {
		parts := fileName.FindStringSubmatch(path.Base(name))
		if parts == nil {
			return nil, fmt.Errorf("the migration %s is not named NNNN_words.sql or NNNN_words.ENGINE.sql", name)
		}
		if parts[2] != "" && parts[2] != d.engine.name {
			continue
		}
		text, err := fs.ReadFile(d.files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, migration{name, checksum(text), string(text)})
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
func compare(wanted, applied []migration) ([]migration, error) {
	if other := altered(wanted, applied); len(other) > 0 {
		return nil, calendar.Errorf(calendar.Unsupported, "",
			"the database was made by another build of this program, with another %s, and is left as it is; to bring the calendars over, "+
				"let that build `export --user NAME --out DIR` for each user, then name a new database, and let this one `create-user NAME` and `import --user NAME DIR`",
			strings.Join(other, ", "))
	}
	if unknown := missing(applied, wanted); len(unknown) > 0 {
		return nil, calendar.Errorf(calendar.Unsupported, "",
			"the database is newer than this program: it has %s, which this program does not know; run the newer program, or restore a backup",
			strings.Join(unknown, ", "))
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(m migration) bool {
		return slices.ContainsFunc(applied, m.sameName)
	}), nil
}

// missing returns the names of migrations that are not among the others.
func missing(those, others []migration) []string {
	var names []string
	for _, m := range those {
		if !slices.ContainsFunc(others, m.sameName) {
			names = append(names, m.name)
		}
	}
	return names
}

// altered returns the names of applied migrations whose files have changed since.
func altered(wanted, applied []migration) []string {
	var names []string
	for _, m := range wanted {
		i := slices.IndexFunc(applied, m.sameName)
		if i >= 0 && applied[i].checksum != m.checksum {
			names = append(names, m.name)
		}
	}
	return names
}

// lastNumber returns the number at the start of the last migration's name.
func lastNumber(all []migration) int {
	if len(all) == 0 {
		return 0
	}
	digits, _, _ := strings.Cut(all[len(all)-1].name, "_")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
