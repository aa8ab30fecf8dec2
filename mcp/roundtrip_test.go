package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// spans are events of every kind of time, all in the second week of March 2026.
func spans() map[string][]string {
	all := map[string][]string{
		"utc":      {"DTSTART:20260310T090000Z", "DTEND:20260310T103000Z"},
		"zoned":    {"DTSTART;TZID=America/New_York:20260310T200000", "DURATION:PT5H"},
		"flight":   {"DTSTART;" + berlin + "20260310T100000", "DTEND;TZID=America/New_York:20260310T130000"},
		"floating": {"DTSTART:20260310T090000", "DTEND:20260310T100000"},
		"moment":   {"DTSTART:20260310T090000Z"},
		"day":      {"DTSTART;VALUE=DATE:20260310"},
		"weekly":   {"DTSTART;" + berlin + "20260303T100000", "DURATION:P1D", "RRULE:FREQ=WEEKLY;COUNT=3"},
		"weekends": {"DTSTART;VALUE=DATE:20260303", "DTEND;VALUE=DATE:20260305", "RRULE:FREQ=WEEKLY;COUNT=3"},
	}
	for n := 1; n <= 3; n++ {
		all[fmt.Sprintf("days%d", n)] = []string{
			"DTSTART;VALUE=DATE:20260310",
			fmt.Sprintf("DTEND;VALUE=DATE:202603%d", 10+n),
		}
	}
	return all
}

// spoken is when an event is, as some tool has said it.
type spoken struct{ by, start, end, id string }

// readings asks every tool that tells when an event is.
func readings(t *testing.T, door, uid, zone string) []spoken {
	t.Helper()
	var all []spoken
	say := func(by string, row map[string]any, start, end string) {
		one := spoken{by: by + "." + end}
		one.start, _ = row[start].(string)
		one.end, _ = row[end].(string)
		one.id, _ = row["recurrence_id"].(string)
		if one.start == "" || one.end == "" {
			t.Fatalf("%s does not say when %s is: %v", by, uid, row)
		}
		all = append(all, one)
	}
	rows := func(tool string, args map[string]any) map[string]any {
		var v struct{ Events []map[string]any }
		use(t, door, "alice", tool, args, &v)
		for _, row := range v.Events {
			if row["uid"] == uid || row["event_uid"] == uid {
				return row
			}
		}
		t.Fatalf("%s does not find %s", tool, uid)
		return nil
	}
	window := map[string]any{"calendar_id": work, "start": "2026-03-09", "end": "2026-03-14", "timezone": zone}
	row := rows("list_events", window)
	say("list_events", row, "start", "end")
	say("search_events", rows("search_events", map[string]any{"query": uid, "calendar_id": work, "timezone": zone}),
		"start", "end")
	row = rows("query_events", window)
	say("query_events", row, "dtstart", "dtend")
	say("query_events", row, "start_local", "end_local")
	var event map[string]any
	one := map[string]any{"calendar_id": work, "event_uid": uid, "timezone": zone}
	if id, ok := row["recurrence_id"]; ok {
		one["recurrence_id"] = id
	}
	use(t, door, "alice", "get_event", one, &event)
	say("get_event", event, "dtstart", "dtend")
	say("get_event", event, "start_local", "end_local")
	var found struct{ Results []struct{ ID string } }
	use(t, door, "alice", "search", map[string]any{"query": uid}, &found)
	var fetched struct{ Metadata map[string]any }
	use(t, door, "alice", "fetch", map[string]any{"id": found.Results[0].ID}, &fetched)
	if event["recurring"] == false { // of a series it is another instance
		say("fetch", fetched.Metadata, "startDate", "endDate")
	}
	return all
}

// TestWhatIsReadCanBeWrittenBack gives every tool that takes times the times that every other tool returned: the event
// stays the same to the letter, and a new one gets the same time (A2) (mcp A2).
func TestWhatIsReadCanBeWrittenBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	config := h.config()
	config.Limits.Calls = 10_000 // in a minute
	door := h.open(t, config)
	for uid, lines := range spans() {
		h.put(t, work, uid, wrapped(calendar.Event, uid, append(slices.Clone(lines), "SUMMARY:"+uid)...))
	}
	for uid := range spans() {
		for _, zone := range []string{"Europe/Berlin", "America/New_York"} {
			if zone != "Europe/Berlin" && !slices.Contains([]string{"utc", "floating", "days2", "weekly"}, uid) {
				continue
			}
			for _, r := range readings(t, door, uid, zone) {
				h.writeBack(t, door, uid, zone, r)
			}
		}
	}
}

