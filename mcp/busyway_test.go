package mcp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
)

// The reading of this file shares no code with the one that it judges: it looks at each quarter of an hour by itself.

// quarter is the grid; all times of the test are on it. The clocks of Berlin change in the window, on March 29th.
const quarter = 15 * time.Minute

var (
	windowFrom = time.Date(2026, 3, 27, 0, 0, 0, 0, time.UTC)
	windowTo   = time.Date(2026, 4, 4, 0, 0, 0, 0, time.UTC)
)

// level is how busy a user is, in ascending order.
type level int

var levelWords = [...]string{"free", "tentative", "unavailable", "busy"}

func levelOf(word string) level {
	word = strings.TrimPrefix(strings.ToLower(word), "busy-")
	return level(slices.Index(levelWords[:], word))
}

// repeated is a time of the wall clock that comes again each day, or each week on some weekdays.
type repeated struct {
	in       *time.Location
	start    time.Time // as the clock shows it, in UTC
	minutes  int
	days     int // how many days on from the start it may come again; 0 is once
	weekdays []time.Weekday
}

func randomly(r *rand.Rand, berlin *time.Location) repeated {
	t := repeated{in: []*time.Location{time.UTC, berlin}[r.IntN(2)], minutes: 15 * (1 + r.IntN(40))}
	hour := r.IntN(24)
	if hour == 2 {
		hour = 3 // the hour that Berlin skips
	}
	t.start = windowFrom.AddDate(0, 0, r.IntN(9)-2).Add(time.Duration(hour)*time.Hour +
		time.Duration(r.IntN(4))*quarter)
	if r.IntN(2) == 0 {
		t.days = 1 + r.IntN(12)
		t.weekdays = []time.Weekday{t.start.Weekday(), time.Weekday(r.IntN(7)), time.Weekday(r.IntN(7))}
	}
	return t
}

func (t repeated) lines() string {
	zone := ":"
	if t.in != time.UTC {
		zone = ";TZID=" + t.in.String() + ":"
	}
	stamp := func(at time.Time) string {
		if t.in == time.UTC {
			return at.Format("20060102T150405Z")
		}
		return at.Format("20060102T150405")
	}
	text := fmt.Sprintf("DTSTART%s%s\nDURATION:PT%dM\n", zone, stamp(t.start), t.minutes)
	if t.days > 0 {
		var names []string
		for _, day := range t.weekdays {
			names = append(names, strings.ToUpper(day.String()[:2]))
		}
		slices.Sort(names)
		text += fmt.Sprintf("RRULE:FREQ=WEEKLY;BYDAY=%s;UNTIL=%s\n", strings.Join(slices.Compact(names), ","),
			t.on(t.days).UTC().Format("20060102T150405Z"))
	}
	return text
}

// on is when it begins so many days after the first.
func (t repeated) on(day int) time.Time {
	return time.Date(t.start.Year(), t.start.Month(), t.start.Day()+day, t.start.Hour(), t.start.Minute(), 0, 0, t.in)
}

func (t repeated) holds(at time.Time) bool {
	for day := range t.days + 1 {
		begins := t.on(day)
		if day > 0 && !slices.Contains(t.weekdays, begins.Weekday()) {
			continue
		}
		if !at.Before(begins) && at.Before(begins.Add(time.Duration(t.minutes)*time.Minute)) {
			return true
		}
	}
	return false
}

// appointment is an event with the level that its lines are known to mean.
type appointment struct {
	repeated
	lines string
	means level
}

var meanings = []appointment{
	{lines: "", means: 3},
	{lines: "", means: 3},
	{lines: "TRANSP:TRANSPARENT\n"},
	{lines: "STATUS:CANCELLED\n"},
	{lines: "STATUS:TENTATIVE\n", means: 1},
	{lines: "TRANSP:OPAQUE\nX-MICROSOFT-CDO-BUSYSTATUS:OOF\n", means: 2},
	{lines: "X-MICROSOFT-CDO-BUSYSTATUS:FREE\n"},
	{lines: "ORGANIZER:mailto:eve@example.net\nATTENDEE;PARTSTAT=DECLINED:mailto:alice@example.com\n"},
	{lines: "ORGANIZER:mailto:eve@example.net\nATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:alice@example.com\n", means: 1},
	{lines: "ORGANIZER:mailto:eve@example.net\nATTENDEE;PARTSTAT=ACCEPTED:mailto:alice@example.com\n", means: 3},
}

// officeHours are a VAVAILABILITY.
type officeHours struct {
	priority    int
	busy        level // 0 is what it is where nothing says: unavailable
	from, until time.Time
	available   []repeated
}

