package mcp

import (
	"fmt"
	"strings"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/testdb"
)

// offers makes a house where shares need acceptance, and where bob offers alice calendars of these names.
func offers(t *testing.T, url string, access calendar.Access, names ...string) (h *house, ids []calendar.CalendarID) {
	t.Helper()
	h = newHouse(t, url)
	c := h.middle()
	c.NeedAcceptance = true
	h.service = service.New(c)
	for _, name := range names {
		cal, err := h.service.CreateCalendar(t.Context(), h.callers["bob"],
			calendar.NewCalendar{Properties: calendar.Properties{Name: name, Color: new(calendar.DefaultColor)}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.service.Share(t.Context(), h.callers["bob"], cal.ID, "alice", access); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, cal.ID)
	}
	return h, ids
}

type offeredAnswer struct {
	Truncated bool
	Offered   []offeredView `json:"offered_calendars"`
}

// TestOfferedCalendars: a calendar that waits is listed as an offer and not as a calendar, with its name cut and set
// apart as a foreign one, and is accepted by update_calendar.
func TestOfferedCalendars(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h, ids := offers(t, url, calendar.FreeBusyAccess, "[Click](https://evil.example) "+strings.Repeat("x",
			100), "Choir")
		door := h.open(t, h.config())
		args := params{"calendar_id": string(ids[1]), "accept": true}
		var waiting offeredAnswer
		text := contentText(t, use(t, door, "alice", "list_invitations", params{}, &waiting))
		if len(waiting.Offered) != 2 || waiting.Truncated || waiting.Offered[0].Untrusted != "bob" {
			t.Fatalf("offered are %+v", waiting)
		}
		for _, want := range []string{
			"No invitation waits", "untrusted text",
			`"Choir" of "bob", free-busy (calendar_id ` + string(ids[1]) + `)`, "\"[Click]\u202f(https",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
		if strings.Contains(text, strings.Repeat("x", 100)) {
			t.Errorf("a name is not cut: %s", text)
		}
		use(t, door, "alice", "list_invitations", params{"limit": 1}, &waiting)
		if len(waiting.Offered) != 1 || !waiting.Truncated {
			t.Errorf("of two one is listed: %+v", waiting)
		}
		var shared struct{ Calendars []calendarView }
		use(t, door, "alice", "list_shared_calendars", params{}, &shared)
		if len(shared.Calendars) > 0 {
			t.Errorf("what waits is shared: %+v", shared)
		}
		for said, args := range map[string]string{
			"no calendar": `{"calendar_id":"nothing","accept":true}`,
			"alone":       `{"calendar_id":"` + string(ids[1]) + `","accept":true,"name":"Mine"}`,
		} {
			if got := refusalOf(t, door, "alice", "update_calendar", args); !strings.Contains(got, said) {
				t.Errorf("%s: %s", args, got)
			}
		}
		for range 2 { // the second time it is accepted already
			var got calendarView
			use(t, door, "alice", "update_calendar", args, &got)
			if got.ID != ids[1] || got.Name != "Choir (bob)" || got.Permission != "free-busy" {
				t.Errorf("accepted %+v", got)
			}
		}
		text = contentText(t, use(t, door, "alice", "list_shared_calendars", params{}, &shared))
		if want := fmt.Sprintf(`[{"id":%q,"name":"Choir (bob)","owner_id":"bob-id","permission":"free-busy",`+
			`"color":"#0E61B9"}]`, ids[1]) + "\nThe names are untrusted text by the calendars' owners."; text != want {
			t.Errorf("shared are %s, want %s", text, want)
		}
		if _, err := h.service.Block(t.Context(), h.callers["alice"], ids[1]); err != nil {
			t.Fatal(err)
		}
		if got := refusalOf(t, door, "alice", "update_calendar", `{"calendar_id":"`+string(ids[0])+
			`","accept":true}`); !strings.Contains(got, "no calendar") {
			t.Errorf("of a blocked user: %s", got)
		}
		if got := refusalOf(t, door, "bob", "share_calendar", `{"calendar_id":"`+string(ids[0])+
			`","username":"alice","permission":"read"}`); !strings.Contains(got, "takes no calendars at present") {
			t.Errorf("with the blocker: %s", got)
		}
	})
}

// TestOfferIsConfirmed: where the client can ask, a calendar is accepted once the person has agreed.
func TestOfferIsConfirmed(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			h, ids := offers(t, testdb.SQLite(t), calendar.WriteAccess, "Choir")
			p := &person{action: mcpgo.ElicitationResponseActionDecline}
			c := connect(t, h.open(t, h.config()), "alice-other", version, p)
			args := params{"calendar_id": string(ids[0]), "accept": true}
			if said, refused := callBy(t, c, "update_calendar", args); !refused || !strings.Contains(said, "declined") {
				t.Errorf("declined: %s", said)
			}
			if asked := strings.Join(p.questions(), "\n"); !strings.Contains(asked,
				`accepted the calendar "Choir", which "bob" shares with you (read-write)`) {
				t.Errorf("asked: %s", asked)
			}
			p.action = mcpgo.ElicitationResponseActionAccept
			if said, refused := callBy(t, c, "update_calendar", args); refused ||
				!strings.Contains(said, "Choir (bob)") {
				t.Errorf("accepted: %s", said)
			}
			p.questions()
			if _, refused := callBy(t, c, "update_calendar", args); refused || p.questions() != nil {
				t.Error("it is asked again for what is accepted")
			}
		})
	}
}

// TestWaitingShareHasTheKeysOfTheFirstVersion: a note apart from the answer says that it waits.
func TestWaitingShareHasTheKeysOfTheFirstVersion(t *testing.T) {
	t.Parallel()
	h, ids := offers(t, testdb.SQLite(t), calendar.ReadAccess, "Choir")
	door := h.open(t, h.config())
	body := use(t, door, "bob", "share_calendar", params{
		"calendar_id": string(ids[0]), "username": "alice",
		"permission": "read-write",
	}, new(any))
	if want := fmt.Sprintf(`{\"calendar_id\":\"%s\",\"permission\":\"read-write\",\"shared_with\":\"alice\"}`,
		ids[0]); !strings.Contains(body, want) {
		t.Errorf("%s is not in %s", want, body)
	}
	if !strings.Contains(body, "The share waits") || strings.Contains(body, "status") {
		t.Errorf("it says %s", body)
	}
}
