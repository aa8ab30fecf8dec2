package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
)

// Limits for one transaction, because other writers wait for it.
const (
	batchMost  = 200
	batchBytes = 1 << 20
)

// importer stores objects, or foresees the result; see ledger.Importer.
type importer interface {
	Calendar(ctx context.Context, n calendar.NewCalendar) (cal calendar.Calendar, made bool, err error)
	Store(ctx context.Context, cal calendar.Calendar, batch []calendar.Import) ([]calendar.ImportResult, error)
	Change() (calendar.ChangeID, bool)
}

// run is a check or an import of a file.
type run struct {
	into importer
	// calendar returns a calendar that the import has found or made.
	calendar func(ctx context.Context, id calendar.CalendarID) (calendar.Calendar, error)
	// target gets everything; "" for the calendars that the file names.
	target calendar.CalendarID
	name   string
	report *Report
	// save stores the report.
	save func(ctx context.Context) error
	// current is the name of the file that is read; part counts its objects so far.
	current string
	part    int
	// cals are the calendars so far: a check plans calendars that do not exist.
	cals map[calendar.CalendarID]calendar.Calendar
	// found is the target of batch, the objects that are stored next; parts are their sources.
	found *Found
	cal   calendar.Calendar
	batch []calendar.Import
	parts []archive.Part
	bytes int
}

// do imports the content of the upload.
func (r *run) do(ctx context.Context, content io.ReaderAt, size int64) error {
	head := make([]byte, 4)
	if n, err := content.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) || n == 0 {
		return err
	}
	if !archive.IsZip(head) {
		data := make([]byte, size)
		if _, err := content.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if r.report.File > 0 {
			return nil
		}
		return r.file(ctx, "", data)
	}
	members, leftOut, err := archive.OpenZip(content, size, archive.DefaultZipLimits())
	if err != nil {
		return calendar.Errorf(calendar.Invalid, "", "%v", err)
	}
	if r.report.LeftOut.Lines == nil {
		for _, name := range leftOut {
			r.report.LeftOut.add(Line{File: name})
		}
	}
	for n := r.report.File; n < len(members); n++ {
		data, err := members[n].Read()
		if err != nil {
			r.report.Refused.add(Line{members[n].Name, 0, err.Error()})
			r.report.File++
			continue
		}
		if err := r.file(ctx, members[n].Name, data); err != nil {
			return err
		}
	}
	return nil
}

// file imports a file of the upload; name is "" for the upload itself. A file is never half read: an error of the file
// is part of the report.
func (r *run) file(ctx context.Context, name string, data []byte) error {
	r.current, r.part = name, 0
	file, err := archive.Open(data)
	if err != nil {
		r.report.Refused.add(Line{name, 0, err.Error()})
		return r.end(ctx)
	}
	if r.report.Part == 0 {
		r.report.mend(name, file.Mends())
	}
	for n, one := range file.Calendars() {
		if err := r.contents(ctx, name, n, one); err != nil {
			return err
		}
	}
	if r.part == 0 && !file.IsCalendar() {
		r.report.Refused.add(Line{name, 0, "it contains no events or tasks; is it an iCalendar file?"})
	}
	return r.end(ctx)
}

// end notes that a file is done.
func (r *run) end(ctx context.Context) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	r.report.File++
	r.report.Part = 0
	return r.save(ctx)
}

// contents imports one calendar of a file.
func (r *run) contents(ctx context.Context, name string, number int, file *archive.File) error {
	if !file.IsCalendar() {
		return nil
	}
	if err := r.aim(ctx, name, number, file.Header()); err != nil {
		return err
	}
	zone := archive.Zone{Name: r.cal.Timezone, Of: fmt.Sprintf("the zone of the calendar %q", r.cal.Name)}
	for part := range file.Parts(func(string) archive.Zone { return zone }) {
		if r.part++; r.part <= r.report.Part {
			continue // done before an interruption
		}
		if err := r.add(ctx, name, part); err != nil {
			return err
		}
	}
	return r.flush(ctx)
}