func (o officeHours) text() string {
	text := "BEGIN:VAVAILABILITY\nUID:hours\nDTSTAMP:20260101T000000Z\n"
	if o.priority > 0 {
		text += fmt.Sprintf("PRIORITY:%d\n", o.priority)
	}
	if o.busy > 0 {
		text += "BUSYTYPE:" + [...]string{"", "BUSY-TENTATIVE", "BUSY-UNAVAILABLE", "BUSY"}[o.busy] + "\n"
	}
	if !o.from.IsZero() {
		text += o.from.Format("DTSTART:20060102T150405Z\n")
	}
	if !o.until.IsZero() {
		text += o.until.Format("DTEND:20060102T150405Z\n")
	}
	for i, a := range o.available {
		text += fmt.Sprintf("BEGIN:AVAILABLE\nUID:%d\nDTSTAMP:20260101T000000Z\n%sEND:AVAILABLE\n", i, a.lines())
	}
	return text + "END:VAVAILABILITY\n"
}

// says is the working hours' level at a moment; false if they say nothing.
func (o officeHours) says(at time.Time) (level, bool) {
	if !o.from.IsZero() && at.Before(o.from) || !o.until.IsZero() && !at.Before(o.until) {
		return 0, false
	}
	if slices.ContainsFunc(o.available, func(a repeated) bool { return a.holds(at) }) {
		return 0, true
	}
	if o.busy == 0 {
		return 2, true
	}
	return o.busy, true
}

// life is the schedule of one user.
type life struct {
	events []appointment
	hours  []officeHours
}

func randomLife(r *rand.Rand, berlin *time.Location) (l life) {
	for range r.IntN(7) {
		a := meanings[r.IntN(len(meanings))]
		a.repeated = randomly(r, berlin)
		l.events = append(l.events, a)
	}
	for range r.IntN(4) {
		o := officeHours{priority: r.IntN(10), busy: level(r.IntN(4))}
		if r.IntN(2) == 0 {
			o.from = windowFrom.Add(time.Duration(r.IntN(900)-100) * quarter)
		}
		if r.IntN(2) == 0 {
			o.until = windowFrom.Add(time.Duration(900-r.IntN(400)) * quarter)
		}
		if !o.from.IsZero() && !o.until.IsZero() && !o.from.Before(o.until) {
			o.until = time.Time{}
		}
		for range r.IntN(3) {
			o.available = append(o.available, randomly(r, berlin))
		}
		l.hours = append(l.hours, o)
	}
	return l
}

// at is the user's level at a moment: from events, or else from the hours of the highest priority that say anything.
func (l life) at(now time.Time) level {
	most := level(0)
	for _, e := range l.events {
		if e.holds(now) {
			most = max(most, e.means)
		}
	}
	for priority := range 10 {
		said := false
		for _, o := range l.hours {
			if o.priority != (priority+1)%10 || most > 0 && !said {
				continue
			}
			if how, speaks := o.says(now); speaks {
				most, said = max(most, how), true
			}
		}
		if said {
			break
		}
	}
	return most
}

// quarters are the levels of all quarters of the window.
func quarters(at func(time.Time) level) []string {
	var all []string
	for now := windowFrom; now.Before(windowTo); now = now.Add(quarter) {
		all = append(all, now.Format("02 15:04 ")+levelWords[at(now)])
	}
	return all
}

// TestOnePersonsTimeByEveryWay: of the same person at the same time, get_free_busy says to themselves and to others
// what the outbox of CalDAV says and what find_time goes by, with priorities, types and the clock that is put forward.
func TestOnePersonsTimeByEveryWay(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		w := busyWays{h, h.open(t, h.config())}
		for round := range slowtest.Rounds(t, slowtest.Random, 12, 400) {
			l := randomLife(rand.New(rand.NewPCG(93, uint64(round))), berlin)
			w.live(t, l)
			want := quarters(l.at)
			for name, got := range w.readings(t) {
				if diff := cmp.Diff(want, quarters(got)); diff != "" {
					t.Fatalf("round %d, %s, of %+v\n(-naive +server) %s", round, name, l, diff)
				}
			}
			w.find(t, round, l)
			w.rest(t, l)
			h.Pass(time.Minute) // a token has its bound of calls in each
		}
	})
}

// busyWays are the ways to read alice's busy times.
type busyWays struct {
	*house
	door string
}

