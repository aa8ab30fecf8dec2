package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/linked/google"
	"caldav-mcp-server/linked/google/googletest"
	"caldav-mcp-server/linked/microsoft"
	"caldav-mcp-server/linked/microsoft/graphtest"
)

// accountMail is the address of alice's linked account, which is none of hers here.
const accountMail = "ann@corp.test"

// remote is a linked account of alice at a fake provider.
type remote struct {
	*house
	door string
	cal  calendar.CalendarID
	// invite has somebody invite the account to "Review"; answer returns its answer, with the comment.
	invite func()
	answer func() string
	mu     sync.Mutex
	wire   []string
}

// remotes are the providers that notify attendees, by their names.
var remotes = map[string]func(*remote, *zone.DB) (http.Handler, func(string, *http.Client) mirror.Provider){
	"Google": func(r *remote, zones *zone.DB) (http.Handler, func(string, *http.Client) mirror.Provider) {
		server := googletest.New()
		server.Add(accountMail, "UTC")
		r.invite = func() {
			server.Set(accountMail, googletest.Event{
				"summary": "Review", "organizer": map[string]any{"email": "boss@corp.test"},
				"start": map[string]any{"dateTime": "2026-03-05T10:00:00Z"},
				"end":   map[string]any{"dateTime": "2026-03-05T11:00:00Z"},
				"attendees": []any{
					map[string]any{"email": "boss@corp.test", "responseStatus": "accepted", "organizer": true},
					map[string]any{"email": accountMail, "responseStatus": "needsAction", "self": true},
				},
			})
		}
		r.answer = func() string {
			for _, e := range server.Events(accountMail) {
				guests, _ := e["attendees"].([]any)
				for _, g := range guests {
					if guest, _ := g.(map[string]any); e["summary"] == "Review" && guest["email"] == accountMail {
						return fmt.Sprint(guest["responseStatus"], " ", guest["comment"])
					}
				}
			}
			return ""
		}
		return server.Handler(), func(base string, client *http.Client) mirror.Provider {
			p := google.Provider(google.Client("id", "secret", client, nil), base, zones)
			p.Open = func(mirror.Opening) (mirror.Source, error) {
				return google.Open(base+"/calendar/v3", client, zones, goodKey), nil
			}
			return p
		}
	},
	"Microsoft": func(r *remote, zones *zone.DB) (http.Handler, func(string, *http.Client) mirror.Provider) {
		server := graphtest.New()
		server.Owner = accountMail
		r.invite = func() {
			address := func(mail string) map[string]any { return map[string]any{"address": mail, "name": mail} }
			server.Set(graphtest.Event{
				"subject": "Review", "isOrganizer": false,
				"organizer":      map[string]any{"emailAddress": address("boss@corp.test")},
				"responseStatus": map[string]any{"response": "notResponded"},
				"start":          map[string]any{"dateTime": "2026-03-05T10:00:00", "timeZone": "UTC"},
				"end":            map[string]any{"dateTime": "2026-03-05T11:00:00", "timeZone": "UTC"},
				"attendees": []any{map[string]any{
					"type": "required", "emailAddress": address(accountMail),
					"status": map[string]any{"response": "none"},
				}},
			})
		}
		r.answer = func() string {
			all := server.Taken()
			if len(all) == 0 {
				return ""
			}
			last := all[len(all)-1]
			return strings.TrimPrefix(last.Method, "POST ") + " " + fmt.Sprint(last.Body["comment"])
		}
		return server.Handler(), func(base string, client *http.Client) mirror.Provider {
			server.Base = base
			p := microsoft.Provider(microsoft.Client("id", "secret", "", client, nil), base, zones)
			p.Open = func(mirror.Opening) (mirror.Source, error) {
				return microsoft.Open(base+"/v1.0", client, zones, r.Now, goodKey), nil
			}
			return p
		}
	},
}

func goodKey(context.Context, string) (string, error) { return "good", nil }

// eachRemote runs a test with each provider, on each database.
func eachRemote(t *testing.T, test func(*testing.T, string, *remote)) {
	t.Parallel()
	for name, begin := range remotes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, func(t *testing.T, url string) {
				r := &remote{house: newHouse(t, url)}
				r.reachable(t, "alice", "bob")
				handler, provider := begin(r, zone.NewDB())
				at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					if q.Method != http.MethodGet {
						r.mu.Lock()
						r.wire = append(r.wire, q.Method+" "+q.URL.Query().Get("sendUpdates"))
						r.mu.Unlock()
					}
					handler.ServeHTTP(w, q)
				}))
				t.Cleanup(at.Close)
				r.invite()
				config := r.middle()
				config.Mailed, config.Providers["far"] = true, provider(at.URL, at.Client())
				r.service = service.New(config)
				alice := r.callers["alice"]
				alice.Token = ""
				linked, _, err := r.service.Mirrors.Link(t.Context(), alice, mirror.NewAccount{
					Provider: "far", Name: "My job", Subject: accountMail, Secret: mirror.Secret{Username: accountMail},
				})
				if err != nil {
					t.Fatal(err)
				}
				r.cal, r.door = linked.Calendars[0].ID, r.open(t, r.config())
				test(t, name, r)
			})
		})
	}
}

