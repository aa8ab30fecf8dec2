package caldav_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

const (
	aliceAlarm = "TRANSP:TRANSPARENT\r\nBEGIN:VALARM\r\nACTION:AUDIO\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n"
	bobAlarm   = "BEGIN:VALARM\r\nACTION:AUDIO\r\nTRIGGER:-PT1H\r\nEND:VALARM\r\n"
)

// ownEvent is an event that ends in lines of a user's own part.
func ownEvent(title, own string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20261120T100000Z\r\n" +
		"DTSTART:20261124T090000Z\r\nDURATION:PT1H\r\nX-Odd;a=b:c\r\nsummary:" +
		title + "\r\n" + own + "END:VEVENT\r\nEND:VCALENDAR\r\n"
}

// ownHouse has alice's calendar, which bob and carol may write to.
type ownHouse struct {
	*house
	t *testing.T
}

func newOwnHouse(t *testing.T, url string) ownHouse {
	h := ownHouse{newHouse(t, url, nil), t}
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	h.must(t, "PUT /dav/calendars/alice/work/a.ics",
		strings.ReplaceAll(ownEvent("A", aliceAlarm), "X-Odd;a=b:c\r\n", ""))
	for _, name := range []string{"bob"} {
		h.share(t, []string{"SHARE", "alice", "work", name, "write"})
	}
	return h
}

// at is a user's address for the calendar.
func (h ownHouse) at(who string) string {
	if who == "alice" {
		return "/dav/calendars/alice/work/"
	}
	return "/dav/calendars/" + who + "/id-1/"
}

func (h ownHouse) get(who string) (text, tag string) {
	h.t.Helper()
	got := h.must(h.t, "GET "+h.at(who)+"a.ics\nAs: "+who, "")
	return got.body, got.header.Get("ETag")
}

func (h ownHouse) token(who string) string {
	h.t.Helper()
	got := h.must(h.t, "PROPFIND "+h.at(who)+"\nDepth: 0\nAs: "+who,
		`<D:propfind xmlns:D="DAV:"><D:prop><D:sync-token/></D:prop></D:propfind>`)
	return regexp.MustCompile(`<d:sync-token>(.*)</d:sync-token>`).FindStringSubmatch(got.body)[1]
}

// news returns the tags of the changes that a user sees since a token.
func (h ownHouse) news(who, since string) (tags []string) {
	h.t.Helper()
	got := h.must(h.t, "REPORT "+h.at(who)+"\nAs: "+who, "<D:sync-collection"+busyNamed+"><D:sync-token>"+since+
		"</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>")
	for _, found := range regexp.MustCompile(`<d:getetag>(.*)</d:getetag>`).FindAllStringSubmatch(got.body, -1) {
		tags = append(tags, found[1])
	}
	return tags
}

// TestOwnAlarms: alarms and transparency belong to each user (caldav-sharing §5.5.4). One user's change of them does
// not affect the others (dav O-1).
func TestOwnAlarms(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newOwnHouse(t, url)
		plain := strings.ReplaceAll(ownEvent("A", ""), "X-Odd;a=b:c\r\n", "")
		hers, herTag := h.get("alice")
		if got, _ := h.get("bob"); got != plain {
			t.Errorf("bob finds alice's own: %s", got)
		}
		her, his := h.token("alice"), h.token("bob")
		mine := strings.Replace(plain, "END:VEVENT", bobAlarm+"END:VEVENT", 1)
		_, tag := h.get("bob")
		put := h.must(t, "PUT "+h.at("bob")+"a.ics\nAs: bob\nIf-Match: "+tag, mine)
		got, tag := h.get("bob")
		if got != mine || put.header.Get("ETag") != tag || tag == herTag {
			t.Errorf("bob put %q, and has %q:\n%s", put.header.Get("ETag"), tag, got)
		}
		if now, nowTag := h.get("alice"); now != hers || nowTag != herTag || h.token("alice") != her ||
			len(h.news("alice", her)) > 0 {
			t.Errorf("alice is told: %s", now)
		}
		if news := h.news("bob", his); len(news) != 1 || news[0] != strings.ReplaceAll(tag, `"`, `&#34;`) &&
			news[0] != tag {
			t.Errorf("bob's other program is told %v, want %s", news, tag)
		}
		if got := h.send(t, "PUT "+h.at("bob")+"a.ics\nAs: bob\nIf-Match: "+herTag, mine); got.status !=
			http.StatusPreconditionFailed {
			t.Errorf("alice's tag at bob's: %d", got.status)
		}
		// A change of the common part leaves each user's own part.
		h.must(t, "PUT "+h.at("bob")+"a.ics\nAs: bob", ownEvent("B", bobAlarm))
		if now, _ := h.get("alice"); now != ownEvent("B", aliceAlarm) {
			t.Errorf("alice's, after bob's change:\n%s", now)
		}
		h.must(t, "PUT "+h.at("alice")+"a.ics\nAs: alice", ownEvent("C", ""))
		if got, _ := h.get("bob"); got != ownEvent("C", bobAlarm) {
			t.Errorf("bob's, after alice's change:\n%s", got)
		}
		// A write that only updates DTSTAMP changes nothing for the others.
		her = h.token("alice")
		put = h.must(t, "PUT "+h.at("bob")+"a.ics\nAs: bob",
			strings.Replace(ownEvent("C", ""), "DTSTAMP:2026", "DTSTAMP:2027", 1))
		if got, _ := h.get("bob"); got != ownEvent("C", "") || put.header.Get("ETag") != "" || h.token("alice") != her {
			t.Errorf("bob's without alarms, %v:\n%s", put.header, got)
		}
	})
}

