package access_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
)

// noise makes requests out of pieces of good ones.
type noise struct {
	*rand.Rand
	paths, values, bodies []string
}

// spoil changes a text a little, or not at all.
func (n *noise) spoil(text string) string {
	for range n.IntN(4) {
		at := n.IntN(len(text) + 1)
		end := min(len(text), at+n.IntN(12))
		switch n.IntN(6) {
		case 0:
			text = text[:at] + text[end:]
		case 1:
			text = text[:at] + text[at:end] + text[at:]
		case 2:
			text = text[:at] + pick(n.Rand, n.values) + text[end:]
		case 3:
			text = text[:at] + string(rune(n.IntN(0x250))) + text[end:]
		case 4:
			text = text[:at] + string([]byte{byte(n.IntN(256))}) + text[at:]
		default:
			text = text[:at]
		}
	}
	return text
}

var (
	methods = []string{
		"GET", "HEAD", "PUT", "DELETE", "POST", "PROPFIND", "PROPPATCH", "REPORT", "MKCALENDAR", "MKCOL", "COPY",
		"MOVE", "OPTIONS", "ACL", "LOCK", "PATCH",
	}
	headers = []string{
		"Depth", "If-Match", "If-None-Match", "If", "Destination", "Overwrite", "Range", "Content-Type", "Prefer",
		"Accept", "Schedule-Reply",
		"If-Schedule-Tag-Match", "CalDAV-Timezones", "Timezone", "Originator", "Recipient", "Content-Encoding",
		"Sec-Fetch-Site", "Origin", "Cookie",
	}
	noisyValues = []string{
		"", "0", "1", "infinity", "-1", "99999999999999999999", "*", `"x"`, `W/"x"`, "T", "F", "%", "%00", "%zz", "..",
		"//", "null", "{}", "[]", `"`,
		"text/calendar", "application/xml", "application/json", "multipart/form-data; boundary=x", "20270105T100000Z",
		"2027-01-05", "P1D", "Europe/Berlin",
		"FREQ=DAILY;COUNT=3", "FREQ=YEARLY;BYDAY=5MO", "mailto:bob@example.org", "bob", "team", "read",
		"http://localhost/dav/", "\r\n", "<![CDATA[", "&lt;", "\x00",
	}
	noisyBodies = []string{
		names, event("uid-0", "Noise"),
		strings.Replace(event("uid-n", "Noise"), "SUMMARY", "RRULE:FREQ=WEEKLY;COUNT=5\r\nEXDATE:20270112T100000Z\r\n"+
			"ORGANIZER:mailto:ann@example.org\r\nATTENDEE:mailto:bob@example.org\r\nSUMMARY", 1),
		`<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:displayname>x</D:displayname></D:prop></D:set></` +
			`D:propertyupdate>`,
		`<C:mkcalendar xmlns:C="urn:ietf:params:xml:ns:caldav" ` +
			`xmlns:D="DAV:"><D:set><D:prop><C:calendar-timezone>x</C:calendar-timezone></D:prop></D:set></` +
			`C:mkcalendar>`,
		`<C:calendar-query xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:prop><C:calendar-data><C:expand ` +
			`start="20270101T000000Z" end="20270201T000000Z"/></C:calendar-data></D:prop><C:filter><C:comp-filter ` +
			`name="VCALENDAR"><C:comp-filter name="VEVENT"><C:prop-filter name="SUMMARY"><C:text-match ` +
			`negate-condition="yes">x</C:text-match></C:prop-filter></C:comp-filter></C:comp-filter></C:filter></` +
			`C:calendar-query>`,
		`<D:sync-collection xmlns:D="DAV:"><D:sync-token>x</D:sync-token><D:sync-level>1</` +
			`D:sync-level><D:limit><D:nresults>1</D:nresults></D:limit><D:prop><D:getetag/></D:prop></` +
			`D:sync-collection>`,
		`<D:principal-property-search ` +
			`xmlns:D="DAV:"><D:property-search><D:prop><D:displayname/></D:prop><D:match>a</D:match></` +
			`D:property-search></D:principal-property-search>`,
		`<D:expand-property xmlns:D="DAV:"><D:property name="current-user-principal"><D:property ` +
			`name="displayname"/></D:property></D:expand-property>`,
		`<cs:share xmlns:cs="http://calendarserver.org/ns/" ` +
			`xmlns="DAV:"><cs:set><href>mailto:bob@example.org</href><cs:read/></cs:set></cs:share>`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"change_many",` +
			`"arguments":{"changes":[{"tool":"create_event","title":"x","start":"2027-01-05T10:00:00"}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"calendar://x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},` +
			`"argument":{"name":"x","value":""}}}`,
	}
	fields = []string{
		"name", "color", "description", "order", "timezone", "hidden", "free", "default", "with", "access", "answer",
		"days", "scope", "calendar", "change", "next", "uid",
		"password", "url", "kind", "titles", "made", "user", "email", "code", "made", "replace", "event", "choice", "q",
		"app", "since",
	}
	pages = []string{
		"", "calendars", "calendars/new", "calendars/ID", "calendars/ID/share", "calendars/ID/unshare",
		"calendars/ID/leave", "calendars/ID/delete", "calendars/ID/export",
		"import", "import/ID", "calendars/ID/links", "connect", "apps", "apps/new", "apps/x/revoke", "apps/x/made",
		"journal", "undo", "trash", "trash/ID/x/restore", "settings",
		"security", "sign-in", "sign-out", "confirm", "invitations/x", "people", "groups/x", "proposals/x", "linked",
		"webhooks", "profile/x",
	}
)

// TestWalkOfNoise: no request, however odd, is answered with a crash.
func TestWalkOfNoise(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		w := newWorld(newServer(t, url, true), true)
		seed := uint64(number(t, "MODEL_SEED", 20261127))
		n := &noise{Rand: rand.New(rand.NewPCG(seed, 2)), values: noisyValues, bodies: noisyBodies}
		for _, r := range w.rooms {
			n.paths = append(n.paths, r.path, r.path+"e.ics")
		}
		n.paths = append(n.paths, "/", "/.well-known/caldav", "/dav/", "/dav/principals/", "/dav/principals/ann/",
			"/dav/calendars/ann/inbox/", "/dav/calendars/ann/outbox/", "/dav/links/x/y.ics")
		_, secret, err := w.auth.CreateToken(t.Context(), auth.TokenSpec{
			User: "ann", Name: "noise", Scopes: calendar.ScopeAll,
		})
		w.must(err)
		token := &credential{world: w, who: w.people[0], token: true, secret: string(secret), scopes: calendar.ScopeAll}
		token.session = token.initialize()
		steps := number(t, "MODEL_STEPS", slowtest.Rounds(t, slowtest.Random, 300, 10000))
		for step := range steps {
			if step%1000 == 0 {
				w.people[0].signIn()
			}
			n.send(w, token)
			if t.Failed() {
				t.Fatalf("MODEL_SEED=%d, at request %d", seed, step)
			}
		}
	})
}

