package edit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// ranged is a weekly series at nine that takes place at ten, and is called new, from its third
// instance on.
var ranged = calendarOf(
	eventOf("DTSTART:20270104T090000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=6", "SUMMARY:old"),
	eventOf("RECURRENCE-ID;RANGE=THISANDFUTURE:20270118T090000Z", "DTSTART:20270118T100000Z", "DURATION:PT1H",
		"SUMMARY:new"),
)

// TestIDsAfterARange: an instance that RANGE=THISANDFUTURE has moved is found by its id, which is
// not where it is, and is changed and cancelled alone or with all others (time F2).
func TestIDsAfterARange(t *testing.T) {
	t.Parallel()
	all := expand(t, read(t, ranged))
	for _, one := range all {
		id := ical.UTC(ical.CivilFromSeconds(one.ID))
		found, err := editor().Find(t.Context(), read(t, ranged), id)
		if err != nil || found.Start.Time.Unix() != one.Start ||
			content.TextOf(found.Component, "SUMMARY") != one.Summary {
			t.Errorf("%s is found at %s as %v, %v; it is at %v", id, found.Start.Time, found.Component, err, one)
		}
	}
	_, err := editor().Find(t.Context(), read(t, ranged), at(t, "20270125T100000Z"))
	refused(t, err, edit.NoInstance, "the next one is 20270201T090000Z")
	fourth := edit.Target{Instance: at(t, "20270125T090000Z"), Scope: edit.This}
	title := edit.Fields{Summary: edit.To("changed")}
	for _, tt := range []struct {
		name   string
		change func(o *content.Object) (edit.Result, error)
		want   func(i int, s seen) (seen, bool)
	}{
		{"rename this", func(o *content.Object) (edit.Result, error) {
			return editor().Change(t.Context(), o, edit.Change{Target: fourth, Fields: title})
		}, func(i int, s seen) (seen, bool) {
			if i == 3 {
				s.Summary = "changed"
			}
			return s, true
		}},
		{"cancel this", func(o *content.Object) (edit.Result, error) {
			return editor().Cancel(t.Context(), o, fourth)
		}, func(i int, s seen) (seen, bool) {
			return s, i != 3
		}},
		{"move all", func(o *content.Object) (edit.Result, error) {
			return editor().Change(t.Context(), o, edit.Change{
				Target: edit.Target{Instance: fourth.Instance, Scope: edit.All},
				Times:  edit.Times{Start: to(t, "20270125T120000Z")},
			})
		}, func(_ int, s seen) (seen, bool) {
			return seen{
				ID: s.ID + 7200, Start: s.Start + 7200, End: s.End + 7200, Wall: s.Wall.AddSeconds(7200),
				Summary: s.Summary,
			}, true
		}},
	} {
		got, err := tt.change(read(t, ranged))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var want []seen
		for i, s := range all {
			if s, stays := tt.want(i, s); stays {
				want = append(want, s)
			}
		}
		if diff := cmp.Diff(lines(want), lines(expand(t, valid(t, got.Document)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// bobs is a series of which the third instance is longer and called otherwise.
var bobs = calendarOf(
	eventOf("DTSTART:20270104T090000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=5", "SUMMARY:Standup",
		"LOCATION:Room 1"),
	eventOf("RECURRENCE-ID:20270118T090000Z", "DTSTART:20270118T090000Z", "DURATION:PT2H", "SUMMARY:Standup with Bob",
		"LOCATION:Room 1"),
	eventOf("RECURRENCE-ID:20270125T090000Z", "DTSTART:20270125T090000Z", "DURATION:PT2H", "SUMMARY:Standup with Carol",
		"LOCATION:Room 1"),
)

// TestTheNamedOverrideChangesToo: a change that is aimed at an instance with a description of its
// own changes that instance, however much of the series it is for; the others keep what is their
// own (time F3).
func TestTheNamedOverrideChangesToo(t *testing.T) {
	t.Parallel()
	all := expand(t, read(t, bobs))
	for _, tt := range []struct {
		name    string
		change  edit.Change
		becomes func(seen) seen
	}{
		{"a title", edit.Change{Fields: edit.Fields{Summary: edit.To("Daily")}}, func(s seen) seen {
			if !strings.Contains(s.Summary, "Carol") {
				s.Summary = "Daily"
			}
			return s
		}},
		{"a title, with the times as they are", edit.Change{
			Fields: edit.Fields{Summary: edit.To("Daily")},
			Times:  edit.Times{Start: to(t, "20270118T090000Z"), End: to(t, "20270118T110000Z")},
		}, func(s seen) seen {
			if !strings.Contains(s.Summary, "Carol") {
				s.Summary = "Daily"
			}
			return s
		}},
		{"an end", edit.Change{Times: edit.Times{End: to(t, "20270118T093000Z")}}, func(s seen) seen {
			if !strings.Contains(s.Summary, "Carol") {
				s.End = s.Start + 1800
			}
			return s
		}},
		{
			"a start and an end",
			edit.Change{Times: edit.Times{Start: to(t, "20270118T100000Z"), End: to(t, "20270118T103000Z")}},
			func(s seen) seen {
				s = seen{
					ID: s.ID + 3600, Start: s.Start + 3600, End: s.End + 3600, Wall: s.Wall.AddSeconds(3600),
					Summary: s.Summary,
				}
				if !strings.Contains(s.Summary, "Carol") {
					s.End = s.Start + 1800
				}
				return s
			},
		},
	} {
		for scope, from := range map[edit.Scope]int{edit.All: 0, edit.Following: 2} {
			tt.change.Target = edit.Target{Instance: at(t, "20270118T090000Z"), Scope: scope}
			got, err := editor().Change(t.Context(), read(t, bobs), tt.change)
			if err != nil {
				t.Fatalf("%s of %s: %v", tt.name, scope, err)
			}
			after, changed := expand(t, valid(t, got.Document)), got.Document
			if got.Split != nil {
				after, changed = append(after, expand(t, valid(t, got.Split))...), got.Split
			}
			want := append([]seen{}, all...)
			for i := from; i < len(want); i++ {
				want[i] = tt.becomes(want[i])
			}
			if diff := cmp.Diff(lines(want), lines(after)); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", tt.name, scope, diff)
			}
			found, err := editor().Find(t.Context(), valid(t, changed), got.Instance)
			if err != nil || found.Start.Time.Unix() != want[2].Start {
				t.Errorf("%s of %s: the instance is said to be %s, which is at %s, %v", tt.name, scope, got.Instance,
					found.Start.Time, err)
			}
		}
	}
}

// TestTheNamedRangeChangesToo: so does an instance that is described together with those before it, with all of these
// (time F3).
func TestTheNamedRangeChangesToo(t *testing.T) {
	t.Parallel()
	all := expand(t, read(t, ranged))
	change := edit.Change{
		Fields: edit.Fields{Summary: edit.To("Daily")},
		Target: edit.Target{Instance: at(t, "20270125T090000Z"), Scope: edit.All},
	}
	got, err := editor().Change(t.Context(), read(t, ranged), change)
	if err != nil {
		t.Fatal(err)
	}
	want := append([]seen{}, all...)
	for i := range want {
		want[i].Summary = "Daily"
	}
	if diff := cmp.Diff(lines(want), lines(expand(t, valid(t, got.Document)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestGivenEndsAreKept: a day over a change of the clocks is not a day elsewhere, so an end that
// was given is held to the length in the new place (time F4).
func TestGivenEndsAreKept(t *testing.T) {
	t.Parallel()
	text := calendarOf(eventOf("DTSTART;TZID=America/New_York:20271106T100000", "DURATION:P1D", "SUMMARY:25 hours"))
	for _, tt := range []struct{ start, end, want string }{
		{"20271020T140000Z", "20271021T150000Z", "-DURATION:P1D\n+DURATION:PT25H\n"},
		{"20271020T140000Z", "20271021T140000Z", ""},
		{"20271106T140000Z", "20271107T150000Z", ""},
		{"20271106T140000Z", "20271107T140000Z", "-DURATION:P1D\n+DURATION:PT24H\n"},
	} {
		got := exact(t, text, edit.Change{Times: edit.Times{Start: to(t, tt.start), End: to(t, tt.end)}})
		var durations strings.Builder
		for line := range strings.Lines(got) {
			if strings.Contains(line, "DURATION") {
				durations.WriteString(line)
			}
		}
		if durations.String() != tt.want {
			t.Errorf("%s to %s: %q, want %q", tt.start, tt.end, durations.String(), tt.want)
		}
	}
}

// TestAllNeverCutsThePast: of a series of which no instance was named, a start on another date is
// not guessed to be where all of it shall move (A1).
func TestAllNeverCutsThePast(t *testing.T) {
	t.Parallel()
	text := calendarOf(eventOf("DTSTART;TZID=Europe/Berlin:20250106T150000", "DTEND;TZID=Europe/Berlin:20250106T153000",
		"RRULE:FREQ=WEEKLY", "SUMMARY:1:1"))
	days := calendarOf(eventOf("DTSTART;VALUE=DATE:20250106", "RRULE:FREQ=WEEKLY"))
	todo := strings.ReplaceAll(text, "VEVENT", "VTODO")
	todo = strings.ReplaceAll(todo, "DTEND", "DUE")
	for _, tt := range []struct{ name, text, start, end, says string }{
		{"the next instance's day", text, "2026-11-23T16:00", "", "begins on Monday 2025-01-06"},
		{"is told its id", text, "2026-11-23T16:00", "", "(on that day: 20261123T150000)"},
		{"and the other reading", text, "2026-11-23T16:00", "2026-11-23T16:30", "2025-01-06T16:00:00+01:00"},
		{"in UTC", text, "20261123T150000Z", "", "2025-01-06T16:00:00+01:00"},
		{"a day without an instance", text, "2026-11-24T16:00", "", "by its recurrence id, or"},
		{"an end alone", text, "", "2026-11-23T16:30", "each instance would last into the next one"},
		{
			"an end elsewhere", text, "2025-01-06T16:00", "2026-11-23T16:30",
			"each instance would last into the next one",
		},
		{"whole days", days, "2026-11-23", "", "a start on the series' first one: 2025-01-06"},
		{"the end of whole days", days, "", "2026-11-24", "each instance would last into the next one"},
		{"a task", todo, "2026-11-23T16:00", "", "begins on Monday 2025-01-06"},
		{"a task's due", todo, "", "2026-11-23T16:00", "each instance would last into the next one"},
	} {
		change := edit.Change{
			Target: edit.Target{Scope: edit.All}, Times: edit.Times{Start: to(t, tt.start), End: to(t, tt.end)},
		}
		_, err := editor().Change(t.Context(), read(t, tt.text), change)
		t.Run(tt.name, func(t *testing.T) { refused(t, err, edit.BadTime, tt.says) })
	}
	for _, tt := range []struct{ start, end, want string }{
		{"2025-01-06T16:00", "", "20250106T160000 20250106T163000"},
		{"2025-01-06T16:00", "2025-01-06T18:00", "20250106T160000 20250106T180000"},
		{"", "2025-01-09T16:00", "20250106T150000 20250109T160000"},
	} {
		got, err := editor().Change(t.Context(), read(t, text),
			edit.Change{Times: edit.Times{Start: to(t, tt.start), End: to(t, tt.end)}})
		if err != nil {
			t.Fatal(err)
		}
		master := valid(t, got.Document).Master
		if now := master.Property("DTSTART").Value() + " " + master.Property("DTEND").Value(); now != tt.want {
			t.Errorf("%s to %s: %s, want %s", tt.start, tt.end, now, tt.want)
		}
	}
}
