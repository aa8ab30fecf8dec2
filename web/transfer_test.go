package web_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/intake"
)

// upload sends a file to be imported.
func (b *browser) upload(data []byte, fields ...string) shown {
	b.Helper()
	return b.uploadTo("import", data, fields...)
}

// uploadTo sends a form with a file, unless data is nil.
func (b *browser) uploadTo(path string, data []byte, fields ...string) shown {
	b.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		b.must(w.WriteField(fields[i], fields[i+1]))
	}
	if data != nil {
		part, err := w.CreateFormFile("file", "x.ics")
		b.must(err)
		_, err = part.Write(data)
		b.must(err)
	}
	b.must(w.Close())
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.address(path), &body)
	b.must(err)
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.send(r)
}

// checked uploads a file and waits until it is checked.
func (b *browser) checked(data []byte, fields ...string) shown {
	b.Helper()
	return b.worked(b.upload(data, fields...))
}

// worked opens a page with progress until there is nothing more to wait for.
func (b *browser) worked(s shown) shown {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.intake.Run(ctx)
	}()
	defer func() {
		stop()
		<-done
	}()
	for s.status == http.StatusOK && s.header.Get("Refresh") != "" {
		s = b.get(s.path)
	}
	return s
}

// imports uploads a file, checks it and imports it.
func (b *browser) imports(data []byte, fields ...string) shown {
	b.Helper()
	s := b.checked(data, fields...).shows(http.StatusOK, "Nothing is changed yet")
	return b.worked(b.post(s.path, "do", "start"))
}

// TestFiles imports an exported calendar again. The preview says what will come of each entry, the result what came of
// it, and the import is taken back as one.
func TestFiles(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		work := string(h.made(ann, "Work").ID)
		path := "calendars/" + work
		b := h.as("ann")
		b.get(path).shows(http.StatusOK, "Import a file into this calendar")
		b.get("import?into="+work).shows(http.StatusOK, "Upload and check")
		b.upload(nil).shows(http.StatusUnprocessableEntity, "Choose a file")
		b.upload([]byte{}).shows(http.StatusUnprocessableEntity, "Choose a file")
		b.post("import", "file", "x").shows(http.StatusUnprocessableEntity, "Choose a file")
		b.upload([]byte("x"), "into", "other").shows(http.StatusNotFound)
		b.checked([]byte("hello"), "into", work).shows(http.StatusOK, "Nothing was imported", "is it an iCalendar")
		b.checked([]byte("\xff\xfeB"), "into", work).shows(http.StatusOK, "UTF-16")
		two := bytes.ReplaceAll(append(object("VEVENT", "1", "One", "DTSTART:20260503T080000Z"),
			object("VEVENT", "2", "Two", "DTSTART:nonsense")...), []byte("\r\n"), []byte("\n"))
		wild := strings.Replace(string(object("VEVENT", "wild", "Wild", "DTSTART:2026-05-04")), "SUMMARY:Wild",
			"SUMMARY:Wild\r\nand wide", 1)
		b.imports([]byte(wild), "into", work).shows(http.StatusOK, "The import is done", "1 new.", "Corrected",
			"DTSTART:2026-05-04 was read as DTSTART;VALUE=DATE:20260504", "are not indented")
		first := b.imports(two, "into", work).shows(http.StatusOK, "1 new. 1 left out.", "Left out", "line 18: DTSTART")
		changed := object("VEVENT", "1", "One B", "DTSTART:20260503T080000Z")
		b.imports(changed, "into", work).shows(http.StatusOK, "in another version, which is kept")
		b.imports(changed, "into", work, "replace", "1").shows(http.StatusOK, "1 replaced")
		exported := b.get(path + "/export").shows(http.StatusOK)
		if got := exported.header.Get("Content-Disposition"); got != `attachment; filename=work.ics` ||
			!strings.Contains(exported.body, "SUMMARY:One B") {
			t.Errorf("exported %q:\n%s", got, exported.body)
		}
		b.imports(changed, "into", work).shows(http.StatusOK, "1 already here.")
		other := string(h.made(ann, "Other").ID)
		b.imports([]byte(exported.body), "into", other).shows(http.StatusOK, "2 new.")
		id := changeField.FindStringSubmatch(first.body)[1]
		b.post("undo", "change", id, "next", path).shows(http.StatusConflict, "That did not work",
			"Created the event “One B”", "changed again by web", "namely: title. Take the later change back first")
	})
}

