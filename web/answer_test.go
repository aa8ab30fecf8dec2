package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/web"
)

// guestbook takes the answers: it writes them down.
type guestbook struct {
	mu      sync.Mutex
	answers []string
	refuse  error
}

func (g *guestbook) Receive(_ context.Context, in calendar.Inbound) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refuse == nil {
		g.answers = append(g.answers, string(in.Data))
	}
	return g.refuse
}

func (g *guestbook) Refused(context.Context, calendar.Inbound, calendar.Distrust, bool) error {
	return nil
}

func (g *guestbook) Delivered(context.Context, calendar.Letter) error { return nil }

const invitation = `BEGIN:VCALENDAR
VERSION:2.0
METHOD:REQUEST
BEGIN:VEVENT
UID:u
DTSTAMP:20260501T120000Z
DTSTART;TZID=Europe/Berlin:20260510T100000
DTEND;TZID=Europe/Berlin:20260510T110000
SUMMARY:Team <b>meeting</b>
LOCATION:Room 1
DESCRIPTION:One\nTwo
ORGANIZER:mailto:ann@example.org
ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:guest@example.com
END:VEVENT
END:VCALENDAR
`

// invited is a house in which ann has told a guest of an event by mail.
type invited struct {
	*house
	book    *guestbook
	answers *mail.Answers
	letter  calendar.Letter
}

func invite(t *testing.T, test func(*invited)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, database string) {
		i := &invited{book: new(guestbook)}
		i.answers = &mail.Answers{
			Middle: i.book, Key: mail.Key("key"),
			Page: &url.URL{Scheme: "https", Host: "example.org", Path: web.AnswerPath},
		}
		i.house = open(t, database, func(c *web.Config) { c.Answers = i.answers })
		i.answers.Store, i.answers.Events, i.answers.Now = i.store, i.calendars, i.Now
		i.letter = calendar.Letter{
			User: i.user("ann").ID, From: "ann@example.org", To: "guest@example.com", UID: "u", First: true,
			Posted: i.Now(), Due: i.Now(), Data: []byte(strings.ReplaceAll(invitation, "\n", "\r\n")),
		}
		i.tell(calendar.MethodRequest)
		test(i)
	})
}

// tell tells the guest something.
func (i *invited) tell(method calendar.Method) {
	i.Helper()
	l := i.letter
	l.ID, l.Method = calendar.LetterID(i.newID()), method
	i.must(i.store.Update(i.Context(), func(tx calendar.Tx) error {
		return tx.Post(i.Context(), l.User, []calendar.Letter{l}, calendar.DefaultLimits().Outbox)
	}))
	taken, err := i.store.TakeLetters(i.Context(), i.Now(), i.Now().Add(time.Hour), 10)
	i.must(err)
	for _, l := range taken {
		i.must(i.store.ConcludeLetter(i.Context(), l, true, i.Now(), 1<<20))
	}
	i.letter.First = false
}

// path is that of the guest's link.
func (i *invited) path() string {
	return strings.TrimPrefix(i.answers.Link(i.letter, time.UTC), "https://example.org/account/")
}

func TestAnswerPage(t *testing.T) {
	t.Parallel()
	invite(t, func(i *invited) {
		b := i.browser()
		b.get(i.path()).shows(http.StatusOK, "Team <b>meeting</b>",
			"Sunday 10 May 2026, 10:00 – 11:00 (Europe/Berlin, UTC", "Room 1", "One", "guest@example.com",
			"Will you come?").
			hides("<b>meeting", "Sign out")
		if len(i.book.answers) > 0 {
			t.Error("to open the page is an answer")
		}
		b.post(i.path(), "answer", "DECLINED", "comment", "I am away").shows(http.StatusOK,
			"You said that you will not come", "ann can see it now")
		if len(i.book.answers) != 1 || !strings.Contains(i.book.answers[0],
			"PARTSTAT=DECLINED:mailto:guest@example.com") || !strings.Contains(i.book.answers[0], "COMMENT:I am away") {
			t.Errorf("the answers are %q", i.book.answers)
		}
		b.post(i.path(), "answer", "ACCEPTED").shows(http.StatusOK, "You said that you will come")
		b.post(i.path(), "answer", "DELEGATED").shows(http.StatusUnprocessableEntity, "An answer is yes, maybe or no")
		b.post(i.path(), "answer", "ACCEPTED", "comment", strings.Repeat("x", 501)).
			shows(http.StatusUnprocessableEntity, "500 characters")
		if len(i.book.answers) != 2 {
			t.Errorf("there are %d answers", len(i.book.answers))
		}
		i.book.refuse = calendar.Errorf(calendar.Stale, "", "the event is another one by now")
		b.post(i.path(), "answer", "ACCEPTED").shows(http.StatusConflict, "another one by now")
		i.book.refuse = nil
		for range 30 {
			b.post(i.path(), "answer", "ACCEPTED")
		}
		b.post(i.path(), "answer", "ACCEPTED").shows(http.StatusServiceUnavailable, "very often")
	})
}

