package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
)

// guests is a house with people who have mail addresses and a calendar each.
type guests struct {
	*house
	people map[string]guest
}

type guest struct {
	calendar.Caller
	cal calendar.Calendar
}

// invited runs a test among people on each engine.
func invited(t *testing.T, names string, test func(g *guests)) {
	each(t, func(h *house) {
		h.config.Mailed = true
		h.Service = serviceOf(h)
		g := &guests{h, map[string]guest{}}
		for name := range strings.FieldsSeq(names) {
			g.join(name)
		}
		test(g)
	})
}

func (g *guests) join(name string) {
	u := calendar.User{
		ID: calendar.UserID("id-of-" + name), Name: "guest-" + name, DisplayName: strings.ToUpper(name),
		Email: name + "@example.com", Created: g.Now(),
	}
	g.must(g.Store.InsertUser(g.ctx, u, ""))
	c := calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "test"}
	g.people[name] = guest{c, g.calendar(c, "work")}
}

// replaceUID gives a meeting another UID.
func replaceUID(text, line string) string { return strings.Replace(text, "UID:meeting", line, 1) }

// meetingOf writes an event of ann's. Each further line is a property.
func meetingOf(lines ...string) string {
	all := append([]string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", "BEGIN:VEVENT", "UID:meeting",
		"DTSTAMP:20260301T080000Z",
		"DTSTART:20260310T100000Z", "DTEND:20260310T110000Z", "SUMMARY:Plans",
	}, lines...)
	all = slices.DeleteFunc(all, func(l string) bool { return l == "" })
	return strings.Join(append(all, "END:VEVENT", "END:VCALENDAR", ""), "\r\n")
}

const organizedByAnn = "ORGANIZER:mailto:ann@example.com"

func attendees(names ...string) string {
	var lines []string
	for _, n := range names {
		lines = append(lines, "ATTENDEE:mailto:"+n+"@example.com")
	}
	return strings.Join(lines, "\r\n")
}

func (g *guests) save(who, data string) calendar.Saved {
	g.t.Helper()
	p := g.people[who]
	saved, err := g.Put(g.ctx, p.Caller, p.cal, calendar.Draft{Name: g.name(who), Data: []byte(data)})
	g.must(err)
	return saved
}

// name is what somebody's copy of the meeting is called.
func (g *guests) name(who string) calendar.ObjectName {
	if o, there := g.has(who); there {
		return o.Name
	}
	return "meeting.ics"
}

// has returns somebody's copy of the meeting.
func (g *guests) has(who string) (calendar.Object, bool) {
	g.t.Helper()
	p := g.people[who]
	o, err := g.Store.ObjectByUID(g.ctx, p.cal.ID, "meeting")
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
		return o, false
	}
	g.must(err)
	return o, true
}

// line is the first line of somebody's copy that begins like this, without folds.
func (g *guests) line(who, begin string) string {
	g.t.Helper()
	o, there := g.has(who)
	if !there {
		return "nothing"
	}
	return lineOf(string(o.Data), begin)
}

func lineOf(text, begin string) string {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n ", ""), "\r\n") {
		if strings.HasPrefix(line, begin) {
			return line
		}
	}
	return ""
}

// answered is what somebody's copy says that somebody has answered.
func (g *guests) answered(in, of string) string {
	g.t.Helper()
	o, there := g.has(in)
	if !there {
		return "nothing"
	}
	var all []string
	for line := range strings.SplitSeq(strings.ReplaceAll(string(o.Data), "\r\n ", ""), "\r\n") {
		if strings.HasPrefix(line, "ATTENDEE") && strings.Contains(line, of+"@example.com") {
			said := "NEEDS-ACTION"
			if _, rest, found := strings.Cut(line, "PARTSTAT="); found {
				said = strings.FieldsFunc(rest, func(r rune) bool { return r == ';' || r == ':' })[0]
			}
			all = append(all, said)
		}
	}
	return strings.Join(all, " ")
}

// answer is bob's answer to all of the meeting, as programs write it.
func (g *guests) answer(said string) error {
	g.t.Helper()
	const who = "bob"
	o, _ := g.has(who)
	p := g.people[who]
	_, err := g.Put(g.ctx, p.Caller, p.cal,
		calendar.Draft{Name: o.Name, Data: []byte(answering(string(o.Data), who, said))})
	return err
}

