package archive_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/archive"
)

func named(name string, uids ...string) string {
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n"
	if name != "" {
		text += "X-WR-CALNAME:" + name + "\r\n"
	}
	for _, uid := range uids {
		text += "BEGIN:VEVENT\r\nUID:" + uid + "\r\nDTSTAMP:20260101T000000Z\r\n" +
			"DTSTART:20260101T000000Z\r\nEND:VEVENT\r\n"
	}
	return text + "END:VCALENDAR\r\n"
}

func zipped(t *testing.T, method uint16, files ...string) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for pair := range slices.Chunk(files, 2) {
		to, err := w.CreateHeader(&zip.FileHeader{Name: pair[0], Method: method})
		if err == nil {
			_, err = to.Write([]byte(pair[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes())
}

// TestZip reads archives as Google exports them, stored and deflated.
func TestZip(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		r := zipped(t, method, "Takeout/work.ics", named("Work", "1"), "Takeout/family.ICS", named("Family", "2"),
			"Takeout/readme.html", "hello", "__MACOSX/._work.ics", "x")
		members, leftOut, err := archive.OpenZip(r, r.Size(), archive.DefaultZipLimits())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range members {
			data, err := m.Read()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m.Name+" "+archive.ReadHeader(data).Name)
		}
		if want := "Takeout/family.ICS Family, Takeout/work.ics Work"; strings.Join(got, ", ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if !slices.Equal(leftOut, []string{"Takeout/readme.html"}) {
			t.Errorf("left out: %q", leftOut)
		}
	}
}

// TestZipBomb refuses archives that would fill memory, and damaged ones.
func TestZipBomb(t *testing.T) {
	small := archive.ZipLimits{Entries: 3, Bytes: 4 << 20, Total: 6 << 20, Ratio: 100}
	varied := func(bytes int) string {
		var b strings.Builder
		for n := 0; b.Len() < bytes; n++ {
			fmt.Fprintf(&b, "%x\n", n*7919)
		}
		return b.String()
	}
	for says, r := range map[string]*bytes.Reader{
		"has 4 files; at most 3": zipped(t, zip.Store, "1.ics", "", "2.ics", "", "3.ics", "", "4.ics", ""),
		"more than 100 times":    zipped(t, zip.Deflate, "1.ics", strings.Repeat("a", 3<<20)),
		"at most 4 MB":           zipped(t, zip.Deflate, "1.ics", strings.Repeat("a", 5<<20)),
		"more than 6 MB together": zipped(t, zip.Deflate, "1.ics", varied(3<<20+1), "2.ics", varied(3<<20+1),
			"3.ics", varied(1<<20)),
		"an archive in the archive": zipped(t, zip.Store, "a/inner.zip", "PK"),
		"damaged or incomplete":     bytes.NewReader([]byte("PK\x03\x04 and nothing else")),
	} {
		_, _, err := archive.OpenZip(r, r.Size(), small)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got the error %v, want %q", err, says)
		}
	}
}

// TestZipLies: the archive states a smaller size than the file has.
func TestZipLies(t *testing.T) {
	r := zipped(t, zip.Deflate, "1.ics", strings.Repeat("a", 5000))
	data := make([]byte, r.Size())
	if _, err := r.ReadAt(data, 0); err != nil {
		t.Fatal(err)
	}
	central := bytes.LastIndex(data, []byte("PK\x01\x02"))
	copy(data[central+24:], []byte{10, 0, 0, 0})
	members, _, err := archive.OpenZip(bytes.NewReader(data), int64(len(data)), archive.DefaultZipLimits())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := members[0].Read(); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
}

// TestCalendarsOfFile: each name is a calendar, and lines are those of the whole file.
func TestCalendarsOfFile(t *testing.T) {
	text := named("Family", "1") + named("Work", "2", "3") + named("", "4") + named("Family", "5") +
		strings.Replace(named("Work", "6"), "DTSTART:2026", "DTSTART:x", 1)
	file, err := archive.Open([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range file.Calendars() {
		for p := range c.Parts(nil) {
			got = append(got, fmt.Sprintf("%s %s %d", c.Header().Name, p.UID, p.Line))
		}
	}
	want := "Family 1 5, Family 5 39, Work 2 15, Work 3 20, Work 4 29, Work 6 49"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	single, err := archive.Open([]byte(named("Family", "1") + named("", "2") + named("Family", "3")))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(single.Calendars()); n != 1 {
		t.Errorf("one name makes %d calendars", n)
	}
}
