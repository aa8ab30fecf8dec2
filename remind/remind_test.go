package remind_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/outbound"
	"caldav-mcp-server/push"
	"caldav-mcp-server/remind"
	"caldav-mcp-server/webpush"
	"caldav-mcp-server/webpush/pushtest"
)

// start is 9:00 in Berlin.
var start = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)

// house is a server with two users and a push service.
type house struct {
	mailed string // the text of the last mail
	*housetest.House
	t          testing.TB
	service    *service.Service
	devices    *pushtest.Service
	choices    *remind.Choices
	ringer     *remind.Ringer
	courier    *push.Courier
	alice, bob calendar.Caller
	work       calendar.Calendar
}

func each(t *testing.T, test func(h *house)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, url string) { test(newHouse(t, url, housetest.At(start))) })
}

func newHouse(t testing.TB, url string, clock *housetest.Clock) *house {
	t.Helper()
	h := &house{House: housetest.Open(t, url, clock), t: t}
	h.service = service.New(h.Middle())
	h.devices = pushtest.NewService(t, h.Now)
	h.ringer, h.courier = h.process(h.House)
	h.choices = &remind.Choices{
		Ringer: h.ringer, PublicKey: "key", Parse: func(endpoint, key, auth string) (calendar.Browser, error) {
			s, err := webpush.Parse(endpoint, key, auth)
			return calendar.Browser{Endpoint: s.Endpoint, Key: s.Key, Auth: s.Auth}, err
		},
	}
	h.alice, h.bob = h.user("alice"), h.user("bob")
	h.work = h.calendar(h.alice, "work")
	return h
}

// process returns the parts of a process that work in the background.
func (h *house) process(on *housetest.House) (*remind.Ringer, *push.Courier) {
	key, err := webpush.NewKey([]byte("secret"))
	h.must(err)
	guard := outbound.New(outbound.Config{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: h.devices.Roots(),
	})
	ringer := remind.New(remind.Config{
		Store: on.Store, Service: service.New(on.Middle()), Zones: zone.NewDB(), Mailed: true,
		Pages: "https://cal.example.com/account/", Most: calendar.DefaultLimits().Outbox, Now: on.Now, NewID: on.NewID,
		Logger: on.Logger(),
	})
	return ringer, push.NewCourier(push.Config{
		Store: on.Store, Now: on.Now, NewID: on.NewID, Logger: on.Logger(), From: webpush.Sender{Key: key},
		Send: func(r *http.Request) (push.Answer, error) {
			a, err := guard.Send(r, outbound.Limits{Time: 10 * time.Second, Bytes: 1 << 10})
			return push.Answer(a), err
		},
	})
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) user(name string) calendar.Caller {
	u := calendar.User{
		ID: calendar.UserID("u-" + name), Name: name, Email: name + "@example.com", Timezone: "Europe/Berlin",
		Created: h.Now(),
	}
	h.Admit(h.t, u)
	return calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "test"}
}

func (h *house) calendar(c calendar.Caller, name string) calendar.Calendar {
	cal, err := h.service.CreateCalendar(h.t.Context(), c, calendar.NewCalendar{
		Segment: calendar.Segment(name), Properties: calendar.Properties{Name: name, Timezone: "Europe/Berlin"},
	})
	h.must(err)
	return cal
}

// session signs a user in.
func (h *house) session(c calendar.Caller) string {
	id := h.NewID()
	h.must(h.Store.InsertSession(h.t.Context(), auth.Session{
		ID: auth.SessionID(id), User: c.User, Created: h.Now(), Seen: h.Now(), Proven: h.Now(),
	}, "hash"))
	return id
}

// subscribe adds a browser of a user, and returns its session.
func (h *house) subscribe(c calendar.Caller, path string) string {
	h.t.Helper()
	device, session := h.devices.Subscribe(path), h.session(c)
	h.must(h.choices.AddBrowser(h.t.Context(), c.User, session, "Firefox/140.0", h.devices.Endpoint(device),
		device.PublicKey(), device.Auth()))
	return session
}

func (h *house) want(c calendar.Caller, change func(*calendar.ReminderSettings)) {
	h.t.Helper()
	s, err := h.choices.Setting(h.t.Context(), c.User)
	h.must(err)
	change(&s)
	h.must(h.choices.Want(h.t.Context(), c.User, s))
}

