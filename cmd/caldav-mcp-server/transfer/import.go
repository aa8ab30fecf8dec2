package transfer

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/intake"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const importDetails = `
From a file: FILE.ics, or - for standard input. A file with many events becomes one object for each UID, with the time
zones that it needs. Everything goes into --calendar. Without it, each object goes into the first of the user's
calendars that takes its type. Known mistakes of other programs are corrected, and each correction is reported.

A file with several named calendars becomes several calendars, unless --calendar is given.

From a directory, or a ZIP file such as the export of Google Calendar: each .ics file with a calendar name becomes that
calendar, with its name, color, time zone and types. Missing calendars are created; a calendar that was never used takes
its properties from the file. A file without a calendar name is imported like a single file. With --calendar everything
goes there.

From another CalDAV server: --from URL --from-user NAME. All calendars of that user, or the one named by --calendar, are
copied with names, colors and content, byte for byte. Missing calendars are created. The password is asked for, or is
the first line of standard input with --password-stdin.

An import can be repeated, and continued after an interruption: existing objects stay, unless --replace overwrites them.
--dry-run only shows the result. The report says how to undo the whole import. The exit code is 1 if something was
refused; the report says why.
`

// importOptions are the flags of import.
type importOptions struct {
	calendar, from, fromUser string
	fromStdin, replace, dry  bool
}

// ImportCommand is the command import.
func ImportCommand() command.Command {
	var o importOptions
	return command.Command{
		Name: "import", User: "`NAME` of the user who gets the calendars",
		Optional: []string{"FILE.ics|FILE.zip|DIR|-"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "import calendars from files or another server", Details: importDetails, Flags: o.declare,
		Check: o.check,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			i := newImport(d, o)
			if o.from == "" {
				return i.finish(ctx, i.files(ctx, operands[0]))
			}
			password, err := d.OldPassword(ctx, o.fromStdin,
				fmt.Sprintf("password of %s on the other server: ", o.fromUser))
			if err != nil {
				return err
			}
			return i.finish(ctx, i.server(ctx, password))
		},
	}
}

func (o *importOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.calendar, "calendar", "", "target `CALENDAR` for a file, or the calendar on the other server")
	f.StringVar(&o.from, "from", "", "`URL` of another CalDAV server")
	f.StringVar(&o.fromUser, "from-user", "", "`NAME` of the user on that server")
	f.BoolVar(&o.fromStdin, "password-stdin", false, "read the password for that server from standard input")
	f.BoolVar(&o.replace, "replace", false, "overwrite existing objects")
	f.BoolVar(&o.dry, "dry-run", false, "only show the result")
}

func (o *importOptions) check(_ *command.Context, operands []string) error {
	switch {
	case o.from == "" && len(operands) == 0:
		return errors.New("nothing to import: give FILE.ics, FILE.zip, a directory, - for standard input, or " +
			"--from a server")
	case o.from != "" && len(operands) > 0:
		return fmt.Errorf("use either %q or --from", operands[0])
	case o.from == "" && (o.fromUser != "" || o.fromStdin):
		return errors.New("--from-user and --password-stdin need --from")
	case o.from != "" && o.fromUser == "":
		return errors.New("--from needs --from-user")
	case o.from != "":
		_, err := davclient.ServerURL("--from", o.from)
		return err
	}
	return nil
}

// importing is a running import.
type importing struct {
	*command.Context
	importOptions
	report importReport
	bar    *console.Progress
	into   *ledger.Importer
	// batch holds the next objects for the calendar cal, with their sources.
	cal     calendar.Calendar
	batch   []calendar.Import
	sources []source
	bytes   int
}

// Limits for one transaction, because other writers wait for it.
const (
	batchMost  = 200
	batchBytes = 1 << 20
)

func newImport(d *command.Context, o importOptions) *importing {
	i := &importing{Context: d, importOptions: o, bar: d.NewProgress()}
	i.into = d.Calendars.NewImporter(d.Caller(), calendar.ImportOptions{Replace: o.replace, Preview: o.dry})
	return i
}

// store imports an object. Objects of the same calendar are stored in batches.
func (i *importing) store(ctx context.Context, cal calendar.Calendar, from source, d calendar.Import) error {
	if cal.ID != i.cal.ID || len(i.batch) == batchMost || i.bytes+len(d.Data) > batchBytes {
		if err := i.flush(ctx); err != nil {
			return err
		}
	}
	i.cal = cal
	i.batch, i.sources, i.bytes = append(i.batch, d), append(i.sources, from), i.bytes+len(d.Data)
	return nil
}

// flush stores the batch and counts the results. An error aborts the import; problems of single objects only go into
// the report.
func (i *importing) flush(ctx context.Context) error {
	if len(i.batch) == 0 {
		return nil
	}
	batch, sources := i.batch, i.sources
	i.batch, i.sources, i.bytes = nil, nil, 0
	results, err := i.into.Store(ctx, i.cal, batch)
	if err != nil {
		return fmt.Errorf("%s: %w", sources[0], err)
	}
	for n, result := range results {
		switch {
		case result.Err == nil:
			i.report.count(result.Did)
		case intake.OfObject(result.Err):
			i.report.refuse(sources[n], result.Err)
		default:
			return fmt.Errorf("%s: %w", sources[n], result.Err)
		}
	}
	return nil
}

// finish prints the report, even if the import was aborted.
func (i *importing) finish(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		err = cmp.Or(err, i.flush(ctx))
	}
	i.bar.Clear()
	if change, ok := i.into.Change(); ok {
		i.report.Change = change.String()
	}
	i.report.DryRun = i.dry
	if i.report.Refused == nil {
		i.report.Refused = []refusal{}
	}
	if printing := i.print(); err == nil {
		err = printing
	}
	switch refused := len(i.report.Refused); {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; run it again to continue")
	case err != nil && i.report.total() == 0:
		return err
	case err != nil:
		return fmt.Errorf("%w; the objects imported so far stay; run it again to continue", err)
	case refused > 0:
		return fmt.Errorf("%d of %d were refused", refused, i.report.total())
	}
	return nil
}

func (i *importing) print() error {
	if i.JSON {
		return i.PrintJSON(i.report)
	}
	return i.report.write(i.Stdout, i.Who.Name)
}
