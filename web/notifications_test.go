package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/remind"
	"caldav-mcp-server/web"
	"caldav-mcp-server/webpush"
	"caldav-mcp-server/webpush/pushtest"
)

// notified opens pages with notifications.
func notified(t *testing.T, database string) (*house, *remind.Choices) {
	t.Helper()
	choices := &remind.Choices{
		PublicKey: "the-key", Parse: func(endpoint, key, auth string) (calendar.Browser, error) {
			s, err := webpush.Parse(endpoint, key, auth)
			return calendar.Browser{Endpoint: s.Endpoint, Key: s.Key, Auth: s.Auth}, err
		},
	}
	h := open(t, database, func(c *web.Config) { c.Notifications = choices })
	choices.Ringer = remind.New(remind.Config{
		Store: h.store, Service: h.calendars, Zones: zone.NewDB(), Now: h.Now, NewID: h.NewID, Logger: h.Logger(),
	})
	return h, choices
}

// owned makes two calendars.
func owned(h *house, who calendar.Caller) (all []calendar.Calendar) {
	for _, name := range []calendar.Segment{"one", "two"} {
		cal, err := h.calendars.CreateCalendar(h.Context(), who, calendar.NewCalendar{
			Segment: name, Properties: calendar.Properties{Name: string(name)},
		})
		h.must(err)
		all = append(all, cal)
	}
	return all
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h, choices := notified(t, database)
		u := h.user("ann")
		ann := h.as("ann")
		ann.get("settings").shows(http.StatusOK, "Choose notifications")
		ann.get(
			"notifications",
		).shows(
			http.StatusOK,
			"Notify me in this browser",
			"None yet",
			"This server sends no mail",
		)
		ann.post("notifications/browsers").shows(http.StatusUnprocessableEntity, "Allow them in its settings")
		device := pushtest.NewService(t, h.Now).Subscribe("/a")
		ann.post("notifications/browsers", "endpoint", "https://push.example.net/a", "key", device.PublicKey(),
			"auth", device.Auth()).at("notifications?done=browser-added").shows(http.StatusOK, "Firefox", "this one")
		browsers, err := choices.Browsers(t.Context(), u)
		h.must(err)
		id := string(browsers[0].ID)
		ann.post("notifications/browsers/test", "id", id).at("notifications?done=browser-tested")
		if due, err := h.store.DueBrowserMessages(t.Context(), h.Now(), 10); err != nil || len(due) != 1 {
			t.Errorf("the test: %v, %v", due, err)
		}
		ann.post("notifications", "alarms", "browser", "invitations", "mail", "shares", "none", "changes", "none",
			"before", "10").shows(http.StatusUnprocessableEntity, "no verified mail address")
		ann.post("notifications", "alarms", "browser", "invitations", "none", "shares", "none", "changes", "browser",
			"before", "10").at("notifications?done=saved")
		s, err := choices.Setting(t.Context(), u)
		h.must(err)
		if s.Before != 10 || s.Changes != calendar.BrowserChannel || s.Invitations != calendar.NoChannel || s.Mails {
			t.Errorf("saved: %+v", s)
		}
		h.user("eve")
		eve := h.as("eve")
		eve.post("notifications/browsers/remove", "id", id).shows(http.StatusNotFound)
		ann.post(
			"notifications/browsers/remove",
			"id",
			id,
		).at(
			"notifications?done=removed",
		).shows(
			http.StatusOK,
			"None yet",
		)
	})
}

func TestNotifiedCalendars(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h, choices := notified(t, database)
		u := h.user("ann")
		ann := h.as("ann")
		all := owned(h, calendar.Caller{User: u, Scopes: calendar.ScopeAll})
		first, second := string(all[0].ID), string(all[1].ID)
		if page := ann.get("notifications").body; !strings.Contains(page, `value="`+first+`" checked`) {
			t.Errorf("an own calendar is not ticked:\n%s", page)
		}
		ann.post("notifications/calendars", "listed", first, "listed", second, "listed", "another", "calendar", first,
			"calendar", "another").at("notifications?done=saved")
		on, err := choices.Switches(t.Context(), u)
		if err != nil || len(on) != 2 || !on[all[0].ID] || on[all[1].ID] {
			t.Errorf("switched: %v, %v", on, err)
		}
	})
}

// TestButtonsOfANotification posts the forms of the service worker.
func TestButtonsOfANotification(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h, _ := notified(t, database)
		u := h.user("ann")
		who := calendar.Caller{User: u, Scopes: calendar.ScopeAll}
		all := owned(h, who)
		at := h.Now().Add(time.Minute)
		_, err := h.calendars.Put(
			t.Context(),
			who,
			all[0],
			calendar.Draft{Name: "a.ics", Data: []byte(strings.ReplaceAll(
				"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:a\nDTSTAMP:20260101T000000Z\n"+
					"SUMMARY:Dentist\nDTSTART:"+
					at.Format(
						"20060102T150405Z",
					)+"\nBEGIN:VALARM\nACTION:DISPLAY\nDESCRIPTION:x\nTRIGGER:-PT10M\nEND:VALARM\n"+
					"END:VEVENT\nEND:VCALENDAR\n",
				"\n",
				"\r\n",
			))},
		)
		h.must(err)
		ann := h.as("ann")
		of := []string{"calendar", string(all[0].ID), "object", "a.ics", "instance", at.Format(time.RFC3339)}
		ann.post("notifications/snooze", of...).shows(http.StatusNoContent)
		ann.post("notifications/dismiss", of...).shows(http.StatusNoContent)
		o, err := h.calendars.Object(t.Context(), nil, who, all[0], "a.ics")
		h.must(err)
		if !strings.Contains(string(o.Data), "ACKNOWLEDGED:") {
			t.Errorf("not dismissed:\n%s", o.Data)
		}
		h.user("eve")
		h.as("eve").post("notifications/snooze", of...).shows(http.StatusNotFound)
		h.browser().post("notifications/snooze", of...).at("sign-in?next=notifications")
		ann.post("notifications/snooze", "calendar", string(all[0].ID), "object", "a.ics", "instance", "x").
			shows(http.StatusUnprocessableEntity)
	})
}

func TestTheServiceWorker(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h, _ := notified(t, database)
		h.user("ann")
		got := h.browser().get("sw.js").shows(http.StatusOK)
		if got.header.Get("Service-Worker-Allowed") != "/" || !strings.Contains(got.body, "showNotification") ||
			!strings.HasPrefix(got.header.Get("Content-Type"), "text/javascript") ||
			!strings.Contains(got.header.Get("Content-Security-Policy"), "connect-src 'self'") {
			t.Errorf("the worker: %v\n%s", got.header, got.body)
		}
		page := h.as("ann").get("notifications").shows(http.StatusOK)
		if !strings.Contains(page.header.Get("Content-Security-Policy"), "worker-src 'self'") ||
			!strings.Contains(page.body, `data-worker="/account/sw.js" data-scope="/"`) {
			t.Errorf("the page: %v\n%s", page.header, page.body)
		}
	})
}