// put stores an event in UTC with more lines.
func (h *house) put(c calendar.Caller, cal calendar.Calendar, name string, at time.Time, lines ...string) {
	h.t.Helper()
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:" + name + "\n" +
		"DTSTAMP:20261101T000000Z\nSUMMARY:" +
		name + "\nLOCATION:Room 5\nDTSTART:" + at.Format(
		"20060102T150405Z",
	) + "\nDURATION:PT1H\n" +
		strings.Join(
			lines,
			"",
		) + "END:VEVENT\nEND:VCALENDAR\n"
	_, err := h.service.Put(h.t.Context(), c, cal, calendar.Draft{
		Name: calendar.ObjectName(name + ".ics"), Data: []byte(strings.ReplaceAll(text, "\n", "\r\n")),
	})
	h.must(err)
}

const (
	tenBefore = "BEGIN:VALARM\nACTION:DISPLAY\nDESCRIPTION:x\nTRIGGER:-PT10M\nEND:VALARM\n"
	mailAlarm = "BEGIN:VALARM\nACTION:EMAIL\nSUMMARY:x\nDESCRIPTION:x\nATTENDEE:mailto:victim@example.org\n" +
		"TRIGGER:-PT10M\nEND:VALARM\n"
)

// round does all work that waits.
func (h *house) round() {
	h.t.Helper()
	for more := true; more; {
		var err error
		more, err = h.ringer.Round(h.t.Context())
		h.must(err)
	}
	h.must(h.courier.Round(h.t.Context()))
	h.must(h.devices.Wrong())
}

// shown returns the notifications that browsers got: path, title, body.
func (h *house) shown() []string {
	h.t.Helper()
	h.round()
	all := []string{}
	for _, m := range h.devices.Got() {
		var note struct {
			Title, Body, Snooze, Dismiss string
			Ref                          *calendar.ReminderReference
		}
		h.must(json.Unmarshal([]byte(m.Text), &note))
		if buttons := note.Snooze + note.Dismiss; (buttons == "Snooze 10 minutesDismiss") !=
			(note.Ref != nil && note.Ref.Instance != "") {
			h.t.Errorf("%s has the buttons %q", note.Title, buttons)
		}
		all = append(all, m.Path+" "+note.Title+" | "+note.Body)
	}
	slices.Sort(all)
	return all
}

func (h *house) shows(what string, want ...string) {
	h.t.Helper()
	if got := h.shown(); !slices.Equal(got, want) {
		h.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// mails takes the mails that wait: recipient and subject.
func (h *house) mails() []string {
	h.t.Helper()
	h.round()
	letters, err := h.Store.TakeLetters(h.t.Context(), h.Now(), h.Now().Add(time.Minute), 100)
	h.must(err)
	all := []string{}
	for _, l := range letters {
		m, err := calendar.AlertMailOf(l.Data)
		h.must(err)
		all = append(all, string(l.To)+" "+m.Subject)
		h.mailed = m.Text
		l.Status = "1.2"
		h.must(h.Store.SettleLetter(h.t.Context(), l))
		h.must(h.Store.ConcludeLetter(h.t.Context(), l, false, h.Now(), 1<<20))
	}
	return all
}

const dentist = "/a Dentist | 10:00–11:00 · Room 5"

func TestAReminderRingsOnce(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), tenBefore)
		h.shows("before it is due")
		h.Pass(49*time.Minute + 59*time.Second)
		h.shows("a second before")
		h.Pass(time.Second)
		h.shows("when due", dentist)
		h.shows("again")
		h.Pass(time.Minute)
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), tenBefore, "X-CHANGED:yes\n")
		h.shows("after a change of something else")
		h.put(h.alice, h.work, "Dentist", start.Add(2*time.Hour), tenBefore)
		h.shows("after a move")
		h.Pass(time.Hour)
		h.shows("at the new time", "/a Dentist | 11:00–12:00 · Room 5")
	})
}

func TestASeriesRingsEachTime(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), "RRULE:FREQ=DAILY\n", tenBefore)
		for range 3 {
			h.round()
			h.Pass(50 * time.Minute)
			h.shows("on each day", dentist)
			h.Pass(24*time.Hour - 50*time.Minute)
		}
	})
}

// TestWhatRingsLate stops the server around the time of a reminder.
func TestWhatRingsLate(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), tenBefore)
		h.put(h.alice, h.work, "Early", start.Add(11*time.Minute), tenBefore)
		h.round()
		h.Pass(109 * time.Minute) // Dentist is 59 minutes late, Early nearly two hours
		h.shows("after a downtime", dentist)
	})
}

