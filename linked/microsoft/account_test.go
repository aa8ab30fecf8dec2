package microsoft

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/internal/goldentest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/linked/microsoft/graphtest"
	"caldav-mcp-server/linked/rest/resttest"
	"caldav-mcp-server/linked/vevent"
)

func begin(t *testing.T) (*graphtest.Server, *Account) {
	t.Helper()
	server := graphtest.New()
	at := httptest.NewServer(server.Handler())
	server.Base = at.URL
	t.Cleanup(at.Close)
	access := func(context.Context, string) (string, error) { return "good", nil }
	now := func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }
	a := Open(at.URL+"/v1.0", at.Client(), zones, now, access)
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
	held, err := a.Put(t.Context(), "cal", o)
	if err != nil {
		t.Fatalf("%v: %v", err, errors.Unwrap(err))
	}
	return held
}

func changes(t *testing.T, a *Account, cursor string) mirror.Changes {
	t.Helper()
	c, err := a.Changes(t.Context(), "cal", cursor)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFields holds that fields and words are those that Microsoft publishes.
func TestFields(t *testing.T) {
	server := graphtest.New()
	for of, value := range map[string]any{
		"event": Event{}, "recurrencePattern": Pattern{}, "recurrenceRange": Range{}, "dateTimeTimeZone": Moment{},
		"itemBody":     Body{},
		"emailAddress": Address{}, "onlineMeetingInfo": Meeting{}, "responseStatus": Answer{}, "calendar": calendar{},
	} {
		for field := range reflect.TypeOf(value).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			known := server.Has(of+"."+name) || server.Has("outlookItem."+name) || name == "id" || name == "-" ||
				strings.HasPrefix(name, "@")
			if !known && name != "occurrenceId" {
				t.Errorf("Microsoft publishes no field %s.%s", of, name)
			}
			if of == "event" && name != "-" && !slices.Contains(named, name) {
				t.Errorf("%s is not among the named fields", name)
			}
		}
	}
	for of, list := range map[string]vevent.Pairs{
		"freeBusyStatus": shown, "sensitivity": sensitivities, "responseType": responses, "attendeeType": kinds,
	} {
		for _, pair := range list {
			if !server.Has(of + "=" + pair[0]) {
				t.Errorf("Microsoft publishes no %s %q", of, pair[0])
			}
		}
	}
	for of, list := range map[string][]string{"dayOfWeek": weekdays[:], "weekIndex": indexes[:]} {
		for _, word := range list {
			if !server.Has(of + "=" + word) {
				t.Errorf("Microsoft publishes no %s %q", of, word)
			}
		}
	}
	for name := range strings.SplitSeq(whole, ",") {
		if !server.Has("event."+name) && !server.Has("outlookItem."+name) && name != "id" {
			t.Errorf("Microsoft publishes no field %s", name)
		}
	}
}

