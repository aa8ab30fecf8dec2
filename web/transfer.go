package web

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
)

const (
	// importBatch is the number of objects per transaction. mostRefused limits the refusals that a page lists, and also
	// the repaired lines.
	importBatch, mostRefused = 200, 20
	// importFactor is the memory used while parsing a file, as a multiple of its size.
	importFactor = 6
)

// imported is the outcome of an import.
type imported struct {
	Counts map[string]int
	// Mended are the lines that were repaired while parsing.
	Refused, Mended []string
	// MoreRefused and MoreMended count the ones that are not listed.
	MoreRefused, MoreMended int
	// Change identifies the import for an undo; empty when nothing was changed.
	Change string
}

// transferPages import and export a calendar.
type transferPages struct{ *pageRequest }

// importFile imports the objects of an iCalendar file into a calendar, as one change.
func (p transferPages) importFile() error {
	cal, err := p.wanted()
	if err != nil {
		return err
	}
	done, err := p.takeFile(cal)
	if err != nil {
		return showAgain(p.pageRequest, "calendar", calendarPages(p).calendar, err)
	}
	content, err := calendarPages(p).calendarContent(cal)
	if err != nil {
		return err
	}
	content.Imported = done
	return p.show("calendar", content)
}

func (p transferPages) takeFile(cal calendar.Calendar) (*imported, error) {
	if err := p.caller().May(calendar.WriteObjects, cal); err != nil {
		return nil, err
	}
	m := p.Service.Meter(p.r.Context(), p.caller())
	defer m.Close()
	if err := m.Hold(importFactor * max(p.r.ContentLength, 0)); err != nil {
		return nil, err
	}
	data, fields, err := p.upload()
	if err != nil {
		return nil, err
	}
	file, err := archive.Open(data)
	if err != nil {
		return nil, calendar.Errorf(calendar.Invalid, "", "%v", err)
	}
	of := archive.Zone{Name: cal.Timezone, Of: "the calendar's zone"}
	into := p.Service.NewImporter(p.caller(), calendar.ImportOptions{Replace: fields["replace"] != ""})
	done := &imported{Counts: map[string]int{}}
	done.mend(file.Mends())
	for parts := range slices.Chunk(slices.Collect(file.Parts(func(string) archive.Zone { return of })), importBatch) {
		var batch []calendar.Import
		var from []archive.Part
		for _, part := range parts {
			if part.Err != nil {
				done.refuse(part.Line, part.Err)
				continue
			}
			done.mend(part.Mends)
			batch, from = append(batch, calendar.Import{Data: part.Data}), append(from, part)
		}
		results, err := into.Store(p.r.Context(), cal, batch)
		if err != nil {
			return nil, err
		}
		for n, r := range results {
			done.note(from[n], r)
		}
	}
	if len(done.Counts) == 0 && len(done.Refused) == 0 {
		return nil, calendar.Errorf(calendar.Invalid, "",
			"the file holds nothing that a calendar keeps: is it an iCalendar (.ics) file?")
	}
	if id, ok := into.Change(); ok {
		done.Change = id.String()
	}
	return done, nil
}

// upload reads the form's fields and the file directly from the request, without a temporary file.
func (p transferPages) upload() (data []byte, fields map[string]string, err error) {
	form, err := p.r.MultipartReader()
	if err != nil {
		return nil, nil, errNoFile()
	}
	fields = map[string]string{}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, nil, errNoFile()
		}
		if err != nil {
			return nil, nil, err
		}
		if data, err = io.ReadAll(part); err != nil {
			return nil, nil, err
		}
		if part.FormName() != "file" {
			fields[part.FormName()] = string(data)
			continue
		}
		if len(data) == 0 {
			err = errNoFile()
		}
		return data, fields, err
	}
}

func errNoFile() error {
	return calendar.Errorf(calendar.Invalid, "", "choose a file that holds something")
}

func (d *imported) mend(all []archive.Mend) {
	for _, m := range all {
		if len(d.Mended) == mostRefused {
			d.MoreMended++
			continue
		}
		d.Mended = append(d.Mended, fmt.Sprintf("line %d: %s", m.Line, excerpt(m.How)))
	}
}

func (d *imported) note(from archive.Part, r calendar.ImportResult) {
	if r.Err != nil {
		d.refuse(from.Line, errors.New(from.InFile(r.Err.Error())))
		return
	}
	d.Counts[string(r.Did)]++
}

func (d *imported) refuse(line int, err error) {
	if len(d.Refused) == mostRefused {
		d.MoreRefused++
		return
	}
	text := excerpt(err.Error())
	if line > 0 && !strings.HasPrefix(text, "line ") {
		text = fmt.Sprintf("line %d: %s", line, text)
	}
	d.Refused = append(d.Refused, text)
}

// exportCalendar sends a calendar as one iCalendar file. It streams, so an error midway cuts the connection: a partial
// calendar must not look complete.
func (p transferPages) exportCalendar() error {
	cal, err := p.wanted()
	if err != nil {
		return err
	}
	if err := p.caller().May(calendar.ReadObjects, cal); err != nil {
		return err
	}
	m := p.Service.Meter(p.r.Context(), p.caller())
	defer m.Close()
	p.w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	p.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{
		"filename": string(cal.Address()) + ".ics",
	}))
	_, err = p.Service.Export(p.r.Context(), m, p.caller(), cal, nil, p.w, nil)
	p.orBreak(err)
	return nil
}
