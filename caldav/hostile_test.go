package caldav_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/internal/testdb"
)

// flood is a body that repeats a text without end after a head. It counts the bytes read.
type flood struct {
	head, again string
	size, read  int
}

func (f *flood) Read(p []byte) (int, error) {
	if f.read >= f.size {
		return 0, io.EOF
	}
	text := f.again
	if f.read < len(f.head) {
		text = f.head[f.read:]
	} else if at := (f.read - len(f.head)) % len(f.again); at > 0 {
		text = f.again[at:]
	}
	n := copy(p, text[:min(len(text), f.size-f.read)])
	f.read += n
	return n, nil
}

const multigetHead = `<C:calendar-multiget xmlns:C="urn:ietf:params:xml:ns:caldav" ` +
	`xmlns:D="DAV:"><D:prop><D:getetag/></D:prop>`

// TestHostileBodies: endless bodies are refused with a status that says why, and are read no further than the limit.
func TestHostileBodies(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	limits := caldav.DefaultLimits()
	const calendar = "/dav/calendars/alice/work/"
	for _, c := range []struct {
		name, method, path string
		body               flood
		status             int
		says               string
		most               int64
	}{
		{"nested", "PROPFIND", calendar, flood{
			head: `<D:propfind xmlns:D="DAV:"><D:prop>`, again: "<a>",
		}, 400, "deeper", 64 << 10},
		{"elements", "PROPFIND", calendar, flood{
			head: `<D:propfind xmlns:D="DAV:"><D:prop>`, again: "<a/>",
		}, 413, "elements", limits.BodyBytes},
		{"attributes", "PROPFIND", calendar, flood{
			head: `<D:propfind`, again: ` a=""`,
		}, 413, "tag or text", limits.BodyBytes},
		{"text", "PROPFIND", calendar, flood{
			head: `<D:propfind xmlns:D="DAV:">`, again: "text",
		}, 413, "tag or text", limits.BodyBytes},
		{"comments", "PROPFIND", calendar, flood{
			head: `<D:propfind xmlns:D="DAV:">`, again: "<!-- -->",
		}, 413, "bytes", limits.BodyBytes + 1},
		{"blank", "PROPFIND", calendar, flood{again: " "}, 413, "tag or text", limits.BodyBytes},
		{"no XML", "PROPFIND", calendar, flood{again: "x"}, 400, "outside", limits.BodyBytes},
		{"laughs", "PROPFIND", calendar, flood{
			head: "<!DOCTYPE a [", again: `<!ENTITY a "&b;&b;">`,
		}, 413, "tag or text", limits.BodyBytes},
		{"short hrefs", "REPORT", calendar, flood{
			head: multigetHead, again: "<D:href/>",
		}, 403, "number-of-matches", limits.BodyBytes},
		{"long hrefs", "REPORT", calendar, flood{
			head: multigetHead, again: "<D:href>" + calendar + strings.Repeat("x", 200) + "</D:href>",
		}, 413, "bytes", limits.BodyBytes + 1},
		{"instructions", "PROPPATCH", calendar, flood{
			head: `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>`, again: "<D:displayname/>",
		}, 413, "elements", limits.BodyBytes},
		{"an object", "PUT", calendar + "x.ics", flood{
			head: "BEGIN:VCALENDAR\r\n", again: "X-A:b\r\n",
		}, 403, "max-resource-size", h.service.Limits().ObjectBytes + 1},
	} {
		c.body.size = 20 << 20
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, struct{ io.Reader }{&c.body})
		r.Header.Set("Depth", "0")
		got := h.do(t, r)
		if got.status != c.status || !strings.Contains(got.body, c.says) {
			t.Errorf("%s: %d %s; want %d with %q", c.name, got.status, got.body, c.status, c.says)
		}
		// The reader's buffer may read a little ahead.
		if read := int64(c.body.read); read > c.most+4096 {
			t.Errorf("%s: %d bytes were read; %d would do", c.name, read, c.most)
		}
	}
}

func TestTooManyHrefs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), func(c *caldav.Config) { c.Limits.Hrefs = 2 })
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	for count, want := range map[int]int{2: http.StatusMultiStatus, 3: http.StatusForbidden} {
		got := h.send(t, "REPORT /dav/calendars/alice/work/", multigetHead+strings.Repeat("<D:href>/x</D:href>", count)+
			"</C:calendar-multiget>")
		if got.status != want {
			t.Errorf("%d hrefs: %d %s", count, got.status, got.body)
		}
		if want == http.StatusForbidden && !strings.Contains(got.body, "number-of-matches-within-limits") {
			t.Errorf("%d hrefs: %s", count, got.body)
		}
	}
}

