package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/testdb"
)

// reachable gives the people of the house mail addresses, and the house mail.
func (h *house) reachable(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		mail := name + "@example.com"
		if err := h.Store.ChangeUser(t.Context(), h.callers[name].User.ID, auth.UserEdit{Email: &mail}); err != nil {
			t.Fatal(err)
		}
		for token, c := range h.callers {
			if c.User.Name == name {
				c.User.Email = mail
				h.callers[token] = c
			}
		}
	}
	config := h.middle()
	config.Mailed = true
	h.service = service.New(config)
}

// toldIn is the part of a result that lists the recipients.
type toldIn struct {
	UID   string
	ETag  string
	Told  []string
	Not   []string `json:"not_reached"`
	Why   string   `json:"nobody_told"`
	Guest []string `json:"attendees"`
}

// invitations are what list_invitations returns.
type invitationsOf struct {
	Invitations []struct {
		Calendar  string `json:"calendar_id"`
		UID       string `json:"event_uid"`
		ID        string `json:"recurrence_id"`
		Title     string
		Organizer string
		Series    bool
		Conflicts []string
		People    []string
	}
}

// TestDeletedCalendarTellsGuests: the question says how many people will be notified, and so does the result. The
// default calendar is not deleted (RFC 6638 §4.3), and a token without the scope invite cancels nothing.
func TestDeletedCalendarTellsGuests(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		shy := h.callers["alice"]
		shy.Token, shy.Scopes = "token-shy", calendar.ScopeUsual
		h.callers["alice-shy"] = shy
		door := h.open(t, h.config())
		meeting := params{
			"calendar_id": work, "title": "Plans", "start": "2026-03-04T09:30:00Z", "end": "2026-03-04T10:30:00Z",
			"attendees": []string{"bob@example.com", "Eve <eve@example.net>"},
		}
		use(t, door, "alice", "create_event", meeting, &toldIn{})
		args := `{"calendar_id":"` + string(work) + `"}`
		if said := refusalOf(t, door, "alice", "delete_calendar", args); !strings.Contains(said,
			"is the default calendar") || !strings.Contains(said, "update_calendar with is_default") {
			t.Errorf("the default calendar: %s", said)
		}
		h.homeIsDefault(t)
		if said := refusalOf(t, door, "alice-shy", "delete_calendar", args); !strings.Contains(said,
			"turns notifications off") {
			t.Errorf("without the scope: %s", said)
		}
		if said := modernCall(t, door, "alice", "delete_calendar", args, ""); !strings.Contains(said,
			"told 2 people that their meetings in it are cancelled or declined") {
			t.Errorf("the question: %s", said)
		}
		var gone deletedCalendar
		use(t, door, "alice", "delete_calendar", params{"calendar_id": work}, &gone)
		if !gone.Deleted || gone.People != 2 {
			t.Errorf("the answer: %+v", gone)
		}
	})
}

