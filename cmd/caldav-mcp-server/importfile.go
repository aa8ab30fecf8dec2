package main

import (
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
	"caldav-mcp-server/calendar/zone"
)

// maxImport bounds a file: it is held in memory.
const maxImport = 512 << 20

// files imports what an operand names.
func (i *importing) files(ctx context.Context, operand string) error {
	targets, err := i.targets(ctx)
	if err != nil {
		return err
	}
	if operand == "-" {
		return i.file(ctx, fileToImport{name: "-"}, i.stdin, targets)
	}
	files, err := calendarFiles(operand)
	if err != nil {
		return err
	}
	dirs := map[string]calendar.Calendar{}
	for n, f := range files {
		if len(files) > fileBars {
			i.bar.show(n, len(files), operand)
			f.quiet = true
		}
		if err := i.fileAt(ctx, f, targets, dirs); err != nil {
			return err
		}
	}
	return nil
}

// fileBars is from how many files on each is too small for a bar of its own.
const fileBars = 50

// fileToImport is a file, or standard input.
type fileToImport struct {
	name string
	// named tells that it becomes the calendar that it names; quiet that it has no bar of its own.
	named, quiet bool
}

// fileAt imports a file. Dirs are the calendars that directories stand for.
func (i *importing) fileAt(ctx context.Context, f fileToImport, targets []calendar.Calendar, dirs map[string]calendar.Calendar) error {
	opened, err := os.Open(f.name)
	if err != nil {
		return unread(f.name, err)
	}
	defer func() { _ = opened.Close() }() // it was read only
	dir := filepath.Dir(f.name)
	if cal, ok := dirs[dir]; ok {
		targets = []calendar.Calendar{cal}
	}
	if !f.named || i.calendar != "" {
		return i.file(ctx, f, opened, targets)
	}
	file, err := i.openFile(f.name, opened)
	if err != nil || file == nil {
		return err
	}
	n, named := calendarOf(file.Header())
	if !named {
		return i.contents(ctx, f, file, targets)
	}
	cal, made, err := i.into.Calendar(ctx, n)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	if filepath.Base(f.name) == calendarFile {
		dirs[dir] = cal
	}
	i.report.Calendars = append(i.report.Calendars, importedCalendar{From: f.name, Name: cal.Name, Address: cal.Segment, Created: made})
	return i.contents(ctx, f, file, []calendar.Calendar{cal})
}

// calendarOf is the calendar that a file says it holds. The file of another program has no address and no kinds.
func calendarOf(h archive.Header) (n calendar.NewCalendar, named bool) {
	if h.Backup == nil && h.Name == "" {
		return n, false
	}
	n.Properties = calendar.Properties{Name: h.Name, Kinds: calendar.Kinds{calendar.Event, calendar.Todo}}
	n.Segment = safeSegment(strings.ToLower(h.Name))
	if h.Description != "" {
		n.Description = &h.Description
	}
	if color, err := calendar.ParseColor(h.Color); err == nil {
		n.Color = &color
	}
	if z, err := zone.Lookup(h.Timezone); err == nil && h.Timezone != "" {
		n.Timezone = z.Name()
	}
	if b := h.Backup; b != nil {
		n.Segment, n.Order, n.Transparent, n.Hidden, n.Kinds = safeSegment(b.Address), b.Order, b.Transparent, b.Hidden, nil
		for _, word := range b.Kinds {
			n.Kinds = append(n.Kinds, calendar.Kind(word))
		}
	}
	return n, true
}

// calendarFiles are the files that an operand means: itself, or the .ics files below a directory. What says of a
// directory which calendar it is comes first in it.
func calendarFiles(operand string) ([]fileToImport, error) {
	var files []fileToImport
	err := filepath.WalkDir(operand, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != operand && strings.HasPrefix(entry.Name(), ".") {
			return filepath.SkipDir // what an export that was killed has left
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
		return cmp.Or(cmp.Compare(filepath.Dir(a.name), filepath.Dir(b.name)), -cmp.Compare(ofDirectory(a), ofDirectory(b)))
	})
	return files, nil
}

func ofDirectory(f fileToImport) int {
	if filepath.Base(f.name) == calendarFile {
		return 1
	}
	return 0
}

// unread says why something cannot be read, in words for people.
func unread(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file or directory %s", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s cannot be read: this user may not", path)
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

// file imports what one file holds.
func (i *importing) file(ctx context.Context, f fileToImport, from io.Reader, targets []calendar.Calendar) error {
	file, err := i.openFile(f.name, from)
	if err != nil || file == nil {
		return err
	}
	return i.contents(ctx, f, file, targets)
}

// openFile reads a file; nil if nothing can be made of it, which the report says.
func (i *importing) openFile(name string, from io.Reader) (*archive.File, error) {
	data, err := i.readFile(name, from)
	if err != nil {
		return nil, err
	}
	file, err := archive.Open(data)
	if err != nil {
		i.report.refuse(source{name: name}, err)
		return nil, nil //nolint:nilnil // the report has it, and other files go on
	}
	return file, nil
}

func (i *importing) contents(ctx context.Context, f fileToImport, file *archive.File, targets []calendar.Calendar) error {
	i.report.mend(source{name: f.name}, file.Mends())
	parts := slices.Collect(file.Parts(zonesOf(targets)))
	if len(parts) == 0 && !file.IsCalendar() {
		i.report.refuse(source{name: f.name}, errors.New("it holds nothing that a calendar keeps; is it an iCalendar file?"))
	}
	for n, part := range parts {
		if !f.quiet {
			i.bar.show(n, len(parts), filepath.Base(f.name))
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

// takes finds the first calendar that takes a kind, or -1.
func takes(targets []calendar.Calendar, kind calendar.Kind) int {
	return slices.IndexFunc(targets, func(c calendar.Calendar) bool { return c.Kinds.Has(kind) })
}

// zonesOf tells in which zone each kind is where it goes.
func zonesOf(targets []calendar.Calendar) func(kind string) archive.Zone {
	return func(kind string) archive.Zone {
		at := takes(targets, calendar.Kind(kind))
		if at < 0 {
			return archive.Zone{}
		}
		return archive.Zone{Name: targets[at].Timezone, Of: fmt.Sprintf("the zone of the calendar %q", targets[at].Name)}
	}
}

// notTaken says why a kind goes nowhere.
func (i *importing) notTaken(targets []calendar.Calendar, kind calendar.Kind) error {
	if i.calendar != "" {
		return fmt.Errorf("the calendar %q takes %s, not %s", targets[0].Name, targets[0].Kinds, kind)
	}
	return fmt.Errorf("%s has no calendar that takes %s (%s create-calendar --kinds %s makes one)", i.who.Name, kind, name, kind)
}

// targets are the calendars that things may go into, in the order in which they are tried.
func (i *importing) targets(ctx context.Context) ([]calendar.Calendar, error) {
	if i.calendar == "" {
		return i.ownCalendars(ctx, i.who)
	}
	cal, err := i.findCalendar(ctx, i.who, i.calendar)
	if err != nil {
		return nil, fmt.Errorf("%w (%s create-calendar makes one)", err, name)
	}
	return []calendar.Calendar{cal}, nil
}
