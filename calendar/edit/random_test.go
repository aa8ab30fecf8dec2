package edit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// dice makes series up.
type dice struct{ *rand.Rand }

func (d dice) pick(from ...string) string { return from[d.IntN(len(from))] }

// made is a series, and how its times are written.
type made struct {
	text  string
	zone  *zone.Zone
	tzid  string
	dates bool
	utc   bool
}

func (m made) write(name string, c ical.Civil) string {
	switch {
	case m.dates:
		return name + ";VALUE=DATE:" + ical.Date(c).String()
	case m.tzid != "":
		return name + ";TZID=" + m.tzid + ":" + ical.Floating(c).String()
	case m.utc:
		return name + ":" + ical.UTC(c).String()
	default:
		return name + ":" + ical.Floating(c).String()
	}
}

// rule makes a rule that names the start.
func (d dice) rule(start ical.Civil) string {
	day := strings.ToUpper(start.Weekday().String()[:2])
	rule := d.pick(
		"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU,"+day,
		"FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SA,"+day, "FREQ=WEEKLY;BYDAY=MO,WE,FR,"+day, "FREQ=MONTHLY",
		fmt.Sprintf("FREQ=MONTHLY;BYDAY=%d%s", (start.Day-1)/7+1, day), "FREQ=MONTHLY;BYDAY="+day,
		"FREQ=YEARLY", fmt.Sprintf("FREQ=YEARLY;BYMONTH=%d", start.Month), "FREQ=DAILY;BYHOUR=9,15",
		fmt.Sprintf("FREQ=MONTHLY;BYMONTHDAY=3,%d", start.Day), "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR,"+day,
	)
	return rule
}