// TestInvitations: bob invites alice and an external attendee. alice sees the invitation with its conflicts and
// responds, and bob sees the response; a cancellation is sent too (mcp C2).
func TestInvitations(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		h.put(t, work, "dentist", wrapped(calendar.Event, "dentist", "DTSTART:20260304T090000Z",
			"DTEND:20260304T100000Z", "SUMMARY:Dentist"))
		door := h.open(t, h.config())
		bobs := "00000000-0000-4000-8000-000000000004"
		make := func(title, day string, more params) (v toldIn) {
			args := params{
				"calendar_id": bobs, "title": title, "start": day + "T09:30:00Z", "end": day + "T10:30:00Z",
				"attendees": []string{"alice@example.com", "Eve <eve@example.net>"},
			}
			maps.Copy(args, more)
			use(t, door, "bob", "create_event", args, &v)
			return v
		}
		later := make("Lunch", "2026-03-06", nil)
		daily := make("Standup", "2026-03-03", params{"rrule": "FREQ=DAILY;COUNT=5"})
		plans := make("Plans", "2026-03-04", nil)
		if diff := cmp.Diff([]string{"alice@example.com", "eve@example.net (by mail, within a minute)"},
			plans.Told); diff != "" {
			t.Errorf("told of a new event (-want +got):\n%s", diff)
		}
		var waiting invitationsOf
		use(t, door, "alice", "list_invitations", params{}, &waiting)
		var titles []string
		for _, i := range waiting.Invitations {
			titles = append(titles, i.Title+" of "+i.Organizer)
		}
		if diff := cmp.Diff([]string{
			"Standup of bob@example.com", "Plans of bob@example.com",
			"Lunch of bob@example.com",
		}, titles); diff != "" {
			t.Fatalf("alice is asked (-want +got):\n%s", diff)
		}
		if first := waiting.Invitations[0]; !first.Series || first.UID != daily.UID {
			t.Errorf("the series is %+v", first)
		}
		if beside := waiting.Invitations[1].Conflicts; !slices.ContainsFunc(beside,
			func(s string) bool { return strings.Contains(s, "Dentist") }) {
			t.Errorf("beside the plans: %v", beside)
		}
		respond := func(i int, more params) (v toldIn) {
			args := params{"calendar_id": waiting.Invitations[i].Calendar, "event_uid": waiting.Invitations[i].UID}
			maps.Copy(args, more)
			use(t, door, "alice", "respond_to_event", args, &v)
			return v
		}
		if v := respond(1, params{"answer": "accept", "comment": "Glad to"}); !slices.Equal(v.Told,
			[]string{"bob@example.com"}) {
			t.Errorf("told of an answer: %+v", v)
		}
		respond(0, params{"answer": "accept", "scope": "all"})
		respond(0, params{"answer": "decline", "scope": "this", "recurrence_id": "20260304T093000Z"})
		answersTo := func(uid, id string) string {
			var v toldIn
			use(t, door, "bob", "get_event", params{"calendar_id": bobs, "event_uid": uid, "recurrence_id": id}, &v)
			return v.Guest[0]
		}
		for _, c := range []struct{ uid, id, want string }{
			{plans.UID, "", "(ACCEPTED)"},
			{daily.UID, "20260303T093000Z", "(ACCEPTED)"},
			{daily.UID, "20260304T093000Z", "(DECLINED)"},
			{daily.UID, "20260305T093000Z", "(ACCEPTED)"},
			{later.UID, "", "(NEEDS-ACTION)"},
		} {
			if got := answersTo(c.uid, c.id); !strings.Contains(got, c.want) {
				t.Errorf("bob sees of %s %s: %s, want %s", c.uid, c.id, got, c.want)
			}
		}
		use(t, door, "alice", "list_invitations", params{}, &waiting)
		if len(waiting.Invitations) != 1 || waiting.Invitations[0].Title != "Lunch" ||
			!slices.Contains(waiting.Invitations[0].People, "Eve <eve@example.net> (NEEDS-ACTION)") {
			t.Errorf("still waiting: %+v", waiting.Invitations)
		}
		var v toldIn
		use(t, door, "bob", "delete_event", params{"calendar_id": bobs, "event_uid": plans.UID}, &v)
		if len(v.Told) != 2 {
			t.Errorf("called off: %+v", v)
		}
		v = toldIn{}
		text := contentText(t, use(t, door, "bob", "undo_change", params{"change_id": bobs + "." +
			lastChange(t, door)}, &v))
		if !slices.Contains(v.Told, "alice@example.com") || !strings.Contains(text, "Told: \"alice@example.com\"") {
			t.Errorf("taken back: %+v\n%s", v, text)
		}
		use(t, door, "bob", "delete_event", params{"calendar_id": bobs, "event_uid": plans.UID}, &v)
		v = toldIn{}
		text = contentText(t, use(t, door, "bob", "restore_event", params{
			"calendar_id": bobs,
			"event_uid":   plans.UID,
		}, &v))
		if v.Why != untoldByTrash || !strings.Contains(text, untoldByTrash) {
			t.Errorf("out of the trash: %+v\n%s", v, text)
		}
	})
}

