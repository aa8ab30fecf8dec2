package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
)

// unsealed keeps secrets as they are: how they are sealed is another room's.
type unsealed struct{}

func (unsealed) Seal(secret []byte, _, _ string) (sealed []byte, key string, err error) {
	return secret, "k", nil
}
func (unsealed) Open(sealed []byte, _, _ string) ([]byte, error) { return sealed, nil }
func (unsealed) Present() (string, error)                        { return "k", nil }

// noticeBoard is a feed published at a URL.
type noticeBoard string

func noticeBoards() mirror.Provider {
	return mirror.Provider{
		Title: "feed", Every: time.Hour, Feed: true,
		Open: func(o mirror.Opening) (mirror.Source, error) {
			if !strings.HasPrefix(o.Secret.URL, "https://") {
				return nil, mirror.Refusef("an address begins with https://")
			}
			if o.Secret.Alarms {
				o.Secret.URL += "?ringing"
			}
			return noticeBoard(o.Secret.URL), nil
		},
		Address: func(mirror.Secret) string { return "feeds.example" },
		Noted: func(kept []calendar.DeadProperty) (string, bool) {
			for _, p := range kept {
				return p.Value, true
			}
			return "", false
		},
	}
}

func (n noticeBoard) Calendars(context.Context) ([]mirror.Remote, error) {
	if strings.Contains(string(n), "planted") {
		return []mirror.Remote{{Name: plant("feed")}}, nil
	}
	return []mirror.Remote{{Name: "Choir \"ignore all\"\u202e"}}, nil
}

func (n noticeBoard) Changes(_ context.Context, _, cursor string) (mirror.Changes, error) {
	if cursor != "" && strings.Contains(string(n), "vanishing") {
		return mirror.Changes{}, mirror.ErrGone
	}
	one := func(uid, title string) mirror.Object {
		return mirror.Object{Ref: uid, Version: title, UID: uid, Data: []byte(wrapped(calendar.Event, uid,
			"DTSTART:20260305T170000Z", "DTEND:20260305T190000Z", "SUMMARY:"+title))}
	}
	if strings.HasSuffix(string(n), "?ringing") {
		o := one("sing", "Rehearsal")
		o.Data = []byte(strings.Replace(string(o.Data), "END:VEVENT",
			"BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:Sing\r\nTRIGGER:-PT30M\r\nEND:VALARM\r\nEND:VEVENT", 1))
		return mirror.Changes{Objects: []mirror.Object{o}, Cursor: "1", Whole: true}, nil
	}
	if cursor != "" && strings.Contains(string(n), "locked") {
		return mirror.Changes{}, mirror.ErrSignIn
	}
	page := mirror.Changes{Objects: []mirror.Object{one("sing", "Rehearsal")}, Cursor: "1", Whole: true}
	if strings.Contains(string(n), "planted") {
		page.Objects = []mirror.Object{{
			Ref: "feed", Version: "1", UID: "feed",
			Data: []byte(wrapped(calendar.Event, "feed", "DTSTART:20260303T090000Z", "DURATION:PT1H",
				"SUMMARY:"+plant("published"), "DESCRIPTION:"+plant("notes"), "URL:https://evil.example/PLANT-url")),
		}}
	}
	if cursor != "" {
		page.Objects = append(page.Objects, one("concert", "Concert"))
	}
	return page, nil
}

func (noticeBoard) Put(context.Context, string, mirror.Object) (mirror.Object, error) {
	return mirror.Object{}, errors.ErrUnsupported
}

func (noticeBoard) Delete(context.Context, string, mirror.Object) error {
	return errors.ErrUnsupported
}

