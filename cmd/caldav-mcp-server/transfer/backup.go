// Package transfer has the commands for backup, restore, export, import, the journal and undo.
package transfer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"filippo.io/age"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/store"
	"caldav-mcp-server/store/backup"
)

const backupDetails = `
It writes the whole database to one file, as of one moment, while servers keep running: users with their password
hashes, tokens, calendars, objects, shares, links, trash and journal. The format is the same for SQLite and Postgres,
and restore accepts it on either. Only your user of this machine can read the file; keep it in a place that is just as
safe.
--out - writes to standard output, as in: docker exec calendar caldav-mcp-server backup --out - >calendar.backup
--recipient encrypts the backup for a public key of age (https://age-encryption.org), --passphrase-file with a
passphrase. Without the key nobody can restore it, and restore --check still finds damage.
`

// BackupCommand is the command backup.
func BackupCommand() command.Command {
	var out string
	var l lock
	return command.Command{
		Name: "backup", Settings: settings.StoreGroup, JSON: true, Alone: true,
		Summary: "write the whole database to a file, while servers run", Details: backupDetails,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&out, "out", "", "`FILE|-` to write to (needed); an existing file is not overwritten")
			l.declare(f)
		},
		Check: func(d *command.Context, _ []string) error {
			if out == "-" && d.JSON {
				return errors.New("standard output cannot hold both the backup and --json")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) (err error) {
			to, err := l.recipients()
			if err != nil {
				return console.UsageError{Err: err}
			}
			if d.App, err = app.Open(ctx, d.Console, d.Config, store.Options{
				Existing: true, Wait: app.CommandWait,
				Logger: d.Logger(slog.LevelWarn, false),
			}); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, d.Store.Close()) }()
			b := &keeper{d, d.NewProgress(), to}
			if out == "-" {
				_, err := b.write(ctx, d.Stdout)
				return err
			}
			return b.keep(ctx, out)
		},
	}
}

// keeper writes a backup.
type keeper struct {
	*command.Context
	bar *console.Progress
	// recipients are the keys to encrypt for; none for a plain backup.
	recipients []age.Recipient
}

func (b *keeper) write(ctx context.Context, to io.Writer) (backup.Manifest, error) {
	defer b.bar.Clear()
	if len(b.recipients) == 0 {
		return b.Store.Backup(ctx, to, b.Version, rowsOf(b.bar, "backing up"))
	}
	sealer, err := backup.NewSealer(to, b.recipients...)
	if err != nil {
		return backup.Manifest{}, err
	}
	m, err := b.Store.Backup(ctx, sealer, b.Version, rowsOf(b.bar, "backing up"))
	if err != nil {
		return m, err
	}
	return m, sealer.Close()
}

// keep writes a draft, verifies it, and only then gives it its name.
func (b *keeper) keep(ctx context.Context, path string) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s already exists: give the backup another name", path)
	}
	if err := removeDrafts(filepath.Dir(path), b.Now()); err != nil {
		return err
	}
	// From the first byte on, only this user may read it.
	f, err := newDraft(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), f.discard()) }()
	m, err := b.write(ctx, f)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return err
	}
	size, err := checkBackup(f.File, b.bar)
	if err != nil {
		return fmt.Errorf("the written backup cannot be verified: %w", err)
	}
	// If two backups run at once, the second fails because the file exists.
	if err := f.publish(path); err != nil {
		return err
	}
	syncDisks()
	return tellBackup(b.Context, path, size, m, len(b.recipients) > 0)
}

// checkBackup verifies a whole backup.
func checkBackup(f *os.File, bar *console.Progress) (size int64, err error) {
	defer bar.Clear()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	read, err := backup.Open(f, info.Size())
	if err == nil {
		err = read.Check(rowsOf(bar, "checking"))
	}
	return info.Size(), err
}

// backupJSON is the JSON output of backup.
type backupJSON struct {
	File      string           `json:"file"`
	Bytes     int64            `json:"bytes"`
	Made      time.Time        `json:"made"`
	Engine    string           `json:"engine"`
	Program   string           `json:"program"`
	Rows      map[string]int64 `json:"rows"`
	Encrypted bool             `json:"encrypted,omitempty"`
}

func tellBackup(d *command.Context, path string, size int64, m backup.Manifest, encrypted bool) error {
	rows := map[string]int64{}
	for _, t := range m.Tables {
		rows[t.Name] = t.Rows
	}
	how := ""
	if encrypted {
		how = ", encrypted"
	}
	return d.Done(backupJSON{path, size, m.Made, m.Engine, m.Program, rows, encrypted}, "%s has %s (%d bytes%s)\n",
		path, holds(m), size, how)
}

// holds describes the content of a backup.
func holds(m backup.Manifest) string {
	return fmt.Sprintf("%d users, %d calendars, %d objects with their tombstones and %d changes of the journal, as "+
		"of %s",
		m.Table("users").Rows, m.Table("calendars").Rows, m.Table("objects").Rows, m.Table("journal").Rows,
		m.Made.Format(time.RFC3339))
}

// rowsOf returns a progress bar in the form that package backup takes.
func rowsOf(b *console.Progress, what string) backup.Progress {
	return func(table string, done, total int64) { b.Show(int(done), int(total), what+" "+table) }
}
