package web

import (
	"errors"
	"io"
	"mime"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/calendar/intake"
)

func (h *Handler) transferPages() []page {
	upload := post("import", people, transferPages.upload)
	upload.body = intake.MaxFile + maxForm
	export := get("calendars/{id}/export", people, transferPages.exportCalendar)
	if h.Intake == nil {
		return []page{export}
	}
	return []page{
		export,
		get("import", people, showing("import", transferPages.importForm)),
		upload,
		get("import/{upload}", people, transferPages.progress),
		post("import/{upload}", people, transferPages.decide),
	}
}

// transferPages import and export calendars.
type transferPages struct{ *pageRequest }

// importForm is the data of the page with the form.
type importForm struct {
	// Targets are the calendars that can get everything in the file.
	Targets []choice
	Replace bool
	// Most is the limit of a file.
	Most string
	// Latest is the visitor's latest import; nil if there is none.
	Latest *importState
}

func (p transferPages) importForm() (importForm, error) {
	return p.importFormFor(calendar.CalendarID(p.r.FormValue("into")), false)
}

func (p transferPages) importFormFor(into calendar.CalendarID, replace bool) (importForm, error) {
	form := importForm{Replace: replace, Most: calendar.SizeText(intake.MaxFile)}
	all, err := p.Service.CalendarsInHome(p.r.Context(), p.caller())
	if err != nil {
		return form, err
	}
	for _, cal := range all {
		if p.caller().May(calendar.WriteObjects, cal) == nil && !cal.Subscribed() {
			form.Targets = append(form.Targets, choice{string(cal.ID), excerpt(cal.Name), cal.ID == into})
		}
	}
	latest, err := p.Intake.Uploads(p.r.Context(), p.caller())
	if err == nil && len(latest) > 0 {
		var state importState
		state, err = p.state(latest[0])
		form.Latest = &state
	}
	return form, err
}

// upload receives a file, and shows the progress of its check.
func (p transferPages) upload() error {
	u, err := p.receive()
	if err != nil {
		return showAgain(p.pageRequest, "import",
			func() (importForm, error) { return p.importFormFor(u.Target, u.Replace) }, err)
	}
	return p.leadTo("import/" + string(u.ID))
}

// receive reads the form's fields, which come before the file, and stores the file as it arrives.
func (p transferPages) receive() (u calendar.Upload, err error) {
	form, err := p.r.MultipartReader()
	if err != nil {
		return u, p.noFile()
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return u, p.noFile()
		}
		if err != nil {
			return u, err
		}
		if part.FormName() == "file" {
			u.Name = part.FileName()
			return p.Intake.Receive(p.r.Context(), p.caller(), u, part)
		}
		value, err := io.ReadAll(io.LimitReader(part, maxForm))
		if err != nil {
			return u, err
		}
		switch part.FormName() {
		case "into":
			u.Target = calendar.CalendarID(value)
		case "replace":
			u.Replace = len(value) > 0
		}
	}
}

func (p transferPages) noFile() error {
	return p.wrong("error.no-file")
}

// importState is the data of the page of one import.
type importState struct {
	ID     calendar.UploadID
	Name   string
	State  calendar.UploadState
	Report intake.Report
	// Calendars are the calendars of the file, for people.
	Calendars []importedCalendar
	// Into is the title of the chosen calendar; "" if the file names them.
	Into string
	// Changed is the time of the last progress. Waits is set if the work stopped for now.
	Changed string
	Waits   bool
	Percent int
	// Problem is the reason why the import ended early.
	Problem string
}

// Running reports whether the page changes by itself.
func (s importState) Running() bool {
	return s.State == calendar.UploadReceiving || s.State == calendar.UploadChecking ||
		s.State == calendar.UploadImporting
}

// importedCalendar is a calendar of the file. Holds counts its components; New, Same, Kept and Replaced its objects by
// outcome.
type importedCalendar struct {
	*intake.Found
	Title, Holds              string
	Fresh, Same, Kept, Change int
}

// waitsAfter is longer than any step between two reports of progress.
const waitsAfter = 90 * time.Second

// kindTexts are the ids of texts that count components.
var kindTexts = map[string]string{
	"VEVENT": "upload.events", "VTODO": "upload.tasks", "VJOURNAL": "upload.journals",
}

func (p transferPages) state(u calendar.Upload) (importState, error) {
	r, err := intake.ReadReport(u)
	s := importState{
		ID: u.ID, Name: excerpt(u.Name), State: u.State, Report: r, Changed: p.clock().Moment(u.Changed),
		Waits:   p.Now().Sub(u.Changed) > waitsAfter,
		Problem: sentence(describe.Stored(p.lang, r.Problem)),
	}
	if r.Total > 0 {
		s.Percent = min(100, 100*r.Done/r.Total)
	}
	for _, f := range r.Calendars {
		one := importedCalendar{
			Found: f, Title: excerpt(f.Name), Fresh: f.Did[string(calendar.ImportedNew)],
			Same: f.Did[string(calendar.ImportedSame)], Kept: f.Did[string(calendar.ImportedKept)],
			Change: f.Did[string(calendar.ImportedReplaced)],
		}
		var holds []string
		for _, kind := range f.Sorted() {
			if id := kindTexts[kind]; id != "" {
				holds = append(holds, p.lang.Text(id, "count", f.Kinds[kind]))
			} else {
				holds = append(holds, strconv.Itoa(f.Kinds[kind])+" "+kind)
			}
		}
		one.Holds = strings.Join(holds, ", ")
		s.Calendars = append(s.Calendars, one)
	}
	return s, err
}

// refreshEvery is the interval of reloads of a page with progress, in seconds.
const refreshEvery = "3"

// progress shows an import: its check, its preview, its progress and its result.
func (p transferPages) progress() error {
	u, _, err := p.wantedUpload()
	if err != nil {
		return err
	}
	s, err := p.state(u)
	if err != nil {
		return err
	}
	if s.Running() {
		p.w.Header().Set("Refresh", refreshEvery)
	}
	return p.show("upload", s)
}

func (p transferPages) wantedUpload() (calendar.Upload, intake.Report, error) {
	return p.Intake.Upload(p.r.Context(), p.caller(), calendar.UploadID(p.r.PathValue("upload")))
}

// decide starts the import of a checked file, or discards the file.
func (p transferPages) decide() error {
	u, _, err := p.wantedUpload()
	if err != nil {
		return err
	}
	switch p.field("do") {
	case "start":
		return p.afterwards(p.Intake.Start(p.r.Context(), p.caller(), u.ID), "import/"+string(u.ID))
	case "discard":
		return p.afterwards(p.Intake.Discard(p.r.Context(), p.caller(), u.ID), "import")
	}
	return errMissing()
}

// afterwards leads to a page, unless there was an error.
func (p transferPages) afterwards(err error, path string) error {
	if err != nil {
		return err
	}
	return p.leadTo(path)
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