// TestGuestsOfALinkedCalendarAreTold: the account organizes what is made in its calendar, so its provider tells the
// guests, and the answer says so. The mail address that the user has here counts for nothing there.
func TestGuestsOfALinkedCalendarAreTold(t *testing.T) {
	eachRemote(t, func(t *testing.T, name string, r *remote) {
		told := []string{"eve@corp.test (by " + name + ")"}
		var made struct {
			toldIn
			Organizer string
			Untrusted string `json:"untrusted_text_by"`
		}
		text := use(t, r.door, "alice", "create_event", map[string]any{
			"calendar_id": r.cal, "title": "Guests", "start": "2026-03-04T10:00", "end": "2026-03-04T11:00",
			"attendees": []string{"Eve <eve@corp.test>"},
		}, &made)
		if diff := cmp.Diff(told, made.Told); diff != "" || made.Organizer != accountMail || made.Untrusted != "" {
			t.Errorf("by %q, untrusted %q, told -want +got\n%s", made.Organizer, made.Untrusted, diff)
		}
		if !strings.Contains(text, told[0]) {
			t.Errorf("the text says nothing: %s", text)
		}
		var now toldIn
		for _, step := range []struct {
			tool string
			args map[string]any
		}{
			{"patch_event", map[string]any{"title": "Guests, new"}},
			{"move_event", map[string]any{"new_start": "2026-03-04T14:00"}},
			{"patch_event", map[string]any{"add_attendees": []string{"eve@corp.test"}, "location": "Room 1"}},
			{"delete_event", map[string]any{}},
		} {
			step.args["calendar_id"], step.args["event_uid"] = r.cal, made.UID
			now = toldIn{}
			use(t, r.door, "alice", step.tool, step.args, &now)
			if diff := cmp.Diff(told, now.Told); diff != "" || now.Why != "" || now.Not != nil {
				t.Errorf("%s %v: nobody %q, not reached %q, -want +got\n%s",
					step.tool, step.args, now.Why, now.Not, diff)
			}
		}
		silent := func(write string) bool { return !strings.HasSuffix(write, " all") }
		if name == "Google" && slices.ContainsFunc(r.wire, silent) {
			t.Errorf("Google got %q", r.wire)
		}
		if letters, _, err := r.Store.WaitingLetters(t.Context()); letters != 0 || err != nil {
			t.Errorf("this server writes %d mails as well, %v", letters, err)
		}
	})
}

// TestAnAppsEventInALinkedCalendar: an app writes the user's main address into an event that it makes in a linked
// calendar. The account organizes it all the same; what another address of the user organizes there stays what it is.
func TestAnAppsEventInALinkedCalendar(t *testing.T) {
	eachRemote(t, func(t *testing.T, _ string, r *remote) {
		alice := r.callers["alice"]
		cal, err := r.service.Calendar(t.Context(), alice, r.cal)
		if err != nil {
			t.Fatal(err)
		}
		text := wrapped(calendar.Event, "app", "DTSTART:20260304T100000Z", "DTEND:20260304T110000Z", "SUMMARY:App",
			"ORGANIZER;CN=Alice;EMAIL=alice@example.com:mailto:alice@example.com",
			"ATTENDEE;CN=Alice;PARTSTAT=ACCEPTED:mailto:alice@example.com",
			"ATTENDEE;RSVP=TRUE:mailto:eve@corp.test")
		saved, err := r.service.Put(t.Context(), alice, cal, calendar.Draft{Name: "app.ics", Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(string(saved.Object.Data), "\r\n ", "")
		if strings.Contains(got, "alice@example.com") || !strings.Contains(got, ":mailto:"+accountMail) {
			t.Errorf("it is stored as\n%s", got)
		}
		if len(saved.Told) != 1 || saved.Told[0].To != "eve@corp.test" || !saved.Told[0].Reached() {
			t.Errorf("told %+v", saved.Told)
		}
	})
}

// TestInvitationsOfALinkedAccount: an invitation of the account waits, is answered, and counts as what was answered.
// The account's address is nobody's for mail from elsewhere.
func TestInvitationsOfALinkedAccount(t *testing.T) {
	eachRemote(t, func(t *testing.T, name string, r *remote) {
		var waiting invitationsOf
		use(t, r.door, "alice", "list_invitations", nil, &waiting)
		if len(waiting.Invitations) != 1 || waiting.Invitations[0].Title != "Review" {
			t.Fatalf("waiting are %+v", waiting.Invitations)
		}
		var now struct {
			toldIn
			Answered string
		}
		use(t, r.door, "alice", "respond_to_event", map[string]any{
			"calendar_id": r.cal, "event_uid": waiting.Invitations[0].UID, "answer": "decline",
			"comment": "On holiday, sorry",
		}, &now)
		told := []string{"boss@corp.test (by " + name + ")"}
		if diff := cmp.Diff(told, now.Told); diff != "" || now.Answered != "DECLINED" {
			t.Errorf("%s, told -want +got\n%s", now.Answered, diff)
		}
		if said := r.answer(); said != "declined On holiday, sorry" {
			t.Errorf("%s has %q", name, said)
		}
		said := r.say(t, r.door, "alice", "list_events", map[string]any{"date_range": "2026-03-05"})
		if !strings.Contains(said, ", free, the user's answer: declined") {
			t.Errorf("the day: %s", said)
		}
		var busy struct{ Busy []any }
		day := map[string]any{"start_time": "2026-03-05", "end_time": "2026-03-05"}
		use(t, r.door, "alice", "get_free_busy", day, &busy)
		if len(busy.Busy) != 0 {
			t.Errorf("busy: %+v", busy.Busy)
		}
		if found, err := r.Store.UsersAt(t.Context(), []string{accountMail}, nil); err != nil || len(found) != 0 {
			t.Errorf("the address finds %v, %v", found, err)
		}
	})
}
