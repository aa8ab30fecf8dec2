package caldav_test

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

// TestALostTextKeepsNobodyFromTheOthers: the database has lost the text of one event. A client gets an error for this
// event and keeps its copy of it; without the error it would delete the copy. It gets all other events.
func TestALostTextKeepsNobodyFromTheOthers(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		hrefs := ""
		for _, uid := range []string{"a", "lost", "large", "z"} {
			text := event(uid, "Dinner of "+uid)
			if uid == "large" {
				text = event(uid, "Dinner of "+uid+strings.Repeat(" and more", 9000))
			}
			h.must(t, "PUT /dav/calendars/alice/work/"+uid+".ics", text)
			hrefs += "<D:href>/dav/calendars/alice/work/" + uid + ".ics</D:href>"
		}
		h.lose(t, url, "lost.ics", "large.ics")
		h.remake(t, nil) // with an empty cache
		const spaces = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">`
		const props = `<D:prop><D:getetag/><C:calendar-data/></D:prop>`
		for what, ask := range map[string]string{
			"multiget": `<C:calendar-multiget` + spaces + props + hrefs + `</C:calendar-multiget>`,
			"sync": `<D:sync-collection` + spaces + `<D:sync-token/><D:sync-level>1</D:sync-level>` + props +
				`</D:sync-collection>`,
			"query": query(`<C:calendar-data/>`, `<C:time-range start="20261101T000000Z" end="20261201T000000Z"/>`),
			"filter": query(`<C:calendar-data/>`,
				`<C:prop-filter name="SUMMARY"><C:text-match>Dinner</C:text-match></C:prop-filter>`),
		} {
			for range 3 { // from the store, then from the cache
				got := h.must(t, "REPORT /dav/calendars/alice/work/\nDepth: 1", ask).body
				for _, want := range []string{
					"Dinner of a", "Dinner of z", "/dav/calendars/alice/work/lost.ics</d:href><d:status>HTTP/1.1 500 " +
						"Internal Server Error</d:status>",
					"/dav/calendars/alice/work/large.ics</d:href><d:status>HTTP/1.1 500 Internal Server " +
						"Error</d:status>",
				} {
					if !strings.Contains(got, want) {
						t.Errorf("%s: there is no %s in\n%s", what, want, got)
					}
				}
			}
		}
		got := h.must(t, "REPORT /dav/calendars/alice/work/\nDepth: 1",
			query("", `<C:prop-filter name="SUMMARY"><C:text-match>Dinner</C:text-match></C:prop-filter>`)).body
		if strings.Count(got, "<d:getetag>") != 4 {
			t.Errorf("tags without data:\n%s", got)
		}
		if got := h.send(t, "GET /dav/calendars/alice/work/lost.ics", ""); got.status != 500 {
			t.Errorf("read by itself: %d", got.status)
		}
		if got := h.must(t, "GET /dav/calendars/alice/work/", "").body; strings.Count(got, "BEGIN:VEVENT") != 2 {
			t.Errorf("as a whole:\n%s", got)
		}
		if log := h.Log.String(); !strings.Contains(log, `lost.ics`) || !strings.Contains(log, "has no text") {
			t.Errorf("the log says:\n%s", log)
		}
	})
}

// lose deletes the texts of some objects in the database.
func (h *house) lose(t *testing.T, url string, names ...string) {
	t.Helper()
	for _, name := range names {
		h.spoil(t, url, `UPDATE objects SET data = $1 WHERE name = $2`, []byte{}, name)
	}
}

// spoil changes the database directly.
func (h *house) spoil(t *testing.T, url, text string, args ...any) {
	t.Helper()
	driver := "pgx"
	if path, found := strings.CutPrefix(url, "sqlite:"); found {
		driver, url = "sqlite", path
	}
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

// TestALostMessageIsNoEmptyOne: a message sent to two users can no longer be read. It is not shown as an empty one,
// other messages are shown, and it can be deleted.
func TestALostMessageIsNoEmptyOne(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		h.must(t, "MKCALENDAR /dav/calendars/bob/work/\nAs: bob", "")
		for _, uid := range []string{"first", "second"} {
			guests := "ORGANIZER:mailto:alice@example.com\r\nATTENDEE:/dav/principals/bob/\r\n" +
				"ATTENDEE:mailto:carol@example.com\r\nSUMMARY"
			h.must(t, "PUT /dav/calendars/alice/work/"+uid+".ics",
				strings.Replace(event(uid, "Dinner of "+uid), "SUMMARY", guests, 1))
		}
		const inbox = "/dav/calendars/bob/inbox/"
		all := regexp.MustCompile(inbox+`\w+\.ics`).
			FindAllString(h.must(t, "PROPFIND "+inbox+"\nAs: bob\nDepth: 1", "").body, -1)
		if len(all) != 2 {
			t.Fatalf("the inbox has %v", all)
		}
		lost := all[0]
		h.spoil(t, url, `UPDATE inbox_items SET data = $1 WHERE name = $2`, []byte{1, 0xff, 7},
			strings.TrimPrefix(lost, inbox))
		const spaces = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">`
		const props = `<D:prop><D:getetag/><C:calendar-data/></D:prop>`
		for what, ask := range map[string]string{
			"multiget": `<C:calendar-multiget` + spaces + props + `<D:href>` + all[0] + `</D:href><D:href>` + all[1] +
				`</D:href></C:calendar-multiget>`,
			"sync": `<D:sync-collection` + spaces + `<D:sync-token/><D:sync-level>1</D:sync-level>` + props +
				`</D:sync-collection>`,
			"query": query(`<C:calendar-data/>`,
				`<C:prop-filter name="SUMMARY"><C:text-match>Dinner</C:text-match></C:prop-filter>`),
		} {
			got := h.must(t, "REPORT "+inbox+"\nAs: bob\nDepth: 1", ask).body
			if !strings.Contains(got, lost+"</d:href><d:status>HTTP/1.1 500 Internal Server Error</d:status>") ||
				strings.Count(got, "SUMMARY:Dinner of") != 1 {
				t.Errorf("%s:\n%s", what, got)
			}
		}
		if got := h.send(t, "GET "+lost+"\nAs: bob", ""); got.status != 500 {
			t.Errorf("read by itself: %d %q", got.status, got.body)
		}
		if log := h.Log.String(); !strings.Contains(log, strings.TrimPrefix(lost, inbox)) ||
			!strings.Contains(log, "of an inbox has no text") {
			t.Errorf("the log says:\n%s", log)
		}
		h.must(t, "DELETE "+lost+"\nAs: bob", "")
		if got := h.must(t, "PROPFIND "+inbox+"\nAs: bob\nDepth: 1", "").body; strings.Contains(got, lost) ||
			!strings.Contains(got, all[1]) {
			t.Errorf("after it was taken out:\n%s", got)
		}
	})
}
