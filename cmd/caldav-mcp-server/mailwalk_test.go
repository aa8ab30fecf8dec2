package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
)

// mailWalk is people on two servers who invite each other, while their mail is refused now and then, or comes twice.
type mailWalk struct {
	*town
	random *rand.Rand
	people []*person
	// meetings maps the UIDs to their organizers; cancelled meetings map to nil.
	meetings map[string]*person
	uids     []string
	log      []string
	// callers maps each meeting to its original organizer, even after it is cancelled.
	callers map[string]*person
}

func (p *person) address() string { return p.user.Name + "@" + p.domain }

// TestTwoServersAgree: after any changes by organizers and attendees, once the mail has arrived, each attendee's copy
// agrees with the organizer's, and the organizer knows each attendee's response.
func TestTwoServersAgree(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		for seed := range uint64(slowtest.Rounds(t, slowtest.Random, 1, 5)) {
			w := &mailWalk{
				town: newTown(t), random: rand.New(rand.NewPCG(seed, 41)), meetings: map[string]*person{},
				callers: map[string]*person{},
			}
			w.trouble = func() trouble { return []trouble{"", "", "", refused, lost, twice}[w.random.IntN(6)] }
			a, b := w.site("a.example", fresh(t, database, seed)), w.site("b.example", sqlite(t))
			for _, name := range []string{"alice", "ann"} {
				w.people = append(w.people, a.person(name))
			}
			for _, name := range []string{"bob", "ben", "bea"} {
				w.people = append(w.people, b.person(name))
			}
			for step := range slowtest.Rounds(t, slowtest.Random, 60, 600) {
				w.log = append(w.log, fmt.Sprint(step, " ", w.step()))
				if w.random.IntN(3) == 0 {
					w.quiet()
					w.agree()
				}
			}
		}
	})
}

// fresh is a database for a round: the one that was given, for the first.
func fresh(t *testing.T, database string, round uint64) string {
	t.Helper()
	switch {
	case round == 0:
		return database
	case strings.HasPrefix(database, "sqlite"):
		return sqlite(t)
	}
	other := testdb.Postgres(t)
	identify(t, other)
	return other
}

// quiet lets all mail arrive.
func (w *mailWalk) quiet() {
	w.Helper()
	for calm := 0; calm < 3; {
		w.clock.Add(int64(5 * time.Hour / time.Second))
		calm++
		for _, s := range w.inOrder() {
			n, err := s.room.sender.Round(w.Context())
			if n > 0 || err != nil {
				calm = 0
			}
		}
	}
}

// inOrder are the sites, in the same order each time: a walk can be walked again.
func (w *mailWalk) inOrder() []*site { return []*site{w.sites["a.example"], w.sites["b.example"]} }

// step is one user's action.
func (w *mailWalk) step() string {
	w.clock.Add(int64(w.random.IntN(90)))
	if w.random.IntN(2) == 0 {
		for _, s := range w.inOrder() {
			_, _ = s.room.sender.Round(w.Context()) // in the middle of things, with whatever goes wrong
		}
	}
	if len(w.uids) == 0 || w.random.IntN(6) == 0 {
		return w.call()
	}
	uid := w.uids[len(w.uids)-1-w.random.IntN(min(3, len(w.uids)))]
	organizer := w.meetings[uid]
	if organizer == nil {
		return "nothing"
	}
	if w.random.IntN(2) == 0 {
		return w.answer(uid, organizer)
	}
	switch w.random.IntN(6) {
	case 0:
		organizer.remove(uid)
		w.meetings[uid] = nil
		return "calls off " + uid
	case 1, 2:
		organizer.put(uid, setLine(organizer.event(uid), "DTSTART",
			fmt.Sprintf("DTSTART:2030%02d%02dT090000Z", 1+w.random.IntN(12), 1+w.random.IntN(28))))
		return "moves " + uid
	case 3:
		organizer.put(uid,
			setLine(organizer.event(uid), "SUMMARY", fmt.Sprintf("SUMMARY:Title %d", w.random.IntN(1000))))
		return "renames " + uid
	default:
		return w.regroup(uid, organizer)
	}
}

// remove throws a person's copy of an event away.
func (p *person) remove(uid string) {
	p.Helper()
	if p.killed != nil {
		p.killed.remove(p, uid)
		return
	}
	o, err := p.Calendars.ObjectByUID(p.Context(), nil, app.Caller(p.user), p.cal, calendar.UID(uid))
	if err != nil {
		p.Fatal(err)
	}
	if err := p.Calendars.Delete(p.Context(), app.Caller(p.user), p.cal, o.Name, calendar.Precondition{}); err != nil {
		p.Fatal(err)
	}
}