// TestTokensThatInviteNobody: a token without the scope creates events without notifying anyone, says so, cannot change
// scheduled properties, and gets no tool to respond.
func TestTokensThatInviteNobody(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		quiet := h.callers["alice"]
		quiet.Scopes, quiet.Token = calendar.ScopeUsual, "token-q"
		h.callers["quiet"] = quiet
		door := h.open(t, h.config())
		args := params{
			"calendar_id": work, "title": "Plans", "start": "2026-03-04T09:00", "end": "2026-03-04T10:00",
			"attendees": []string{"bob@example.com"},
		}
		var made, told toldIn
		use(t, door, "quiet", "create_event", args, &made)
		if made.Told != nil || !strings.Contains(made.Why, "scope invite") {
			t.Errorf("without the scope: %+v", made)
		}
		use(t, door, "alice", "create_event", args, &told)
		if !slices.Equal(told.Told, []string{"bob@example.com"}) {
			t.Errorf("with it: %+v", told)
		}
		var waiting invitationsOf
		use(t, door, "bob", "list_invitations", params{}, &waiting)
		if len(waiting.Invitations) != 1 || waiting.Invitations[0].UID != told.UID {
			t.Errorf("bob was asked to %+v", waiting.Invitations)
		}
		of, _ := json.Marshal(params{
			"calendar_id": work, "event_uid": told.UID, "start": "2026-03-05T09:00",
			"end": "2026-03-05T10:00",
		})
		if said := refusalOf(t, door, "quiet", "patch_event", string(of)); !strings.Contains(said, "bob@example.com") ||
			!strings.Contains(said, "scope invite") {
			t.Errorf("moved without the scope: %s", said)
		}
		if said := refusalOf(t, door, "quiet", "respond_to_event", string(of)); !strings.Contains(said, "invite") {
			t.Errorf("answered without the scope: %s", said)
		}
		var list invitationsOf
		use(t, door, "quiet", "list_invitations", params{}, &list)
		if len(list.Invitations) != 0 {
			t.Errorf("alice is asked to her own: %+v", list)
		}
	})
}

// TestAnswersOfNobody: anyone who is not invited, organizes it, or means an instance that is not there, is refused.
func TestAnswersOfNobody(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.reachable(t, "alice", "bob")
	for uid, lines := range map[string][]string{
		"own":     {"ORGANIZER:mailto:alice@example.com", "ATTENDEE:mailto:bob@example.com"},
		"foreign": {"ORGANIZER:mailto:eve@example.net", "ATTENDEE:mailto:mallory@example.net"},
		"daily": {
			"RRULE:FREQ=DAILY;COUNT=2", "ORGANIZER:mailto:eve@example.net",
			"ATTENDEE:mailto:alice@example.com",
		},
	} {
		h.put(t, work, uid, wrapped(calendar.Event, uid, append(lines, "DTSTART:20260304T090000Z", "DURATION:PT1H",
			"SUMMARY:Plans")...))
	}
	door := h.open(t, h.config())
	for _, tt := range [...]struct{ more, want string }{
		{`"event_uid":"own","answer":"accept"`, "organizes this event"},
		{`"event_uid":"foreign","answer":"accept"`, "does not invite"},
		{`"event_uid":"daily","answer":"accept"`, "series"},
		{`"event_uid":"daily","answer":"accept","scope":"this","recurrence_id":"20260401T090000Z"`, "no "},
		{`"event_uid":"daily","answer":"delegate","scope":"all"`, "accept"},
		{
			`"event_uid":"daily","answer":"accept","scope":"all","if_match":"0123456789abcdef0123456789ab"`,
			"has changed",
		},
	} {
		if said := refusalOf(t, door, "alice", "respond_to_event", `{"calendar_id":"`+string(work)+`",`+tt.more+
			`}`); !strings.Contains(said, tt.want) {
			t.Errorf("%s: %s, want %q", tt.more, said, tt.want)
		}
	}
}

