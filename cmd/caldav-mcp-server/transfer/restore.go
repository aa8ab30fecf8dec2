package transfer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/store"
	"caldav-mcp-server/store/backup"
)

const restoreDetails = `
restore FILE restores a backup into an empty database of either engine; this also moves data between SQLite and
Postgres. It verifies the whole file before it changes anything, and updates the tables. Clients then synchronize from
scratch. The backup brings back tokens and links that have ended since; --revoke-all ends all of them. An encrypted
FILE needs --identity or --passphrase-file; --check without them finds damage only.

restore --user NAME --calendar CALENDAR --as-of WHEN restores the objects and properties of one calendar from the
journal, while servers keep running. The restore is one change in the journal, and can be undone. JOURNAL_DAYS limits
how far back it can go. Objects that the journal has already forgotten are listed; --leave-forgotten keeps them
unchanged.

WHEN is a span before now (2h, 7d), a date (2027-01-31, its start in UTC) or a time (2027-01-31T09:00 in UTC,
2027-01-31T09:00:00+01:00). The journal has a precision of one second: changes within that second are undone too.
`

// restoreOptions are the flags of restore.
type restoreOptions struct {
	checkOnly, revoke     bool
	user, calendar, asOf  string
	leaveForgotten, tryIt bool
	at                    time.Time
	unlock
}

// RestoreCommand is the command restore.
func RestoreCommand() command.Command {
	var o restoreOptions
	return command.Command{
		Name: "restore", Optional: []string{"FILE"}, Settings: settings.StoreGroup | settings.PostGroup, JSON: true,
		Alone:   true,
		Summary: "restore a backup, or an earlier state of one calendar", Details: restoreDetails,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&o.checkOnly, "check", false, "only verify the FILE, and describe its content")
			f.BoolVar(&o.revoke, "revoke-all", false, "end all tokens and public links in the FILE")
			o.declare(f)
			f.StringVar(&o.user, "user", "", "`NAME` of the calendar's owner")
			f.StringVar(&o.calendar, "calendar", "",
				"the `CALENDAR`, by name, address or id; one in the trash by its id")
			f.StringVar(&o.asOf, "as-of", "",
				"`WHEN` the calendar had the state to restore: a span before now (2h, 7d), a date or a time")
			f.BoolVar(&o.leaveForgotten, "leave-forgotten", false,
				"with --as-of: keep objects that the journal has forgotten")
			f.BoolVar(&o.tryIt, "dry-run", false, "with --as-of: only show the result")
		},
		Check: o.check,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			if len(operands) == 1 {
				return restoreFile(ctx, d, operands[0], o)
			}
			return app.With(ctx, d.Console, d.Config, false, func(h *app.App) error {
				d.App = h
				return restoreCalendar(ctx, d, o)
			})
		},
	}
}

// check validates that either a file or a calendar is given, with the matching flags.
func (o *restoreOptions) check(d *command.Context, operands []string) (err error) {
	switch ofCalendar := o.user != "" || o.calendar != "" || o.asOf != ""; {
	case len(operands) == 1 && !ofCalendar && !o.leaveForgotten && !o.tryIt:
		return nil
	case len(operands) == 0 && o.user != "" && o.calendar != "" && o.asOf != "" && !o.checkOnly && !o.revoke:
		if o.at, err = parseSince(o.asOf, d.Now()); err != nil {
			return fmt.Errorf("--as-of: %w", err)
		}
		return nil
	}
	return errors.New("it needs either a FILE, or --user, --calendar and --as-of")
}

// checkMemory is the memory above which the check of a file collects garbage at once: rows may be long.
const checkMemory = 48 << 20

func restoreFile(ctx context.Context, d *command.Context, path string, o restoreOptions) (err error) {
	f, err := os.Open(path) // the administrator names the program's files
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	keys, err := o.keys()
	if err != nil {
		return console.UsageError{Err: err}
	}
	file, err := backup.Open(f, info.Size(), keys...)
	bar := d.NewProgress()
	if err == nil {
		before := debug.SetMemoryLimit(checkMemory)
		err = file.Check(rowsOf(bar, "checking"))
		debug.SetMemoryLimit(before)
		bar.Clear()
	}
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", path, err)
	}
	switch {
	case o.checkOnly && file.Locked():
		return d.Done(backupJSON{File: path, Bytes: info.Size(), Encrypted: true},
			"%s is encrypted and not damaged (%d bytes); its content is only checked with --identity or "+
				"--passphrase-file\n", path, info.Size())
	case o.checkOnly:
		return tellBackup(d, path, info.Size(), file.Manifest, file.Encrypted())
	case file.Locked():
		return fmt.Errorf("%s is encrypted: --identity FILE has the secret key, or --passphrase-file FILE the "+
			"passphrase; nothing was changed", path)
	}
	h, err := app.Open(ctx, d.Console, d.Config, store.Options{
		Wait:   app.CommandWait,
		Logger: d.Logger(slog.LevelWarn, false),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Store.Close()) }()
	err = h.Store.Restore(ctx, file, rowsOf(bar, "restoring"))
	bar.Clear()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(d.Stdout, "restored %s; clients will synchronize from scratch\n",
		holds(file.Manifest)); err != nil {
		return err
	}
	revived, err := revive(ctx, h, o.revoke)
	if err == nil {
		_, err = io.WriteString(d.Stdout, revived.words())
	}
	return err
}

func restoreCalendar(ctx context.Context, d *command.Context, o restoreOptions) (err error) {
	if d.Who, err = d.Auth.User(ctx, o.user); err != nil {
		return err
	}
	l := &logbook{d, journalOptions{calendar: o.calendar, dryRun: o.tryIt}}
	in, err := l.chosen(ctx)
	if err != nil {
		return err
	}
	done, err := d.Calendars.UndoSince(ctx, d.Caller(), calendar.UndoSince{
		Anybody: true, At: o.at.Truncate(time.Second), Calendar: in, LeaveChanged: o.leaveForgotten, Preview: o.tryIt,
	})
	if err != nil {
		return err
	}
	return l.undone(done)
}
