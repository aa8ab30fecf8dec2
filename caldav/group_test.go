package caldav_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// RFC 3744 §4: a group is a principal with members, and a member is one with groups. Other users see neither.
func TestGroupPrincipal(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		group := calendar.User{ID: "g-staff", Name: "staff", DisplayName: "All of us", Created: now, Group: true}
		if err := h.Store.InsertUser(t.Context(), group, ""); err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{"alice", "bob"} {
			if _, err := h.Store.PutMember(t.Context(), group.ID, h.users[member].ID, now); err != nil {
				t.Fatal(err)
			}
		}
		ask := func(who, as string) reply {
			return h.send(t, "PROPFIND /dav/principals/"+who+"/\nDepth: 0\nContent-Type: application/xml\nAs: "+as,
				`<propfind xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><prop><displayname/`+
					`><group-member-set/><group-membership/><c:calendar-user-type/></prop></propfind>`)
		}
		for _, test := range []struct{ who, as, has, lacks string }{
			{"staff", "alice", "<d:group-member-set><d:href>/dav/principals/alice/</d:href><d:href>/dav/principals/" +
				"bob/</d:href></d:group-member-set>", "INDIVIDUAL"},
			{"staff", "alice", ">GROUP<", "<d:group-membership><"},
			{"alice", "alice", "<d:group-membership><d:href>/dav/principals/staff/</d:href></" +
				"d:group-membership>", "GROUP<"},
		} {
			if got := ask(test.who, test.as).body; !strings.Contains(flat(got), test.has) ||
				strings.Contains(flat(got), test.lacks) {
				t.Errorf("%s as %s: %s", test.who, test.as, got)
			}
		}
		if r := ask("staff", "o&d@example.com"); r.status != 404 {
			t.Errorf("who is in no group sees it: %d %s", r.status, r.body)
		}
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		h.must(t, "POST /dav/calendars/alice/work/\nContent-Type: "+
			"application/xml", `<cs:share xmlns:cs="http://calendarserver.org/ns/" xmlns="DAV:">`+
			`<cs:set><href>/dav/principals/staff/</href><cs:read-write/></cs:set></cs:share>`)
		bob := calendar.Caller{User: h.users["bob"], Scopes: calendar.ScopeAll}
		home, err := h.service.CalendarsInHome(t.Context(), bob)
		if err != nil || len(home) != 1 || home[0].Access != calendar.WriteAccess {
			t.Errorf("bob has %+v, %v", home, err)
		}
	})
}

// flat removes the blanks between the elements of a document.
func flat(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line))
	}
	return b.String()
}

// Shares have no exceptions for a member of a group or for a delegate, so lists that deny them access are refused.
func TestAccessListDenies(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		group := calendar.User{ID: "g-staff", Name: "staff", Created: now, Group: true}
		if err := h.Store.InsertUser(t.Context(), group, ""); err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{"alice", "bob"} {
			if _, err := h.Store.PutMember(t.Context(), group.ID, h.users[member].ID, now); err != nil {
				t.Fatal(err)
			}
		}
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		entry := func(verb, who string) string {
			return "<ace><principal><href>/dav/principals/" + who + "/</href></principal><" + verb +
				"><privilege><read/></privilege></" + verb + "></ace>"
		}
		send := func(what string, status int, entries ...string) {
			t.Helper()
			r := h.send(t, "ACL /dav/calendars/alice/work/\nContent-Type: application/xml",
				`<acl xmlns="DAV:">`+strings.Join(entries, "")+`</acl>`)
			if r.status != status || status == 403 && !strings.Contains(r.body, "no-ace-conflict") {
				t.Errorf("%s: %d %s", what, r.status, r.body)
			}
		}
		send("a group, and a denied member", 403, entry("grant", "staff"), entry("deny", "bob"))
		send("a denied group", 403, entry("deny", "staff"))
		send("a denied user", 200, entry("deny", "bob"))
		alice := calendar.Caller{User: h.users["alice"], Scopes: calendar.ScopeAll}
		_, _, err := h.service.SetDelegates(t.Context(), alice, calendar.ReadAccess, []calendar.User{h.users["bob"]})
		if err != nil {
			t.Fatal(err)
		}
		send("a denied delegate", 403, entry("deny", "bob"))
		bob := calendar.Caller{User: h.users["bob"], Scopes: calendar.ScopeAll}
		if home, err := h.service.CalendarsInHome(t.Context(), bob); err != nil || len(home) != 0 {
			t.Errorf("bob has %+v, %v", home, err)
		}
	})
}
