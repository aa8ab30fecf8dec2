package mcp

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/internal/testdb"
)

// meeting is an instance of a series, as it is expanded.
type meeting struct {
	day   string
	clock string
	title string
}

// meetings expands the project review of [house.furnishOffice]: weekly, a day left out on February
// 20th, one moved on March 13th, and the clocks put forward on March 29th.
func (h *house) meetings(t *testing.T) []meeting {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	q := query.AgendaQuery{From: noon.AddDate(0, -3, 0), Until: noon.AddDate(1, 0, 0), Keyword: "review", Limit: 1000}
	found, err := h.service.Agenda(t.Context(), h.callers["alice"], q)
	if err != nil {
		t.Fatal(err)
	}
	var list []meeting
	for _, o := range found.Occurrences {
		start := o.Start.Time.In(zone)
		list = append(list, meeting{start.Format(time.DateOnly), start.Format("15:04"), titleOf(o)})
	}
	return list
}

// TestSeriesAreChangedAsFarAsAsked edits, moves and deletes one instance, all from one on, and the whole series, and
// compares the expansion before and after: only the requested instances have changed.
func TestSeriesAreChangedAsFarAsAsked(t *testing.T) {
	t.Parallel()
	const named = "2026-03-20"
	within := map[string]func(meeting) bool{
		"this":      func(m meeting) bool { return m.day == named },
		"following": func(m meeting) bool { return m.day >= named },
		"all":       func(meeting) bool { return true },
	}
	hourLater := strings.NewReplacer("10:00", "11:00", "14:00", "15:00")
	for tool, c := range map[string]struct {
		args map[string]any
		// becomes is the expected change of a meeting; false if it is deleted.
		becomes func(meeting) (meeting, bool)
	}{
		"patch_event": {
			map[string]any{"title": "Board review"},
			func(m meeting) (meeting, bool) { m.title = "Board review"; return m, true },
		},
		"update_event": {
			map[string]any{"title": "Board review", "start": named + "T11:00", "end": named + "T12:00"},
			func(m meeting) (meeting, bool) {
				return meeting{m.day, hourLater.Replace(m.clock), "Board review"}, true
			},
		},
		"move_event": {
			map[string]any{"new_start": named + "T11:00"},
			func(m meeting) (meeting, bool) { m.clock = hourLater.Replace(m.clock); return m, true },
		},
		"delete_event": {nil, func(meeting) (meeting, bool) { return meeting{}, false }},
	} {
		for scope, asked := range within {
			t.Run(tool+" "+scope, func(t *testing.T) {
				t.Parallel()
				h := newHouse(t, testdb.SQLite(t))
				h.furnishOffice(t)
				before := h.meetings(t)
				if len(before) != 13 {
					t.Fatalf("the series has %d instances: %v", len(before), before)
				}
				args := map[string]any{
					"calendar_id": work, "event_uid": "review", "recurrence_id": named,
					"scope": scope,
				}
				maps.Copy(args, c.args)
				if said := h.say(t, h.open(t, h.config()), "alice", tool, args); !strings.Contains(said, `"result"`) {
					t.Fatal(said)
				}
				var want []meeting
				for _, m := range before {
					stays := true
					if asked(m) {
						m, stays = c.becomes(m)
					}
					if stays {
						want = append(want, m)
					}
				}
				if diff := cmp.Diff(want, h.meetings(t), cmp.AllowUnexported(meeting{})); diff != "" {
					t.Errorf("the series (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestAllNeverLosesThePast gives each tool the start of the next instance of an old series, with scope all and without
// a recurrence id, as a model does that has read a list. It is refused, and the refusal explains how to do either of
// the two things that may be meant (mcp A1).
func TestAllNeverLosesThePast(t *testing.T) {
	t.Parallel()
	const zone = "Europe/Berlin"
	week := func(from, until, title string) []string {
		return []string{title + " " + from + " " + until}
	}
	for tool, times := range map[string][2]string{"move_event": {"new_start", "new_end"}, "patch_event": {
		"start",
		"end",
	}, "update_event": {"start", "end"}} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t))
			h.put(t, work, "oneonone", wrapped(calendar.Event, "oneonone", "DTSTART;"+berlin+"20250106T150000",
				"DTEND;"+berlin+"20250106T153000", "RRULE:FREQ=WEEKLY", "SUMMARY:1:1"))
			door := h.open(t, h.config())
			args := func(more map[string]any) map[string]any {
				all := map[string]any{"calendar_id": work, "event_uid": "oneonone", "scope": "all", "timezone": zone}
				if tool == "update_event" {
					all["title"] = "1:1"
				}
				maps.Copy(all, more)
				return all
			}
			first := func() []string {
				var v struct{ Events []listedEvent }
				use(t, door, "alice", "list_events", map[string]any{
					"start": "2025-01-01", "end": "2025-01-12",
					"timezone": zone,
				}, &v)
				var list []string
				for _, e := range v.Events {
					list = append(list, string(e.Title)+" "+e.Start+" "+e.End)
				}
				return list
			}
			before := first()
			said := h.say(t, door, "alice", tool, args(map[string]any{
				times[0]: "2026-03-02T16:00",
				times[1]: "2026-03-02T16:30",
			}))
			for _, want := range []string{
				"begins on Monday 2025-01-06", "20260302T150000",
				"2025-01-06T16:00:00+01:00",
			} {
				if !strings.Contains(said, want) || strings.Contains(said, `"result"`) {
					t.Errorf("no %q in %s", want, said)
				}
			}
			if diff := cmp.Diff(before, first()); diff != "" {
				t.Errorf("the past (-want +got):\n%s", diff)
			}
			h.say(t, door, "alice", tool, args(map[string]any{
				"recurrence_id": "20260302T150000",
				times[0]:        "2026-03-02T16:00", times[1]: "2026-03-02T16:30",
			}))
			if diff := cmp.Diff(week("2025-01-06T16:00:00+01:00", "2025-01-06T16:30:00+01:00", "1:1"),
				first()); diff != "" {
				t.Errorf("moved by an instance (-want +got):\n%s", diff)
			}
			h.say(t, door, "alice", tool, args(map[string]any{
				times[0]: "2025-01-06T17:00:00",
				times[1]: "2025-01-06T17:30",
			}))
			if diff := cmp.Diff(week("2025-01-06T17:00:00+01:00", "2025-01-06T17:30:00+01:00", "1:1"),
				first()); diff != "" {
				t.Errorf("moved by its start (-want +got):\n%s", diff)
			}
			if tool != "update_event" {
				return
			}
			h.say(t, door, "alice", tool, args(map[string]any{
				"title": "Eve", "recurrence_id": "20260302T160000Z",
				"start": "2026-03-02T17:00", "end": "2026-03-02T17:30",
			}))
			if diff := cmp.Diff(week("2025-01-06T17:00:00+01:00", "2025-01-06T17:30:00+01:00", "Eve"),
				first()); diff != "" {
				t.Errorf("renamed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMovingTheLastOfASeriesIsToldAsDone: the split-off part is a single event, which has no recurrence id.
func TestMovingTheLastOfASeriesIsToldAsDone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	h.put(t, work, "two", wrapped(calendar.Event, "two", "DTSTART:20260302T090000Z", "DURATION:PT1H",
		"RRULE:FREQ=WEEKLY;COUNT=2", "SUMMARY:Two"))
	var moved struct {
		Start string `json:"dtstart"`
	}
	said := use(t, door, "alice", "move_event", map[string]any{
		"calendar_id": work, "event_uid": "two", "recurrence_id": "20260309T090000Z", "scope": "following",
		"new_start": "2026-03-09T09:45:00Z",
	}, &moved)
	if !strings.Contains(said, "10:45") {
		t.Errorf("it is said: %s", said)
	}
}
