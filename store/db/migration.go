package db

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
)

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

// Applied returns the migrations in the database, none if it has no table of migrations yet.
func Applied(ctx context.Context, q Querier) ([]Migration, error) {
	tables, err := RowOf(ctx, q, ScanNumber, q.Of().countMigrations)
	if err != nil || tables == 0 {
		return nil, err
	}
	return RowsOf(ctx, q, ScanInto(func(m *Migration) []any {
		return []any{&m.Name, &m.Checksum}
	}), `SELECT name, checksum FROM migrations ORDER BY name`)
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
		all = append(all, Migration{name, cmp.Or(mended[name], checksum(text)), string(text)})
	}
	return all, nil
}

// mended are files whose text had to change after their release, with the checksum that databases have of them.
var mended = map[string]string{
	// Aurora refuses the functions with a code of its own.
	"0008_life.postgres.sql": "c7f71aafda5243738016bc715c36b0e2010225d584bdedcd67fe107ae2e73235",
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
			"the database was made by another build of this program, with another %s, and is left as it is; to bring "+
				"the calendars over, "+
				"let that build `export --user NAME --out DIR` for each user, then name a new database, and let this "+
				"one `create-user NAME` and `import --user NAME DIR`",
			strings.Join(other, ", "))
	}
	if unknown := Missing(applied, wanted); len(unknown) > 0 {
		return nil, calendar.Errorf(calendar.Unsupported, "",
			"the database is newer than this program: it has %s, which this program does not know; run the newer "+
				"program, or restore a backup",
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
