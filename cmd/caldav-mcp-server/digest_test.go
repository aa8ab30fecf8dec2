package main

import (
	"io"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/admin"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
)

// lastOutside returns the plain text and the headers of the last mail to an external address.
func (w *town) lastOutside() (netmail.Header, string) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.outside) == 0 {
		w.Fatalf("no mail came\n%s", w.log.String())
	}
	m, err := netmail.ReadMessage(strings.NewReader(w.outside[len(w.outside)-1]))
	if err != nil {
		w.Fatal(err)
	}
	_, boundary, _ := strings.Cut(m.Header.Get("Content-Type"), `boundary="`)
	part, err := multipart.NewReader(m.Body, strings.Trim(boundary, `"`)).NextRawPart()
	if err != nil {
		w.Fatal(err)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(part))
	if err != nil {
		w.Fatal(err)
	}
	return m.Header, strings.ReplaceAll(string(text), "\r\n", "\n")
}

func (p *person) putAs(c calendar.Caller, uid, day, title string) {
	p.Helper()
	_, err := p.Calendars.Put(p.Context(), c, p.cal, calendar.Draft{
		Name: calendar.ObjectName(uid + ".ics"), Data: []byte(strings.ReplaceAll(
			"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\nBEGIN:VEVENT\nUID:"+uid+
				"\nDTSTAMP:20260301T100000Z\nDTSTART;TZID=Europe/Berlin:"+day+"T100000\nDTEND;TZID=Europe/Berlin:"+day+
				"T113000\nSUMMARY:"+title+"\nEND:VEVENT\nEND:VCALENDAR\n", "\n", "\r\n")),
	})
	if err != nil {
		p.Fatal(err)
	}
}

// TestMailOfTheDay: tomorrow's events and an assistant's changes arrive in a mail, with links to undo them and to
// unsubscribe. A calendar that was unshared while the mail waited is not in it.
func TestMailOfTheDay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		w := newTown(t)
		s := w.site("home.example", database)
		alice, bob := s.person("alice"), s.person("bob")
		if _, err := s.Auth.ChangeUser(t.Context(), "alice",
			auth.UserEdit{Email: new("alice@elsewhere.example")}); err != nil {
			t.Fatal(err)
		}
		token, _, err := s.Auth.CreateToken(t.Context(), auth.TokenSpec{
			User: "alice", Name: "Claude", Scopes: calendar.ScopeAll,
		})
		if err != nil {
			t.Fatal(err)
		}
		assistant := app.Caller(alice.user)
		assistant.Token, assistant.Agent, assistant.Assistant = token.ID, token.Name, true
		alice.putAs(app.Caller(alice.user), "one", "20260302", "Dentist")
		alice.putAs(assistant, "two", "20260302", "<i>Lunch</i>")
		alice.putAs(app.Caller(alice.user), "three", "20260303", "The day after")
		bob.putAs(app.Caller(bob.user), "four", "20260302", "Not to be told")
		share := func(a calendar.Access) {
			t.Helper()
			if _, err := s.Calendars.Reshare(t.Context(), app.Caller(bob.user), bob.cal.ID,
				[]calendar.ShareEdit{{With: alice.user, Access: a, Settled: true}}); err != nil {
				t.Fatal(err)
			}
		}
		share(calendar.ReadAccess)
		p := s.program
		var out output
		p.Stdout = &out
		d := &command.Context{Console: p.Console, App: s.App, Config: s.config}
		want := calendar.Digest{Agenda: true, Changes: true, Hour: 18}
		if err := admin.SetDigest(t.Context(), d, "alice", want); err != nil ||
			!strings.Contains(out.String(), "alice gets a daily mail at 18:00") {
			t.Fatal(err, out.String())
		}
		w.settle()
		if len(w.outside) > 0 {
			t.Fatal("a mail came too early")
		}
		w.clock.Store(w.clock.Load() - w.clock.Load()%86400 + 17*3600)
		w.mu.Lock()
		w.trouble = func() trouble { return refused }
		w.mu.Unlock()
		if _, err := s.room.sender.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		share(calendar.NoAccess)
		w.mu.Lock()
		w.trouble = nil
		w.mu.Unlock()
		w.clock.Add(300)
		w.settle()
		header, text := w.lastOutside()
		for _, want := range []string{
			"Tomorrow, Monday 2 March 2026\n\n", "  10:00–11:30  Dentist\n", "  10:00–11:30  <i>Lunch</i>\n",
			"Changed today by Claude\n\n", "created the event “<i>Lunch</i>”",
			"https://cal.home.example/account/journal?app=" + string(token.ID),
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the mail lacks %q:\n%s", want, text)
			}
		}
		if strings.Contains(text, "Not to be told") || strings.Contains(text, "The day after") ||
			header.Get("Subject") != "2 events on Mon 2 Mar, 1 change by assistants" {
			t.Errorf("%v\n%s", header, text)
		}
		stop := strings.Trim(header.Get("List-Unsubscribe"), "<>")
		if !regexp.MustCompile(`^https://cal\.home\.example/account/no-mail/[\w.-]+$`).MatchString(stop) {
			t.Fatalf("unsubscribed at %q", stop)
		}
		w.clock.Add(86400)
		w.settle()
		if header, text := w.lastOutside(); len(w.outside) != 2 ||
			header.Get("Subject") != "1 event on Tue 3 Mar" || strings.Contains(text, "Changed") {
			t.Errorf("%d mails by the next day: %v\n%s", len(w.outside), header, text)
		}
		w.clock.Add(86400)
		w.settle()
		if n := len(w.outside); n != 2 {
			t.Errorf("%d mails by the day on which there is nothing", n)
		}
		u, _ := url.Parse(stop)
		digests, err := app.DigestsOf(t.Context(), p.Console, s.config, s.App)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := digests.Stop(t.Context(), u.Path[strings.LastIndex(u.Path, "/")+1:]); err != nil {
			t.Error(err)
		}
	})
}
