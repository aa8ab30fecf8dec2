package caldav_test

import (
	"database/sql"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

// TestALostTextKeepsNobodyFromTheOthers: of one event the database has lost the text. A client learns that it is there and cannot be had,
// for one that is told nothing would drop its own copy, and it gets all the others.
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
		h.remake(t, nil) // with nothing in memory
		const spaces = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">`
		const props = `<D:prop><D:getetag/><C:calendar-data/></D:prop>`
		for what, ask := range map[string]string{
			"multiget": `<C:calendar-multiget` + spaces + props + hrefs + `</C:calendar-multiget>`,
			"sync":     `<D:sync-collection` + spaces + `<D:sync-token/><D:sync-level>1</D:sync-level>` + props + `</D:sync-collection>`,
			"query":    query(`<C:calendar-data/>`, `<C:time-range start="20261101T000000Z" end="20261201T000000Z"/>`),
			"filter":   query(`<C:calendar-data/>`, `<C:prop-filter name="SUMMARY"><C:text-match>Dinner</C:text-match></C:prop-filter>`),
		} {
			for range 3 { // from the store, then from the image
				got := h.must(t, "REPORT /dav/calendars/alice/work/\nDepth: 1", ask).body
				for _, want := range []string{
					"Dinner of a", "Dinner of z", "/dav/calendars/alice/work/lost.ics</d:href><d:status>HTTP/1.1 500 Internal Server Error</d:status>",
					"/dav/calendars/alice/work/large.ics</d:href><d:status>HTTP/1.1 500 Internal Server Error</d:status>",
				} {
					if !strings.Contains(got, want) {
						t.Errorf("%s: there is no %s in\n%s", what, want, got)
					}
				}
			}
		}
		got := h.must(t, "REPORT /dav/calendars/alice/work/\nDepth: 1", query("", `<C:prop-filter name="SUMMARY"><C:text-match>Dinner</C:text-match></C:prop-filter>`)).body
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

// lose has the database lose the texts of some objects.
func (h *house) lose(t *testing.T, url string, names ...string) {
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
	for _, name := range names {
		if _, err := db.ExecContext(t.Context(), `UPDATE objects SET data = $1 WHERE name = $2`, []byte{}, name); err != nil {
			t.Fatal(err)
		}
	}
}