// answering is a text in which somebody answers.
func answering(text, who, said string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n ", ""), "\r\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "ATTENDEE") && strings.HasSuffix(line, "mailto:"+who+"@example.com") {
			lines[i] = "ATTENDEE;PARTSTAT=" + said + ":mailto:" + who + "@example.com"
		}
	}
	return strings.Join(lines, "\r\n")
}

// inbox lists the methods of what came to somebody.
func (g *guests) inbox(who string) string {
	g.t.Helper()
	in, err := g.Store.Inbox(g.ctx, g.people[who].User.ID)
	g.must(err)
	var items []calendar.InboxItem
	for _, i := range in.Items {
		if !i.Gone {
			items = append(items, i)
		}
	}
	slices.SortFunc(items, func(a, b calendar.InboxItem) int { return int(a.Version - b.Version) })
	var all []string
	for _, i := range items {
		all = append(all, strings.TrimPrefix(lineOf(string(i.Data), "METHOD:"), "METHOD:"))
	}
	return strings.Join(all, " ")
}

func (g *guests) want(what, got, want string) {
	g.t.Helper()
	if got != want {
		g.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// letters lists what waits to be mailed, as "METHOD address".
func (g *guests) letters() string {
	g.t.Helper()
	all, err := g.Store.TakeLetters(g.ctx, g.Now().AddDate(1, 0, 0), g.Now().AddDate(1, 0, 1), 100)
	g.must(err)
	var list []string
	for _, l := range all {
		g.must(g.Store.ConcludeLetter(g.ctx, l, true, g.Now(), 1<<20))
		list = append(list, fmt.Sprintf("%s %s", l.Method, l.To))
	}
	return strings.Join(list, ", ")
}

func TestInvitationArrivesAndIsAnswered(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		saved := g.save("ann",
			meetingOf(organizedByAnn, attendees("ann", "bob", "eve", "zoe"), "BEGIN:VALARM", "ACTION:DISPLAY",
				"DESCRIPTION:x", "TRIGGER:-PT5M", "END:VALARM"))
		if !saved.Scheduled || saved.Object.ScheduleTag == "" {
			t.Errorf("%+v", saved)
		}
		g.want("bob's copy", g.line("bob", "SUMMARY"), "SUMMARY:Plans")
		g.want("its alarm", g.line("bob", "BEGIN:VALARM"), "")
		g.want("its method", g.line("bob", "METHOD"), "")
		g.want("bob's inbox", g.inbox("bob"), "REQUEST")
		g.want("ann's inbox", g.inbox("ann"), "")
		g.want("mail", g.letters(), "REQUEST zoe@example.com")
		g.want("ann's note of bob", g.line("ann", "ATTENDEE;SCHEDULE-STATUS=1.2:mailto:bob"),
			"ATTENDEE;SCHEDULE-STATUS=1.2:mailto:bob@example.com")
		g.want("ann's note of zoe", g.line("ann", "ATTENDEE;SCHEDULE-STATUS=1.0"),
			"ATTENDEE;SCHEDULE-STATUS=1.0:mailto:zoe@example.com")
		tag := saved.Object.ScheduleTag
		g.must(g.answer("ACCEPTED"))
		for _, who := range []string{"ann", "bob", "eve"} {
			g.want("bob's answer as "+who+" has it", g.answered(who, "bob"), "ACCEPTED")
		}
		g.want("what came of it", g.line("bob", "ORGANIZER"),
			strings.Replace(organizedByAnn, "ORGANIZER", "ORGANIZER;SCHEDULE-STATUS=1.2", 1))
		g.want("which is nothing of ann as a guest", g.line("bob", "ATTENDEE"), "ATTENDEE:mailto:ann@example.com")
		g.want("ann's inbox", g.inbox("ann"), "REPLY")
		g.want("eve's inbox", g.inbox("eve"), "REQUEST")
		if o, _ := g.has("ann"); o.ScheduleTag != tag {
			t.Errorf("the tag of ann's event moved from %s to %s with an answer", tag, o.ScheduleTag)
		}
		g.must(g.Delete(g.ctx, g.people["ann"].Caller, g.people["ann"].cal, "meeting.ics", calendar.Precondition{}))
		g.want("called off", g.line("bob", "STATUS"), "STATUS:CANCELLED")
		g.want("bob's inbox", g.inbox("bob"), "REQUEST CANCEL")
		g.want("mail", g.letters(), "CANCEL zoe@example.com")
		if diff := cmp.Diff(3, len(g.people)); diff != "" {
			t.Error(diff)
		}
		_ = ledger.Edit{}
	})
}