// series makes a series with exceptions, extra dates and overrides.
func (d dice) series(t *testing.T) made {
	t.Helper()
	m := made{zone: zone.UTC()}
	switch d.IntN(5) {
	case 0:
		m.dates = true
	case 1:
		m.utc = true
	case 2: // floating
	default:
		m.tzid = d.pick("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
		z, err := zone.Lookup(m.tzid)
		if err != nil {
			t.Fatal(err)
		}
		m.zone = z
	}
	start := ical.CivilDate(2025, 1, 1).AddDays(d.IntN(500))
	if !m.dates {
		start.Hour = 9
	}
	rule := d.rule(start)
	if m.dates {
		rule = strings.Replace(rule, ";BYHOUR=9,15", "", 1)
	}
	last := start.AddDays(20 + d.IntN(100))
	switch d.IntN(3) {
	case 0:
		rule += fmt.Sprintf(";COUNT=%d", 4+d.IntN(20))
	case 1:
		until := ical.Floating(last)
		if m.dates {
			until = ical.Date(last)
		} else if m.utc || m.tzid != "" {
			unix, _ := m.zone.Unix(last.Seconds())
			until = ical.UTC(ical.CivilFromSeconds(unix))
		}
		rule += ";UNTIL=" + until.String()
	}
	head := []string{
		m.write("DTSTART", start), d.pick(m.write("DTEND", end(m, start)), "", "DURATION:PT2H"), "RRULE:" + rule,
		"SUMMARY:usual", "SEQUENCE:2",
	}
	m.text = m.build(head)
	instances := expand(t, read(t, m.text))
	m.text = m.build(head, d.exceptions(m, instances)...)
	return m
}

func end(m made, start ical.Civil) ical.Civil {
	if m.dates {
		return start.AddDays(2)
	}
	return start.AddSeconds(5400)
}

// build writes the series; what begins with BEGIN comes behind it.
func (m made) build(head []string, rest ...string) string {
	var own, components []string
	for _, line := range append(head, rest...) {
		switch {
		case strings.HasPrefix(line, "BEGIN:"):
			components = append(components, line)
		case line != "":
			own = append(own, line)
		}
	}
	return calendarOf(append([]string{eventOf(own...)}, components...)...)
}

// exceptions leaves out, adds and tells apart.
func (d dice) exceptions(m made, list []seen) []string {
	var out []string
	for i, instance := range list {
		wall := ical.CivilFromSeconds(m.zone.Wall(instance.ID))
		switch d.IntN(8) {
		case 0:
			if i > 0 {
				out = append(out, d.excluded(m, instance, wall))
			}
		case 2:
			if i > 0 && i < 10 {
				out = append(out, d.extra(m, wall))
			}
		case 1:
			moved := wall.AddDays(d.IntN(3))
			if !m.dates {
				moved = moved.AddSeconds(int64(d.IntN(4)) * 1800)
			}
			out = append(out,
				eventOf(m.write("RECURRENCE-ID", wall), m.write("DTSTART", moved), m.write("DTEND", end(m, moved)),
					"SUMMARY:"+d.pick("usual", "special")))
		}
	}
	return out
}

// excluded leaves an instance out, in one of the ways in which clients do.
func (d dice) excluded(m made, instance seen, wall ical.Civil) string {
	switch {
	case m.dates || m.tzid == "" && !m.utc || d.IntN(3) > 0:
		return m.write("EXDATE", wall)
	case d.IntN(2) == 0:
		return "EXDATE;VALUE=DATE:" + ical.Date(wall).String()
	default:
		return "EXDATE:" + ical.UTC(ical.CivilFromSeconds(instance.ID)).String()
	}
}

// extra adds a date, perhaps one that lasts otherwise.
func (d dice) extra(m made, wall ical.Civil) string {
	if m.dates {
		return m.write("RDATE", wall.AddDays(1))
	}
	wall = wall.AddSeconds(3600)
	line := m.write("RDATE", wall)
	if d.IntN(2) == 0 {
		line = strings.Replace(line, "RDATE", "RDATE;VALUE=PERIOD", 1) + "/PT10M"
	}
	return line
}

func (m made) object(t *testing.T) *content.Object {
	t.Helper()
	return read(t, m.text)
}

// id is the recurrence id of an instance, in the form of the series or in UTC.
func (m made) id(s seen) ical.Time {
	wall := ical.CivilFromSeconds(m.zone.Wall(s.ID))
	switch {
	case m.dates:
		return ical.Date(wall)
	case m.tzid != "" && s.ID%7 != 0:
		return ical.Zoned(wall, m.tzid)
	case m.tzid == "" && !m.utc:
		return ical.Floating(wall)
	default:
		return ical.UTC(ical.CivilFromSeconds(s.ID))
	}
}

// shift is an instance so many seconds of the wall clock later.
func (m made) shift(s seen, by int64) seen {
	move := func(unix int64) int64 {
		moved, _ := m.zone.Unix(m.zone.Wall(unix) + by)
		return moved
	}
	moved := seen{ID: move(s.ID), Start: move(s.Start), Summary: s.Summary}
	moved.End = moved.Start + s.End - s.Start
	moved.Wall = ical.CivilFromSeconds(m.zone.Wall(moved.Start))
	return moved
}

// trial is one edit of one instance of a series that was made up.
type trial struct {
	*testing.T
	made
	before []seen
	which  int
	by     int64
}

func (tr trial) target(s edit.Scope) edit.Target {
	return edit.Target{Instance: tr.id(tr.before[tr.which]), Scope: s}
}

// run changes the object, and expands what came of it.
func (tr trial) run(c edit.Change) (left, right []seen, err error) {
	tr.Helper()
	got, err := editor().Change(tr.Context(), tr.object(tr.T), c)
	if err != nil {
		return nil, nil, err
	}
	left = expand(tr.T, valid(tr.T, got.Document))
	if got.Split != nil {
		right = expand(tr.T, valid(tr.T, got.Split))
	}
	return left, right, nil
}

func (tr trial) cancel(s edit.Scope) []seen {
	tr.Helper()
	got, err := editor().Cancel(tr.Context(), tr.object(tr.T), tr.target(s))
	if err != nil {
		tr.Fatalf("cancel %s: %v in\n%s", s, err, tr.text)
	}
	if got.Document == nil {
		return nil
	}
	return expand(tr.T, valid(tr.T, got.Document))
}

func (tr trial) same(what string, want, got []seen) {
	tr.Helper()
	n := min(len(want), most-1)
	if len(want) >= most-1 && len(got) >= n {
		got = got[:n]
	}
	if diff := cmp.Diff(lines(want[:n]), lines(got)); diff != "" {
		tr.Fatalf("%s of instance %d by %d s (-want +got):\n%s\n%s", what, tr.which, tr.by, diff, tr.text)
	}
}

// times moves the instance by the trial's distance.
func (tr trial) times() edit.Times {
	moved := tr.shift(tr.before[tr.which], tr.by)
	start := ical.UTC(ical.CivilFromSeconds(moved.Start))
	switch {
	case tr.dates:
		start = ical.Date(moved.Wall)
	case tr.tzid == "" && !tr.utc:
		start = ical.Floating(moved.Wall)
	}
	return edit.Times{Start: edit.To(start)}
}

// from is which instances an edit of the following ones is about: those that are named from
// the chosen one on.
func (tr trial) all(change func(i int, s seen) seen) []seen {
	var list []seen
	for i, s := range tr.before {
		list = append(list, change(i, s))
	}
	return list
}

// TestRandomSeries edits, moves and cancels instances of random series, and looks at what
// takes place then: exactly what was asked.
func TestRandomSeries(t *testing.T) {
	t.Parallel()
	bound, moves := 0, 0
	for seed := range uint64(400) {
		d := dice{rand.New(rand.NewPCG(seed, 5545))}
		m := d.series(t)
		before := expand(t, m.object(t))
		if len(before) == 0 {
			continue
		}
		tr := trial{T: t, made: m, before: before, which: d.IntN(min(len(before), 20))}
		tr.by = int64(d.IntN(9)-4) * 3600
		if m.dates || d.IntN(3) == 0 {
			tr.by = int64(d.IntN(9)-4) * 86400
		}
		tr.cancels()
		tr.edits()
		moves += 2
		bound += tr.moves()
	}
	if bound*4 > moves {
		t.Errorf("%d of %d moves were refused since no rule said the same", bound, moves)
	}
}

func (tr trial) cancels() {
	tr.Helper()
	var others []seen
	for i, s := range tr.before {
		if i != tr.which {
			others = append(others, s)
		}
	}
	tr.same("cancel this", others, tr.cancel(edit.This))
	tr.same("cancel following", tr.before[:tr.which], tr.cancel(edit.Following))
	tr.same("cancel all", nil, tr.cancel(edit.All))
}

func (tr trial) edits() {
	tr.Helper()
	title := edit.Fields{Summary: edit.To("new")}
	left, right, err := tr.run(edit.Change{Target: tr.target(edit.This), Fields: title})
	if err != nil || right != nil {
		tr.Fatalf("edit this: %v, %v", right, err)
	}
	tr.same("edit this", tr.all(func(i int, s seen) seen {
		if i == tr.which {
			s.Summary = "new"
		}
		return s
	}), left)
	renamed := func(from int) []seen {
		return tr.all(func(i int, s seen) seen {
			if i == tr.which || i >= from && s.Summary == "usual" {
				s.Summary = "new"
			}
			return s
		})
	}
	if left, _, err = tr.run(edit.Change{Target: tr.target(edit.All), Fields: title}); err != nil {
		tr.Fatalf("edit all: %v", err)
	}
	tr.same("edit all", renamed(0), left)
	left, right, err = tr.run(edit.Change{Target: tr.target(edit.Following), Fields: title})
	if f, ok := errors.AsType[*edit.Error](err); ok && f.Code == edit.RuleBound && strings.Contains(tr.text, "RDATE") {
		return
	}
	if err != nil {
		tr.Fatalf("edit following: %v in\n%s", err, tr.text)
	}
	tr.same("edit following", renamed(tr.which), append(left, right...))
	if len(left) != tr.which && right != nil {
		tr.Errorf("%d instances before the split, want %d", len(left), tr.which)
	}
}

// moves tells how many of its two moves no rule could follow.
func (tr trial) moves() (bound int) {
	tr.Helper()
	left, _, err := tr.run(edit.Change{Target: tr.target(edit.This), Times: tr.times()})
	if err != nil {
		tr.Fatalf("move this: %v in\n%s", err, tr.text)
	}
	tr.same("move this", tr.all(func(i int, s seen) seen {
		if i == tr.which {
			moved := tr.shift(s, tr.by)
			moved.ID = s.ID
			return moved
		}
		return s
	}), left)
	for _, scope := range []edit.Scope{edit.All, edit.Following} {
		left, right, err := tr.run(edit.Change{Target: tr.target(scope), Times: tr.times()})
		if f, ok := errors.AsType[*edit.Error](err); ok && f.Code == edit.RuleBound {
			bound++
			continue
		}
		if err != nil {
			tr.Fatalf("move %s: %v in\n%s", scope, err, tr.text)
		}
		from := 0
		if right != nil {
			from = tr.which
		}
		want := tr.all(func(i int, s seen) seen {
			if i >= from {
				s = tr.shift(s, tr.by)
			}
			return s
		})
		tr.same("move "+string(scope), want, append(left, right...))
	}
	return bound
}