func TestWhatIsSilent(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		lines := map[string]string{
			"Cancelled": tenBefore + "STATUS:CANCELLED\n",
			"Declined": tenBefore + "ORGANIZER:mailto:x@example.org\n" +
				"ATTENDEE;PARTSTAT=DECLINED:mailto:alice@example.com\n",
			"Dismissed": strings.Replace(tenBefore, "TRIGGER", "ACKNOWLEDGED:20261130T085001Z\nTRIGGER", 1),
			"Mozilla":   tenBefore + "X-MOZ-LASTACK:20261130T085001Z\n",
			"Moved":     tenBefore,
			"Deleted":   tenBefore,
			"Plain":     "",
		}
		for name := range lines {
			h.put(h.alice, h.work, name, start.Add(time.Hour), tenBefore)
		}
		h.round()
		h.Pass(50 * time.Minute) // all are due, and nothing has rung yet
		for name, more := range lines {
			at := start.Add(time.Hour)
			if name == "Moved" {
				at = at.Add(24 * time.Hour)
			}
			h.put(h.alice, h.work, name, at, more)
		}
		h.must(h.service.Delete(h.t.Context(), h.alice, h.work, "Deleted.ics", calendar.Precondition{}))
		h.shows("when due")
	})
}

func TestMailReminders(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), mailAlarm)
		h.round()
		h.Pass(50 * time.Minute)
		if got := h.mails(); !slices.Equal(got, []string{"alice@example.com Reminder: Dentist"}) {
			t.Errorf("mails: %q", got)
		}
		h.shows("in the browser")
		h.want(h.alice, func(s *calendar.ReminderSettings) { s.Mails, s.Alarms = false, calendar.MailChannel })
		h.put(h.alice, h.work, "One", start.Add(3*time.Hour), mailAlarm)
		h.put(h.alice, h.work, "Two", start.Add(3*time.Hour), tenBefore)
		h.round()
		h.Pass(2 * time.Hour)
		if got := h.mails(); !slices.Equal(got, []string{"alice@example.com Reminder: Two"}) {
			t.Errorf("mails by choice: %q", got)
		}
	})
}

func TestTheDefaultReminder(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour))
		h.round()
		h.want(h.alice, func(s *calendar.ReminderSettings) { s.Before = 30 })
		h.round()
		h.Pass(30 * time.Minute)
		h.shows("half an hour before", dentist)
		h.want(h.alice, func(s *calendar.ReminderSettings) { s.Before = calendar.NoReminder })
		h.put(h.alice, h.work, "Later", start.Add(2*time.Hour))
		h.round()
		h.Pass(2 * time.Hour)
		h.shows("without a default")
	})
}

// TestTurningOnIsSilent adds a browser shortly after a reminder was due.
func TestTurningOnIsSilent(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), tenBefore)
		h.Pass(55 * time.Minute)
		h.subscribe(h.alice, "/a")
		h.shows("a reminder from before")
	})
}

func TestShareesAskForReminders(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ctx := t.Context()
		h.subscribe(h.alice, "/a")
		h.subscribe(h.bob, "/b")
		_, err := h.service.Share(ctx, h.alice, h.work.ID, "bob", calendar.ReadAccess)
		h.must(err)
		h.round()
		h.devices.Got()
		h.want(h.bob, func(s *calendar.ReminderSettings) { s.Before = 10 })
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), tenBefore)
		h.round()
		h.Pass(50 * time.Minute)
		h.shows("without the switch", dentist)
		h.must(h.choices.Switch(ctx, h.bob.User, map[calendar.CalendarID]bool{h.work.ID: true}))
		h.put(h.alice, h.work, "Party", start.Add(2*time.Hour), tenBefore)
		h.round()
		h.Pass(time.Hour)
		// The sharee has no reminder of their own, so the default rings.
		h.shows("with the switch", "/a Party | 11:00–12:00 · Room 5", "/b Party | 11:00–12:00 · Room 5")
		h.put(h.alice, h.work, "Secret", start.Add(3*time.Hour), tenBefore)
		h.round()
		h.must(h.service.Unshare(ctx, h.alice, h.work.ID, "bob"))
		h.Pass(time.Hour)
		h.shows("without the share", "/a Secret | 12:00–13:00 · Room 5")
	})
}