// zipOf packs files, names and contents in turn.
func (h *house) zipOf(method uint16, files ...string) []byte {
	h.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for pair := range slices.Chunk(files, 2) {
		to, err := w.CreateHeader(&zip.FileHeader{Name: pair[0], Method: method})
		h.must(err)
		_, err = to.Write([]byte(pair[1]))
		h.must(err)
	}
	h.must(w.Close())
	return b.Bytes()
}

// calendarFile is a file of Google Calendar with so many events.
func calendarFile(name, uid string, events int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "BEGIN:VCALENDAR\r\nPRODID:-//Google Inc//Google Calendar 70.9054//EN\r\nVERSION:2.0\r\n"+
		"CALSCALE:GREGORIAN\r\nMETHOD:PUBLISH\r\nX-WR-CALNAME:%s\r\nX-WR-TIMEZONE:Europe/Berlin\r\n", name)
	for n := range events {
		fmt.Fprintf(&b, "BEGIN:VEVENT\r\nDTSTART:202601%02dT%02d0000Z\r\nDTEND:202601%02dT%02d3000Z\r\n"+
			"DTSTAMP:20260101T000000Z\r\nUID:%s%d@google.com\r\nSUMMARY:%s %d\r\nSTATUS:CONFIRMED\r\n"+
			"SEQUENCE:0\r\nEND:VEVENT\r\n", n%28+1, n%24, n%28+1, n%24, uid, n, name, n)
	}
	return b.String() + "END:VCALENDAR\r\n"
}

// TestGoogleZip imports Google's export, stored and deflated, twice: the second time changes nothing.
func TestGoogleZip(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		for n, method := range []uint16{zip.Deflate, zip.Store} {
			data := h.zipOf(method, "Takeout/Calendar/Family.ics", calendarFile("Family", "f", 300),
				"Takeout/Calendar/Work.ics", calendarFile("Work", "w", 2), "Takeout/Calendar/Work(1).ics",
				calendarFile("Work", "v", 1), "Takeout/archive_browser.html", "<html>")
			preview := b.checked(data).shows(http.StatusOK, "Family", "300 events", "1 event", "archive_browser.html")
			if n == 0 {
				preview.shows(http.StatusOK, "new calendar", "300 new.")
				b.get("calendars").hides("Family", "Work")
			}
			done := b.worked(b.post(preview.path, "do", "start"))
			if n == 1 {
				done.shows(http.StatusOK, "300 already here.").hides("new.")
			} else {
				done.shows(http.StatusOK, "300 new.", "Take the import back")
			}
		}
		if n := strings.Count(b.get("calendars").shows(http.StatusOK, "Family").text(), "Work"); n != 2 {
			t.Errorf("there are %d calendars named Work, want 2", n)
		}
	})
}

