package caldav_test

import (
	stdcmp "cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestNobody: without a login, a visitor learns only that a login is needed.
func TestNobody(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil) // the store is not used
	for _, o := range caldav.Operations() {
		for _, a := range caldav.Addresses() {
			got := h.send(t, fmt.Sprintf("%s %s\nAs: nobody", o.Method, a.Name), "")
			redirects := wellKnown(a) && o.Method != "PROPFIND"
			if got.status != http.StatusUnauthorized && !redirects || redirects && got.status/100 != 3 {
				t.Errorf("%s %s: %d", o.Name, a.Name, got.status)
			}
		}
	}
}

// TestLinkAuthorization tries every method and every report on public links. A link is read-only and shows only its
// content. A revoked one looks like one that never existed.
func TestLinkAuthorization(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		h.must(t, "PUT /dav/calendars/alice/work/a.ics", event("a", "secret"))
		m := linkMatrix{t: t, house: h}
		h.publish(t, "work", calendar.ReadAccess)
		open := h.secret
		h.publish(t, "work", calendar.FreeBusyAccess)
		busy := h.secret
		h.publish(t, "work", calendar.ReadAccess)
		if err := h.auth.RevokeLink(t.Context(), h.link.ID); err != nil {
			t.Fatal(err)
		}
		for _, o := range caldav.Operations() {
			for _, form := range []string{".ics", ".ifb"} {
				m.shows(o, string(open)+form, form == ".ics")
				m.shows(o, string(busy)+form, false)
				m.looksAbsent(o, string(h.secret)+form)
			}
		}
	})
}

// linkMatrix sends requests for links, without a login.
type linkMatrix struct {
	*house
	t *testing.T
}

// linkAnswers are the responses of the methods that work on links.
var linkAnswers = map[string]int{
	http.MethodGet: http.StatusOK, http.MethodHead: http.StatusOK, http.MethodOptions: http.StatusOK,
	"PROPFIND": http.StatusMultiStatus,
}

func (m *linkMatrix) ask(o caldav.Operation, link string) reply {
	m.t.Helper()
	s := samples()[o.Name]
	head := fmt.Sprintf("%s /dav/links/%s\nAs: nobody\n%s", o.Method, link,
		strings.ReplaceAll(s.header, "OWN", "/dav/links/"))
	return m.send(m.t, strings.TrimSpace(head), s.body)
}

// shows checks that a link is readable only, with and without titles.
func (m *linkMatrix) shows(o caldav.Operation, link string, titles bool) {
	m.t.Helper()
	before := m.must(m.t, "GET /dav/calendars/alice/work/", "").body
	got, want := m.ask(o, link), stdcmp.Or(linkAnswers[o.Method], http.StatusMethodNotAllowed)
	told := strings.Contains(got.body, "secret")
	if got.status != want || told != (titles && o.Method == http.MethodGet) {
		m.t.Errorf("%s of a link: %d %s, want %d", o.Name, got.status, got.body, want)
	}
	if diff := cmp.Diff(before, m.must(m.t, "GET /dav/calendars/alice/work/", "").body); diff != "" {
		m.t.Errorf("%s of a link changed something (-was +is):\n%s", o.Name, diff)
	}
}

// looksAbsent compares the response with the one for a link that never existed.
func (m *linkMatrix) looksAbsent(o caldav.Operation, link string) {
	m.t.Helper()
	got, want := m.ask(o, link), m.ask(o, "never"+link[len("never"):])
	if got.status != want.status || got.body != want.body ||
		linkAnswers[o.Method] > 0 && o.Method != http.MethodOptions && got.status != http.StatusNotFound {
		m.t.Errorf("%s of a revoked link: %d %s\nwhere there never was one: %d %s", o.Name, got.status, got.body,
			want.status, want.body)
	}
	if diff := cmp.Diff(want.header, got.header); diff != "" {
		m.t.Errorf("%s of a revoked link has other headers (-never +revoked):\n%s", o.Name, diff)
	}
}