func TestASwitchedOffCalendarIsSilent(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), tenBefore)
		h.round()
		h.must(h.choices.Switch(t.Context(), h.alice.User, map[calendar.CalendarID]bool{h.work.ID: false}))
		h.Pass(50 * time.Minute)
		h.shows("when due")
		h.must(h.choices.Switch(t.Context(), h.alice.User, map[calendar.CalendarID]bool{h.work.ID: true}))
		h.put(h.alice, h.work, "Next", start.Add(2*time.Hour), tenBefore)
		h.round()
		h.Pass(time.Hour)
		h.shows("when on again", "/a Next | 11:00–12:00 · Room 5")
	})
}

// TestSeveralProcesses fires reminders in two processes at once, on one store.
func TestSeveralProcesses(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.want(h.alice, func(s *calendar.ReminderSettings) { s.Mails = true })
		for i := range 4 {
			h.put(h.alice, h.work, fmt.Sprintf("Event %d", i), start.Add(time.Hour), tenBefore, mailAlarm)
		}
		h.round()
		h.Pass(50 * time.Minute)
		other, courier := h.process(housetest.Open(t, h.URL, h.Clock))
		ended := make(chan error)
		for _, r := range []*remind.Ringer{h.ringer, other} {
			go func() {
				for range 3 {
					if _, err := r.Round(context.WithoutCancel(t.Context())); err != nil {
						ended <- err
						return
					}
				}
				ended <- nil
			}()
		}
		for range 2 {
			h.must(<-ended)
		}
		h.must(courier.Round(t.Context()))
		if got := h.shown(); len(got) != 4 {
			t.Errorf("notifications: %q", got)
		}
		if got := h.mails(); len(got) != 4 {
			t.Errorf("mails: %q", got)
		}
	})
}

// TestAKilledProcess ends a process between planning, firing and sending. The next one goes on.
func TestAKilledProcess(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), tenBefore)
		_, err := h.ringer.Round(t.Context())
		h.must(err)
		h.Pass(50 * time.Minute)
		h.ringer, _ = h.process(housetest.Open(t, h.URL, h.Clock)) // the lease of the killed one has run out
		_, err = h.ringer.Round(t.Context())
		h.must(err)
		h.Pass(time.Minute)
		h.ringer, h.courier = h.process(housetest.Open(t, h.URL, h.Clock))
		h.shows("after two ends", dentist)
		h.shows("again")
	})
}

func TestThePushServiceFails(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), tenBefore)
		h.round()
		h.Pass(50 * time.Minute)
		status := http.StatusServiceUnavailable
		h.devices.Answer = func(string) int { return status }
		if got := h.shown(); len(got) != 1 {
			t.Fatalf("tried: %q", got)
		}
		status = http.StatusCreated
		h.Pass(30 * time.Second)
		h.shows("the second try", dentist)
		h.Pass(time.Hour)
		h.shows("after it arrived")
		status = http.StatusGone
		browsers, err := h.choices.Browsers(t.Context(), h.alice.User)
		h.must(err)
		h.must(h.choices.TestBrowser(t.Context(), h.alice.User, browsers[0].ID))
		h.shows("to a browser that is gone", "/a Notifications work | This browser shows your reminders.")
		if browsers, err = h.choices.Browsers(t.Context(), h.alice.User); err != nil || len(browsers) > 0 {
			t.Errorf("browsers: %v, %v", browsers, err)
		}
	})
}

func TestASignedOutBrowserIsSilent(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		session := h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), tenBefore)
		h.round()
		h.must(h.Store.EndSession(t.Context(), h.alice.User.ID, auth.SessionID(session)))
		h.Pass(50 * time.Minute)
		h.shows("when due")
	})
}

func TestSnoozeAndDismiss(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ctx := t.Context()
		h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), "RRULE:FREQ=DAILY\n", tenBefore)
		of := calendar.ReminderReference{
			Calendar: h.work.ID, Object: "Dentist.ics", Instance: start.Add(time.Hour).Format(time.RFC3339),
		}
		h.round()
		h.Pass(50 * time.Minute)
		h.shows("when due", dentist)
		h.must(h.choices.Snooze(ctx, h.alice, of))
		h.Pass(9 * time.Minute)
		h.shows("a minute early")
		h.Pass(time.Minute)
		h.shows("ten minutes later", dentist)
		h.must(h.choices.Snooze(ctx, h.alice, of))
		h.must(h.choices.Dismiss(ctx, h.alice, of))
		o, err := h.service.Object(ctx, nil, h.alice, h.work, "Dentist.ics")
		h.must(err)
		if !strings.Contains(string(o.Data), "ACKNOWLEDGED:20261130T090000Z") {
			t.Errorf("other programs do not learn of it:\n%s", o.Data)
		}
		h.Pass(10 * time.Minute)
		h.shows("after it was dismissed")
		h.must(h.choices.Snooze(ctx, h.alice, of))
		h.Pass(time.Minute)
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), "RRULE:FREQ=DAILY\n",
			strings.Replace(tenBefore, "TRIGGER", "ACKNOWLEDGED:20261130T091100Z\nTRIGGER", 1))
		h.Pass(10 * time.Minute)
		h.shows("after it was dismissed elsewhere")
		h.Set(start.Add(24*time.Hour + 50*time.Minute))
		h.shows("the next day", dentist)
		if h.choices.Snooze(ctx, h.bob, of) == nil {
			t.Error("another user put it off")
		}
	})
}