func TestPutAndChange(t *testing.T) {
	server, a := begin(t)
	empty := changes(t, a, "")
	held := put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=DAILY;COUNT=10")})
	if held.UID != "u1" || held.Ref == "" || held.Version == "" {
		t.Fatalf("%+v", held)
	}
	if _, err := a.Put(t.Context(), "cal", mirror.Object{UID: "u1", Data: event()}); !errors.Is(err,
		mirror.ErrConflict) {
		t.Errorf("the same UID again: %v", err)
	}
	next := changes(t, a, empty.Cursor)
	if len(next.Objects) != 1 || next.Objects[0].Version != held.Version ||
		string(next.Objects[0].Data) != string(held.Data) {
		t.Errorf("told otherwise than answered: %+v", next)
	}
	moved := held
	moved.Data = event("RRULE:FREQ=DAILY;COUNT=10", "EXDATE;TZID=Europe/Berlin:20260313T100000", "END:VEVENT",
		"BEGIN:VEVENT", "UID:u1", "DTSTAMP:20260101T000000Z",
		"RECURRENCE-ID;TZID=Europe/Berlin:20260312T100000", "DTSTART;TZID=Europe/Berlin:20260312T150000",
		"DTEND;TZID=Europe/Berlin:20260312T160000", "SUMMARY:Moved")
	after := put(t, a, moved)
	for _, want := range []string{
		"RECURRENCE-ID;TZID=Europe/Berlin:20260312T100000", "DTSTART;TZID=Europe/Berlin:20260312T150000",
		"EXDATE;TZID=Europe/Berlin:20260313T100000", "SUMMARY:Moved",
	} {
		if !strings.Contains(string(after.Data), want) {
			t.Errorf("no %s in\n%s", want, after.Data)
		}
	}
	before := len(server.Requests())
	put(t, a, after)
	for _, r := range server.Requests()[before:] {
		if !strings.HasPrefix(r, "GET ") {
			t.Errorf("what is as it was is sent: %s", r)
		}
	}
	if _, err := a.Put(t.Context(), "cal", held); !errors.Is(err, mirror.ErrConflict) {
		t.Errorf("over an older version: %v", err)
	}
	back := after
	back.Data = event("RRULE:FREQ=DAILY;COUNT=10")
	if _, err := a.Put(t.Context(), "cal", back); err == nil || !strings.Contains(err.Error(), "does not bring back") {
		t.Errorf("a cancelled instance: %v", err)
	}
	if err := a.Delete(t.Context(), "cal", after); err != nil {
		t.Fatal(err)
	}
	if err := a.Delete(t.Context(), "cal", after); !errors.Is(err, mirror.ErrGone) {
		t.Errorf("deleted twice: %v", err)
	}
	if last := changes(t, a, next.Cursor); !slices.Contains(last.Gone, after.Ref) {
		t.Errorf("%+v", last)
	}
	if again := put(t, a, mirror.Object{UID: "u1", Data: event()}); again.UID != "u1" {
		t.Errorf("made anew it is called %q", again.UID)
	}
}

// TestDescription: a description is sent when it changed and at no other time, and keeps the formatting at Microsoft.
func TestDescription(t *testing.T) {
	server, a := begin(t)
	seen := 0
	wrote := func(what string, want ...string) {
		t.Helper()
		var sent []string
		for _, w := range server.Taken()[seen:] {
			seen++
			content, _ := w.Body["body"].(map[string]any)
			sent = append(sent, fmt.Sprint(w.Method, " ", content["contentType"], " ", content["content"]))
		}
		if !slices.Equal(sent, want) {
			t.Errorf("%s: sent %q, want %q", what, sent, want)
		}
	}
	held := put(t, a, mirror.Object{
		UID: "u1", Data: event(`DESCRIPTION:Agenda:\n\n- a & b\n- https://x.example/1 <c>`),
	})
	wrote("a new event", "POST text Agenda:\n\n- a & b\n- https://x.example/1 <c>")

	id := server.Set(graphtest.Event{
		"subject": "Formatted", "start": map[string]any{"dateTime": "2026-03-11T09:00:00", "timeZone": "UTC"},
		"end": map[string]any{"dateTime": "2026-03-11T10:00:00", "timeZone": "UTC"},
		"body": map[string]any{
			"contentType": "html", "content": `<p>Hello <b>you</b></p><p><a href="https://x.example/j">Join</a></p>`,
		},
	})
	for _, o := range changes(t, a, "").Objects {
		if o.Ref == id {
			held = o
		}
	}
	if text := string(held.Data); !strings.Contains(text, `DESCRIPTION:Hello you\nJoin<https://x.example/j>`) {
		t.Fatal(text)
	}
	replace := func(old, with string) {
		t.Helper()
		held.Data = []byte(strings.Replace(string(held.Data), old, with, 1))
		held = put(t, a, held)
	}
	replace("SUMMARY:Formatted", "SUMMARY:Renamed")
	wrote("a new title", "PATCH <nil> <nil>")
	if stored := fmt.Sprint(server.Events()[id]["body"]); !strings.Contains(stored, "<b>you</b>") {
		t.Errorf("the formatting is lost: %s", stored)
	}
	replace("Hello you", "Hello y ou")
	wrote("another space", "PATCH text Hello y ou\nJoin<https://x.example/j>")
	replace("Hello y ou", `Hello\n\nyou`)
	wrote("another line break", "PATCH text Hello\n\nyou\nJoin<https://x.example/j>")
	replace(`Hello\n\nyou`, "Hello you")
	wrote("the former text", "PATCH text Hello you\nJoin<https://x.example/j>")
	replace(`Join<https://x.example/j>`, "Join")
	wrote("the text of 0.1.0")
	replace(`<https://x.example/j>`, `<https://x.example/k>`)
	wrote("a new link", "PATCH text Hello you\nJoin<https://x.example/k>")
	replace("STATUS:CONFIRMED",
		"X-ALT-DESC;FMTTYPE=text/html:<p>Hello you</p>\r\n <a href='https://x.example/k'>Join</a>\r\nSTATUS:CONFIRMED")
	wrote("the same as HTML")

	server.Set(graphtest.Event{
		"id": id, "subject": "Meeting", "start": server.Events()[id]["start"], "end": server.Events()[id]["end"],
		"body": server.Events()[id]["body"], "onlineMeeting": map[string]any{"joinUrl": "https://teams.example/1"},
	})
	for _, o := range changes(t, a, "").Objects {
		if o.Ref == id {
			held = o
		}
	}
	held.Data = []byte(strings.Replace(string(held.Data), "Hello you", "Hello all", 1))
	_, err := a.Put(t.Context(), "cal", held)
	if _, refused := errors.AsType[*mirror.Refusal](err); !refused || !strings.Contains(err.Error(), "online meeting") {
		t.Errorf("a new description of an online meeting: %v", err)
	}
	wrote("an online meeting")
}

