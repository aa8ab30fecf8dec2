package google

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/internal/goldentest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/linked/google/googletest"
	"caldav-mcp-server/linked/rest/resttest"
)

const work = "alice@example.com"

// begin starts a fake with one calendar, and an account there.
func begin(t *testing.T) (*googletest.Server, *Account) {
	t.Helper()
	server := googletest.New()
	server.Add(work, "Europe/Berlin")
	at := httptest.NewServer(server.Handler())
	t.Cleanup(at.Close)
	access := func(_ context.Context, stale string) (string, error) {
		if stale == "good" {
			return "better", nil
		}
		return "good", nil
	}
	a := Open(at.URL+"/calendar/v3", at.Client(), zones, access)
	a.client.Pause = time.Millisecond
	return server, a
}

func event(lines ...string) []byte {
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Example//EN\nBEGIN:VEVENT\nUID:u1\nDTSTAMP:20260101T000000Z\n" +
		"DTSTART;TZID=Europe/Berlin:20260310T100000\nDTEND;TZID=Europe/Berlin:20260310T110000\nSUMMARY:Planning\n" +
		strings.Join(append(lines, "END:VEVENT", "END:VCALENDAR", ""), "\n")
	return goldentest.CRLF(text)
}

func put(t *testing.T, a *Account, o mirror.Object) mirror.Object {
	t.Helper()
	held, err := a.Put(t.Context(), work, o)
	if err != nil {
		t.Fatalf("%v: %v", err, errors.Unwrap(err))
	}
	return held
}

func changes(t *testing.T, a *Account, cursor string) mirror.Changes {
	t.Helper()
	c, err := a.Changes(t.Context(), work, cursor)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFields holds that the fields of Event are those that Google publishes.
func TestFields(t *testing.T) {
	server := googletest.New()
	for of, value := range map[string]any{
		"Event": Event{}, "EventDateTime": Moment{}, "EventAttendee": Attendee{}, "EventAttachment": Attachment{},
		"EventReminder": Reminder{}, "Event.source": Link{}, "Event.organizer": Person{},
		"Event.extendedProperties": Extended{}, "CalendarListEntry": listed{},
	} {
		kind := reflect.TypeOf(value)
		for field := range kind.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "-" && !server.Has(of+"."+name) {
				t.Errorf("Google publishes no field %s.%s", of, name)
			}
			if of == "Event" && name != "-" && !slices.Contains(named, name) {
				t.Errorf("%s is not among the named fields", name)
			}
		}
	}
}