// send sends one request to one of the doors.
func (n *noise) send(w *world, token *credential) {
	r := httptest.NewRequestWithContext(w.Context(), pick(n.Rand, methods), "/",
		strings.NewReader(n.spoil(pick(n.Rand, n.bodies))))
	for range n.IntN(4) {
		r.Header.Set(pick(n.Rand, headers), n.spoil(pick(n.Rand, n.values)))
	}
	door := w.first
	switch n.IntN(3) {
	case 0:
		r.URL = &url.URL{Path: n.spoil(pick(n.Rand, n.paths)), RawQuery: n.spoil("")}
		r.SetBasicAuth(token.who.name, password)
	case 1:
		path := strings.ReplaceAll(pick(n.Rand, pages), "ID", pick(n.Rand, w.rooms).id)
		form := ""
		for range n.IntN(5) {
			form += pick(n.Rand, fields) + "=" + n.spoil(url.QueryEscape(pick(n.Rand, n.values))) + "&"
		}
		r = httptest.NewRequestWithContext(w.Context(), pick(n.Rand, []string{"GET", "POST", "POST"}), "/",
			strings.NewReader(form))
		r.URL = &url.URL{Path: "/account/" + n.spoil(path), RawQuery: form}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		for _, c := range token.who.cookies {
			r.AddCookie(c)
		}
	default:
		door = w.second
		r.Method, r.URL = http.MethodPost, &url.URL{Path: "/mcp"}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+token.secret)
		r.Header.Set("Mcp-Session-Id", token.session)
		r.Header.Set("Mcp-Protocol-Version",
			pick(n.Rand, []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "x"}))
	}
	defer func() {
		if crash := recover(); crash != nil {
			w.Errorf("%s %s?%s %v: %v", r.Method, r.URL.Path, r.URL.RawQuery, r.Header, crash)
		}
	}()
	w.send(door, r)
}