// TestAnswerPageProposes: a guest without a calendar asks for another time, and has answered nothing by it.
func TestAnswerPageProposes(t *testing.T) {
	t.Parallel()
	invite(t, func(i *invited) {
		b := i.browser()
		page := b.get(i.path()).shows(http.StatusOK, "Would another time be better?").body
		if !strings.Contains(page, `value="2026-05-10T10:00"`) || !strings.Contains(page, `value="2026-05-10T11:00"`) {
			t.Errorf("the form does not have the times:\n%s", page)
		}
		propose := func(start, end string) shown {
			return b.post(i.path(), "answer", "PROPOSED", "start", start, "end", end, "comment", "My train")
		}
		propose("2026-05-10T10:00", "2026-05-10T11:00").shows(http.StatusUnprocessableEntity,
			"when the event takes place")
		propose("2026-05-11T10:00", "2026-05-11T09:00").shows(http.StatusUnprocessableEntity, "before it begins")
		propose("soon", "").shows(http.StatusUnprocessableEntity, "cannot be read")
		if len(i.book.answers) > 0 {
			t.Errorf("the answers are %q", i.book.answers)
		}
		propose("2026-05-11T14:30", "2026-05-11T16:00").shows(http.StatusOK, "You proposed another time").
			hides("You said")
		if len(i.book.answers) != 1 {
			t.Fatalf("the answers are %q", i.book.answers)
		}
		for _, want := range []string{
			"METHOD:COUNTER", "DTSTART;TZID=Europe/Berlin:20260511T143000", "DTEND;TZID=Europe/Berlin:20260511T160000",
			"COMMENT:My train", "PARTSTAT=NEEDS-ACTION:mailto:guest@example.com",
		} {
			if !strings.Contains(i.book.answers[0], want) {
				t.Errorf("there is no %s in\n%s", want, i.book.answers[0])
			}
		}
		// The organizer finds it on their home page, as what comes by mail.
		i.answers.Middle = i.calendars
		mail := "ann@example.org"
		i.must(i.store.ChangeUser(t.Context(), i.letter.User, auth.UserEdit{Email: &mail}))
		ann, err := i.store.UserByID(t.Context(), i.letter.User)
		i.must(err)
		i.put(callerOf(ann), i.made(ann, "Work"), object("VEVENT", "u", "Team", "DTSTART:20260510T080000Z",
			"DTEND:20260510T090000Z", "ORGANIZER:mailto:ann@example.org", "ATTENDEE:mailto:guest@example.com"))
		propose("2026-05-11T14:30", "2026-05-11T16:00").shows(http.StatusOK, "You proposed another time")
		i.as("ann").get("").shows(http.StatusOK, "guest@example.com proposes", "Mon 11 May 14:30", "My train")
	})
}

// TestAnswerPageRemembers: the answer that was given stays on the page, also next to a proposal, which does not get the
// words that went with the answer. The organizer has the name that the event gives.
func TestAnswerPageRemembers(t *testing.T) {
	t.Parallel()
	invite(t, func(i *invited) {
		i.answers.Middle = i.calendars
		mail := "ann@example.org"
		i.must(i.store.ChangeUser(t.Context(), i.letter.User, auth.UserEdit{Email: &mail}))
		ann, err := i.store.UserByID(t.Context(), i.letter.User)
		i.must(err)
		work := i.made(ann, "Work")
		i.put(callerOf(ann), work, object("VEVENT", "u", "Team", "DTSTART:20260510T080000Z",
			"DTEND:20260510T090000Z", "ORGANIZER;CN=Ann Lee:mailto:ann@example.org",
			"ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:guest@example.com"))
		i.letter.Data = []byte(strings.Replace(string(i.letter.Data), "ORGANIZER:", "ORGANIZER;CN=Ann Lee:", 1))
		i.tell(calendar.MethodRequest)
		b := i.browser()
		b.get(i.path()).shows(http.StatusOK, "Will you come?", "Organizer Ann Lee").hides("You said")
		answered := b.post(i.path(), "answer", "ACCEPTED", "comment", "Looking forward").shows(http.StatusOK,
			"You said that you will come. Ann Lee can see it now.", "Change your answer")
		if strings.Count(answered.body, "Looking forward") != 1 {
			t.Errorf("the proposal has the words of the answer:\n%s", answered.body)
		}
		b.get(i.path()).shows(http.StatusOK, "You said that you will come.", "Change your answer").
			hides("Will you come?", "can see it now")
		proposed := b.post(i.path(), "answer", "PROPOSED", "start", "2026-05-11T14:30", "end", "2026-05-11T16:00",
			"comment", "My train").shows(http.StatusOK, "You proposed another time", "You said that you will come.").
			hides("Will you come?")
		if strings.Count(proposed.body, "My train") != 1 {
			t.Errorf("the answer has the words of the proposal:\n%s", proposed.body)
		}
	})
}

func TestAnswerPageRefuses(t *testing.T) {
	t.Parallel()
	invite(t, func(i *invited) {
		b := i.browser()
		for _, path := range []string{"answer/x", "answer/x.y", i.path() + "x", i.path()[:len(i.path())-1]} {
			b.get(path).shows(http.StatusNotFound, "This link is not valid").hides("Team")
			b.post(path, "answer", "ACCEPTED").shows(http.StatusNotFound, "This link is not valid")
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.address(i.path()),
			strings.NewReader("answer=ACCEPTED"))
		i.must(err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		b.send(r).shows(http.StatusForbidden)
		i.tell(calendar.MethodCancel)
		b.get(i.path()).shows(http.StatusOK, "cancelled this event").hides("<form")
		b.post(i.path(), "answer", "ACCEPTED").shows(http.StatusConflict, "nothing to answer")
		i.pass(30 * 24 * time.Hour)
		b.get(i.path()).shows(http.StatusNotFound, "the event may be over")
		if len(i.book.answers) > 0 {
			t.Errorf("there are answers: %q", i.book.answers)
		}
	})
}