// live creates the events of a life for alice.
func (w busyWays) live(t *testing.T, l life) {
	t.Helper()
	for i, e := range l.events {
		uid := fmt.Sprint("event-", i)
		w.put(t, work, uid, wrapped(calendar.Event, uid, strings.Split(strings.TrimSpace(e.repeated.lines()+
			e.lines), "\n")...))
	}
	var said *string
	if len(l.hours) > 0 {
		text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\n"
		for _, o := range l.hours {
			text += o.text()
		}
		said = new(strings.ReplaceAll(text+"END:VCALENDAR\n", "\n", "\r\n"))
	}
	err := w.service.PatchScheduling(t.Context(), w.callers["alice"], func(s *calendar.Scheduling) error {
		s.Availability = said
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (w busyWays) rest(t *testing.T, l life) {
	t.Helper()
	cal, err := w.service.Calendar(t.Context(), w.callers["alice"], work)
	for i := range l.events {
		if err == nil {
			err = w.service.Delete(t.Context(), w.callers["alice"], cal, calendar.ObjectName(fmt.Sprintf("event-%d.ics",
				i)), calendar.Precondition{})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readings are the results of each way.
func (w busyWays) readings(t *testing.T) map[string]func(time.Time) level {
	t.Helper()
	ask := func(who string, usernames ...string) func(time.Time) level {
		args := params{"start_time": windowFrom.Format(time.RFC3339), "end_time": windowTo.Format(time.RFC3339)}
		if usernames != nil {
			args["usernames"] = usernames
		}
		var v busyView
		use(t, w.door, who, "get_free_busy", args, &v)
		return func(now time.Time) (most level) {
			for _, b := range v.Busy {
				if from, to := instant(t, b.Start), instant(t, b.End); !now.Before(from) && now.Before(to) {
					most = max(most, levelOf(b.Type))
				}
			}
			return most
		}
	}
	return map[string]func(time.Time) level{
		"alice herself": ask("alice"), "alice by her name": ask("alice", "alice"), "bob by name": ask("bob", "alice"),
		"bob by mail": ask("bob", "alice@example.com"), "bob at the outbox": w.outbox(t),
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// outbox is what bob is told there.
func (w busyWays) outbox(t *testing.T) func(time.Time) level {
	t.Helper()
	question := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nMETHOD:REQUEST\r\nBEGIN:VFREEBUSY\r\n" +
		"UID:q\r\nDTSTAMP:20260301T080000Z\r\n" +
		windowFrom.Format("DTSTART:20060102T150405Z\r\n") + windowTo.Format("DTEND:20060102T150405Z\r\n") +
		"ORGANIZER:mailto:bob@example.com\r\nATTENDEE:mailto:alice@example.com\r\nEND:VFREEBUSY\r\nEND:VCALENDAR\r\n"
	answers, err := w.service.AskBusy(t.Context(), w.callers["bob"], nil, []byte(question))
	if err != nil || len(answers) != 1 {
		t.Fatal(answers, err)
	}
	lines := strings.Split(strings.ReplaceAll(string(answers[0].Data), "\r\n ", ""), "\r\n")
	return func(now time.Time) (most level) {
		for _, line := range lines {
			kind, period, is := strings.Cut(strings.TrimPrefix(line, "FREEBUSY;FBTYPE="), ":")
			from, to, times := strings.Cut(period, "/")
			if stamp := now.Format("20060102T150405Z"); is && times && stamp >= from && stamp < to {
				most = max(most, levelOf(kind))
			}
		}
		return most
	}
}

// find has bob look for an hour with alice, who is free in all that is offered; where nothing is, there is none.
func (w busyWays) find(t *testing.T, round int, l life) {
	t.Helper()
	var v slotsView
	use(t, w.door, "bob", "find_time", params{
		"duration_minutes": 60, "usernames": []string{"alice"}, "without_me": true, "limit": mostSlots,
		"working_hours": "00:00-24:00",
		"days":          slot.Weekdays[:],
		"start":         windowFrom.Format(time.RFC3339), "end": windowTo.Format(time.RFC3339),
	}, &v)
	hour := func(from time.Time) (most level) {
		for i := range 4 {
			most = max(most, l.at(from.Add(time.Duration(i)*quarter)))
		}
		return most
	}
	for _, s := range v.Slots {
		if how := hour(instant(t, s.Start)); how > 1 || (how == 1) != s.Tentative {
			t.Errorf("round %d: %+v is offered, and alice is %s, of %+v", round, s, levelWords[how], l)
		}
	}
	for now := windowFrom; len(v.Slots) == 0 && !now.Add(time.Hour).After(windowTo); now = now.Add(quarter) {
		if day := now.Add(time.Hour - 1).Day(); day == now.Day() && hour(now) <= 1 {
			t.Fatalf("round %d: nothing is offered, and alice is free from %s, of %+v", round, now, l)
		}
	}
}
