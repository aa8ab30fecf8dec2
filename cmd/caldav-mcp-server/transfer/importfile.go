package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/calendar/intake"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// maxImport limits a file, because it is held in memory.
const maxImport = 512 << 20

// files imports the files that the argument names.
func (i *importing) files(ctx context.Context, operand string) error {
	targets, err := i.targets(ctx)
	if err != nil {
		return err
	}
	if operand == "-" {
		return i.file(ctx, fileToImport{name: "-"}, i.Stdin, targets, map[string]calendar.Calendar{})
	}
	files, err := calendarFiles(operand)
	if err != nil {
		return err
	}
	dirs := map[string]calendar.Calendar{}
	for n, f := range files {
		if len(files) > fileBars {
			i.bar.Show(n, len(files), operand)
			f.quiet = true
		}
		if err := i.fileAt(ctx, f, targets, dirs); err != nil {
			return err
		}
	}
	return nil
}

// fileBars is the number of files above which single files get no progress bar.
const fileBars = 50

// fileToImport is a file, or standard input.
type fileToImport struct {
	name string
	// named is set if the file becomes the calendar that it names. quiet is set if it has no progress bar.
	named, quiet bool
}

// fileAt imports a file. dirs maps directories to their calendars.
func (i *importing) fileAt(ctx context.Context, f fileToImport, targets []calendar.Calendar,
	dirs map[string]calendar.Calendar,
) error {
	opened, err := os.Open(f.name)
	if err != nil {
		return unread(f.name, err)
	}
	defer func() { _ = opened.Close() }() // it was only read
	dir := filepath.Dir(f.name)
	if cal, ok := dirs[dir]; ok {
		targets = []calendar.Calendar{cal}
	}
	return i.file(ctx, f, opened, targets, dirs)
}

// calendarFiles returns the file itself, or all .ics files below a directory. The file with the calendar's properties
// comes first in its directory.
func calendarFiles(operand string) ([]fileToImport, error) {
	var files []fileToImport
	err := filepath.WalkDir(operand, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != operand && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir // left over from an interrupted export
		}
		if err == nil && !entry.IsDir() && (path == operand || strings.EqualFold(filepath.Ext(path), ".ics")) {
			files = append(files, fileToImport{name: path, named: path != operand})
		}
		return err
	})
	if err != nil {
		return nil, unread(operand, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no .ics file in %s", operand)
	}
	slices.SortStableFunc(files, func(a, b fileToImport) int {
		return cmp.Or(cmp.Compare(filepath.Dir(a.name), filepath.Dir(b.name)),
			-cmp.Compare(ofDirectory(a), ofDirectory(b)))
	})
	return files, nil
}

func ofDirectory(f fileToImport) int {
	if filepath.Base(f.name) == archive.CalendarFile {
		return 1
	}
	return 0
}

// unread explains in plain words why a file cannot be read.
func unread(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file or directory %s", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s cannot be read: permission denied", path)
	}
	return fmt.Errorf("%s cannot be read: %w", path, err)
}

func (i *importing) readFile(name string, from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxImport+1))
	if err != nil {
		return nil, unread(name, err)
	}
	if len(data) > maxImport {
		return nil, fmt.Errorf("%s is larger than %d MB: split it, or import a directory of files", name, maxImport>>20)
	}
	return data, nil
}

// file imports the content of one file, or of the files in a ZIP archive.
func (i *importing) file(ctx context.Context, f fileToImport, from io.Reader, targets []calendar.Calendar,
	dirs map[string]calendar.Calendar,
) error {
	data, err := i.readFile(f.name, from)
	if err != nil {
		return err
	}
	if !archive.IsZip(data) {
		return i.opened(ctx, f, data, targets, dirs)
	}
	members, leftOut, err := archive.OpenZip(bytes.NewReader(data), int64(len(data)), archive.DefaultZipLimits())
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	for _, name := range leftOut {
		i.Say("%s/%s is no calendar file, and was left out\n", f.name, console.Shown(name))
	}
	for n, m := range members {
		one := fileToImport{name: f.name + "/" + m.Name, named: true, quiet: len(members) > fileBars}
		if one.quiet {
			i.bar.Show(n, len(members), f.name)
		}
		data, err := m.Read()
		if err != nil {
			i.report.refuse(source{name: one.name}, err)
			continue
		}
		inDir := targets
		if cal, ok := dirs[filepath.Dir(one.name)]; ok {
			inDir = []calendar.Calendar{cal}
		}
		if err := i.opened(ctx, one, data, inDir, dirs); err != nil {
			return err
		}
	}
	return nil
}