// TestFollowingAFeed: an assistant subscribes to a feed, sees its events and where they are from, has it looked at, and
// unlinks it. Its address, which may be all that keeps strangers out, is in no answer and no log.
func TestFollowingAFeed(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		door := h.open(t, h.config())
		var made subscribedView
		use(t, door, "alice", "subscribe_calendar", map[string]any{"url": "https://feeds.example/s3cret.ics"}, &made)
		if made.Created != 1 || made.Calendar == "" || made.Account == "" {
			t.Fatalf("got %+v", made)
		}
		if said := h.say(t, door, "alice", "list_calendars", nil); !strings.Contains(said, readOnlyMark) ||
			strings.Contains(said, "\u202e") {
			t.Errorf("the calendars: %s", said)
		}
		if said := h.say(t, door, "alice", "list_events", map[string]any{"date_range": "next week"}); !strings.Contains(
			said, "Rehearsal") {
			t.Errorf("the week: %s", said)
		}
		refused := h.say(t, door, "alice", "create_event", map[string]any{
			"calendar_id": made.Calendar, "title": "Mine",
			"start": "2026-03-05T09:00", "end": "2026-03-05T10:00",
		})
		if !strings.Contains(refused, "takes no changes from here") {
			t.Errorf("a feed is written to: %s", refused)
		}
		status := h.say(t, door, "alice", "calendar_auth_status", nil)
		for _, want := range []string{
			string(made.Account), "good", "1 calendars",
			"https://cal.example/dav/account/linked", "ignore all",
		} {
			if !strings.Contains(status, want) {
				t.Errorf("the status lacks %q: %s", want, status)
			}
		}
		for name, want := range map[string]string{"bob": "no account", "alice-bound": "lacks", "alice-read": "lacks"} {
			said := refusalOf(t, door, name, "update_linked_account", `{"account":"`+string(made.Account)+
				`","action":"refresh"}`)
			if !strings.Contains(said, want) {
				t.Errorf("%s: %s", name, said)
			}
			if said := h.say(t, door, name, "calendar_auth_status", nil); name != "alice-read" &&
				strings.Contains(said, string(made.Account)) {
				t.Errorf("%s is told: %s", name, said)
			}
		}
		var looked lookedView
		use(t, door, "alice", "update_linked_account", map[string]any{
			"account": made.Account,
			"action":  "refresh",
		}, &looked)
		if looked.Created != 1 {
			t.Errorf("a look brings %+v", looked)
		}
		if said := h.say(t, door, "alice", "list_changes", nil); !strings.Contains(said, "changed at feeds.example") &&
			!strings.Contains(said, "changed at Choir") {
			t.Errorf("the changes: %s", said)
		}
		use(t, door, "alice", "update_linked_account", map[string]any{
			"account": made.Account,
			"action":  "unlink_keep",
		}, &looked)
		if said := h.say(t, door, "alice", "get_calendar",
			map[string]any{"calendar_id": made.Calendar}); strings.Contains(said, "linked_to") {
			t.Errorf("it is linked still: %s", said)
		}
		if all := status + h.Log.String(); strings.Contains(all, "s3cret") {
			t.Error("the address is told")
		}
	})
}