func TestOwnZone(t *testing.T) {
	server, a := begin(t)
	put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=WEEKLY")})
	for _, e := range server.Events() {
		if e["originalStartTimeZone"] != "Europe/Berlin" {
			t.Errorf("a series in %v drifts when summer comes", e["originalStartTimeZone"])
		}
	}
}

func TestExpired(t *testing.T) {
	server, a := begin(t)
	first := changes(t, a, "")
	put(t, a, mirror.Object{UID: "u1", Data: event()})
	server.Forget()
	if _, err := a.Changes(t.Context(), "cal", first.Cursor); !errors.Is(err, mirror.ErrExpired) {
		t.Errorf("an old delta link: %v", err)
	}
	second := changes(t, a, "")
	a.now = func() time.Time { return time.Date(2026, 4, 5, 0, 0, 0, 0, time.UTC) }
	if _, err := a.Changes(t.Context(), "cal", second.Cursor); !errors.Is(err, mirror.ErrExpired) {
		t.Errorf("an old window: %v", err)
	}
	if _, err := a.Changes(t.Context(), "cal",
		`{"link":"https://elsewhere.example/","from":"2026-04-01T00:00:00Z"}`); err == nil {
		t.Error("a link to elsewhere is followed, with a token")
	}
}

// TestWalk changes both sides at random while answers are lost and servers have trouble, and holds that both end equal.
func TestWalk(t *testing.T) {
	for seed := range uint64(slowtest.Rounds(t, slowtest.Random, 6, 300)) {
		walk(t, rand.New(rand.NewPCG(seed, 7)), 40)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

type walker struct {
	*testing.T
	dice    dice
	server  *graphtest.Server
	account *Account
	cursor  string
	held    map[string]mirror.Object
	uids    int
}

func walk(t *testing.T, r *rand.Rand, steps int) {
	t.Helper()
	server, account := begin(t)
	server.Instances = r.IntN(2) == 0
	w := &walker{T: t, dice: dice{r}, server: server, account: account, held: map[string]mirror.Object{}}
	deeds := []func(){w.make, w.make, w.edit, w.remove, w.there, w.look}
	for range steps {
		if w.dice.IntN(3) == 0 {
			all := []resttest.Fault{
				{Status: 429},
				{Status: 500},
				{Lost: true},
				{Half: true},
				{Lost: true, Method: "POST"},
				{Half: true, Method: "PATCH"},
				{Lost: true, Method: "DELETE"},
				{Status: 412, Method: "PATCH"},
				{Status: 429, After: 60},
				{Status: 503},
			}
			server.Faults.Add(all[w.dice.IntN(len(all))])
		}
		deeds[w.dice.IntN(len(deeds))]()
		if w.dice.IntN(12) == 0 {
			server.Forget()
		}
	}
	server.Clear()
	w.look()
	w.equal()
}

func (w *walker) look() {
	got, err := w.account.Changes(w.Context(), "cal", w.cursor)
	if errors.Is(err, mirror.ErrExpired) {
		w.cursor = ""
		w.look()
		return
	}
	if err != nil {
		if _, later := errors.AsType[*mirror.Later](err); !later {
			w.Errorf("look: %v", err)
		}
		return
	}
	if got.Whole {
		listed := map[string]bool{}
		for _, ref := range got.Kept {
			listed[ref] = true
		}
		maps.DeleteFunc(w.held, func(ref string, _ mirror.Object) bool { return !listed[ref] })
	}
	for _, o := range got.Objects {
		w.held[o.Ref] = o
	}
	for _, ref := range got.Gone {
		delete(w.held, ref)
	}
	w.cursor = got.Cursor
}

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
	start := time.Date(2026, 3, 1+w.dice.IntN(100), w.dice.IntN(24), 0, 0, 0, time.UTC)
	e := w.dice.event(start, w.dice.IntN(3) == 0)
	if w.dice.IntN(2) == 0 {
		w.dice.recur(e)
	}
	uid := fmt.Sprintf("u%d@example.org", w.uids)
	e.Attendees, e.Organizer, e.ID, e.Transaction = nil, nil, "", ours+uid
	data, err := Text(&Series{Master: e}, zones)
	if err != nil {
		w.Fatal(err)
	}
	o := mirror.Object{UID: uid, Data: data}
	held, err := w.account.Put(w.Context(), "cal", o)
	w.said(err, o, held)
}

func (w *walker) one() (mirror.Object, bool) {
	refs := slices.Sorted(maps.Keys(w.held))
	if len(refs) == 0 {
		return mirror.Object{}, false
	}
	return w.held[refs[w.dice.IntN(len(refs))]], true
}

func (w *walker) edit() {
	o, ok := w.one()
	if !ok {
		return
	}
	line := w.dice.one("LOCATION", "URL;VALUE=URI", "X-MINE")
	o.Data = []byte(strings.Replace(string(o.Data), "STATUS:CONFIRMED",
		fmt.Sprintf("%s:edited %d\r\nSTATUS:CONFIRMED", line, w.dice.IntN(99)), 1))
	if n := strings.Count(string(o.Data), line+":"); n > 1 {
		return
	}
	held, err := w.account.Put(w.Context(), "cal", o)
	w.said(err, o, held)
}

func (w *walker) remove() {
	o, ok := w.one()
	if !ok {
		return
	}
	err := w.account.Delete(w.Context(), "cal", o)
	if err == nil {
		delete(w.held, o.Ref)
		return
	}
	w.said(err, o, o)
}

// there changes something at Microsoft.
func (w *walker) there() {
	all := w.server.Events()
	ids := slices.Sorted(maps.Keys(all))
	if len(ids) == 0 || w.dice.IntN(3) == 0 {
		e := w.dice.event(time.Date(2026, 3, 1+w.dice.IntN(100), 9, 0, 0, 0, time.UTC), false)
		e.ID, e.UID, e.Attendees = "", "", nil
		w.set(e)
		return
	}
	e := all[ids[w.dice.IntN(len(ids))]]
	id := fmt.Sprint(e["id"])
	series, day, instance := strings.Cut(id, ".")
	if e["recurrence"] != nil && w.dice.IntN(2) == 0 {
		at, err := time.Parse(time.DateOnly, fmt.Sprint(e["start"])[len("map[dateTime:"):][:len(time.DateOnly)])
		if err != nil {
			w.Fatal(err)
		}
		series, day, instance = id, at.AddDate(0, 0, w.dice.IntN(8)).Format(time.DateOnly), true
	}
	switch w.dice.IntN(3) {
	case 0:
		if !instance {
			w.server.Drop(id)
			return
		}
		w.server.Cancel(series, day)
	default:
		changes := graphtest.Event{"subject": fmt.Sprintf("there %d", w.dice.IntN(1000))}
		if instance {
			w.server.Except(series, day, changes)
			return
		}
		maps.Copy(e, changes)
		w.server.Set(e)
	}
}

func (w *walker) set(e *Event) {
	data, err := json.Marshal(e)
	if err != nil {
		w.Fatal(err)
	}
	var raw graphtest.Event
	if err := json.Unmarshal(data, &raw); err != nil {
		w.Fatal(err)
	}
	w.server.Set(raw)
}

// equal holds that what is held is what is there, and that no UID is there twice.
func (w *walker) equal() {
	seen, count := map[string]bool{}, 0
	for id, raw := range w.server.Events() {
		if raw["seriesMasterId"] != nil {
			continue
		}
		count++
		s, err := w.account.series(w.Context(), id)
		if err != nil {
			w.Fatal(err)
		}
		want := w.account.object(id, s)
		if got := w.held[id]; string(got.Data) != string(want.Data) || got.Version != want.Version {
			w.Errorf("held:\n%s\nthere:\n%s", got.Data, want.Data)
		}
		if seen[want.UID] {
			w.Errorf("%s is there twice", want.UID)
		}
		seen[want.UID] = true
	}
	if count != len(w.held) {
		w.Errorf("%d objects are held and %d are there", len(w.held), count)
	}
}

// TestSkew holds that an instance which is cancelled at Microsoft goes here, too, though Microsoft's clock is an hour
// behind ours.
func TestSkew(t *testing.T) {
	server, a := begin(t)
	behind := a.now().Add(-time.Hour)
	server.Now = func() time.Time { return behind }
	held := put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=DAILY;COUNT=10")})
	c := changes(t, a, changes(t, a, "").Cursor)
	behind = behind.Add(10 * time.Minute)
	server.Cancel(held.Ref, "2026-03-12")
	if c = changes(t, a, c.Cursor); len(c.Objects) != 1 ||
		!strings.Contains(string(c.Objects[0].Data), "EXDATE;TZID=Europe/Berlin:20260312T100000") {
		t.Errorf("told %+v", c)
	}
}

// TestMovedFarAway holds that what we made, and whose answer we lost, is not made a second time where it was moved to
// another time since, and that a series is not either.
func TestMovedFarAway(t *testing.T) {
	for name, rule := range map[string][]string{"moved": nil, "series": {"RRULE:FREQ=DAILY;COUNT=10"}} {
		t.Run(name, func(t *testing.T) {
			server, a := begin(t)
			held := put(t, a, mirror.Object{UID: "u1", Data: event(rule...)})
			if e := server.Events()[held.Ref]; rule == nil {
				e["start"] = map[string]any{"dateTime": "2026-08-01T10:00:00", "timeZone": "UTC"}
				e["end"] = map[string]any{"dateTime": "2026-08-01T11:00:00", "timeZone": "UTC"}
				server.Set(e)
			}
			if _, err := a.Put(t.Context(), "cal", mirror.Object{UID: "u1", Data: event(rule...)}); !errors.Is(err,
				mirror.ErrConflict) || len(server.Events()) != 1 {
				t.Errorf("%v, and there are %d", err, len(server.Events()))
			}
		})
	}
}

// TestSeriesIsNotReported: Graph may report only the instances of a series. A deleted series goes, and all others stay.
func TestSeriesIsNotReported(t *testing.T) {
	server, a := begin(t)
	server.Instances, server.PageSize = true, 2
	held := map[string]string{}
	for _, uid := range []string{"u1", "u2", "u3", "u4", "u5"} {
		rule := "RRULE:FREQ=DAILY;COUNT=10"
		if uid > "u3" {
			rule = "LOCATION:Here"
		}
		data := strings.Replace(string(event(rule)), "UID:u1", "UID:"+uid, 1)
		held[uid] = put(t, a, mirror.Object{UID: uid, Data: []byte(data)}).Ref
	}
	c := changes(t, a, changes(t, a, "").Cursor)
	server.Drop(held["u1"])
	c = changes(t, a, c.Cursor)
	if kept := slices.Sorted(slices.Values(c.Kept)); !c.Whole || !slices.Contains(kept, held["u4"]) ||
		slices.Contains(kept, held["u1"]) || slices.ContainsFunc(c.Objects, func(o mirror.Object) bool {
		return o.Ref == held["u1"]
	}) {
		t.Errorf("a deleted series: %+v", c)
	}
	server.Except(held["u2"], "2026-03-12", graphtest.Event{"subject": "Moved"})
	if c = changes(t, a, c.Cursor); len(c.Objects) != 1 || c.Objects[0].Ref != held["u2"] || c.Whole {
		t.Errorf("a changed instance: %+v", c)
	}
	server.Cancel(held["u3"], "2026-03-12")
	c = changes(t, a, c.Cursor)
	if !slices.ContainsFunc(c.Objects, func(o mirror.Object) bool {
		return o.Ref == held["u3"] && strings.Contains(string(o.Data), "EXDATE")
	}) {
		t.Errorf("a cancelled instance: %+v", c)
	}
}

// TestDeletedBetweenPages: an event that another deletion moves to a page which was read already is not taken for gone.
func TestDeletedBetweenPages(t *testing.T) {
	server, a := begin(t)
	server.PageSize = 2
	var refs []string
	for i := range 6 {
		uid := fmt.Sprintf("u%d", i)
		data := strings.Replace(string(event()), "UID:u1", "UID:"+uid, 1)
		refs = append(refs, put(t, a, mirror.Object{UID: uid, Data: []byte(data)}).Ref)
	}
	c := changes(t, a, "")
	server.Drop(refs[5])
	deleted := false
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("$skip") == "2" && !deleted {
			deleted = true
			server.Drop(refs[0])
		}
		server.Handler().ServeHTTP(w, r)
	}))
	defer at.Close()
	before := server.Base
	server.Base = at.URL
	a.client.Base = at.URL + "/v1.0"
	c = changes(t, a, strings.ReplaceAll(c.Cursor, before, at.URL))
	for _, ref := range refs[1:5] {
		if !slices.Contains(c.Kept, ref) {
			t.Errorf("%s of %v is missing in %v", ref, refs, c.Kept)
		}
	}
	if !deleted || slices.Contains(c.Kept, refs[0]) && slices.Contains(c.Kept, refs[5]) {
		t.Errorf("%+v", c)
	}
}

