package transfer

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const exportDetails = `
--out is a directory, which gets a file ADDRESS.ics for each calendar; a file that ends in .ics, for one calendar; or -
for standard output. Such a file contains each time zone once. With --objects the directory gets a subdirectory for each
calendar, with one file for each object, byte for byte as clients see it.

Without --calendar all calendars that the user owns are exported. Existing files are overwritten.
`

// exportOptions are the flags of export.
type exportOptions struct {
	out       string
	calendars []string
	objects   bool
}

// ExportCommand is the command export.
func ExportCommand() command.Command {
	var o exportOptions
	return command.Command{
		Name: "export", User: "`NAME` of the calendars' owner", Settings: settings.StoreGroup, JSON: true,
		Summary: "write calendars to files", Details: exportDetails, Flags: o.declare, Check: o.check,
		Run: func(ctx context.Context, d *command.Context, _ []string) error {
			e := &exporting{Context: d, exportOptions: o, bar: d.NewProgress()}
			return e.run(ctx)
		},
	}
}

// ExportAll writes all objects of the command's user to a directory.
func ExportAll(ctx context.Context, d *command.Context, dir string) error {
	e := &exporting{Context: d, exportOptions: exportOptions{out: dir, objects: true}, bar: d.NewProgress()}
	return e.run(ctx)
}

func (o *exportOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.out, "out", "", "`DIR|FILE.ics|-` to write to (needed)")
	f.Func("calendar",
		"only this `CALENDAR`, by name, address or id; may be given more than once", func(v string) error {
			o.calendars = append(o.calendars, v)
			return nil
		})
	f.BoolVar(&o.objects, "objects", false, "one file for each object")
}

func (o *exportOptions) check(d *command.Context, _ []string) error {
	switch {
	case o.objects && !o.toDirectory():
		return errors.New("--objects needs a directory")
	case d.JSON && o.out == "-":
		return errors.New("standard output cannot hold both the calendar and --json")
	}
	return nil
}

func (o *exportOptions) toDirectory() bool {
	return o.out != "-" && !strings.EqualFold(filepath.Ext(o.out), ".ics")
}

// exporting is a running export.
type exporting struct {
	*command.Context
	exportOptions
	bar *console.Progress
	// unreadable and lost count the objects that are in no file, because they cannot be parsed or their text is
	// missing.
	unreadable, lost int
	// names are the names of the calendars' files.
	names fileNames
}

// exported describes one exported calendar.
type exported struct {
	Name    string           `json:"name"`
	Address calendar.Segment `json:"address"`
	File    string           `json:"file"`
	Objects int              `json:"objects"`
}

func (e *exporting) run(ctx context.Context) error {
	cals, err := e.chosen(ctx)
	if err != nil {
		return err
	}
	if !e.toDirectory() && len(cals) != 1 {
		where := e.out
		if where == "-" {
			where = "standard output"
		}
		return fmt.Errorf("%s is one file, but there are %d calendars: choose one with --calendar, or give a directory",
			where, len(cals))
	}
	e.names = fileNames{}
	all := []exported{}
	for _, cal := range cals {
		done, err := e.calendar(ctx, cal)
		e.bar.Clear()
		if err != nil {
			return fmt.Errorf("the calendar %q: %w", cal.Name, err)
		}
		all = append(all, done)
	}
	return errors.Join(e.tell(all), e.wants())
}

// wants returns an error if objects are missing from the export.
func (e *exporting) wants() (err error) {
	if e.unreadable > 0 {
		err = fmt.Errorf("%d objects cannot be parsed and are not in the file; --objects exports them unchanged",
			e.unreadable)
	}
	if e.lost > 0 {
		err = errors.Join(err,
			fmt.Errorf("%d objects are in no file, because the database has lost their text", e.lost))
	}
	return err
}

// leave reports an object that is in no file.
func (e *exporting) leave(cal calendar.Calendar, o calendar.Object, err error) {
	if errors.Is(err, calendar.ErrNoText) {
		e.lost++
	} else {
		e.unreadable++
	}
	e.bar.Clear()
	e.Say("%s/%s: %v\n", cal.Address(), console.Shown(string(o.Name)), err)
}

