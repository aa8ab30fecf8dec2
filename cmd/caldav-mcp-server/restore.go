package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store"
	"caldav-mcp-server/store/backup"
)

const restoreDetails = `
restore FILE brings back what backup wrote, into an empty database of either engine: also the way from SQLite to Postgres
and back. It checks all of the file before it changes anything, and brings the tables up to date. Clients then fetch all
anew. With the backup comes back what was ended since it was made; --revoke-all ends all tokens and links that are in it.

restore --user NAME --calendar CALENDAR --as-of WHEN gives one calendar the objects and settings back that it had then,
from the journal, while servers run. It is one change in the journal, which can be undone itself. How far back the
journal goes, JOURNAL_DAYS says; what it no longer knows is named, and --leave-forgotten leaves it as it is.
WHEN is a span back (2h, 7d), a date (2027-01-31, its begin in UTC) or a time (2027-01-31T09:00 in UTC,
2027-01-31T09:00:00+01:00). The journal knows whole seconds: what was changed within that second is taken back, too.
`

// restoreOptions are the flags of restore.
type restoreOptions struct {
	checkOnly, revoke     bool
	user, calendar, asOf  string
	leaveForgotten, tryIt bool
	at                    time.Time
}

func restoreCommand() command {
	var o restoreOptions
	return command{
		name: "restore", optional: []string{"FILE"}, settings: storeSettings | postSettings, json: true, alone: true,
		summary: "bring a backup back, or one calendar as it was", details: restoreDetails,
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&o.checkOnly, "check", false, "only see whether the FILE is whole, and say what is in it")
			f.BoolVar(&o.revoke, "revoke-all", false, "end all tokens and public links that are in the FILE")
			f.StringVar(&o.user, "user", "", "`NAME` of whose calendar")
			f.StringVar(&o.calendar, "calendar", "", "the `CALENDAR`, by name, address or id; by its id also one in the trash")
			f.StringVar(&o.asOf, "as-of", "", "`WHEN` the calendar was as it is to be: a span back (2h, 7d), a date or a time")
			f.BoolVar(&o.leaveForgotten, "leave-forgotten", false, "with --as-of: leave what the journal no longer knows")
			f.BoolVar(&o.tryIt, "dry-run", false, "with --as-of: only say what would be done")
		},
		check: o.check,
		run: func(ctx context.Context, d *desk, operands []string) error {
			if len(operands) == 1 {
				return d.restoreFile(ctx, operands[0], o)
			}
			return d.inHouse(ctx, d.config, false, func(h *house) error {
				d.house = h
				return d.restoreCalendar(ctx, o)
			})
		},
	}
}

// check validates that either a file or a calendar is given, with the matching flags.
func (o *restoreOptions) check(d *desk, operands []string) (err error) {
	switch ofCalendar := o.user != "" || o.calendar != "" || o.asOf != ""; {
	case len(operands) == 1 && !ofCalendar && !o.leaveForgotten && !o.tryIt:
		return nil
	case len(operands) == 0 && o.user != "" && o.calendar != "" && o.asOf != "" && !o.checkOnly && !o.revoke:
		if o.at, err = parseSince(o.asOf, d.now()); err != nil {
			return fmt.Errorf("--as-of: %w", err)
		}
		return nil
	}
	return errors.New("it needs either a FILE, or --user, --calendar and --as-of")
}

func (d *desk) restoreFile(ctx context.Context, path string, o restoreOptions) (err error) {
	f, err := os.Open(path) //nolint:gosec // the administrator names the program's files
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := backup.Open(f, info.Size())
	bar := d.newProgress()
	if err == nil {
		err = file.Check(bar.of("checking"))
		bar.clear()
	}
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", path, err)
	}
	if o.checkOnly {
		return d.tell(path, info.Size(), file.Manifest)
	}
	h, err := d.openHouse(ctx, d.config, store.Options{Wait: commandWait, Logger: d.logger(slog.LevelWarn, false)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.store.Close()) }()
	err = h.store.Restore(ctx, file, bar.of("restoring"))
	bar.clear()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(d.stdout, "restored %s; clients will begin anew\n", holds(file.Manifest)); err != nil {
		return err
	}
	revived, err := h.revive(ctx, o.revoke)
	if err == nil {
		_, err = io.WriteString(d.stdout, revived.words())
	}
	return err
}

func (d *desk) restoreCalendar(ctx context.Context, o restoreOptions) (err error) {
	if d.who, err = d.auth.User(ctx, o.user); err != nil {
		return err
	}
	l := &logbook{d, journalOptions{calendar: o.calendar, dryRun: o.tryIt}}
	in, err := l.chosen(ctx)
	if err != nil {
		return err
	}
	done, err := d.calendars.UndoSince(ctx, d.caller(), calendar.UndoSince{
		Anybody: true, At: o.at.Truncate(time.Second), Calendar: in, LeaveChanged: o.leaveForgotten, Preview: o.tryIt,
	})
	if err != nil {
		return err
	}
	return l.undone(done)
}