func TestCalendars(t *testing.T) {
	server, a := begin(t)
	server.Add("x@group.calendar.google.com", "America/New_York")
	all, err := a.Calendars(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if c := all[0]; c.ID != work || !c.Primary || !c.Writable || c.Color != "#9FE1E7" || c.Zone != "Europe/Berlin" {
		t.Errorf("%+v", c)
	}
}

func TestPutAndChange(t *testing.T) {
	server, a := begin(t)
	empty := changes(t, a, "")
	if !empty.Whole || len(empty.Objects) != 0 {
		t.Fatalf("%+v", empty)
	}
	held := put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=WEEKLY;COUNT=10", "X-NOTE:kept")})
	if held.UID != "u1" || !strings.Contains(string(held.Data), "X-NOTE:kept") || held.Ref == "" || held.Version == "" {
		t.Fatalf("%+v %s", held, held.Data)
	}
	if _, err := a.Put(t.Context(), work, mirror.Object{UID: "u1", Data: event()}); !errors.Is(err,
		mirror.ErrConflict) {
		t.Errorf("the same UID again: %v", err)
	}
	next := changes(t, a, empty.Cursor)
	if len(next.Objects) != 1 || next.Objects[0].Version != held.Version ||
		string(next.Objects[0].Data) != string(held.Data) {
		t.Errorf("told otherwise than answered: %+v", next)
	}

	// An instance moves and another goes, in one change.
	moved := held
	moved.Data = []byte(strings.Replace(string(held.Data), "RRULE:FREQ=WEEKLY",
		"EXDATE;TZID=Europe/Berlin:20260324T100000\r\nRRULE:FREQ=WEEKLY", 1))
	moved.Data = []byte(
		strings.Replace(string(moved.Data), "END:VCALENDAR",
			string(
				goldentest.CRLF("BEGIN:VEVENT\nUID:u1\nDTSTAMP:20260101T000000Z\n"+
					"RECURRENCE-ID;TZID=Europe/Berlin:20260317T100000\nDTSTART;TZID=Europe/Berlin:20260318T120000\n"+
					"DTEND;TZID=Europe/Berlin:20260318T130000\nSUMMARY:Moved\nEND:VEVENT\nEND:VCALENDAR"),
			), 1),
	)
	after := put(t, a, moved)
	for _, want := range []string{
		"RECURRENCE-ID;TZID=Europe/Berlin:20260317T100000", "DTSTART;TZID=Europe/Berlin:20260318T120000",
		"EXDATE;TZID=Europe/Berlin:20260324T100000", "SUMMARY:Moved",
	} {
		if !strings.Contains(string(after.Data), want) {
			t.Errorf("no %s in\n%s", want, after.Data)
		}
	}
	if _, err := a.Put(t.Context(), work, held); !errors.Is(err, mirror.ErrConflict) {
		t.Errorf("over an older version: %v", err)
	}
	// Written back as it is, nothing is sent.
	before := len(server.Requests())
	put(t, a, after)
	for _, r := range server.Requests()[before:] {
		if !strings.HasPrefix(r, "GET ") {
			t.Errorf("what is as it was is sent: %s", r)
		}
	}
	// The override goes: the instance is like the series again.
	plain := after
	from := strings.LastIndex(string(after.Data), "BEGIN:VEVENT")
	plain.Data = []byte(string(after.Data)[:from] + "END:VCALENDAR\r\n")
	again := put(t, a, plain)
	if strings.Contains(string(again.Data), "Moved") || strings.Contains(string(again.Data), "20260318") {
		t.Errorf("the instance is still moved:\n%s", again.Data)
	}
	if err := a.Delete(t.Context(), work, mirror.Object{Ref: again.Ref, Version: after.Version}); !errors.Is(err,
		mirror.ErrConflict) {
		t.Errorf("an older version is deleted: %v", err)
	}
	if err := a.Delete(t.Context(), work, again); err != nil {
		t.Fatal(err)
	}
	if err := a.Delete(t.Context(), work, again); !errors.Is(err, mirror.ErrGone) {
		t.Errorf("deleted twice: %v", err)
	}
	last := changes(t, a, next.Cursor)
	if !slices.Contains(last.Gone, again.Ref) || len(last.Objects) != 0 {
		t.Errorf("%+v", last)
	}
	// And back again, as undo does it.
	back := put(t, a, mirror.Object{UID: "u1", Data: plain.Data})
	if back.UID != "u1" {
		t.Errorf("%+v", back)
	}
}

// TestTouchedSeries holds that a change of one instance brings all of its series.
// TestDescription: a description is sent when it changed and at no other time, and keeps the formatting at Google.
func TestDescription(t *testing.T) {
	server, a := begin(t)
	const formatted = `<b>Bold</b> &amp; <a href="https://x.example/1">link</a><br>two`
	server.Set(work, googletest.Event{
		"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"},
		"description": formatted,
	})
	seen := 0
	wrote := func(what string, want ...any) {
		t.Helper()
		var sent []any
		for _, w := range server.Taken()[seen:] {
			seen++
			sent = append(sent, w.Body["description"])
		}
		if !slices.Equal(sent, want) {
			t.Errorf("%s: sent %q, want %q", what, sent, want)
		}
	}
	held := changes(t, a, "").Objects[0]
	plain := regexp.MustCompile(`(?s)X-ALT-DESC.*?\r\n([A-Z])`).ReplaceAllString(string(held.Data), "$1")
	if !strings.Contains(plain, `DESCRIPTION:Bold & link (https://x.example/1)\ntwo`) ||
		strings.Contains(plain, "X-ALT-DESC") {
		t.Fatal(plain)
	}
	edit := func(data, summary string) {
		t.Helper()
		held.Data = []byte(strings.Replace(data, "END:VEVENT", "SUMMARY:"+summary+"\r\nEND:VEVENT", 1))
		held = put(t, a, held)
	}
	edit(plain, "Renamed by an app that drops X-ALT-DESC")
	wrote("a new title", any(nil))
	if !strings.Contains(string(held.Data), "X-ALT-DESC") {
		t.Errorf("the formatting is lost: %s", held.Data)
	}
	// Version 0.1.0 wrote no addresses of links.
	edit(strings.Replace(plain, " (https://x.example/1)", "", 1), "Renamed with a description of 0.1.0")
	wrote("a new title", any(nil))
	edit(strings.Replace(plain, "Bold", "B old", 1), "Another space")
	wrote("another space", "B old & link (https://x.example/1)\ntwo")
	edit(strings.Replace(plain, "example/1", "example/2", 1), "A new link")
	wrote("a new link", "Bold & link (https://x.example/2)\ntwo")
}

