package caldav_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// slowReader takes the first part of a response, and calls a function before it takes the next.
type slowReader struct {
	*httptest.ResponseRecorder
	meanwhile func()
}

func (r *slowReader) Write(p []byte) (int, error) {
	n, err := r.ResponseRecorder.Write(p)
	if happens := r.meanwhile; happens != nil && r.Body.Len() > 0 {
		r.meanwhile = nil
		happens()
	}
	return n, err
}

// read sends a request with a slow reader, and reports whether the response was aborted.
func (h *house) read(t *testing.T, r *http.Request, meanwhile func()) (body string, broken bool) {
	t.Helper()
	w := &slowReader{httptest.NewRecorder(), meanwhile}
	func() {
		defer func() {
			p := recover()
			// any other panic fails the test
			if broken = p != nil; broken && !errors.Is(p.(error), http.ErrAbortHandler) {
				panic(p)
			}
		}()
		h.ServeHTTP(w, r)
	}()
	if w.meanwhile != nil {
		t.Fatalf("the answer came in one piece: %d %.200s", w.Code, w.Body)
	}
	return w.Body.String(), broken
}

// TestRevokedWhileTheAnswerIsRead: a slow reader sees no changes made after a share or a link was revoked, and cannot
// take the response for a complete one. Without a revocation the response continues (security M2).
func TestRevokedWhileTheAnswerIsRead(t *testing.T) {
	t.Parallel()
	const named = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"`
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		cal, err := h.service.CalendarAt(t.Context(), h.caller("alice"), "work")
		if err != nil {
			t.Fatal(err)
		}
		var hrefs strings.Builder
		for i := range 24 { // two pages of the store, and many parts of the response
			h.must(t, fmt.Sprintf("PUT /dav/calendars/alice/work/e%02d.ics", i), longEvent(i, "old"))
			fmt.Fprintf(&hrefs, "<D:href>/dav/calendars/bob/%s/e%02d.ics</D:href>", cal.ID, i)
		}
		const data = `<D:prop><C:calendar-data/></D:prop>`
		reports := map[string]string{
			"calendar-query": `<C:calendar-query` + named + `>` + data +
				`<C:filter><C:comp-filter name="VCALENDAR"/></C:filter></C:calendar-query>`,
			"calendar-multiget": `<C:calendar-multiget` + named + `>` + data + hrefs.String() +
				`</C:calendar-multiget>`,
			"sync-collection": `<D:sync-collection` + named + `><D:sync-token/><D:sync-level>1</D:sync-level>` +
				data + `</D:sync-collection>`,
			"GET": "", "public link": "",
		}
		for name, body := range reports {
			for what, level := range map[string]calendar.Access{
				"stays": calendar.ReadAccess, "narrowed": calendar.FreeBusyAccess, "revoked": calendar.NoAccess,
			} {
				if name == "public link" && what == "narrowed" {
					continue // the access of a link cannot change
				}
				h.grant(t, cal, calendar.ReadAccess)
				link, secret, err := h.auth.CreateLink(t.Context(), h.caller("alice"), cal, auth.LinkSpec{
					Access: calendar.ReadAccess,
				})
				if err != nil {
					t.Fatal(err)
				}
				r := httptest.NewRequestWithContext(t.Context(), "REPORT",
					fmt.Sprintf("/dav/calendars/bob/%s/", cal.ID), strings.NewReader(body))
				r.Header.Set("Depth", "1")
				switch name {
				case "GET":
					r.Method = http.MethodGet
				case "public link":
					r = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/dav/links/"+string(secret)+".ics",
						http.NoBody)
				}
				r.Header.Set("As", "bob")
				got, broken := h.read(t, r, func() {
					h.grant(t, cal, level)
					if level == calendar.NoAccess {
						if err := h.auth.RevokeLink(t.Context(), link.ID); err != nil {
							t.Fatal(err)
						}
					}
					h.must(t, "PUT /dav/calendars/alice/work/e23.ics", longEvent(23, "written-later"))
					h.Pass(10 * time.Second)
				})
				if broken == (what == "stays") || broken && strings.Contains(got, "written-later") ||
					!broken && !strings.Contains(got, "UID:e23") {
					t.Errorf("%s, %s: broken %v, %d bytes, what was written later %v", name, what, broken, len(got),
						strings.Contains(got, "written-later"))
				}
				h.must(t, "PUT /dav/calendars/alice/work/e23.ics", longEvent(23, "old"))
			}
		}
	})
}

func longEvent(n int, summary string) string {
	uid := fmt.Sprintf("e%02d", n)
	return strings.Replace(event(uid, summary), "END:VEVENT", "DESCRIPTION:"+strings.Repeat("x", 60<<10)+
		"\r\nEND:VEVENT", 1)
}

func (h *house) caller(name string) calendar.Caller {
	return calendar.Caller{User: h.users[name], Scopes: calendar.ScopeAll}
}

// grant gives bob this access to a calendar.
func (h *house) grant(t *testing.T, cal calendar.Calendar, level calendar.Access) {
	t.Helper()
	err := h.Store.Update(t.Context(), func(tx calendar.Tx) error {
		if level == calendar.NoAccess {
			return tx.DropShare(t.Context(), cal.ID, h.users["bob"].ID)
		}
		return tx.PutShare(t.Context(), calendar.Share{
			Calendar: cal.ID, User: h.users["bob"], Access: level, Status: calendar.ShareAccepted, Created: now,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lapsing is a body whose sender's credential is revoked before its end.
type lapsing struct{ *strings.Reader }

func (l lapsing) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = auth.ErrUnauthorized
	}
	return n, err
}

// TestRevokedWhileTheBodyArrives: a request has no effect if its sender's credential is revoked before the end of the
// body. The sender must log in again (security M3).
func TestRevokedWhileTheBodyArrives(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		m := &matrix{t: t, house: h, relation: relation{as: "alice"}}
		m.prepare()
		before := m.state()
		for _, o := range caldav.Operations() {
			s := samples()[o.Name]
			if s.body == "" {
				continue
			}
			path := "/dav/calendars/alice/" + m.at + "/"
			switch o.Name {
			case "PUT":
				path += "new.ics"
			case "MKCOL":
				path = "/dav/calendars/alice/new/"
			}
			r := httptest.NewRequestWithContext(t.Context(), o.Method, path, lapsing{strings.NewReader(s.body)})
			if kind, ok := strings.CutPrefix(s.header, "Content-Type: "); ok {
				r.Header.Set("Content-Type", kind)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			// A report that does not exist for calendars is refused before the end of its body.
			if w.Code != http.StatusUnauthorized && (o.Method != "REPORT" || w.Code != http.StatusForbidden) {
				t.Errorf("%s %s: %d %s", o.Name, path, w.Code, w.Body)
			}
		}
		if diff := cmp.Diff(before, m.state()); diff != "" {
			t.Errorf("it changed something (-was +is):\n%s", diff)
		}
	})
}
