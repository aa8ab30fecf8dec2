package caldav_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/webpush"
)

// pushIn turns on push for the conversations about it.
func pushIn(file string) func(*caldav.Config) {
	if !strings.HasPrefix(file[strings.LastIndexByte(file, '/')+1:], "push") {
		return nil
	}
	return withPush
}

// TestRegistrationsAtPrivateAddresses: the server refuses a push resource to which it would never send.
func TestRegistrationsAtPrivateAddresses(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, withPush)
		h.middle.Sendable = func(_ context.Context, address string) error {
			if strings.HasPrefix(address, "https://10.") {
				return errors.New("that address is private")
			}
			return nil
		}
		h.remake(t, withPush)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		for address, want := range map[string]int{"https://10.0.0.1/x": 403, "https://push.example.net/x": 204} {
			got := h.send(t, "POST /dav/calendars/alice/work/\nContent-Type: application/xml", registration(address))
			said := strings.Contains(got.body, "invalid-subscription") &&
				strings.Contains(got.body, "that address is private")
			if got.status != want || said != (want == 403) {
				t.Errorf("%s: %d %s", address, got.status, got.body)
			}
		}
	})
}

func withPush(c *caldav.Config) {
	c.BaseURL = &url.URL{Scheme: "https", Host: "cal.example.com"}
	c.Push = &caldav.Push{
		Key:    "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs",
		Topics: calendar.TopicKey("key"), Parse: parsePush,
	}
}

func parsePush(endpoint, key, auth string) (calendar.PushSubscription, error) {
	s, err := webpush.Parse(endpoint, key, auth)
	return calendar.PushSubscription{Endpoint: s.Endpoint, Key: s.Key, Auth: s.Auth}, err
}

// registration is DAVx⁵'s body.
func registration(endpoint string) string {
	return `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><push-register ` +
		`xmlns="https://bitfire.at/webdav-push"><subscription><web-push-subscription>` +
		`<push-resource>` + endpoint + `</push-resource>` +
		`<subscription-public-key ` +
		`type="p256dh">BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4</` +
		`subscription-public-key>` +
		`<auth-secret>BTBZMqHH6r4Tts7J_aSIgg</auth-secret></web-push-subscription></subscription><expires>Mon, 23 ` +
		`Nov 2026 10:00:00 GMT</expires></push-register>`
}

func pushEvent(uid string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:" + uid +
		"\r\nDTSTAMP:20261120T100000Z\r\nDTSTART:20261124T090000Z\r\nSUMMARY:x\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
}