// TestExportedZip: the download of all calendars, uploaded by another user, gives the same calendars.
func TestExportedZip(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("bob")
		b := h.as("ann")
		b.imports([]byte(calendarFile("Family", "f", 3)+calendarFile("Work", "w", 2))).shows(http.StatusOK, "3 new.",
			"2 new.")
		h.made(ann, "Choir")
		exported := b.get("export").shows(http.StatusOK)
		b.imports([]byte(exported.body)).shows(http.StatusOK, "3 already here.", "2 already here.").hides(" new.")
		other := h.as("bob")
		other.imports([]byte(exported.body)).shows(http.StatusOK, "3 new.", "2 new.", "Choir")
		names := func(b *browser) []string {
			return regexp.MustCompile(`calendars/[^"]+">([^<]+)</a>`).FindAllString(b.get("calendars").body, -1)
		}
		title := regexp.MustCompile(`>([^<]+)<`)
		var anns, bobs []string
		for _, n := range names(b) {
			anns = append(anns, title.FindString(n))
		}
		for _, n := range names(other) {
			bobs = append(bobs, title.FindString(n))
		}
		slices.Sort(anns)
		slices.Sort(bobs)
		if !slices.Equal(anns, bobs) {
			t.Errorf("ann has %q, bob %q", anns, bobs)
		}
	})
}

// TestRefusedFiles: archives that cannot be read, and files that are too large, get a page that says why.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		b.checked(h.zipOf(zip.Store, "inner.zip", "PK")).shows(http.StatusOK, "Nothing was imported",
			"an archive in the archive")
		b.checked(h.zipOf(zip.Deflate, "bomb.ics", strings.Repeat("a", 20<<20))).shows(http.StatusOK,
			"is no calendar")
		b.checked(h.zipOf(zip.Store, "readme.txt", "x")).shows(http.StatusOK, "holds nothing that a calendar keeps")
		b.upload(make([]byte, 101<<20)).shows(http.StatusRequestEntityTooLarge, "at most 100.0 MB",
			"Sign out")
		u := h.user("bob")
		most := int64(1)
		_, err := h.auth.ChangeUser(h.Context(), u.Name, auth.UserEdit{QuotaObjects: &most})
		h.must(err)
		bob := h.as("bob")
		bob.checked([]byte(calendarFile("Family", "f", 3))).shows(http.StatusOK, "Nothing was imported", "account")
	})
}

// TestInterruptedImport continues an import after its process ended: nothing is lost, nothing is there twice, and one
// undo takes all of it back.
func TestInterruptedImport(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		preview := b.checked([]byte(calendarFile("Family", "f", 500))).shows(http.StatusOK, "500 new.")
		b.post(preview.path, "do", "start").shows(http.StatusOK, "Importing: 0 of 500", "Refresh")
		id := calendar.UploadID(strings.TrimPrefix(preview.path, "import/"))
		ctx, stop := context.WithCancel(h.Context())
		h.intakeWith(stoppingStore{h.store, stop}).Run(ctx)
		u, err := h.store.UploadsOf(h.Context(), h.who("ann"))
		h.must(err)
		if u[0].ID != id || u[0].State != calendar.UploadImporting {
			t.Fatalf("the import is %q", u[0].State)
		}
		b.get(preview.path).shows(http.StatusOK, "Importing: 200 of 500")
		done := b.worked(b.get(preview.path)).shows(http.StatusOK, "The import is done", "500 new.")
		change := changeField.FindStringSubmatch(done.body)[1]
		b.post("undo", "change", change, "next", "calendars").shows(http.StatusOK, "Taken back")
		b.get("trash")
	})
}

// intakeWith returns an intake on a store.
func (h *house) intakeWith(s intake.Store) *intake.Intake {
	return intake.New(intake.Config{
		Store: s, Service: h.calendars, Now: h.Now, NewID: h.NewID, Logger: h.Logger(),
	})
}

func (h *house) who(name string) calendar.UserID {
	h.Helper()
	u, err := h.auth.User(h.Context(), name)
	h.must(err)
	return u.ID
}

// stoppingStore ends the process, as it were, after the first progress of an import.
type stoppingStore struct {
	intake.Store
	stop context.CancelFunc
}

func (s stoppingStore) ChangeUpload(
	ctx context.Context, u calendar.Upload, from calendar.UploadState, held time.Time,
) error {
	err := s.Store.ChangeUpload(ctx, u, from, held)
	if strings.Contains(u.Report, `"done":200`) {
		s.stop()
	}
	return err
}