func TestNews(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ctx := t.Context()
		h.subscribe(h.alice, "/a")
		h.want(h.alice, func(s *calendar.ReminderSettings) { s.Changes = calendar.BrowserChannel })
		h.calendar(h.alice, "inbox2")
		_, err := h.service.Share(ctx, h.alice, h.work.ID, "bob", calendar.WriteAccess)
		h.must(err)
		h.round()
		h.put(h.alice, h.work, "Mine", start.Add(time.Hour))
		h.shows("own changes")
		h.put(h.bob, h.work, "Bobs", start.Add(time.Hour))
		h.shows("another user's change", "/a work | bob added “Bobs”")
		h.put(h.bob, h.work, "Second", start.Add(time.Hour))
		h.put(h.bob, h.work, "Third", start.Add(time.Hour))
		h.shows("two changes", "/a work | bob made 2 changes")

		h.want(h.alice, func(s *calendar.ReminderSettings) { s.Changes = calendar.NoChannel })
		bobs := h.calendar(h.bob, "bobs")
		h.put(h.bob, bobs, "Meeting", start.Add(time.Hour), "ORGANIZER;CN=Bob:mailto:bob@example.com\n"+
			"ATTENDEE:mailto:bob@example.com\nATTENDEE;RSVP=TRUE:mailto:alice@example.com\n")
		h.shows("an invitation", "/a Invitation: Meeting | 10:00–11:00 · from Bob")
		_, err = h.service.Share(ctx, h.bob, bobs.ID, "alice", calendar.ReadAccess)
		h.must(err)
		h.shows("a share", "/a bob shares a calendar with you | bobs")
		h.want(h.alice, func(s *calendar.ReminderSettings) {
			s.Shares, s.Invitations = calendar.MailChannel, calendar.NoChannel
		})
		more := h.calendar(h.bob, "more")
		_, err = h.service.Share(ctx, h.bob, more.ID, "alice", calendar.ReadAccess)
		h.must(err)
		if got := h.mails(); !slices.Equal(got, []string{"alice@example.com bob shares a calendar with you"}) {
			t.Errorf("mails: %q", got)
		}
		h.shows("in the browser")
	})
}

// TestSuggestionsAreNews: a user is notified of each suggestion of an assistant once, as of invitations.
func TestSuggestionsAreNews(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.must(h.Store.InsertToken(t.Context(), auth.Token{
			ID: "claude", User: h.alice.User.ID, Name: "Claude", Scopes: calendar.ScopeRead | calendar.ScopePropose,
			Created: start,
		}, "", ""))
		suggest := func(title string) {
			t.Helper()
			claude := h.alice
			claude.Token, claude.Agent, claude.Assistant = "claude", "Claude", true
			m := h.service.Meter(t.Context(), claude)
			defer m.Close()
			b := h.service.NewBatch(claude.Proposing(), m, calendar.TellAll)
			_, err := b.CreateTelling(t.Context(), claude.Proposing(), h.work, edit.Draft{
				Kind: string(calendar.Event), Fields: edit.Fields{Summary: edit.To(title)},
				Times: edit.Times{
					Start: edit.To(ical.Instant(start)), End: edit.To(ical.Instant(start.Add(time.Hour))),
				},
			}, calendar.TellAll)
			h.must(err)
			_, err = b.Suggest(t.Context())
			h.must(err)
		}
		h.Pass(time.Minute)
		suggest("Lunch")
		h.shows("a suggestion", "/a Claude suggests a change | created the event “Lunch”")
		h.shows("again")
		h.want(h.alice, func(s *calendar.ReminderSettings) { s.Invitations = calendar.MailChannel })
		h.Pass(time.Minute)
		suggest("Dinner")
		h.round()
		if got := h.mails(); !slices.Equal(got, []string{"alice@example.com Claude suggests a change"}) {
			t.Errorf("mails: %q", got)
		}
		all, err := h.service.Suggestions(t.Context(), h.alice)
		h.must(err)
		link := "https://cal.example.com/account/suggestions/" + string(all[1].ID) + "\n"
		if text := h.mailed; !strings.Contains(text, link) {
			t.Errorf("the mail does not lead to %s: %s", link, text)
		}
		h.want(h.alice, func(s *calendar.ReminderSettings) { s.Invitations = calendar.NoChannel })
		suggest("Tea")
		h.shows("of nothing")
	})
}