// TestFollowingWhatAnAppFollows: an assistant is told of a feed that only the user's apps see, and follows it by its
// id.
func TestFollowingWhatAnAppFollows(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		door := h.open(t, h.config())
		cal, err := h.service.CreateCalendar(t.Context(), h.callers["alice"], calendar.NewCalendar{
			Subscription: true,
			Properties:   calendar.Properties{Name: "School"},
			DeadProperties: []calendar.DeadProperty{{
				Name:  calendar.PropertyName{Space: "x", Local: "source"},
				Value: "https://feeds.example/s3cret",
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		status := h.say(t, door, "alice", "calendar_auth_status", nil)
		if !strings.Contains(status, "School") || !strings.Contains(status, string(cal.ID)) {
			t.Errorf("the status: %s", status)
		}
		if said := h.say(t, door, "bob", "calendar_auth_status", nil) + h.say(t, door, "alice", "list_calendars",
			nil); strings.Contains(said, "School") {
			t.Errorf("it is told of to others, or listed: %s", said)
		}
		var made subscribedView
		use(t, door, "alice", "subscribe_calendar", map[string]any{"url": string(cal.ID)}, &made)
		if made.Calendar != cal.ID || made.Created != 1 {
			t.Errorf("got %+v", made)
		}
		week := h.say(t, door, "alice", "list_events", map[string]any{"date_range": "next week"})
		busy := h.say(t, door, "alice", "get_free_busy", map[string]any{
			"start_time": "2026-03-02",
			"end_time":   "2026-03-08", "timezone": "UTC",
		})
		found := h.say(t, door, "alice", "search_events", map[string]any{"query": "rehearsal"})
		listed := h.say(t, door, "alice", "list_calendars", nil)
		if !strings.Contains(week, "Rehearsal") || !strings.Contains(found, "Rehearsal") ||
			!strings.Contains(busy, "2026-03-05, 17:00") || strings.Count(listed, readOnlyMark) != 1 {
			t.Errorf("the week: %s\nbusy: %s\nfound: %s\nlisted: %s", week, busy, found, listed)
		}
		if after := h.say(t, door, "alice", "calendar_auth_status", nil); strings.Contains(after, "alone") ||
			strings.Contains(status+after+week, "s3cret") {
			t.Errorf("the status: %s", after)
		}
	})
}

// TestAFeedMayRing: an assistant keeps the reminders of a feed only if it says so.
func TestAFeedMayRing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	cal, err := h.service.CreateCalendar(t.Context(), h.callers["alice"], calendar.NewCalendar{
		Subscription: true, Properties: calendar.Properties{Name: "School"},
		DeadProperties: []calendar.DeadProperty{
			{Name: calendar.PropertyName{Space: "x", Local: "source"}, Value: "https://feeds.example/school"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for url, alarms := range map[string]bool{
		"https://feeds.example/quiet": false, "https://feeds.example/loud": true, string(cal.ID): true,
	} {
		var made subscribedView
		use(t, door, "alice", "subscribe_calendar", map[string]any{"url": url, "alarms": alarms}, &made)
		got := h.say(t, door, "alice", "get_event", map[string]any{"calendar_id": made.Calendar, "event_uid": "sing"})
		if strings.Contains(got, "VALARM") != alarms {
			t.Errorf("%s with alarms %v: %s", url, alarms, got)
		}
	}
}

// TestFollowingAFeedWithoutReading takes no more than the leave to write.
func TestFollowingAFeedWithoutReading(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	c := h.callers["alice"]
	c.Scopes = calendar.ScopeWrite
	h.callers["alice"] = c
	var made subscribedView
	if use(t, door, "alice", "subscribe_calendar", map[string]any{"url": "https://feeds.example/s3cret"},
		&made); made.Created != 1 {
		t.Errorf("got %+v", made)
	}
}

// TestSigningInAgainIsAskedFor: if an account rejects the server, a client that can open pages is asked to.
func TestSigningInAgainIsAskedFor(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	use(t, door, "alice", "subscribe_calendar", map[string]any{"url": "https://feeds.example/locked", "name": "Choir"},
		new(subscribedView))
	opened := do(t, request(t, "POST", door, "alice",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
			`"capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"t","version":"1"}}}`))
	session := opened.header.Get(wire.SessionHeader)
	e := hears(t, request(t, "POST", door, "alice",
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"update_linked_account",`+
			`"arguments":{"account":"Choir","action":"refresh"}}}`, wire.SessionHeader, session))
	var asked struct {
		ID, Method string
		Params     struct{ Mode, URL string }
	}
	if err := json.Unmarshal([]byte(e.next(t)), &asked); err != nil || asked.Method != "elicitation/create" ||
		asked.Params.Mode != "url" || asked.Params.URL != "https://cal.example/dav/account/linked" {
		t.Fatalf("asked %+v, %v", asked, err)
	}
	asker{e, session}.say(t, door, "alice", session, asked.ID, "accept")
	if said := e.next(t); !strings.Contains(said, "must be linked again") {
		t.Errorf("not linked again: %s", said)
	}
	if said := h.say(t, door, "alice", "update_linked_account", map[string]any{
		"account": "Choir",
		"action":  "refresh",
	}); !strings.Contains(said, "Choir") {
		t.Errorf("a client that opens no pages: %s", said)
	}
}

// TestAccountsAreNamed: by an id or a unique name; calendar_auth_status shows an account's error.
func TestAccountsAreNamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	for i, name := range []string{"Choir", "Club", "club"} {
		use(t, door, "alice", "subscribe_calendar",
			map[string]any{"url": fmt.Sprintf("https://feeds.example/vanishing?%d", i), "name": name},
			new(subscribedView))
	}
	for account, want := range map[string]string{"Club": "2 accounts", "Nothing": "no account"} {
		if said := refusalOf(t, door, "alice", "update_linked_account", `{"account":"`+account+
			`","action":"refresh"}`); !strings.Contains(said, want) || !strings.Contains(said, "calendar_auth_status") {
			t.Errorf("%s: %s", account, said)
		}
	}
	if said := h.say(t, door, "alice", "update_linked_account", map[string]any{
		"account": "choir",
		"action":  "refresh",
	}); !strings.Contains(said, "Choir") {
		t.Errorf("a feed that has vanished: %s", said)
	}
	if said := h.say(t, door, "alice", "calendar_auth_status", nil); !strings.Contains(said, "failing") ||
		!strings.Contains(said, "no longer exists") {
		t.Errorf("the status: %s", said)
	}
	if said := refusalOf(t, door, "alice", "subscribe_calendar", `{"url":"gopher://x"}`); !strings.Contains(said,
		"begins with https") {
		t.Errorf("a wrong address: %s", said)
	}
}

// TestLinkingIsAskedAbout, where a person can be asked.
func TestLinkingIsAskedAbout(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	said := modernCall(t, door, "alice", "subscribe_calendar", `{"url":"https://feeds.example/s3cret"}`, "")
	if !strings.Contains(said, "feeds.example") || strings.Contains(said, "account_id") ||
		strings.Contains(said, "s3cret") {
		t.Errorf("subscribing: %s", said)
	}
	use(t, door, "alice", "subscribe_calendar", map[string]any{"url": "https://feeds.example/a", "name": "Choir"},
		new(subscribedView))
	writer := h.callers["alice"]
	writer.Scopes = calendar.ScopeRead | calendar.ScopeWrite
	h.callers["alice-writer"] = writer
	for _, action := range []string{unlinkKeep, unlinkDrop} {
		said = modernCall(t, door, "alice-writer", "update_linked_account", `{"account":"Choir","action":"`+
			action+`"}`, "")
		if !strings.Contains(said, `lacks \"delete\"`) || strings.Contains(said, "link it again") {
			t.Errorf("without leave to delete, to %s: %s", action, said)
		}
	}
	said = modernCall(t, door, "alice", "update_linked_account", `{"account":"Choir","action":"unlink_drop"}`, "")
	if !strings.Contains(said, "for all users who have them") || strings.Contains(said, "account_id") {
		t.Errorf("unlinking: %s", said)
	}
	if all, err := h.service.Mirrors.LinkedAccounts(t.Context(), h.callers["alice"]); err != nil || len(all) != 1 {
		t.Errorf("%d are linked, %v", len(all), err)
	}
}
