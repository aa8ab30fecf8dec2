package caldav_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

// TestCompressedAnswers: long responses are compressed for clients that accept gzip; objects never are.
func TestCompressedAnswers(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	for i := range 100 {
		h.must(t, fmt.Sprintf("PUT /dav/calendars/alice/work/%d.ics", i),
			event(fmt.Sprint(i), strings.Repeat("long ", 500)))
	}
	const list = "PROPFIND /dav/calendars/alice/work/\nDepth: 1\nAccept-Encoding: "
	for _, c := range []struct {
		head, body string
		compressed bool
	}{
		{list + "gzip", etagsBody, true},
		{list + "br, GZIP;q=0.5", etagsBody, true},
		{list + "br;q=1.0, gzip;q=0", etagsBody, false},
		{list + "identity", etagsBody, false},
		{"PROPFIND /dav/calendars/alice/work/\nDepth: 0\nAccept-Encoding: gzip", etagsBody, false},
		{"GET /dav/calendars/alice/work/\nAccept-Encoding: gzip", "", true},
		{"GET /dav/calendars/alice/work/7.ics\nAccept-Encoding: gzip", "", false},
		{"HEAD /dav/calendars/alice/work/\nAccept-Encoding: gzip", "", false},
	} {
		plain := h.must(t, strings.ReplaceAll(c.head, "Accept-Encoding", "Ignored"), c.body)
		got := h.must(t, c.head, c.body)
		if is := got.header.Get("Content-Encoding") == "gzip"; is != c.compressed ||
			is != (got.header.Get("Vary") != "") {
			t.Errorf("%s: Content-Encoding %q, Vary %q", c.head, got.header.Get("Content-Encoding"),
				got.header.Get("Vary"))
		}
		if c.compressed {
			got.body = decompressed(t, got.body)
		}
		if got.body != plain.body {
			t.Errorf("%s: %d bytes, plain %d", c.head, len(got.body), len(plain.body))
		}
	}
}

const etagsBody = `<D:propfind xmlns:D="DAV:"><D:prop><D:getetag/></D:prop></D:propfind>`

func decompressed(t *testing.T, body string) string {
	t.Helper()
	gz, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}
