package caldav_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/linked/ics"
)

// pages are feeds, by address.
type pages map[string]string

// provider is the provider for feeds, which reads the pages.
func (p pages) provider() mirror.Provider {
	feeds := ics.Provider(nil, 0)
	feeds.Open = func(o mirror.Opening) (mirror.Source, error) { return page{p, o.Secret.URL}, nil }
	return feeds
}

// page returns the feed at an address: one event, named after the address.
type page struct {
	pages
	at string
}

func (p page) Calendars(context.Context) ([]mirror.Remote, error) {
	return []mirror.Remote{{Name: "There"}}, nil
}

func (p page) Changes(context.Context, string, string) (mirror.Changes, error) {
	title, ok := p.pages[p.at]
	if !ok {
		return mirror.Changes{}, mirror.ErrGone
	}
	return mirror.Changes{
		Cursor: p.at, Whole: true,
		Objects: []mirror.Object{{Ref: title, Version: title, UID: title, Data: []byte(event(title, title))}},
	}, nil
}

func (page) Put(context.Context, string, mirror.Object) (mirror.Object, error) {
	return mirror.Object{}, errors.ErrUnsupported
}
func (page) Delete(context.Context, string, mirror.Object) error { return errors.ErrUnsupported }

// open stores secrets in plain text.
type open struct{}

func (open) Seal(secret []byte, _, _ string) (sealed []byte, key string, err error) {
	return secret, "k", nil
}
func (open) Open(sealed []byte, _, _ string) ([]byte, error) { return sealed, nil }
func (open) Present() (string, error)                        { return "k", nil }

const noteBody = `<mkcol xmlns="DAV:" xmlns:CS="http://calendarserver.org/ns/"><set><prop><resourcetype><collection/` +
	`><CS:subscribed/></resourcetype>` +
	`<displayname>School</displayname><CS:source><href>webcal://school.example/one.ics</href></CS:source></prop></` +
	`set></mkcol>`