// call makes a meeting.
func (w *mailWalk) call() string {
	uid := fmt.Sprintf("meeting-%d", len(w.uids))
	organizer := w.people[w.random.IntN(len(w.people))]
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\nBEGIN:VEVENT\nUID:" + uid +
		"\nDTSTAMP:20260301T120000Z\nDTSTART:20300310T090000Z\n" +
		"DURATION:PT1H\nSUMMARY:Title\nORGANIZER:mailto:" + organizer.address() + "\n"
	for _, p := range w.people {
		if p != organizer && w.random.IntN(3) > 0 {
			text += "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:" + p.address() + "\n"
		}
	}
	organizer.put(uid, text+"END:VEVENT\nEND:VCALENDAR\n")
	w.meetings[uid], w.callers[uid], w.uids = organizer, organizer, append(w.uids, uid)
	return organizer.user.Name + " calls " + uid
}

// regroup adds or removes an attendee.
func (w *mailWalk) regroup(uid string, organizer *person) string {
	p := w.people[w.random.IntN(len(w.people))]
	if p == organizer {
		return "nothing"
	}
	text := organizer.event(uid)
	if strings.Contains(text, "mailto:"+p.address()) {
		organizer.put(uid, without(text, p.address()))
		return "no longer invites " + p.user.Name + " to " + uid
	}
	organizer.put(uid, strings.Replace(text, "END:VEVENT", "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:"+
		p.address()+"\nEND:VEVENT", 1))
	return "invites " + p.user.Name + " to " + uid
}

// answer has a guest answer, if they know of the meeting.
func (w *mailWalk) answer(uid string, organizer *person) string {
	p := w.people[w.random.IntN(len(w.people))]
	text := p.event(uid)
	line := attendeeLine(text, p.address())
	if p == organizer || line == "" || strings.Contains(text, "STATUS:CANCELLED") {
		return "nothing"
	}
	status := []string{"ACCEPTED", "DECLINED", "TENTATIVE"}[w.random.IntN(3)]
	// With a comment of its own it is not taken for an earlier one, if all come within a second.
	text = withoutLine(text, "COMMENT:")
	p.put(uid, strings.Replace(text, line, "ATTENDEE;PARTSTAT="+status+":mailto:"+p.address()+
		fmt.Sprintf("\nCOMMENT:%d\n", len(w.log)), 1))
	return p.user.Name + " says " + status + " to " + uid
}

func attendeeLine(text, who string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "ATTENDEE") && strings.Contains(line, "mailto:"+who) {
			return line
		}
	}
	return ""
}

// setLine puts a line in the place of the one that begins so.
func setLine(text, start, line string) string {
	lines := strings.Split(text, "\n")
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, start) }); i >= 0 {
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// withoutLine takes the line away that begins so.
func withoutLine(text, start string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, start) }), "\n")
}

// lineIn is the line that begins so.
func lineIn(text, start string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, start) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// agree wants all copies of all meetings alike.
func (w *mailWalk) agree() {
	w.Helper()
	for _, uid := range w.uids {
		organizer := w.meetings[uid]
		said := ""
		if organizer != nil {
			said = organizer.event(uid)
		}
		for _, p := range w.people {
			if p == organizer {
				continue
			}
			if wrong := disagree(said, p.event(uid), p.address()); wrong != "" {
				w.Fatalf("%s of %s: %s\nthe organizer has\n%s\nthe guest has\n%s\nafter\n%s\n%s", uid, p.user.Name,
					wrong, said, p.event(uid),
					strings.Join(w.log[max(0, len(w.log)-40):], "\n"), tail(w.town.log.String(), 3000))
			}
		}
	}
}

func tail(text string, most int) string { return text[max(0, len(text)-most):] }

// disagree describes how an attendee's copy differs from the organizer's.
func disagree(organizer, guest, who string) string {
	invited := attendeeLine(organizer, who) != ""
	over := guest == "" || strings.Contains(guest, "STATUS:CANCELLED")
	switch {
	case !invited && !over && partstat(attendeeLine(guest, who)) != "DECLINED": // who does not come is not told of it
		return "it goes on for who is not invited"
	case !invited:
		return ""
	case over:
		return "it is over for who is invited"
	}
	for _, start := range []string{"DTSTART", "SUMMARY"} {
		if a, b := lineIn(organizer, start), lineIn(guest, start); a != b {
			return a + " is not " + b
		}
	}
	if a, b := partstat(attendeeLine(organizer, who)), partstat(attendeeLine(guest, who)); a != b {
		return "the organizer takes the answer to be " + a + ", and it is " + b
	}
	return ""
}

func partstat(line string) string {
	_, rest, ok := strings.Cut(line, "PARTSTAT=")
	if !ok {
		return "NEEDS-ACTION"
	}
	return rest[:strings.IndexAny(rest, ";:")]
}

// trouble is the fault of a mail.
type trouble string

const (
	refused trouble = "refused"         // for now
	lost    trouble = "lost its answer" // it was taken, but the sender does not learn that
	twice   trouble = "delivered twice" // as mail systems do that restart
)

var errRefused = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "later"}
