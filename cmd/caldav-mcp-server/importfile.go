package main

import (
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
		return i.file(ctx, "-", i.stdin, targets)
	}
	names, err := calendarFiles(operand)
	if err != nil {
		return err
	}
	for _, name := range names {
		f, err := os.Open(name) //nolint:gosec // whoever starts the program names its files
		if err != nil {
			return fmt.Errorf("reading: %w", err)
		}
		err = i.file(ctx, name, f, targets)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// calendarFiles are the files that an operand means: itself, or the .ics files below a directory.
func calendarFiles(operand string) ([]string, error) {
	var names []string
	//nolint:gosec // whoever starts the program names its files
	err := filepath.WalkDir(operand, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && (path == operand || strings.EqualFold(filepath.Ext(path), ".ics")) {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no .ics file in %s", operand)
	}
	return names, nil
}

// file imports what one file holds.
func (i *importing) file(ctx context.Context, name string, from io.Reader, targets []calendar.Calendar) error {
	data, err := io.ReadAll(io.LimitReader(from, maxImport+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if len(data) > maxImport {
		return fmt.Errorf("%s is larger than %d MB: split it, or import a directory of files", name, maxImport>>20)
	}
	parts := slices.Collect(archive.Split(data, zonesOf(targets)))
	if len(parts) == 0 {
		i.report.refuse(source{name: name}, errors.New("it holds nothing that a calendar keeps; is it an iCalendar file?"))
	}
	for n, part := range parts {
		i.bar.show(n, len(parts), filepath.Base(name))
		if err := i.part(ctx, source{name, &part}, targets); err != nil {
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
	i.report.mend(from)
	kind := calendar.Kind(from.part.Kind)
	at := takes(targets, kind)
	if at < 0 {
		i.report.refuse(from, i.notTaken(targets, kind))
		return nil
	}
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