// TestOwnTransparency: a sharee's transparency does not affect the owner's (dav O-1).
func TestOwnTransparency(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newOwnHouse(t, url)
		h.must(t, "PUT "+h.at("alice")+"a.ics", ownEvent("A", ""))
		h.must(t, "PUT "+h.at("bob")+"a.ics\nAs: bob", ownEvent("A", "TRANSP:TRANSPARENT\r\n"))
		ask := `<C:free-busy-query` + busyNamed +
			`><C:time-range start="20261124T000000Z" end="20261125T000000Z"/></C:free-busy-query>`
		for _, who := range []string{"alice", "bob"} {
			if got := h.must(t, "REPORT "+h.at(who)+"\nAs: "+who, ask); !strings.Contains(got.body, "\nFREEBUSY") {
				t.Errorf("alice is free, %s is told: %s", who, got.body)
			}
		}
		// Bob's transparency counts for his time if the calendar counts as busy.
		h.must(t, "PROPPATCH "+h.at("bob")+"\nAs: bob", `<D:propertyupdate`+busyNamed+
			`><D:set><D:prop><C:schedule-calendar-transp><C:opaque/></C:schedule-calendar-transp></D:prop></D:set></`+
			`D:propertyupdate>`)
		if got := h.must(t, "REPORT /dav/calendars/bob/\nAs: bob", ask); strings.Contains(got.body, "\nFREEBUSY") {
			t.Errorf("bob is busy: %s", got.body)
		}
		h.must(t, "PUT "+h.at("bob")+"a.ics\nAs: bob", ownEvent("A", ""))
		if got := h.must(t, "REPORT /dav/calendars/bob/\nAs: bob", ask); !strings.Contains(got.body, "\nFREEBUSY") {
			t.Errorf("bob is free: %s", got.body)
		}
	})
}

// TestOwnAlarmsInEveryAnswer: every kind of request returns the sharee's own part, and no other user's.
func TestOwnAlarmsInEveryAnswer(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newOwnHouse(t, url)
		h.must(t, "PUT "+h.at("bob")+"a.ics\nAs: bob", ownEvent("A", bobAlarm))
		const alarms = `<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:comp-filter ` +
			`name="VALARM"><C:time-range start="20261124T%s" ` +
			`end="20261124T%s"/></C:comp-filter></C:comp-filter></C:comp-filter></C:filter>`
		query := func(from, until string) string {
			return `<C:calendar-query` + busyNamed + `><D:prop><C:calendar-data/></D:prop>` +
				fmt.Sprintf(alarms, from, until) + `</C:calendar-query>`
		}
		multiget := func(who string) string {
			return `<C:calendar-multiget` + busyNamed + `><D:prop><C:calendar-data/></D:prop><D:href>` + h.at(who) +
				`a.ics</D:href></C:calendar-multiget>`
		}
		early, late := query("075900Z", "080100Z"), query("085400Z", "085600Z")
		for range 3 { // the third read comes from memory
			for who, asks := range map[string]map[string]string{
				"bob": {
					"REPORT " + h.at("bob") + "\nDepth: 1": early, "REPORT " + h.at("bob"): multiget("bob"),
					"GET " + h.at("bob"): "",
				},
				"alice": {
					"REPORT " + h.at("alice") + "\nDepth: 1": late, "REPORT " + h.at("alice"): multiget("alice"),
					"GET " + h.at("alice"): "",
				},
			} {
				want, other := "TRIGGER:-PT1H", "TRIGGER:-PT5M"
				if who == "alice" {
					want, other = other, want
				}
				for head, body := range asks {
					if got := h.must(t, head+"\nAs: "+who, body).body; strings.Count(got, want) != 1 ||
						strings.Contains(got, other) {
						t.Errorf("%s asks %s:\n%s", who, head, got)
					}
				}
			}
			if got := h.must(t, "REPORT "+h.at("bob")+"\nDepth: 1\nAs: bob", late).body; strings.Contains(got,
				"a.ics") {
				t.Errorf("bob finds alice's alarm: %s", got)
			}
		}
	})
}

// TestOwnAlarmsOnTheWay: a moved object keeps the mover's own part, and stays unchanged for others.
func TestOwnAlarmsOnTheWay(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newOwnHouse(t, url)
		h.must(t, "MKCALENDAR /dav/calendars/bob/own/\nAs: bob", "")
		h.must(t, "PUT "+h.at("alice")+"a.ics\nAs: alice", ownEvent("A", aliceAlarm))
		h.must(t, "PUT "+h.at("bob")+"a.ics\nAs: bob", ownEvent("A", bobAlarm))
		h.must(t, "COPY "+h.at("bob")+"a.ics\nAs: bob\nDestination: /dav/calendars/bob/own/a.ics", "")
		if got := h.must(t, "GET /dav/calendars/bob/own/a.ics\nAs: bob", "").body; got != ownEvent("A", bobAlarm) {
			t.Errorf("bob's copy:\n%s", got)
		}
		// Moved away and back: other users of the calendar see a deletion and a new object.
		h.must(t, "DELETE "+h.at("bob")+"a.ics\nAs: bob", "")
		h.must(t, "MOVE /dav/calendars/bob/own/a.ics\nAs: bob\nDestination: "+h.at("bob")+"a.ics", "")
		if got, _ := h.get("bob"); got != ownEvent("A", bobAlarm) {
			t.Errorf("bob's:\n%s", got)
		}
		if got, _ := h.get("alice"); got != ownEvent("A", "") {
			t.Errorf("alice's:\n%s", got)
		}
	})
}