// add puts an object into the batch, unless it cannot be imported.
func (r *run) add(ctx context.Context, name string, part archive.Part) error {
	if part.Err != nil {
		r.report.refuse(name, part, part.Err)
		r.found.Refused++
		r.report.Done++
		return nil //nolint:nilerr // the report has the reason
	}
	if len(r.batch) == batchMost || len(r.batch) > 0 && r.bytes+len(part.Data) > batchBytes {
		r.part-- // it is not in the batch
		err := r.flush(ctx)
		r.part++
		if err != nil {
			return err
		}
	}
	r.found.count(part.Kind)
	r.report.mend(name, part.Mends)
	r.batch, r.parts = append(r.batch, calendar.Import{Data: part.Data}), append(r.parts, part)
	r.bytes += len(part.Data)
	return nil
}

// flush stores the batch.
func (r *run) flush(ctx context.Context) error {
	if len(r.batch) == 0 {
		return nil
	}
	results, err := r.into.Store(ctx, r.cal, r.batch)
	if err != nil {
		return err
	}
	for n, result := range results {
		switch {
		case result.Err == nil:
			r.found.note(result.Did)
		case OfObject(result.Err):
			r.report.refuse(r.current, r.parts[n], result.Err)
			r.found.Refused++
		default:
			return result.Err
		}
	}
	r.report.Done += len(r.batch)
	r.report.Part = r.part
	r.batch, r.parts, r.bytes = nil, nil, 0
	if change, ok := r.into.Change(); ok {
		r.report.Change = change.String()
	}
	return r.save(ctx)
}

// aim chooses the calendar for the next objects. Files without a calendar name share the calendar of their directory.
func (r *run) aim(ctx context.Context, name string, number int, h archive.Header) error {
	n, named := CalendarOf(h)
	key := fmt.Sprintf("%d/%s", number, name)
	dir := "dir/" + path.Dir(strings.ReplaceAll(name, `\`, "/"))
	switch {
	case r.target != "":
		key = "target/"
	case !named, path.Base(name) == archive.CalendarFile:
		key = dir
	}
	if f := r.report.find(key); f != nil {
		if f == r.found {
			return nil
		}
		cal, known := r.cals[f.ID]
		if !known {
			var err error
			if cal, err = r.calendar(ctx, f.ID); err != nil {
				return err
			}
		}
		r.found, r.cal = f, cal
		return nil
	}
	var cal calendar.Calendar
	var made bool
	var err error
	if r.target != "" {
		cal, err = r.calendar(ctx, r.target)
	} else {
		if !named {
			n = r.unnamed(name)
		}
		n.Segment = r.unused(n.Segment)
		cal, made, err = r.into.Calendar(ctx, n)
	}
	if err != nil {
		return err
	}
	r.cals[cal.ID] = cal
	r.found, r.cal = &Found{Key: key, Name: cal.Name, ID: cal.ID, Address: cal.Address(), New: made}, cal
	r.report.Calendars = append(r.report.Calendars, r.found)
	return nil
}

// unnamed returns a calendar for files without a name: it is named after their directory, or after the upload.
func (r *run) unnamed(file string) calendar.NewCalendar {
	title := path.Base(path.Dir(strings.ReplaceAll(file, `\`, "/")))
	if title == "." || title == "/" {
		title = strings.TrimSuffix(path.Base(strings.ReplaceAll(r.name, `\`, "/")), path.Ext(r.name))
	}
	title = strings.TrimSpace(shortened(title))
	if title == "" || title == "." {
		title = "Imported"
	}
	n, _ := CalendarOf(archive.Header{Name: title})
	return n
}

// unused returns an address that no other calendar of the file has: two calendars with one name stay two.
func (r *run) unused(at calendar.Segment) calendar.Segment {
	for n, next := 2, at; ; n++ {
		taken := false
		for _, f := range r.report.Calendars {
			taken = taken || f.Address == next
		}
		if !taken {
			return next
		}
		next = calendar.Segment(fmt.Sprintf("%s-%d", at, n))
	}
}