func TestTouchedSeries(t *testing.T) {
	server, a := begin(t)
	held := put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=WEEKLY")})
	start := changes(t, a, "")
	at := map[string]any{"dateTime": "2026-03-17T10:00:00+01:00", "timeZone": "Europe/Berlin"}
	server.Set(work, googletest.Event{
		"id": held.Ref + "_20260317T090000Z", "recurringEventId": held.Ref, "originalStartTime": at,
		"status": "cancelled", "iCalUID": "u1",
	})
	next := changes(t, a, start.Cursor)
	if len(next.Objects) != 1 ||
		!strings.Contains(string(next.Objects[0].Data), "EXDATE;TZID=Europe/Berlin:20260317T100000") {
		t.Fatalf("%+v", next)
	}
	if next.Objects[0].Version == held.Version {
		t.Error("the version is as before")
	}
	// The cancelled instance is not cancelled a second time, and comes back when its EXDATE goes.
	o := next.Objects[0]
	o.Data = []byte(strings.Replace(string(o.Data), "EXDATE;TZID=Europe/Berlin:20260317T100000\r\n", "", 1))
	back := put(t, a, o)
	if strings.Contains(string(back.Data), "EXDATE") ||
		server.Events(work)[held.Ref+"_20260317T090000Z"]["status"] != "confirmed" {
		t.Errorf("still gone:\n%s", back.Data)
	}
}

func TestExpired(t *testing.T) {
	server, a := begin(t)
	first := changes(t, a, "")
	put(t, a, mirror.Object{UID: "u1", Data: event()})
	server.Forget()
	if _, err := a.Changes(t.Context(), work, first.Cursor); !errors.Is(err, mirror.ErrExpired) {
		t.Errorf("an old sync token: %v", err)
	}
	if _, err := a.Changes(t.Context(), "nobody@example.com", ""); !errors.Is(err, mirror.ErrGone) {
		t.Errorf("no such calendar: %v", err)
	}
}

const rateBody = `{"error":{"code":403,"message":"Rate Limit ` +
	`Exceeded","errors":[{"domain":"usageLimits","reason":"rateLimitExceeded"}]}}`