// TestSeveralInstancesAlone: an account that is invited to two instances of a series whose master it cannot see has
// both, and a deletion elsewhere takes neither away.
func TestSeveralInstancesAlone(t *testing.T) {
	server, a := begin(t)
	server.Instances = true
	series := put(t, a, mirror.Object{UID: "u1", Data: event("RRULE:FREQ=DAILY;COUNT=10")}).Ref
	other := put(t, a, mirror.Object{
		UID: "u2", Data: []byte(strings.Replace(string(event()), "UID:u1", "UID:u2", 1)),
	}).Ref
	for _, day := range []string{"2026-03-11", "2026-03-12"} {
		server.Except(series, day, graphtest.Event{"subject": "Only " + day})
	}
	hidden := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events/"+series) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":{"code":"ErrorItemNotFound"}}`))
			return
		}
		server.Handler().ServeHTTP(w, r)
	}))
	defer hidden.Close()
	server.Base, a.client.Base = hidden.URL, hidden.URL+"/v1.0"
	c := changes(t, a, "")
	var alone []string
	for _, o := range c.Objects {
		if strings.HasPrefix(o.Ref, series) {
			alone = append(alone, o.Ref)
		}
	}
	want := []string{series + ".2026-03-11", series + ".2026-03-12"}
	if slices.Sort(alone); !slices.Equal(alone, want) {
		t.Fatalf("%v", alone)
	}
	server.Drop(other)
	c = changes(t, a, c.Cursor)
	if !slices.Contains(c.Gone, other) || !slices.Contains(c.Kept, want[0]) || !slices.Contains(c.Kept, want[1]) {
		t.Errorf("%+v", c)
	}
	server.Cancel(series, "2026-03-11")
	if c = changes(t, a, c.Cursor); !slices.Contains(c.Gone, want[0]) || slices.Contains(c.Kept, want[0]) ||
		!slices.Contains(c.Kept, want[1]) {
		t.Errorf("%+v", c)
	}
}