// chosen returns the calendars to export.
func (e *exporting) chosen(ctx context.Context) ([]calendar.Calendar, error) {
	if len(e.exportOptions.calendars) == 0 {
		return e.OwnCalendars(ctx, e.Who)
	}
	var all []calendar.Calendar
	for _, word := range e.exportOptions.calendars {
		cal, err := e.FindCalendar(ctx, e.Who, word)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(c calendar.Calendar) bool { return c.ID == cal.ID }) {
			all = append(all, cal)
		}
	}
	return all, nil
}

func (e *exporting) tell(all []exported) error {
	if e.JSON {
		return e.PrintJSON(all)
	}
	if e.out == "-" {
		return nil
	}
	for _, x := range all {
		if _, err := fmt.Fprintf(e.Stdout, "%q: %d objects to %s\n", console.Shown(x.Name), x.Objects, x.File); err !=
			nil {
			return err
		}
	}
	return nil
}

// calendar exports one calendar.
func (e *exporting) calendar(ctx context.Context, cal calendar.Calendar) (exported, error) {
	done := exported{Name: cal.Name, Address: cal.Address(), File: e.out}
	var err error
	switch {
	case e.out == "-":
		done.Objects, err = e.joined(ctx, cal, e.Stdout)
	case e.objects:
		done.File = filepath.Join(e.out, e.names.claim(string(cal.Address()), ""))
		done.Objects, err = e.apart(ctx, cal, done.File)
	default:
		if e.toDirectory() {
			done.File = filepath.Join(e.out, e.names.claim(string(cal.Address()), ".ics"))
			if err := os.MkdirAll(e.out, 0o700); err != nil {
				return done, err
			}
		}
		err = writeWhole(done.File, func(to io.Writer) error {
			var err error
			done.Objects, err = e.joined(ctx, cal, to)
			return err
		})
	}
	return done, err
}

// joined writes a calendar as one file.
func (e *exporting) joined(ctx context.Context, cal calendar.Calendar, to io.Writer) (int, error) {
	return e.App.Calendars.Backup(ctx, app.Caller(e.Who), cal, to,
		func(o calendar.Object, err error) { e.leave(cal, o, err) })
}

// apart writes each object of a calendar to its own file. It writes to a temporary directory, syncs the disk once, and
// then renames all files. A sync per file would be slow.
func (e *exporting) apart(ctx context.Context, cal calendar.Calendar, dir string) (n int, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	fresh, err := os.MkdirTemp(dir, ".export-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(fresh)) }()
	names := fileNames{}
	files := []string{names.claim(archive.CalendarFile, "")}
	var head bytes.Buffer
	if err := e.App.Calendars.BackupHeader(cal, &head); err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(fresh, files[0]), head.Bytes(), 0o600); err != nil {
		return 0, err
	}
	total, err := e.count(ctx, cal)
	if err != nil {
		return 0, err
	}
	err = e.each(ctx, cal, func(o calendar.Object) error {
		e.bar.Show(len(files)-1, total, cal.Name)
		files = append(files, names.object(string(o.Name)))
		return os.WriteFile(filepath.Join(fresh, files[len(files)-1]), o.Data, 0o600)
	})
	if err != nil {
		return 0, err
	}
	syncDisks()
	for _, file := range files {
		if err := os.Rename(filepath.Join(fresh, file), filepath.Join(dir, file)); err != nil {
			return 0, err
		}
	}
	return len(files) - 1, nil
}

// count returns the number of objects in a calendar, for the progress bar.
func (e *exporting) count(ctx context.Context, cal calendar.Calendar) (n int, err error) {
	if e.bar == nil {
		return 0, nil
	}
	for _, err := range e.App.Calendars.Objects(ctx, nil, app.Caller(e.Who), cal, calendar.ObjectQuery{}) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func (e *exporting) each(ctx context.Context, cal calendar.Calendar, do func(calendar.Object) error) error {
	for o, err := range e.App.Calendars.Objects(ctx, nil, app.Caller(e.Who), cal, calendar.ObjectQuery{
		WithData: true,
	}) {
		switch {
		case errors.Is(err, calendar.ErrNoText):
			e.leave(cal, o, err)
			continue
		case err == nil:
			err = do(o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeWhole writes a file atomically. Only its owner may read it, because calendars are private.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".export-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
