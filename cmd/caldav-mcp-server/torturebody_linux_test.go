package main

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// hostileBody is a malicious request. It may be refused, or succeed in its own calendar; it must never cause an
// internal error.
type hostileBody struct {
	name, method, path, body string
	headers                  []string
	// tool is for the other door: the body is a message of JSON-RPC.
	tool bool
}

// hostileBodies sends them all, a few at a time.
func (x *torture) hostileBodies() {
	c := x.anyServer(x.random)
	all := bombs()
	x.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	next := make(chan hostileBody)
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			for b := range next {
				x.hostileBody(c, b)
			}
		})
	}
	for _, b := range all {
		next <- b
	}
	close(next)
	senders.Wait()
	x.replaceNothing(c)
}

func (x *torture) hostileBody(c client, b hostileBody) {
	var a answer
	var err error
	if b.tool {
		a, err = c.send(x.t.Context(), http.MethodPost, c.mcp(), b.body, "Authorization", "Bearer "+c.tok,
			"Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	} else {
		a, err = c.dav(x.t.Context(), b.method, home+hostile+b.path, b.body,
			append(b.headers, "Content-Type", "application/xml")...)
	}
	// 502 is what RFC 4918 §9.9.4 has for a destination elsewhere. An answer may be lost where the server closes the
	// connection on a body that it does not read to its end.
	if err == nil && a.status >= 500 && a.status != http.StatusBadGateway &&
		a.status != http.StatusServiceUnavailable && a.status != http.StatusInsufficientStorage {
		x.t.Errorf("%s was answered with %d: %.300s", b.name, a.status, a.body)
	}
}

// replaceNothing asserts that the server is the one that it was.
func (x *torture) replaceNothing(c client) {
	select {
	case <-c.gone:
		x.t.Fatalf("the server ended: %v\n%s", c.failure, lastLines(c))
	default:
	}
}

func bombs() []hostileBody {
	const dav = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">`
	long := func(s string, n int) string { return strings.Repeat(s, n) }
	query := func(inner string) string {
		return `<C:calendar-query` + dav + `<D:prop><D:getetag/></D:prop><C:filter><C:comp-filter name="VCALENDAR">` +
			inner + `</C:comp-filter></C:filter></C:calendar-query>`
	}
	entities := `<!DOCTYPE x [<!ENTITY a "ha">`
	for i := range 12 {
		entities += fmt.Sprintf(`<!ENTITY %c "%s">`, 'b'+i, long(fmt.Sprintf("&%c;", 'a'+i), 10))
	}
	put := func(name, lines string) hostileBody {
		return hostileBody{
			name: name, method: http.MethodPut, path: "/" + strings.ReplaceAll(name, " ", "-") + ".ics",
			body: event("hostile "+name, "hostile\r\n"+lines),
		}
	}
	var packed strings.Builder
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write(make([]byte, 20<<20))
	_ = zip.Close()
	rpc := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	return []hostileBody{
		{name: "deep XML", method: "PROPFIND", path: "/", body: long("<a>", 300_000)},
		{name: "deep properties", method: "PROPPATCH", path: "/", body: `<D:propertyupdate` + dav + `<D:set><D:prop>` +
			long(`<x:a xmlns:x="u">`, 5000) + long(`</x:a>`, 5000) + `</D:prop></D:set></D:propertyupdate>`},
		{name: "10 MB of a property", method: "PROPPATCH", path: "/", body: `<D:propertyupdate` + dav +
			`<D:set><D:prop><a xmlns="u">` + long("x", 10<<20) + `</a></D:prop></D:set></D:propertyupdate>`},
		{name: "10,000 properties", method: "PROPPATCH", path: "/", body: `<D:propertyupdate` + dav +
			`<D:set><D:prop>` + long(`<a xmlns="u">x</a>`, 10_000) + `</D:prop></D:set></D:propertyupdate>`},
		{name: "a billion laughs", method: "PROPFIND", path: "/", body: entities + `]><D:propfind` + dav +
			`&m;</D:propfind>`},
		{name: "a huge href", method: "REPORT", path: "/", body: `<C:calendar-multiget` + dav +
			`<D:prop><D:getetag/></D:prop><D:href>/` + long("h", 4<<20) + `</D:href></C:calendar-multiget>`},
		{name: "many hrefs", method: "REPORT", path: "/", body: `<C:calendar-multiget` + dav +
			`<D:prop><D:getetag/></D:prop>` + long(`<D:href>/x</D:href>`, 200_000) + `</C:calendar-multiget>`},
		{name: "a deep filter", method: "REPORT", path: "/", body: query(long(`<C:comp-filter name="VEVENT">`, 5000) +
			long(`</C:comp-filter>`, 5000))},
		{name: "a wide filter", method: "REPORT", path: "/", body: query(
			`<C:comp-filter name="VEVENT">` +
				long(`<C:prop-filter name="SUMMARY"><C:text-match>x</C:text-match></C:prop-filter>`, 20_000) +
				`</C:comp-filter>`,
		)},
		{name: "a packed body", method: http.MethodPut, path: "/packed.ics", body: packed.String(), headers: []string{
			"Content-Encoding", "gzip",
		}},
		{name: "a huge name", method: http.MethodPut, path: "/" + long("n", 60_000), body: event("hostile", "hostile")},
		{name: "no characters", method: http.MethodPut, path: "/bytes.ics", body: long("\x00\xff\xfe", 1<<20)},
		{name: "moved far away", method: "MOVE", path: "/none.ics", headers: []string{
			"Destination", "http://elsewhere.example/" + long("../", 5000),
		}},
		put("10 MB of text", "DESCRIPTION:"+long("x", 10<<20)),
		put("many lines", long("COMMENT:x\r\n", 200_000)+"X-END:1"),
		put("many guests", long("ATTENDEE:mailto:a@example.com\r\n", 50_000)+"X-END:1"),
		put("every second", "RRULE:FREQ=SECONDLY\r\nX-END:1"),
		put("an endless rule", "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;BYSECOND="+long("1,", 5000)+"1"),
		put("many dates", "RDATE:"+long("20260301T090000Z,", 100_000)+"20260301T090000Z"),
		put("one long line", long("X", 3<<20)+":x"),
		{name: "deep components", method: http.MethodPut, path: "/deep.ics", body: "BEGIN:VCALENDAR\r\n" +
			long("BEGIN:VEVENT\r\n", 50_000)},
		{name: "deep JSON", tool: true, body: rpc(long("[", 500_000))},
		{name: "deep arguments", tool: true, body: rpc(`{"name":"list_events","arguments":` + long(`{"a":`, 100_000) +
			`1` + long(`}`, 100_000) + `}`)},
		{name: "a long argument", tool: true, body: rpc(`{"name":"search_events","arguments":{"query":"` +
			long("x ", 2<<20) + `"}}`)},
		{name: "many at once", tool: true, body: "[" +
			long(rpc(`{"name":"list_calendars","arguments":{}}`)+",", 10_000) + rpc(`{}`) + "]"},
		{name: "many changes", tool: true, body: rpc(`{"name":"change_many","arguments":{"changes":[` +
			long(`{"tool":"delete_event","calendar_id":"x","event_uid":"y"},`, 20_000) + `{}]}}`)},
	}
}
