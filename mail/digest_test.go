package mail_test

import (
	"bytes"
	"context"
	"errors"
	netmail "net/mail"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/mail/letter"
)

// digestHouse is a house that sends mail of the day, at 18:00 in Berlin, which is 17:00 in UTC. What there is to say is
// the moment.
type digestHouse struct {
	*house
	digests *mail.Digests
	say     func(at time.Time) ([]letter.NotePart, error)
}

func eachDigest(t *testing.T, test func(*digestHouse)) {
	t.Helper()
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) { test(newDigests(t, url)) })
}

func newDigests(t *testing.T, database string) *digestHouse {
	t.Helper()
	h := &digestHouse{house: newHouse(t, database)}
	h.say = func(at time.Time) ([]letter.NotePart, error) {
		return []letter.NotePart{
			{Title: at.Format(time.RFC3339), Lines: []letter.NoteLine{
				{When: "10:00", Text: "<b>Lunch</b>\r\nBcc: x@example.com"},
			}},
		}, nil
	}
	h.digests = &mail.Digests{
		Store: h.Store, Key: h.key(), Page: h.page(),
		Settings: &url.URL{Scheme: "https", Host: "example.org", Path: "/account/settings"},
		Most:     calendar.DefaultLimits().Outbox, Now: h.now, NewID: h.newID, Task: h.tasks.Task,
		Day: func(_ context.Context, _ calendar.User, _ calendar.Digest, at time.Time) (letter.Note, error) {
			parts, err := h.say(at)
			return letter.Note{Subject: "Your day", Parts: parts}, err
		},
	}
	h.want(calendar.Digest{Hour: 18, Agenda: true})
	return h
}

func (h *digestHouse) sender() *mail.Sender {
	c := h.config(h.Store)
	c.Digests = h.digests
	return mail.NewSender(c)
}

func (h *digestHouse) want(d calendar.Digest) {
	h.Helper()
	h.must(h.digests.Want(h.Context(), h.user, d))
}

// at sets the clock, lets a sender work as one that starts, and wants so many mails by now.
func (h *digestHouse) at(text string, mails int) {
	h.Helper()
	now, err := time.Parse(time.RFC3339, text)
	h.must(err)
	h.clock.Store(now.Unix())
	for range 2 {
		h.round(h.sender())
		h.clock.Add(20 * 60) // the other one's lease is over
	}
	if n := len(h.relay.all()); n != mails {
		h.Fatalf("at %s there were %d mails, want %d", text, n, mails)
	}
}

func TestDigestsComeOnceADay(t *testing.T) {
	eachDigest(t, func(h *digestHouse) {
		h.at("2026-03-01T16:00:00Z", 0)
		if told := h.tasks.Ended(); len(told) > 0 {
			h.Errorf("nothing was due, and the tasks are %q", told)
		}
		h.at("2026-03-01T17:00:00Z", 1)
		if told := h.tasks.Ended(); !slices.Equal(told,
			[]string{"digest", "mail out method=DIGEST status=1.1 tries=1"}) {
			h.Errorf("the tasks are %q", told)
		}
		h.at("2026-03-01T22:00:00Z", 1)
		h.want(calendar.Digest{Hour: 23, Changes: true}) // later on the same day
		h.at("2026-03-01T22:30:00Z", 1)
		h.want(calendar.Digest{Hour: 18, Changes: true})
		h.at("2026-03-02T17:00:00Z", 2)
		h.at("2026-03-28T17:30:00Z", 3)
		h.at("2026-03-29T16:00:00Z", 4) // the clocks went forward
		if last := h.relay.all()[3].text; !strings.Contains(last, "2026-03-29T18:00:00+02:00") {
			h.Errorf("the last is of another moment: %s", last)
		}
		if len(h.delivered) > 0 {
			h.Errorf("the calendar was told of it: %v", h.delivered)
		}
	})
}

// TestDigestsMissed: one that is late is sent once, or left out.
func TestDigestsMissed(t *testing.T) {
	eachDigest(t, func(h *digestHouse) {
		h.at("2026-03-01T22:00:00Z", 1) // five hours late
		h.at("2026-03-02T10:00:00Z", 1)
		h.at("2026-03-03T00:00:00Z", 1) // seven
		h.at("2026-03-03T16:00:00Z", 1)
		h.at("2026-03-03T17:00:00Z", 2)
		h.at("2026-06-20T17:00:00Z", 3) // after months
	})
}

// TestDigestsFollowTheUser: to another zone, to another address, and to nowhere.
func TestDigestsFollowTheUser(t *testing.T) {
	eachDigest(t, func(h *digestHouse) {
		change := func(e auth.UserEdit) {
			h.Helper()
			h.must(h.ChangeUser(h.Context(), h.user.ID, e))
		}
		change(auth.UserEdit{Timezone: new("America/New_York")})
		h.at("2026-03-01T17:00:00Z", 0)
		h.at("2026-03-01T23:00:00Z", 1) // 18:00 there
		change(auth.UserEdit{Email: new("")})
		h.at("2026-03-02T23:00:00Z", 1)
		if err := h.digests.Want(h.Context(), calendar.User{ID: h.user.ID},
			calendar.Digest{Agenda: true}); calendar.ReasonOf(err) != calendar.Invalid {
			h.Errorf("wanted without an address: %v", err)
		}
		change(auth.UserEdit{Email: new("other@example.org")})
		h.at("2026-03-03T23:00:00Z", 2)
		if to := h.relay.all()[1].to; to != "other@example.org" {
			h.Errorf("sent to %s", to)
		}
		change(auth.UserEdit{Disabled: new(true)})
		h.at("2026-03-04T23:00:00Z", 2)
	})
}

