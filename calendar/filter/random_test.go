package filter_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/filter"
)

// TestRandomObjectsAreInTheirSpan: whatever an object looks like and wherever it is read,
// what matches is what the index gives. matchIn checks it.
func TestRandomObjectsAreInTheirSpan(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(4791, 9))}
	hits := 0
	for range 4000 {
		kind := pick(g, "VEVENT", "VEVENT", "VTODO", "VTODO", "VJOURNAL", "VFREEBUSY", "VAVAILABILITY")
		text := g.object(kind)
		o := object(t, text)
		for range 4 {
			start := g.day().Add(time.Duration(g.IntN(86400)) * time.Second)
			window := &filter.TimeRange{Start: start, End: start.Add(time.Duration(1+g.IntN(10*86400)) * time.Second)}
			f := under(filter.CompFilter{Name: filter.ComponentName(kind), TimeRange: window})
			if matchIn(t, f, o, pick(g, "UTC", "Pacific/Kiritimati", "Pacific/Honolulu", "America/New_York")) {
				hits++
			}
			if t.Failed() {
				t.Fatalf("from %s to %s of\n%s", window.Start, window.End, text)
			}
		}
	}
	if hits < 1000 {
		t.Errorf("only %d windows hit anything: they test little", hits)
	}
}

// generator makes objects about March 2026.
type generator struct{ *rand.Rand }

func pick(g generator, list ...string) string { return list[g.IntN(len(list))] }

func (g generator) day() time.Time {
	return time.Date(2026, 3, 1+g.IntN(40), 0, 0, 0, 0, time.UTC)
}

func (g generator) object(kind string) string {
	form := g.IntN(4)
	lines := g.component(kind, form)
	recurring := kind != "VFREEBUSY" && kind != "VAVAILABILITY" &&
		strings.Contains(strings.Join(lines, "\n"), "DTSTART") && g.IntN(2) == 0
	if recurring {
		lines = append(lines,
			pick(g, "RRULE:FREQ=DAILY;COUNT=5", "RRULE:FREQ=WEEKLY", "RRULE:FREQ=WEEKLY;UNTIL=20260320",
				"RRULE:FREQ=MONTHLY;COUNT=2",
				g.time("RDATE", form), "RRULE:FREQ=DAILY;INTERVAL=3;COUNT=4\n"+g.time("EXDATE", form)))
	}
	text := wrap(kind, lines)
	for i := 0; recurring && i < g.IntN(3); i++ {
		id := g.time("RECURRENCE-ID", form)
		if g.IntN(3) == 0 {
			id = strings.Replace(id, "RECURRENCE-ID", "RECURRENCE-ID;RANGE=THISANDFUTURE", 1)
		}
		text += "\n" + wrap(kind, append(g.component(kind, form), id))
	}
	return text
}

func wrap(kind string, lines []string) string {
	return "BEGIN:" + kind + "\n" + strings.Join(lines, "\n") + "\nEND:" + kind
}

// component makes the lines that say when a component is; all of one form.
func (g generator) component(kind string, form int) []string {
	var lines []string
	switch kind {
	case "VTODO":
		lines = g.some(g.time("DTSTART", form), g.time("DUE", form), g.time("COMPLETED", 0), g.time("CREATED", 0))
	case "VJOURNAL":
		lines = g.some(g.time("DTSTART", form))
	case "VFREEBUSY":
		lines = g.some(g.time("DTSTART", 0), g.time("DTEND", 0),
			fmt.Sprintf("FREEBUSY:%s/PT%dH", g.day().Format("20060102T150405Z"), 1+g.IntN(50)))
	case "VAVAILABILITY":
		lines = g.some(g.time("DTSTART", form), g.time("DTEND", form))
	default:
		lines = append(g.some(g.time("DTEND", form)), g.time("DTSTART", form))
	}
	joined := strings.Join(lines, "\n")
	if strings.Contains(joined, "DTSTART") && !strings.Contains(joined, "DTEND") && !strings.Contains(joined, "DUE") &&
		g.IntN(2) == 0 {
		lines = append(lines, pick(g, "DURATION:PT0S", "DURATION:PT90M", "DURATION:P1D", "DURATION:P2W"))
	}
	return append(lines, "SUMMARY:x")
}

// some keeps some of the lines.
func (g generator) some(lines ...string) []string {
	var kept []string
	for _, line := range lines {
		if g.IntN(2) == 0 {
			kept = append(kept, line)
		}
	}
	return kept
}

// time writes a property in one of the forms: UTC, floating, a zone, a date.
func (g generator) time(name string, form int) string {
	at := g.day().Add(time.Duration(g.IntN(86400)) * time.Second)
	switch form {
	case 0:
		return name + ":" + at.Format("20060102T150405Z")
	case 1:
		return name + ":" + at.Format("20060102T150405")
	case 2:
		return name + ";TZID=" + pick(g, "Europe/Berlin", "Asia/Tokyo", "Australia/Lord_Howe") + ":" +
			at.Format("20060102T150405")
	}
	return name + ";VALUE=DATE:" + at.Format("20060102")
}
