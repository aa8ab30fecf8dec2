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
`

// restoreOptions are the flags of restore.
type restoreOptions struct {
	check, revoke, json   bool
	user, calendar, asOf  string
	leaveForgotten, tryIt bool
}

func restoreCommand() command {
	var o restoreOptions
	return command{
		name: "restore", optional: []string{"FILE"}, settings: storeSettings | postSettings,
		summary: "bring a backup back, or one calendar as it was", details: restoreDetails,
		flags: func(f *flag.FlagSet) {
			f.BoolVar(&o.check, "check", false, "only see whether the FILE is whole, and say what is in it")
			f.BoolVar(&o.revoke, "revoke-all", false, "end all tokens and public links that are in the FILE")
			f.StringVar(&o.user, "user", "", "`NAME` of whose calendar")
			f.StringVar(&o.calendar, "calendar", "", "the `CALENDAR`, by name, address or id; by its id also one in the trash")
			f.StringVar(&o.asOf, "as-of", "", "`WHEN` the calendar was as it is to be: a span back (2h, 7d), a date or a time")
			f.BoolVar(&o.leaveForgotten, "leave-forgotten", false, "with --as-of: leave what the journal no longer knows")
			f.BoolVar(&o.tryIt, "dry-run", false, "with --as-of: only say what would be done")
			asJSON(f, &o.json)
		},
		run: func(ctx context.Context, p *program, c config, operands []string) error {
			switch ofCalendar := o.user != "" || o.calendar != "" || o.asOf != ""; {
			case len(operands) == 1 && !ofCalendar && !o.leaveForgotten && !o.tryIt:
				return p.restoreFile(ctx, c, operands[0], o)
			case len(operands) == 0 && o.user != "" && o.calendar != "" && o.asOf != "" && !o.check && !o.revoke:
				return p.restoreCalendar(ctx, c, o)
			}
			return wrongUsage("restore: it needs either a FILE, or --user, --calendar and --as-of (see %s restore --help)", name)
		},
	}
}

func (p *program) restoreFile(ctx context.Context, c config, path string, o restoreOptions) (err error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the program's files
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := backup.Open(f, info.Size())
	bar := p.newProgress()
	if err == nil {
		err = file.Check(bar.of("checking"))
		bar.clear()
	}
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", path, err)
	}
	if o.check {
		return p.tell(path, info.Size(), file.Manifest, o.json)
	}
	h, err := p.openHouse(ctx, c, store.Options{Wait: commandWait, Logger: p.logger(slog.LevelWarn, false)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.store.Close()) }()
	err = h.store.Restore(ctx, file, bar.of("restoring"))
	bar.clear()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.stdout, "restored %s; clients will begin anew\n", holds(file.Manifest)); err != nil {
		return err
	}
	revived, err := h.revive(ctx, o.revoke)
	if err == nil {
		_, err = io.WriteString(p.stdout, revived.words())
	}
	return err
}

func (p *program) restoreCalendar(ctx context.Context, c config, o restoreOptions) error {
	at, err := parseSince(o.asOf, p.now())
	if err != nil {
		return usageError{fmt.Errorf("--as-of: %w", err)}
	}
	return p.withHouse(ctx, c, func(h *house) error {
		u, err := h.auth.User(ctx, o.user)
		if err != nil {
			return err
		}
		l := &logbook{p, h, journalOptions{user: o.user, calendar: o.calendar, dryRun: o.tryIt, json: o.json}, caller(u), at}
		in, err := l.chosen(ctx)
		if err != nil {
			return err
		}
		done, err := h.calendars.UndoSince(ctx, l.caller, calendar.UndoSince{
			Anybody: true, At: at.Truncate(time.Second), Calendar: in, LeaveChanged: o.leaveForgotten, Preview: o.tryIt,
		})
		if err != nil {
			return err
		}
		return l.undone(done)
	})
}