// due returns the registrations that have something to send.
func (h *house) due(t *testing.T) []calendar.PushDue {
	t.Helper()
	all, err := h.Store.DuePushes(t.Context(), h.Now().Add(time.Second), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAClientIsNotToldOfItsOwnChange: the header names the registrations that need no notification.
func TestAClientIsNotToldOfItsOwnChange(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, withPush)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		register := func(endpoint string) string {
			t.Helper()
			r := h.send(t, "POST /dav/calendars/alice/work/\nContent-Type: application/xml; charset=utf-8",
				registration(endpoint))
			if r.status != http.StatusNoContent {
				t.Fatalf("registering: %d %s", r.status, r.body)
			}
			return r.header.Get("Location")
		}
		phone, tablet := register("https://push.example.net/phone"), register("https://push.example.net/tablet")
		if again := register("https://push.example.net/phone"); again != phone {
			t.Errorf("renewed as %s, which was %s", again, phone)
		}
		home := h.send(t, "POST /dav/calendars/alice/\nContent-Type: application/xml; charset=utf-8",
			registration("https://push.example.net/home")).header.Get("Location")
		if _, err := h.service.AddDelegate(t.Context(), h.caller("alice"), "bob", calendar.WriteAccess); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			what, request, body string
			told                int
		}{
			{"put by the program of the home", "PUT /dav/calendars/alice/work/0.ics\nPush-Dont-Notify: \"" + home +
				"\"", pushEvent("0"), 2},
			{"put by the phone", "PUT /dav/calendars/alice/work/a.ics\nPush-Dont-Notify: \"" + phone +
				"\"", pushEvent("a"), 2},
			{"deleted by the phone", "DELETE /dav/calendars/alice/work/a.ics\nPush-Dont-Notify: \"" + phone +
				"\", \"https://elsewhere.example.com/\"", "", 2},
			{"put for all", "PUT /dav/calendars/alice/work/b.ics\nPush-Dont-Notify: *", pushEvent("b"), 0},
			{"put by the tablet, refused", "PUT /dav/calendars/alice/work/b.ics\nIf-None-Match: *\nPush-Dont-Notify: " +
				"\"" + tablet + "\"", pushEvent("b"), 0},
			{"put by another client", "PUT /dav/calendars/alice/work/c.ics", pushEvent("c"), 3},
			{
				"put by a delegate, for all", "PUT /dav/calendars/alice/work/d.ics\nAs: bob\nPush-Dont-Notify: *",
				pushEvent("d"), 3,
			},
		} {
			h.send(t, c.request, c.body)
			due := h.due(t)
			if len(due) != c.told {
				t.Errorf("%s: %d are told, want %d", c.what, len(due), c.told)
			}
			var all []calendar.PushSubscription
			for _, p := range due {
				p.Told, p.ToldOwn = p.Now, p.NowOwn
				all = append(all, p.PushSubscription)
			}
			if err := h.Store.SettlePushes(t.Context(), all); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestRegistrationsAreOnesOwn: a user can only end their own registrations, and register only for calendars that they
// may read. The registrations of a home and of a user are limited.
func TestRegistrationsAreOnesOwn(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, withPush)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		const post = "\nContent-Type: application/xml"
		at := strings.TrimPrefix(h.send(t, "POST /dav/calendars/alice/work/"+post,
			registration("https://push.example.net/a")).header.Get("Location"), "https://cal.example.com")
		for _, c := range []struct {
			request string
			want    int
		}{
			{"DELETE " + at + "\nAs: bob", 404},
			{"DELETE " + at + "\nAs: alice tools", 403},
			{"GET " + at, 405},
			{"DELETE /dav/push/no-such", 404},
			{"POST /dav/calendars/alice/work/\nAs: bob" + post, 404},
			{"POST /dav/calendars/alice/work/\nAs: alice bound" + post, 404},
			{"POST /dav/calendars/alice/\nAs: alice bound" + post, 403},
			{"POST /dav/calendars/alice/work/\nAs: alice write" + post, 403},
			{"DELETE " + at, 204},
			{"DELETE " + at, 404},
		} {
			body := ""
			if strings.HasPrefix(c.request, "POST") {
				body = registration("https://push.example.net/b")
			}
			if got := h.send(t, c.request, body); got.status != c.want {
				t.Errorf("%s: %d %s", c.request, got.status, got.body)
			}
		}
		for i := range 21 {
			got := h.send(t, "POST /dav/calendars/alice/"+post,
				registration(fmt.Sprintf("https://push.example.net/home/%d", i)))
			if refused := got.status == 403 && strings.Contains(got.body, "push-not-available"); refused != (i == 20) {
				t.Errorf("registration %d of the home: %d %s", i+1, got.status, got.body)
			}
		}
		for i := range 181 {
			got := h.send(t, "POST /dav/calendars/alice/work/"+post,
				registration(fmt.Sprintf("https://push.example.net/%d", i)))
			if refused := got.status == 403 && strings.Contains(got.body, "push-not-available"); refused != (i == 180) {
				t.Errorf("registration %d of the user: %d %s", 20+i+1, got.status, got.body)
			}
		}
		got := h.send(t, "POST /dav/calendars/alice/work/"+post, registration("https://push.example.net/0"))
		if got.status != 204 {
			t.Errorf("a renewal: %d %s", got.status, got.body)
		}
		h.must(t, "PUT /dav/calendars/alice/work/a.ics", pushEvent("a"))
		if n := len(h.due(t)); n != 200 {
			t.Errorf("one user has %d registrations", n)
		}
	})
}