// writeBack gives each writing tool the values that were read.
func (h *house) writeBack(t *testing.T, door, uid, zone string, r spoken) {
	t.Helper()
	before := string(h.stored(t, uid))
	both := func(start, end string) []map[string]any {
		return []map[string]any{{start: r.start, end: r.end}, {start: r.start}, {end: r.end}}
	}
	scopes := []string{""}
	if r.id != "" {
		scopes = []string{"this", "all"}
	}
	for tool, calls := range map[string][]map[string]any{
		"update_event": {{"title": uid, "start": r.start, "end": r.end}}, "patch_event": both("start", "end"),
		"move_event": both("new_start", "new_end"),
	} {
		for _, times := range calls {
			for _, scope := range scopes {
				args := map[string]any{"calendar_id": work, "event_uid": uid, "timezone": zone}
				maps.Copy(args, times)
				if scope != "" {
					args["recurrence_id"], args["scope"] = r.id, scope
				}
				var now map[string]any
				use(t, door, "alice", tool, args, &now)
				if after := string(h.stored(t, uid)); after != before {
					t.Fatalf("%s said %v; %s %v made of\n%s\n%s", r.by, r, tool, args, before, after)
				}
			}
		}
	}
	var made, was map[string]any
	other := map[string]any{"calendar_id": home, "title": "copy", "start": r.start, "end": r.end, "timezone": zone}
	one := map[string]any{"calendar_id": work, "event_uid": uid, "timezone": zone}
	// of what is not there yet, an offset beside a zone could mean either
	if strings.HasSuffix(r.start, "Z") || len(r.start) == len(time.RFC3339) {
		delete(other, "timezone")
		delete(one, "timezone")
	}
	use(t, door, "alice", "create_event", other, &made)
	if r.id != "" {
		one["recurrence_id"] = r.id
	}
	use(t, door, "alice", "get_event", one, &was)
	for _, name := range []string{"start_local", "end_local", "all_day"} {
		if uid != "floating" && made[name] != was[name] {
			t.Errorf("%s said %v of %s; create_event with it has the %s %v, want %v", r.by, r, uid, name,
				made[name], was[name])
		}
	}
}

// stored is an object of Work as it is stored.
func (h *house) stored(t *testing.T, uid string) []byte {
	t.Helper()
	o, err := h.service.ObjectByUID(t.Context(), nil, h.callers["alice"], h.work(t), calendar.UID(uid))
	if err != nil {
		t.Fatal(err)
	}
	return o.Data
}

// TestEndsOfRanges: a date ends a range as it ends an event, in every tool that looks at a time.
func TestEndsOfRanges(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	door := h.open(t, h.config())
	for _, day := range []string{"26", "27", "28"} {
		h.put(t, work, "d"+day, wrapped(calendar.Event, "d"+day, "DTSTART;VALUE=DATE:202611"+day, "SUMMARY:d"+day))
	}
	for _, tt := range []struct{ start, end, want string }{
		{"2026-11-27", "2026-11-27", "d27"},
		{"2026-11-26", "2026-11-27", "d26 d27"},
		{"20261126", "20261127", "d26"},
		{"20261127", "20261127", "d27"},
		{"2026-11-26T00:00", "2026-11-27T00:00", "d26"},
	} {
		for _, tool := range []string{"list_events", "query_events"} {
			var v struct{ Events []map[string]any }
			use(t, door, "alice", tool, map[string]any{"calendar_id": work, "start": tt.start, "end": tt.end}, &v)
			var got []string
			for _, e := range v.Events {
				for _, name := range []string{"uid", "event_uid"} {
					if uid, ok := e[name].(string); ok {
						got = append(got, uid)
					}
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s from %s to %s: %v, want %s", tool, tt.start, tt.end, got, tt.want)
			}
		}
	}
	for _, end := range []string{"2026-11-25", "20261125"} {
		refusal := h.say(t, door, "alice", "create_event", map[string]any{
			"calendar_id": work, "title": "x",
			"start": "2026-11-26", "end": end,
		})
		if !strings.Contains(refusal, "must not be before") {
			t.Errorf("an event that ends on %s: %s", end, refusal)
		}
	}
}