// TestPeopleGoByMailAddress: whose time is asked for may be named by mail address, as attendees are (mcp C8). By login
// name and address people are found who share nothing, as at the outbox of CalDAV; by full name they are as unknown as
// no user.
func TestPeopleGoByMailAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.furnishOffice(t)
	h.reachable(t, "alice", "bob", "carol")
	full := "Carol Day"
	if err := h.Store.ChangeUser(t.Context(), h.callers["carol"].User.ID,
		auth.UserEdit{DisplayName: &full}); err != nil {
		t.Fatal(err)
	}
	door := h.open(t, h.config())
	busy := func(who string) string {
		return h.say(t, door, "alice", "get_free_busy", params{
			"usernames": []string{who}, "start_time": "2026-03-02",
			"end_time": "2026-03-02",
		})
	}
	if byName, byMail := busy("carol"), busy("mailto:Carol@Example.com"); byName != byMail ||
		!strings.Contains(byMail, "Busy times") {
		t.Errorf("by name:\n%s\nby mail:\n%s", byName, byMail)
	}
	if byName, byFullName := busy("carol"), busy("carol DAY"); byName != byFullName {
		t.Errorf("by name:\n%s\nby full name:\n%s", byName, byFullName)
	}
	if found := h.say(t, door, "alice", "find_time", params{
		"duration_minutes": 45, "date_range": "2026-03-05", "usernames": []string{"Carol Day", "bob@example.com"},
		"hours_elsewhere": []string{"Carol Day 09:00-17:00 America/New_York"},
	}); !strings.Contains(found, "15:00") {
		t.Errorf("a time for people by their full names: %s", found)
	}
	bob, day := h.callers["bob"].User.ID, "Carol Day"
	if err := h.Store.ChangeUser(t.Context(), bob, auth.UserEdit{DisplayName: &day}); err != nil {
		t.Fatal(err)
	}
	if said := refusalOf(t, door, "alice", "get_free_busy",
		`{"usernames":["Carol Day"],"start_time":"2026-03-02","end_time":"2026-03-02"}`); !strings.Contains(said,
		`\"bob\", \"carol\"`) {
		t.Errorf("two of a name: %s", said)
	}
	for _, who := range []string{"carol", "Carol@example.com"} {
		said := h.say(t, door, "bob", "get_free_busy", params{
			"usernames": []string{who}, "start_time": "2026-03-02",
			"end_time": "2026-03-02",
		})
		if !strings.Contains(said, "12:00–16:00") {
			t.Errorf("bob asks for %s: %s", who, said)
		}
	}
	night := "Carol Night"
	if err := h.Store.ChangeUser(t.Context(), h.callers["carol"].User.ID,
		auth.UserEdit{DisplayName: &night}); err != nil {
		t.Fatal(err)
	}
	stranger := refusalOf(t, door, "bob", "get_free_busy",
		`{"usernames":["Carol Night"],"start_time":"2026-03-02","end_time":"2026-03-02"}`)
	nobody := refusalOf(t, door, "bob", "get_free_busy",
		`{"usernames":["Quite Nobody"],"start_time":"2026-03-02","end_time":"2026-03-02"}`)
	if want := strings.ReplaceAll(nobody, "Quite Nobody", "Carol Night"); stranger != want ||
		!strings.Contains(nobody, "no user here") {
		t.Errorf("a stranger's full name is told apart:\n%s\n%s", stranger, want)
	}
}

// lastChange is the version of bob's last change.
func lastChange(t *testing.T, door string) string {
	t.Helper()
	var v struct {
		Changes []struct {
			ID string `json:"change_id"`
		}
	}
	use(t, door, "bob", "list_changes", params{"limit": 1, "token": "own"}, &v)
	_, version, _ := strings.Cut(v.Changes[0].ID, ".")
	return version
}

// TestOwnAddresses: the user is known by each address that is theirs, however it is written.
func TestOwnAddresses(t *testing.T) {
	t.Parallel()
	alice := calendar.Caller{
		User:  calendar.User{Name: "alice", Email: "Alice@example.com"},
		Mails: []string{"alice@example.com", "al@x.test"},
	}
	for address, own := range map[string]bool{
		"mailto:alice@example.com": true, "MAILTO:ALICE@EXAMPLE.COM": true, "mailto:alice%40example.com": true,
		"alice@example.com": true, "mailto:AL@X.test": true,
		"mailto:Alice%20<alice@example.com>": true, "/dav/principals/alice/": true,
		"https://cal.example/dav/principals/alice": false,
		"mailto:bob@example.com":                   false, "/dav/principals/bob": false, "": false, "mailto:": false,
		"urn:uuid:1": false,
	} {
		if lookup.IsUser(alice, address) != own {
			t.Errorf("IsUser(%q) = %v", address, !own)
		}
		if lookup.IsUser(calendar.Caller{User: calendar.User{Name: "zoe"}}, address) {
			t.Errorf("%q is of somebody without an address", address)
		}
	}
}