// opened imports the content of a file. With several calendars in it, each becomes a calendar here.
func (i *importing) opened(ctx context.Context, f fileToImport, data []byte, targets []calendar.Calendar,
	dirs map[string]calendar.Calendar,
) error {
	file, err := archive.Open(data)
	if err != nil {
		i.report.refuse(source{name: f.name}, err)
		return nil // the report has it, and the import continues
	}
	if i.calendar != "" {
		return i.contents(ctx, f, file, targets)
	}
	all := file.Calendars()
	for _, one := range all {
		n, named := intake.CalendarOf(one.Header())
		into := targets
		if named && (f.named || len(all) > 1) {
			cal, made, err := i.into.Calendar(ctx, n)
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			if filepath.Base(f.name) == archive.CalendarFile {
				dirs[filepath.Dir(f.name)] = cal
			}
			i.report.Calendars = append(i.report.Calendars, importedCalendar{
				From: f.name, Name: cal.Name, Address: cal.Segment, Created: made,
			})
			into = []calendar.Calendar{cal}
		}
		if err := i.contents(ctx, f, one, into); err != nil {
			return err
		}
	}
	return nil
}

func (i *importing) contents(ctx context.Context, f fileToImport, file *archive.File,
	targets []calendar.Calendar,
) error {
	i.report.mend(source{name: f.name}, file.Mends())
	parts := slices.Collect(file.Parts(zonesOf(targets)))
	if len(parts) == 0 && !file.IsCalendar() {
		i.report.refuse(source{name: f.name}, errors.New("it contains no events or tasks; is it an iCalendar file?"))
	}
	for n, part := range parts {
		if !f.quiet {
			i.bar.Show(n, len(parts), filepath.Base(f.name))
		}
		if err := i.part(ctx, source{f.name, &part}, targets); err != nil {
			return err
		}
	}
	return nil
}

func (i *importing) part(ctx context.Context, from source, targets []calendar.Calendar) error {
	if why := from.part.Err; why != nil {
		i.report.refuse(from, why)
		return nil
	}
	i.report.mend(from, from.part.Mends)
	kind := calendar.Kind(from.part.Kind)
	at := takes(targets, kind)
	if at < 0 {
		i.report.refuse(from, i.notTaken(targets, kind))
		return nil
	}
	i.report.holds(targets[at])
	return i.store(ctx, targets[at], from, calendar.Import{Data: from.part.Data})
}

// takes returns the index of the first calendar that takes a kind, or -1.
func takes(targets []calendar.Calendar, kind calendar.Kind) int {
	return slices.IndexFunc(targets, func(c calendar.Calendar) bool { return c.Kinds.Has(kind) })
}

// zonesOf returns the time zone of the target calendar for each kind.
func zonesOf(targets []calendar.Calendar) func(kind string) archive.Zone {
	return func(kind string) archive.Zone {
		at := takes(targets, calendar.Kind(kind))
		if at < 0 {
			return archive.Zone{}
		}
		return archive.Zone{
			Name: targets[at].Timezone, Of: fmt.Sprintf("the zone of the calendar %q", targets[at].Name),
		}
	}
}

// notTaken says why no calendar takes a kind.
func (i *importing) notTaken(targets []calendar.Calendar, kind calendar.Kind) error {
	if i.calendar != "" {
		return fmt.Errorf("the calendar %q takes %s, not %s", targets[0].Name, targets[0].Kinds, kind)
	}
	return fmt.Errorf("%s has no calendar that takes %s (%s create-calendar --kinds %s makes one)", i.Who.Name, kind,
		console.Program, kind)
}

// targets returns the possible target calendars, in the order of preference.
func (i *importing) targets(ctx context.Context) ([]calendar.Calendar, error) {
	if i.calendar == "" {
		return i.OwnCalendars(ctx, i.Who)
	}
	cal, err := i.FindCalendar(ctx, i.Who, i.calendar)
	if err != nil {
		return nil, fmt.Errorf("%w (%s create-calendar makes one)", err, console.Program)
	}
	return []calendar.Calendar{cal}, nil
}