// TestALostShareReturns ends a share while a reminder is due.
func TestALostShareReturns(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ctx := t.Context()
		h.subscribe(h.bob, "/b")
		share := func() {
			_, err := h.service.Share(ctx, h.alice, h.work.ID, "bob", calendar.ReadAccess)
			h.must(err)
		}
		share()
		h.want(h.bob, func(s *calendar.ReminderSettings) { s.Before, s.Shares = 10, calendar.NoChannel })
		h.must(h.choices.Switch(ctx, h.bob.User, map[calendar.CalendarID]bool{h.work.ID: true}))
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), "RRULE:FREQ=DAILY\n")
		h.round()
		h.must(h.service.Unshare(ctx, h.alice, h.work.ID, "bob"))
		h.Pass(50 * time.Minute)
		h.shows("without the share")
		share()
		h.Set(start.Add(24*time.Hour + 30*time.Minute))
		h.shows("before the next day's")
		h.Set(start.Add(24*time.Hour + 50*time.Minute))
		h.shows("the next day", "/b Dentist | 10:00–11:00 · Room 5")
	})
}

// TestAMoveToAnotherZone rings by the new clock.
func TestAMoveToAnotherZone(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nBEGIN:VEVENT\nUID:f\nDTSTAMP:20261101T000000Z\n" +
			"SUMMARY:Dentist\n" +
			"DTSTART:20261130T140000\n" + tenBefore + "END:VEVENT\nEND:VCALENDAR\n"
		_, err := h.service.Put(t.Context(), h.alice, h.work, calendar.Draft{
			Name: "f.ics", Data: []byte(strings.ReplaceAll(text, "\n", "\r\n")),
		})
		h.must(err)
		h.round()
		zone := "Europe/Helsinki"
		h.must(h.Store.ChangeUser(t.Context(), h.alice.User.ID, auth.UserEdit{Timezone: &zone}))
		h.round()
		h.Set(time.Date(2026, 11, 30, 11, 50, 0, 0, time.UTC))
		h.shows("at 13:50 in Helsinki", "/a Dentist | 14:00")
	})
}

// TestADisabledUserIsSilent does not lose their later reminders.
func TestADisabledUserIsSilent(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.put(h.alice, h.work, "Dentist", start.Add(time.Hour), "RRULE:FREQ=DAILY\n", tenBefore)
		h.round()
		disable := func(is bool) {
			h.must(h.Store.ChangeUser(t.Context(), h.alice.User.ID, auth.UserEdit{Disabled: &is}))
		}
		disable(true)
		h.Pass(50 * time.Minute)
		h.shows("while disabled")
		disable(false)
		h.subscribe(h.alice, "/a")
		h.Set(start.Add(24 * time.Hour))
		h.shows("before the next day's")
		h.Pass(50 * time.Minute)
		h.shows("the next day", dentist)
	})
}

// TestAFlood is a user with many reminders at the same time. They get one notification for many, and others are not
// delayed.
func TestAFlood(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.subscribe(h.alice, "/a")
		h.subscribe(h.bob, "/b")
		private := h.calendar(h.bob, "private")
		for i := range 120 {
			h.put(h.alice, h.work, fmt.Sprintf("Event %03d", i), start.Add(time.Hour), tenBefore)
		}
		h.put(h.bob, private, "Dentist", start.Add(time.Hour), tenBefore)
		h.round()
		h.Pass(50 * time.Minute)
		if _, err := h.ringer.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.must(h.courier.Round(t.Context()))
		var paths []string
		for _, m := range h.devices.Got() {
			paths = append(paths, m.Path)
		}
		slices.Sort(paths)
		if !slices.Equal(paths, []string{"/a", "/b"}) {
			t.Errorf("the first round: %q", paths)
		}
		if got := h.shown(); len(got) != 2 || !strings.Contains(got[0], "notifications | Event ") {
			t.Errorf("the rest: %q", got)
		}
	})
}