// TestAmplification: a small request cannot cause a response larger than the stored data.
func TestAmplification(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	h.must(t, "PUT /dav/calendars/alice/work/a.ics", event("a", "Once"))
	got := h.must(t, "REPORT /dav/calendars/alice/work/", multigetHead+
		strings.Repeat("<D:href>/dav/calendars/alice/work/a.ics</D:href><D:href>/dav/calendars/alice/work/%61.ics</"+
			"D:href>", 100)+"</C:calendar-multiget>")
	if n := strings.Count(got.body, "<d:response>"); n != 1 {
		t.Errorf("an object that is named 200 times comes %d times", n)
	}
	const head, tail = `<D:propfind xmlns:D="DAV:"><D:prop>`, `</D:prop></D:propfind>`
	got = h.must(t, "PROPFIND /dav/calendars/alice/work/\nDepth: 0", head+strings.Repeat("<D:displayname/>", 200)+tail)
	if n := strings.Count(got.body, "<d:displayname>"); n != 1 {
		t.Errorf("a property that is named 200 times comes %d times", n)
	}
	got = h.send(t, "PROPFIND /dav/calendars/alice/work/\nDepth: 0", head+strings.Repeat("<D:displayname/>", 300)+tail)
	if got.status != http.StatusForbidden || !strings.Contains(got.body, "300") {
		t.Errorf("300 properties: %d %s", got.status, got.body)
	}
}

// TestGzipBodies: a compressed body works like a plain one, and its limit is the decompressed size.
func TestGzipBodies(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	want := event("a", "Compressed")
	h.must(t, "PUT /dav/calendars/alice/work/a.ics\nContent-Encoding: gzip", compressed(t, strings.NewReader(want)))
	if got := h.must(t, "GET /dav/calendars/alice/work/a.ics", ""); got.body != want {
		t.Errorf("stored: %s", got.body)
	}
	bomb := compressed(t, &flood{head: "BEGIN:VCALENDAR\r\n", again: "X-A:b\r\n", size: 50 << 20})
	if got := h.send(t, "PUT /dav/calendars/alice/work/b.ics\nContent-Encoding: gzip", bomb); got.status !=
		http.StatusForbidden || !strings.Contains(got.body, "max-resource-size") {
		t.Errorf("PUT of a bomb of %d bytes: %d %s", len(bomb), got.status, got.body)
	}
	bomb = compressed(t, &flood{head: `<D:propfind xmlns:D="DAV:">`, again: "<!-- -->", size: 50 << 20})
	if got := h.send(t, "PROPFIND /dav/\nDepth: 0\nContent-Encoding: gzip", bomb); got.status !=
		http.StatusRequestEntityTooLarge {
		t.Errorf("PROPFIND with a bomb of %d bytes: %d %s", len(bomb), got.status, got.body)
	}
	cut := compressed(t, strings.NewReader(want))
	if got := h.send(t, "PUT /dav/calendars/alice/work/c.ics\nContent-Encoding: gzip", cut[:len(cut)-10]); got.status !=
		http.StatusBadRequest {
		t.Errorf("PUT of half a body: %d %s", got.status, got.body)
	}
}

func compressed(t *testing.T, r io.Reader) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.Copy(w, r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSearchesAreBounded: every search term is compared with every user.
func TestSearchesAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	match := func(text string) string {
		return `<D:property-search><D:prop><D:displayname/></D:prop><D:match>` + text + `</D:match></D:property-search>`
	}
	property := func(searches string) string {
		return `<D:principal-property-search xmlns:D="DAV:" test="anyof">` + searches +
			`<D:prop><D:displayname/></D:prop></D:principal-property-search>`
	}
	token := func(text string) string {
		return `<S:calendarserver-principal-search xmlns:S="http://calendarserver.org/ns/"><S:search-token>` + text +
			`</S:search-token></S:calendarserver-principal-search>`
	}
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"searches":          {property(strings.Repeat(match("x"), 64)), 207},
		"too many searches": {property(strings.Repeat(match("x"), 65)), 400},
		"too many properties": {
			property(strings.ReplaceAll(match("x"), "<D:displayname/>", strings.Repeat("<D:displayname/>", 65))), 400,
		},
		"a text that is long": {property(match(strings.Repeat("x", 1001))), 400},
		"words":               {token(strings.Repeat("x ", 64)), 207},
		"too many words":      {token(strings.Repeat("x ", 65)), 400},
		"a word that is long": {token(strings.Repeat("x", 1001)), 400},
		"words in many tokens": {
			strings.ReplaceAll(token("x"), "</S:search-token>",
				"</S:search-token>"+strings.Repeat("<S:search-token>x</S:search-token>", 64)), 400,
		},
	} {
		if r := h.send(t, "REPORT /dav/principals/", c.body); r.status != c.status {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
}