// TestGuestsOfOneDay: anyone who is asked to one instance of a series gets that one, and answers it.
func TestGuestsOfOneDay(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.reachable(t, "alice", "bob")
	h.put(t, work, "daily", wrapped(calendar.Event, "daily", "DTSTART:20260303T090000Z", "DURATION:PT1H",
		"RRULE:FREQ=DAILY;COUNT=5", "SUMMARY:Standup"))
	door := h.open(t, h.config())
	var v toldIn
	use(t, door, "alice", "patch_event", params{
		"calendar_id": work, "event_uid": "daily", "recurrence_id": "20260304T090000Z", "scope": "this",
		"attendees": []string{"bob@example.com"},
	}, &v)
	if !slices.Equal(v.Told, []string{"bob@example.com"}) {
		t.Errorf("told of one day: %+v", v)
	}
	var waiting invitationsOf
	use(t, door, "bob", "list_invitations", params{}, &waiting)
	if len(waiting.Invitations) != 1 || waiting.Invitations[0].Series ||
		waiting.Invitations[0].ID != "20260304T090000Z" {
		t.Fatalf("bob is asked to %+v", waiting.Invitations)
	}
	one := waiting.Invitations[0]
	use(t, door, "bob", "respond_to_event", params{
		"calendar_id": one.Calendar, "event_uid": one.UID,
		"recurrence_id": one.ID, "scope": "this", "answer": "tentative",
	}, &v)
	if !slices.Equal(v.Told, []string{"alice@example.com"}) {
		t.Errorf("told of the answer: %+v", v)
	}
	h.expectText(t, work, "daily",
		"ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=TENTATIVE;SCHEDULE-STATUS=2.0:mailto\r\n :bob@example.com")
}

// TestSecondAddressesAreTheUsers: an event that names the user by a verified second address shows their answer, and
// that it is theirs.
func TestSecondAddressesAreTheUsers(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice")
		for _, err := range []error{
			h.Store.InsertAddress(t.Context(), "alice-id", auth.Address{Text: "ann@mail.test", Created: noon}),
			h.Store.VerifyAddress(t.Context(), "alice-id", "ann@mail.test", noon),
			h.Store.InsertAddress(t.Context(), "alice-id", auth.Address{Text: "new@mail.test", Created: noon}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		answered := func(uid, organizer, attendee string) {
			h.put(t, work, uid, wrapped(calendar.Event, uid, "DTSTART:20260303T140000Z", "DURATION:PT1H",
				"SUMMARY:"+uid,
				"ORGANIZER;SCHEDULE-AGENT=CLIENT:mailto:"+organizer, "ATTENDEE;PARTSTAT=ACCEPTED:mailto:"+organizer,
				"ATTENDEE;PARTSTAT=DECLINED:mailto:"+attendee))
		}
		answered("declined", "carol@x.test", "ann@mail.test")
		answered("unproven", "carol@x.test", "new@mail.test")
		answered("hosted", "ann@mail.test", "carol@x.test")
		door := h.open(t, h.config())
		got := map[string]string{}
		for _, uid := range []string{"declined", "unproven", "hosted"} {
			var v struct {
				Free     bool
				MyAnswer string `json:"my_answer"`
				By       string `json:"untrusted_text_by"`
			}
			use(t, door, "alice", "get_event", params{"calendar_id": work, "event_uid": uid}, &v)
			got[uid] = fmt.Sprint(v.Free, " ", v.MyAnswer, " ", v.By)
		}
		if diff := cmp.Diff(map[string]string{
			"declined": "true DECLINED carol@x.test", "unproven": "false  carol@x.test", "hosted": "false ACCEPTED ",
		}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		text := contentText(t, use(t, door, "alice", "list_events", params{"date_range": "2026-03-03"}, &struct{}{}))
		if !strings.Contains(text, ", free, the user's answer: declined, untrusted text by") {
			t.Error(text)
		}
	})
}