// TestDigestsWait: a mail that waits for the mail server is not sent when it says nothing new any more, or to somebody
// that does not want it by then.
func TestDigestsWait(t *testing.T) {
	eachDigest(t, func(h *digestHouse) {
		down := func(stage, to string) error {
			if stage == "RCPT" && to == "alice@example.org" {
				return &smtp.SMTPError{Code: 451, Message: "later"}
			}
			return nil
		}
		h.relay.refuse = down
		h.at("2026-03-01T17:00:00Z", 0)
		h.relay.refuse = nil
		h.at("2026-03-01T20:00:00Z", 1)
		h.relay.refuse = down
		h.at("2026-03-02T17:00:00Z", 1)
		h.at("2026-03-02T23:30:00Z", 1)
		h.relay.refuse = nil
		h.at("2026-03-03T10:00:00Z", 1)
		h.relay.refuse = down
		h.at("2026-03-03T17:00:00Z", 1)
		h.want(calendar.Digest{})
		h.relay.refuse = nil
		h.at("2026-03-03T20:00:00Z", 1)
		h.want(calendar.Digest{Hour: 18, Agenda: true})
		h.say = func(time.Time) ([]letter.NotePart, error) { return nil, nil }
		h.at("2026-03-04T17:00:00Z", 1)
		h.say = func(time.Time) ([]letter.NotePart, error) { return nil, errors.New("broken") }
		h.post(h.letter(calendar.MethodRequest, "u", "guest@example.com"))
		h.at("2026-03-05T17:00:00Z", 2) // the invitation
		if n, _, err := h.WaitingLetters(h.Context()); err != nil || n != 1 {
			h.Errorf("%d letters wait, %v", n, err)
		}
		h.at("2026-03-06T10:00:00Z", 2)
		if n, _, err := h.WaitingLetters(h.Context()); err != nil || n != 0 {
			h.Errorf("%d letters wait in the end, %v", n, err)
		}
	})
}

func TestDigestsEndByALink(t *testing.T) {
	eachDigest(t, func(h *digestHouse) {
		h.at("2026-03-01T17:00:00Z", 1)
		m, err := netmail.ReadMessage(bytes.NewReader([]byte(h.relay.all()[0].text)))
		h.must(err)
		stop := strings.Trim(m.Header.Get("List-Unsubscribe"), "<>")
		token, ours := strings.CutPrefix(stop, h.page().String()+"/")
		if !ours || m.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" ||
			m.Header.Get("Bcc") != "" || m.Header.Get("Subject") != "Your day" {
			h.Fatalf("headers %v", m.Header)
		}
		for _, bad := range []string{"", ".", token + "x", token[1:], strings.Repeat("x", 5000)} {
			if _, err := h.digests.Stop(h.Context(), bad); calendar.ReasonOf(err) != calendar.NotFound {
				h.Errorf("%.20q ended it: %v", bad, err)
			}
		}
		if a, err := h.digests.Open(token); err != nil || a != "alice@example.org" {
			h.Errorf("opened as %s, %v", a, err)
		}
		h.at("2026-03-02T17:00:00Z", 2)
		for range 2 {
			if a, err := h.digests.Stop(h.Context(), token); err != nil || a != "alice@example.org" {
				h.Errorf("ended for %s, %v", a, err)
			}
		}
		h.at("2026-03-03T17:00:00Z", 2)
	})
}

// TestOldLinksEndNothing: a link that was sent to a former address, where others may read, ends no mail that goes
// elsewhere.
func TestOldLinksEndNothing(t *testing.T) {
	eachDigest(t, func(h *digestHouse) {
		former := h.digests.Token(h.user.ID, "alice@example.org")
		move := func(to string) {
			h.Helper()
			h.must(h.ChangeUser(h.Context(), h.user.ID, auth.UserEdit{Email: new(to)}))
		}
		stop := func(token, address string) {
			h.Helper()
			if a, err := h.digests.Stop(h.Context(), token); err != nil || string(a) != address {
				h.Errorf("the page says %q, %v", a, err)
			}
		}
		move("other@example.org")
		stop(former, "alice@example.org")
		stop(h.digests.Token("nobody", "alice@example.org"), "alice@example.org")
		h.at("2026-03-01T17:00:00Z", 1)
		move("")
		stop(former, "alice@example.org")
		move("alice@example.org")
		h.at("2026-03-02T17:00:00Z", 2)
		stop(former, "alice@example.org")
		h.at("2026-03-03T17:00:00Z", 2)
	})
}
