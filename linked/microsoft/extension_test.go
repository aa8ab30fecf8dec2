package microsoft

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/microsoft/graphtest"
)

// TestExtension holds that properties without a Graph field are kept in an open extension, come back on every way on
// which events are read, and give way to changes in Outlook.
func TestExtension(t *testing.T) {
	server, a := begin(t)
	empty := changes(t, a, "")
	lines := []string{
		"LOCATION:Café", "URL:https://example.org/1", "RELATED-TO;RELTYPE=SIBLING:u0", "GEO:52.5;13.4", "X-MINE:a\\,b",
		"BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT15M", "DESCRIPTION:Planning", "END:VALARM",
		"BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT1H", "DESCRIPTION:Leave", "END:VALARM",
	}
	has := func(what string, data []byte, wanted ...string) {
		t.Helper()
		for _, line := range wanted {
			if !strings.Contains(string(data), line) {
				t.Errorf("%s: no %s in\n%s", what, line, data)
			}
		}
	}
	wrote := func() (methods []string) {
		for _, w := range server.Taken() {
			methods = append(methods, w.Method)
		}
		return methods
	}
	held := put(t, a, mirror.Object{UID: "u1", Data: event(lines...)})
	has("made", held.Data, lines...)
	if got := wrote(); !slices.Equal(got, []string{"POST"}) || len(server.Extensions(held.Ref)) != 1 {
		t.Errorf("an event is made by %q, and has %v", got, server.Extensions(held.Ref))
	}
	c := changes(t, a, empty.Cursor)
	if len(c.Objects) != 1 || string(c.Objects[0].Data) != string(held.Data) || c.Objects[0].Version != held.Version {
		t.Errorf("a delta query tells otherwise: %+v", c)
	}
	put(t, a, held)
	if got := wrote(); len(got) != 1 {
		t.Errorf("what is as it was is sent: %q", got)
	}

	there := server.Events()[held.Ref]
	there["subject"], there["location"], there["reminderMinutesBeforeStart"] = "Renamed",
		map[string]any{"displayName": "Library"}, 30
	server.Set(there)
	c = changes(t, a, c.Cursor)
	has("changed in Outlook", c.Objects[0].Data, "SUMMARY:Renamed", "LOCATION:Library", "TRIGGER:-PT30M",
		"TRIGGER:-PT1H", "URL:https://example.org/1")
	for _, old := range []string{"GEO", "TRIGGER:-PT15M"} {
		if strings.Contains(string(c.Objects[0].Data), old) {
			t.Errorf("an old %s after a change in Outlook:\n%s", old, c.Objects[0].Data)
		}
	}
	held = c.Objects[0]
	held.Data = []byte(strings.Replace(string(held.Data), "example.org/1", "example.org/2", 1))
	held = put(t, a, held)
	has("another URL", held.Data, "URL:https://example.org/2", "RELATED-TO;RELTYPE=SIBLING:u0", "TRIGGER:-PT30M")
	held.Data = event("X-MICROSOFT-CDO-BUSYSTATUS:BUSY")
	if held = put(t, a, held); len(server.Extensions(held.Ref)) != 0 {
		t.Errorf("an extension without lines stays: %v", server.Extensions(held.Ref))
	}
	held.Data = event("URL:https://example.org/3")
	has("a URL later", put(t, a, held).Data, "URL:https://example.org/3")
	has("a new listing", changes(t, a, "").Objects[0].Data, "URL:https://example.org/3")
}

// TestExtensionOfSeries holds that the lines of a series and of its instances are kept with the series, and that an
// instance which is changed in Outlook has those of its series.
func TestExtensionOfSeries(t *testing.T) {
	server, a := begin(t)
	data := event("RRULE:FREQ=DAILY;COUNT=10", "URL:https://example.org/1", "END:VEVENT", "BEGIN:VEVENT", "UID:u1",
		"DTSTAMP:20260101T000000Z", "RECURRENCE-ID;TZID=Europe/Berlin:20260312T100000",
		"DTSTART;TZID=Europe/Berlin:20260312T150000", "DTEND;TZID=Europe/Berlin:20260312T160000", "SUMMARY:Moved",
		"URL:https://example.org/2")
	held := put(t, a, mirror.Object{UID: "u1", Data: data})
	server.Except(held.Ref, "2026-03-14", graphtest.Event{"subject": "Renamed"})
	got := changes(t, a, "").Objects[0].Data
	for url, n := range map[string]int{"URL:https://example.org/1\r\n": 2, "URL:https://example.org/2\r\n": 1} {
		if strings.Count(string(got), url) != n {
			t.Errorf("%s is not %d times in\n%s", url, n, got)
		}
	}
}

// TestExtensionTooLarge holds that lines beyond the limit are refused with the reason.
func TestExtensionTooLarge(t *testing.T) {
	_, a := begin(t)
	_, err := a.Put(t.Context(), "cal", mirror.Object{UID: "u1", Data: event("X-BIG:" + strings.Repeat("x", 20_000))})
	if _, refused := errors.AsType[*mirror.Refusal](err); !refused || !strings.Contains(err.Error(), "at most 16000") {
		t.Error(err)
	}
}

// TestBrokenExtension holds that an event whose extension another program broke is shown without it.
func TestBrokenExtension(t *testing.T) {
	for _, lines := range []any{"{", `{"":"BEGIN:VALARM"}`, `{"":"SUMMARY:Wrong\nUID:u2\nRDATE:20260312T100000Z"}`, 7} {
		server, a := begin(t)
		held := put(t, a, mirror.Object{UID: "u1", Data: event("URL:https://example.org/1")})
		server.Extend(held.Ref, graphtest.Event{"extensionName": extensionName, "lines": lines})
		for _, o := range changes(t, a, "").Objects {
			if o.Fault != "" || o.UID != "u1" || strings.Contains(string(o.Data), "Wrong") ||
				strings.Contains(string(o.Data), "RDATE") || !strings.Contains(string(o.Data), "SUMMARY:Planning") {
				t.Errorf("%v: %+v\n%s", lines, o, o.Data)
			}
		}
	}
}

// TestFollowing holds that a series can be changed from an instance on: the edit makes two series that name each other
// in RELATED-TO.
func TestFollowing(t *testing.T) {
	server, a := begin(t)
	held := put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=DAILY;COUNT=10")})
	object, err := content.Read(held.Data, ical.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	from := ical.Instant(time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC))
	editor := edit.Editor{Zones: zones, Now: a.now(), NewUID: func() string { return "u2" }}
	made, err := editor.Change(t.Context(), object, edit.Change{
		Target: edit.Target{Instance: from, Scope: edit.Following}, Fields: edit.Fields{Summary: edit.To("Renamed")},
	})
	if err != nil {
		t.Fatal(err)
	}
	right := put(t, a, mirror.Object{UID: "u2", Data: made.Split.Bytes()})
	held.Data = made.Document.Bytes()
	put(t, a, held)
	for _, line := range []string{"RELATED-TO;RELTYPE=SIBLING:u1", "SUMMARY:Renamed", "COUNT=6"} {
		if !strings.Contains(string(right.Data), line) {
			t.Errorf("no %s in\n%s", line, right.Data)
		}
	}
	if n := len(server.Events()); n != 2 {
		t.Errorf("%d series", n)
	}
}