func TestTrouble(t *testing.T) {
	for name, c := range map[string]struct {
		faults []resttest.Fault
		// want is "" for done, else a kind of error
		want string
	}{
		"401 once":     {[]resttest.Fault{{Status: 401}}, ""},
		"busy once":    {[]resttest.Fault{{Status: 403, Body: rateBody}}, ""},
		"429 once":     {[]resttest.Fault{{Status: 429}}, ""},
		"500 once":     {[]resttest.Fault{{Status: 500}}, ""},
		"half once":    {[]resttest.Fault{{Half: true}}, ""},
		"lost once":    {[]resttest.Fault{{Lost: true}}, ""},
		"no JSON once": {[]resttest.Fault{{Status: 200, Body: "<html>"}}, ""},
		"429 for long": {[]resttest.Fault{{Status: 429, After: 600}}, "later"},
		"503 always":   {[]resttest.Fault{{Status: 503}, {Status: 503}, {Status: 503}}, "later"},
		"403": {
			[]resttest.Fault{
				{Status: 403, Body: `{"error":{"message":"Forbidden","errors":[{"reason":"forbidden"}]}}`},
			}, "refused",
		},
		"401 with all":     {[]resttest.Fault{{Status: 401}, {Status: 401}}, "sign in"},
		"lost three times": {[]resttest.Fault{{Lost: true}, {Lost: true}, {Lost: true}}, "later"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, a := begin(t)
			server.Allow("good", "better")
			server.Set(work, googletest.Event{
				"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"},
			})
			server.Faults.Add(c.faults...)
			got, err := a.Changes(t.Context(), work, "")
			later, isLater := errors.AsType[*mirror.Later](err)
			_, isRefused := errors.AsType[*mirror.Refusal](err)
			kind := map[bool]string{
				errors.Is(err, mirror.ErrSignIn): "sign in", isLater: "later", isRefused: "refused",
			}[true]
			if err != nil && kind == "" {
				kind = err.Error()
			}
			if kind != c.want {
				t.Fatalf("%v (%v), want %q", err, kind, c.want)
			}
			if err == nil && len(got.Objects) != 1 {
				t.Errorf("%+v", got)
			}
			if name == "429 for long" && later.After.Seconds() != 600 {
				t.Errorf("again after %v", later.After)
			}
		})
	}
}

// TestStatusEventIsCopied: focus time and the like exist in the primary calendar only, and as their app made them. A
// copy elsewhere, or one without the type's properties, is a usual event.
func TestStatusEventIsCopied(t *testing.T) {
	server, a := begin(t)
	const second = "x@group.calendar.google.com"
	server.Add(second, "Europe/Berlin")
	focus := []string{
		"X-GOOGLE-EVENT-TYPE:focusTime",
		`X-GOOGLE-REST:{"focusTimeProperties":{"chatStatus":"doNotDisturb"}}`,
	}
	for name, c := range map[string]struct {
		calendar string
		lines    []string
		kept     bool
	}{
		"in the primary calendar":  {work, focus, true},
		"in another calendar":      {second, focus, false},
		"without its properties":   {work, focus[:1], false},
		"as free time":             {work, append([]string{"TRANSP:TRANSPARENT"}, focus...), false},
		"that came from a mail":    {work, []string{"X-GOOGLE-EVENT-TYPE:fromGmail"}, false},
		"that is a birthday":       {second, []string{"X-GOOGLE-EVENT-TYPE:birthday"}, false},
		"out of office, elsewhere": {second, []string{"X-GOOGLE-EVENT-TYPE:outOfOffice"}, false},
	} {
		uid := strings.ReplaceAll(name, " ", "-")
		data := strings.Replace(string(event(c.lines...)), "UID:u1", "UID:"+uid, 1)
		held, err := a.Put(t.Context(), c.calendar, mirror.Object{UID: uid, Data: []byte(data)})
		if err != nil {
			t.Errorf("%s: %v: %v", name, err, errors.Unwrap(err))
			continue
		}
		if got := strings.Contains(string(held.Data), "EVENT-TYPE:"); got != c.kept {
			t.Errorf("%s it is stored as\n%s", name, held.Data)
		}
		if !c.kept {
			continue
		}
		for _, change := range []string{"SUMMARY:Planning\r\nTRANSP:TRANSPARENT", "SUMMARY:Deep work"} {
			next := held
			next.Data = []byte(strings.Replace(string(held.Data), "SUMMARY:Planning", change, 1))
			_, err := a.Put(t.Context(), c.calendar, next)
			_, refused := errors.AsType[*mirror.Refusal](err)
			if want := strings.Contains(change, "TRANSP"); refused != want || !want && err != nil {
				t.Errorf("%s: %v", change, err)
			}
		}
	}
}