// TestAFollowedNoteStaysAsItsAppMadeIt: for the app that subscribed it is unchanged, for all others it is a read-only
// calendar.
func TestAFollowedNoteStaysAsItsAppMadeIt(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h := newHouse(t, database, nil)
		feeds := pages{"webcal://school.example/one.ics": "first", "https://school.example/two.ics": "second"}
		h.middle.Providers, h.middle.Sealer = map[string]mirror.Provider{"ics": feeds.provider()}, open{}
		h.remake(t, nil)
		ctx, alice := t.Context(), calendar.Caller{User: h.users["alice"], Scopes: calendar.ScopeAll, Agent: "test"}
		h.must(t, "MKCOL /dav/calendars/alice/school/\nContent-Type: application/xml", noteBody)
		everything := func() string {
			t.Helper()
			text := ""
			for _, ask := range []string{
				"PROPFIND /dav/calendars/alice/\nDepth: 1", "PROPFIND /dav/calendars/alice/school/\nDepth: 1",
			} {
				text += h.send(
					t, ask, `<propfind xmlns="DAV:" xmlns:CS="http://calendarserver.org/ns/"><prop><resourcetype/`+
						`><displayname/><CS:source/></prop></propfind>`,
				).body
			}
			text += h.send(t, "REPORT /dav/calendars/alice/school/\nDepth: 1", `<C:calendar-query xmlns="DAV:" `+
				`xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><getetag/></prop><C:filter><C:comp-filter `+
				`name="VCALENDAR"/></C:filter></C:calendar-query>`).body
			text += h.send(t, "REPORT /dav/calendars/alice/school/", `<C:calendar-multiget xmlns="DAV:" `+
				`xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><getetag/></prop><href>/dav/calendars/alice/school/`+
				`first.ics</href></C:calendar-multiget>`).body
			whole := h.send(t, "GET /dav/calendars/alice/school/", "")
			return text + whole.body + whole.header.Get("ETag") + whole.header.Get("Last-Modified")
		}
		held := func() string {
			t.Helper()
			all, err := h.service.Calendars(ctx, alice)
			if err != nil || len(all) > 1 {
				t.Fatalf("%d calendars, %v", len(all), err)
			}
			if len(all) == 0 {
				return "unseen"
			}
			text := ""
			for o, err := range h.Store.Objects(ctx, all[0].ID, calendar.ObjectQuery{}) {
				if err != nil {
					t.Fatal(err)
				}
				text += string(o.UID)
			}
			return text
		}
		before := everything()
		if !strings.Contains(before, "subscribed") || held() != "unseen" {
			t.Fatalf("%s: %s", held(), before)
		}
		h.Pass(time.Minute)
		notes, err := h.service.Mirrors.Notes(ctx, alice)
		if err != nil || len(notes) != 1 || notes[0].Shown != "school.example" {
			t.Fatalf("%+v, %v", notes, err)
		}
		bob := alice
		bob.User = h.users["bob"]
		if _, _, err := h.service.Mirrors.FollowNote(ctx, bob, notes[0].ID, false); calendar.ReasonOf(err) !=
			calendar.NotFound {
			t.Errorf("somebody else follows it: %v", err)
		}
		// Written in another form, the address still means the same feed.
		linked, _, err := h.service.Mirrors.Link(ctx, alice, mirror.NewAccount{
			Provider: "ics", Secret: mirror.Secret{URL: "webcal://school.example/one.ics"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := h.service.Mirrors.FollowNote(ctx, alice, notes[0].ID, false); calendar.ReasonOf(err) !=
			calendar.NotFound {
			t.Errorf("it is followed twice: %v", err)
		}
		if held() != "first" || everything() != before {
			t.Errorf("it holds %q, and its app sees\n%s\nbefore\n%s", held(), everything(), before)
		}
		if r := h.send(t, "GET /dav/calendars/alice/school/first.ics", ""); r.status != http.StatusNotFound {
			t.Errorf("the app finds an event: %d", r.status)
		}
		if r := h.send(t, "PUT /dav/calendars/alice/school/mine.ics\nContent-Type: text/calendar",
			event("mine", "x")); r.status != http.StatusForbidden {
			t.Errorf("it takes an event: %d", r.status)
		}
		if _, err := h.service.Share(ctx, alice, notes[0].ID, "bob", calendar.ReadAccess); calendar.ReasonOf(err) !=
			calendar.Forbidden {
			t.Errorf("it is shared: %v", err)
		}
		if all, err := h.service.Calendars(ctx, alice); err != nil || !all[0].Followed() ||
			calendar.ReasonOf(alice.May(calendar.ShareCalendar, all[0])) != calendar.Forbidden {
			t.Errorf("as it is listed, a link to it may be made: %v", err)
		}
		// The app changes the address, and changes it again if there is no feed there.
		takes := func(address string) {
			t.Helper()
			h.must(t, "PROPPATCH /dav/calendars/alice/school/", `<propertyupdate xmlns="DAV:" `+
				`xmlns:CS="http://calendarserver.org/ns/"><set><prop><CS:source><href>`+address+
				`</href></CS:source></prop></set></propertyupdate>`)
		}
		account := func() calendar.Account {
			t.Helper()
			a, err := h.Store.Account(ctx, linked.ID)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		round := func(want int) {
			t.Helper()
			if n, err := h.service.Mirrors.Round(ctx); err != nil || n != want {
				t.Errorf("%d accounts were looked at, %v, want %d", n, err, want)
			}
		}
		takes("https://school.example/none.ics")
		round(1)
		if a := account(); a.Status != calendar.AccountFailed || a.Failures != 1 || a.Address != "school.example" ||
			held() != "first" {
			t.Errorf("without a feed it holds %q, and the account is %+v", held(), a)
		}
		takes("https://school.example/none.ics")
		round(0)
		rests := account()
		began := rests
		rests.Status, rests.Due = calendar.AccountPaused, h.Now().Add(24*time.Hour)
		if _, err := h.Store.SetAccountState(ctx, rests, began); err != nil {
			t.Fatal(err)
		}
		takes("https://school.example/two.ics")
		if a := account(); a.Status != calendar.AccountGood || a.Error != "" || a.Failures != 0 || !a.Failing.IsZero() {
			t.Errorf("with another address the account is %+v", a)
		}
		round(1)
		if held() != "second" {
			t.Errorf("it holds %q", held())
		}
		before = everything()
		if err := h.service.Mirrors.Unlink(ctx, alice, linked.ID, true); err != nil {
			t.Fatal(err)
		}
		if held() != "unseen" || everything() != before {
			t.Errorf("it holds %q still, and its app sees\n%s", held(), everything())
		}
		for o, err := range h.Store.Objects(ctx, notes[0].ID, calendar.ObjectQuery{}) {
			t.Errorf("%s is left, %v", o.Name, err)
		}
	})
}

// TestAFeedIsFollowedOnce: subscribed by address and by an app, it is the same feed, in either order.
func TestAFeedIsFollowedOnce(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		h := newHouse(t, database, nil)
		feeds := pages{
			"webcal://school.example/one.ics": "first", "https://School.example/one.ics": "first",
			"https://school.example/two.ics": "second",
		}
		h.middle.Providers, h.middle.Sealer = map[string]mirror.Provider{"ics": feeds.provider()}, open{}
		h.remake(t, nil)
		ctx, alice := t.Context(), calendar.Caller{User: h.users["alice"], Scopes: calendar.ScopeAll, Agent: "test"}
		bob := alice
		bob.User = h.users["bob"]
		link := func(by calendar.Caller, url string) (mirror.Linked, error) {
			linked, _, err := h.service.Mirrors.Link(ctx, by, mirror.NewAccount{
				Provider: "ics", Secret: mirror.Secret{URL: url},
			})
			return linked, err
		}
		refused := func(what string, err error) {
			t.Helper()
			if calendar.ReasonOf(err) != calendar.Exists ||
				!strings.Contains(err.Error(), `you follow this feed already, as the calendar "There"`) {
				t.Errorf("%s: %v", what, err)
			}
		}
		first, err := link(alice, "https://School.example/one.ics")
		if err != nil {
			t.Fatal(err)
		}
		_, err = link(alice, "webcal://school.example/one.ics")
		refused("by its address again", err)
		if _, err := link(bob, "webcal://school.example/one.ics"); err != nil {
			t.Errorf("somebody else follows it: %v", err)
		}
		h.must(t, "MKCOL /dav/calendars/alice/school/\nContent-Type: application/xml", noteBody)
		notes, err := h.service.Mirrors.Notes(ctx, alice)
		if err != nil || len(notes) != 1 {
			t.Fatalf("%v, %v", notes, err)
		}
		_, _, err = h.service.Mirrors.FollowNote(ctx, alice, notes[0].ID, false)
		refused("as a note", err)
		const source = `<propertyupdate xmlns="DAV:" ` +
			`xmlns:CS="http://calendarserver.org/ns/"><set><prop><CS:source><href>%</href></CS:source></prop></set></` +
			`propertyupdate>`
		h.must(t, "PROPPATCH /dav/calendars/alice/school/",
			strings.Replace(source, "%", "https://school.example/two.ics", 1))
		second, _, err := h.service.Mirrors.FollowNote(ctx, alice, notes[0].ID, false)
		if err != nil {
			t.Fatal(err)
		}
		h.must(t, "PROPPATCH /dav/calendars/alice/school/",
			strings.Replace(source, "%", "https://school.example/one.ics", 1))
		_, err = h.service.Mirrors.Refresh(ctx, alice, second.ID)
		refused("by a note that takes its address", err)
		if err := h.service.Mirrors.Unlink(ctx, alice, first.ID, false); err != nil {
			t.Fatal(err)
		}
		feeds["https://school.example/one.ics"] = "first"
		if _, err := h.service.Mirrors.Refresh(ctx, alice, second.ID); err != nil {
			t.Errorf("once the other is gone: %v", err)
		}
		_, err = link(alice, "https://school.example/one.ics")
		if calendar.ReasonOf(err) != calendar.Exists {
			t.Errorf("by its address, where a note follows it: %v", err)
		}
	})
}