// TestWalk changes both sides at random while answers are lost and servers have trouble, and holds that both end equal:
// nothing is lost, nothing doubled.
func TestWalk(t *testing.T) {
	for seed := range uint64(slowtest.Rounds(t, slowtest.Random, 6, 200)) {
		walk(t, rand.New(rand.NewPCG(seed, 7)), 40)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

type walker struct {
	*testing.T
	dice    dice
	server  *googletest.Server
	account *Account
	cursor  string
	held    map[string]mirror.Object
	uids    int
}

func walk(t *testing.T, r *rand.Rand, steps int) {
	t.Helper()
	server, account := begin(t)
	server.Twice = r.IntN(2) == 0
	w := &walker{T: t, dice: dice{r}, server: server, account: account, held: map[string]mirror.Object{}}
	for range steps {
		if w.dice.IntN(3) == 0 {
			w.trouble()
		}
		switch w.dice.IntN(6) {
		case 0, 1:
			w.make()
		case 2:
			w.edit()
		case 3:
			w.remove()
		case 4:
			w.there()
		case 5:
			w.look()
		}
		if w.dice.IntN(12) == 0 {
			server.Forget()
		}
	}
	server.Clear()
	w.look()
	w.equal()
}

func (w *walker) trouble() {
	all := []resttest.Fault{
		{Status: 429},
		{Status: 500},
		{Lost: true},
		{Half: true},
		{Lost: true, Method: "POST"},
		{
			Half: true, Method: "PATCH",
		},
		{Lost: true, Method: "DELETE"},
		{Status: 412, Method: "PATCH"},
		{Status: 429, After: 60},
		{Lost: true, Method: "PATCH"},
	}
	w.server.Faults.Add(all[w.dice.IntN(len(all))])
}

// look brings the held objects up to date, as a mirror does.
func (w *walker) look() {
	got, err := w.account.Changes(w.Context(), work, w.cursor)
	switch {
	case errors.Is(err, mirror.ErrExpired):
		w.cursor = ""
		w.look()
		return
	case err != nil:
		if _, later := errors.AsType[*mirror.Later](err); !later {
			w.Errorf("look: %v", err)
		}
		return
	}
	if got.Whole {
		clear(w.held)
	}
	for _, o := range got.Objects {
		w.held[o.Ref] = o
	}
	for _, ref := range got.Gone {
		delete(w.held, ref)
	}
	w.cursor = got.Cursor
}

func (w *walker) one() (mirror.Object, bool) {
	refs := slices.Sorted(maps.Keys(w.held))
	if len(refs) == 0 {
		return mirror.Object{}, false
	}
	return w.held[refs[w.dice.IntN(len(refs))]], true
}

// said takes what a write may answer.
func (w *walker) said(err error, o, held mirror.Object) {
	_, later := errors.AsType[*mirror.Later](err)
	switch {
	case err == nil:
		w.held[held.Ref] = held
	case later, errors.Is(err, mirror.ErrConflict), errors.Is(err, mirror.ErrGone):
		w.look()
	default:
		w.Errorf("write: %v in\n%s", err, o.Data)
	}
}

func (w *walker) make() {
	w.uids++
	s := w.dice.series()
	// Google has no instances on other days than those of the rule.
	daily := slices.Equal(s.Master.Recurrence, []string{"RRULE:FREQ=DAILY"})
	s.Exceptions = slices.DeleteFunc(s.Exceptions, func(e *Event) bool { return e.Status == cancelled || !daily })
	s.Master.UID, s.Master.ID = fmt.Sprintf("u%d@example.org", w.uids), ""
	for _, e := range append(s.Exceptions, s.Master) {
		e.Attendees = nil
	}
	data, err := Text(s, home, zones)
	if err != nil {
		w.Fatal(err)
	}
	o := mirror.Object{UID: s.Master.UID, Data: data}
	held, err := w.account.Put(w.Context(), work, o)
	w.said(err, o, held)
}

func (w *walker) edit() {
	o, ok := w.one()
	if !ok {
		return
	}
	title := fmt.Sprintf("SUMMARY:edited %d", w.dice.IntN(1000))
	lines := strings.Split(string(o.Data), "\r\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "SUMMARY") && w.dice.IntN(2) == 0 && !strings.HasPrefix(lines[i+1], " ") {
			lines[i] = title
		}
	}
	o.Data = []byte(strings.Join(lines, "\r\n"))
	if w.dice.IntN(3) == 0 && strings.Contains(string(o.Data), "RRULE") &&
		!strings.Contains(string(o.Data), "RECURRENCE-ID") {
		o.Data = []byte(strings.Replace(string(o.Data), "STATUS:", "COMMENT:x\r\nSTATUS:", 1))
	}
	held, err := w.account.Put(w.Context(), work, o)
	w.said(err, o, held)
}

func (w *walker) remove() {
	o, ok := w.one()
	if !ok {
		return
	}
	err := w.account.Delete(w.Context(), work, o)
	if err == nil {
		delete(w.held, o.Ref)
		return
	}
	w.said(err, o, o)
}

// there changes something at Google.
func (w *walker) there() {
	all := w.server.Events(work)
	ids := slices.Sorted(maps.Keys(all))
	if len(ids) == 0 || w.dice.IntN(3) == 0 {
		e := w.dice.event()
		w.dice.times(e, false)
		e.ID, e.UID, e.Attendees = "", "", nil
		if e.Type == focusTime {
			e.Transparency = ""
			e.Rest = map[string]json.RawMessage{properties(focusTime): json.RawMessage(`{"chatStatus":"available"}`)}
		}
		w.set(e)
		return
	}
	e := all[ids[w.dice.IntN(len(ids))]]
	if e["status"] == "cancelled" {
		return
	}
	e["summary"] = fmt.Sprintf("there %d", w.dice.IntN(1000))
	w.server.Set(work, e)
}

func (w *walker) set(e *Event) {
	data, err := json.Marshal(e)
	if err != nil {
		w.Fatal(err)
	}
	var raw googletest.Event
	if err := json.Unmarshal(data, &raw); err != nil {
		w.Fatal(err)
	}
	w.server.Set(work, raw)
}

// equal holds that what is held is what is there, and that no UID is there twice.
func (w *walker) equal() {
	data, err := json.Marshal(slices.Collect(maps.Values(w.server.Events(work))))
	if err != nil {
		w.Fatal(err)
	}
	var events []*Event
	if err := json.Unmarshal(data, &events); err != nil {
		w.Fatal(err)
	}
	all := grouped(events)
	if len(all) != len(w.held) {
		w.Errorf("%d objects are held and %d are there", len(w.held), len(all))
	}
	seen := map[string]bool{}
	cal := Calendar{Zone: "Europe/Berlin", Reminders: []Reminder{{popup, 10}}, Self: work}
	for _, s := range all {
		want := w.account.object(s, cal)
		if got := w.held[want.Ref]; string(got.Data) != string(want.Data) || got.Version != want.Version {
			w.Errorf("held:\n%s\nthere:\n%s", got.Data, want.Data)
		}
		if seen[want.UID] {
			w.Errorf("%s is there twice", want.UID)
		}
		seen[want.UID] = true
	}
}

// TestCancelledInstance holds that an instance which is cancelled at Google goes here, also where Google does not list
// it by the UID of its series, and that the series can be written afterwards.
func TestCancelledInstance(t *testing.T) {
	for _, unlisted := range []bool{false, true} {
		server, a := begin(t)
		server.Unlisted = unlisted
		held := put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=DAILY;COUNT=10")})
		from := changes(t, a, "").Cursor
		server.Cancel(work, held.Ref, "2026-03-12T09:00:00Z")
		c := changes(t, a, from)
		if len(c.Objects) != 1 || !strings.Contains(string(c.Objects[0].Data), "20260312T100000") {
			t.Fatalf("unlisted %v: the cancelled instance stays: %+v", unlisted, c)
		}
		if c.Objects[0].Version == held.Version {
			t.Errorf("unlisted %v: the version stays, so that the change is not stored", unlisted)
		}
		held = c.Objects[0]
		held.Data = []byte(strings.Replace(string(held.Data), "SUMMARY:Planning", "SUMMARY:Renamed", 1))
		if held = put(t, a, held); !strings.Contains(string(held.Data), "20260312T100000") {
			t.Errorf("unlisted %v: a new title brings the instance back:\n%s", unlisted, held.Data)
		}
	}
}
