package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/linked/google/googletest"
	"caldav-mcp-server/linked/microsoft/graphtest"
	"caldav-mcp-server/linked/rest/resttest"
)

// far is the other side of a linked account, as its owner uses it there. Events are named by the ids that they have
// there.
type far interface {
	// hosts are the provider's addresses, provider its name, calendar the name of its calendar.
	hosts(keys *resttest.Keys) map[string]http.Handler
	names() (provider, calendar string)
	// state is all that is there; masters are the events and series by id, with their titles.
	state(t *testing.T) []string
	masters() map[string]string
	add(title string, at time.Time, kind kind)
	retitle(id, title string)
	move(id string, at time.Time)
	drop(id string)
	// cancel leaves out an instance, except has one be unlike its series.
	cancel(id string, at time.Time)
	except(id, title string, at time.Time)
	// renew has an event be the same under another id.
	renew(id string)
	forget()
	troubles() *resttest.Faults
	taken() []resttest.Write
	// titled is the title in a written event.
	titled(body map[string]any) string
}

type kind int

const (
	timed kind = iota
	allDay
	series
)

// berlin is the time zone of all events; its clock change is within the planned period.
const berlin = "Europe/Berlin"

func inBerlin() *time.Location {
	z, err := time.LoadLocation(berlin)
	if err != nil {
		panic(err)
	}
	return z
}

// compact says a time of the wire in the form of iCalendar.
func compact(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return strings.ReplaceAll(text, "-", "")
	}
	return at.UTC().Format(instantForm)
}

// googleFar is an account at Google.
type googleFar struct{ *googletest.Server }

const googleCalendar = "alice@example.com"

func newGoogleFar(keys *resttest.Keys) *googleFar {
	s := googletest.New()
	s.Good, s.Now, s.Twice = keys.Good, func() time.Time { return time.Now().Add(-time.Hour) }, true
	s.Add(googleCalendar, berlin)
	return &googleFar{s}
}

func (g *googleFar) hosts(keys *resttest.Keys) map[string]http.Handler {
	return map[string]http.Handler{"www.googleapis.com": g.Handler(), "oauth2.googleapis.com": keys.Handler()}
}

func (g *googleFar) names() (provider, calendar string) {
	return "google", "Calendar " + googleCalendar
}
func (g *googleFar) all() map[string]googletest.Event { return g.Events(googleCalendar) }
func (g *googleFar) drop(id string)                   { g.Drop(googleCalendar, id) }
func (g *googleFar) forget()                          { g.Forget() }
func (g *googleFar) troubles() *resttest.Faults       { return &g.Faults }
func (g *googleFar) taken() []resttest.Write          { return g.Taken() }

func (g *googleFar) titled(body map[string]any) string {
	title, _ := body["summary"].(string)
	return title
}

func (g *googleFar) masters() map[string]string {
	found := map[string]string{}
	for id, e := range g.all() {
		if e["recurringEventId"] == nil {
			found[id] = fmt.Sprint(e["summary"])
		}
	}
	return found
}

func googleInstant(side any) string {
	m, _ := side.(map[string]any)
	if day, is := m["date"].(string); is {
		return compact(day)
	}
	return compact(fmt.Sprint(m["dateTime"]))
}

func (g *googleFar) state(t *testing.T) (lines []string) {
	t.Helper()
	masters := g.masters()
	for id, e := range g.all() {
		series, original := id, ""
		if of, is := e["recurringEventId"].(string); is {
			series, original = of, googleInstant(e["originalStartTime"])
		}
		key := keyOf(masters[series])
		if e["status"] == "cancelled" {
			lines = append(lines, key+"|"+original+"|cancelled")
			continue
		}
		lines = append(lines, fmt.Sprintf("%s|%s|%s|%s", key, original, e["summary"], googleInstant(e["start"])))
		rules, _ := e["recurrence"].([]any)
		for _, rule := range rules {
			if name, p := parseProperty(fmt.Sprint(rule)); name == "EXDATE" {
				for value := range strings.SplitSeq(p.value, ",") {
					lines = append(lines, key+"|"+property{p.zone, value}.instant(t)+"|cancelled")
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func googleAt(at time.Time, kind kind) map[string]any {
	if kind == allDay {
		return map[string]any{"date": at.Format(time.DateOnly)}
	}
	return map[string]any{"dateTime": at.Format(time.RFC3339), "timeZone": berlin}
}

// length is how long events last.
func length(kind kind) time.Duration {
	if kind == allDay {
		return 24 * time.Hour
	}
	return time.Hour
}

func (g *googleFar) add(title string, at time.Time, kind kind) {
	e := googletest.Event{
		"summary": title, "start": googleAt(at, kind), "end": googleAt(at.Add(length(kind)), kind),
		"description": title,
	}
	if kind == series {
		e["recurrence"] = []any{"RRULE:FREQ=DAILY;COUNT=20"}
	}
	g.Set(googleCalendar, e)
}

func (g *googleFar) change(id string, change func(e googletest.Event)) {
	if e := g.all()[id]; e != nil {
		change(e)
		g.Set(googleCalendar, e)
	}
}

func (g *googleFar) retitle(id, title string) {
	g.change(id, func(e googletest.Event) { e["summary"] = title })
}

func (g *googleFar) move(id string, at time.Time) {
	g.change(id, func(e googletest.Event) {
		kind := timed
		if start, _ := e["start"].(map[string]any); start["date"] != nil {
			kind = allDay
		}
		if e["recurrence"] == nil {
			e["start"], e["end"] = googleAt(at, kind), googleAt(at.Add(length(kind)), kind)
		}
	})
}

func (g *googleFar) instance(id string, at time.Time, change func(e googletest.Event)) {
	master := g.all()[id]
	if master == nil || master["recurrence"] == nil {
		return
	}
	name := id + "_" + at.UTC().Format(instantForm)
	e := g.all()[name]
	if e == nil {
		e = googletest.Event{
			"id": name, "recurringEventId": id, "iCalUID": master["iCalUID"], "originalStartTime": googleAt(at, timed),
			"summary": master["summary"],
			"start":   googleAt(at, timed), "end": googleAt(at.Add(time.Hour), timed),
		}
	}
	if e["status"] != "cancelled" {
		change(e)
		g.Set(googleCalendar, e)
	}
}

func (g *googleFar) cancel(id string, at time.Time) {
	g.instance(id, at, func(e googletest.Event) { e["status"] = "cancelled" })
}

func (g *googleFar) except(id, title string, at time.Time) {
	g.instance(id, at, func(e googletest.Event) {
		e["summary"], e["start"], e["end"] = title, googleAt(at.Add(3*time.Hour), timed), googleAt(at.Add(4*time.Hour),
			timed)
	})
}

func (g *googleFar) renew(id string) {
	if e := g.all()[id]; e != nil && e["recurrence"] == nil {
		g.drop(id)
		delete(e, "id")
		g.Set(googleCalendar, e)
	}
}

// graphFar is an account at Microsoft.
type graphFar struct{ *graphtest.Server }

func newGraphFar(keys *resttest.Keys) *graphFar {
	s := graphtest.New()
	s.Base, s.Good, s.Now = "https://graph.microsoft.com", keys.Good, func() time.Time {
		return time.Now().Add(-time.Hour)
	}
	return &graphFar{s}
}

func (g *graphFar) hosts(keys *resttest.Keys) map[string]http.Handler {
	return map[string]http.Handler{"graph.microsoft.com": g.Handler(), "login.microsoftonline.com": keys.Handler()}
}

func (g *graphFar) names() (provider, calendar string) { return "microsoft", "Calendar" }
func (g *graphFar) drop(id string)                     { g.Drop(id) }
func (g *graphFar) forget()                            { g.Forget() }
func (g *graphFar) troubles() *resttest.Faults         { return &g.Faults }
func (g *graphFar) taken() []resttest.Write            { return g.Taken() }

func (g *graphFar) titled(body map[string]any) string {
	title, _ := body["subject"].(string)
	return title
}

func (g *graphFar) masters() map[string]string {
	found := map[string]string{}
	for id, e := range g.Events() {
		if e["seriesMasterId"] == nil {
			found[id] = fmt.Sprint(e["subject"])
		}
	}
	return found
}

func graphInstant(e graphtest.Event) string {
	m, _ := e["start"].(map[string]any)
	text, _, _ := strings.Cut(fmt.Sprint(m["dateTime"]), ".")
	return graphForm(e, compact(text+"Z"))
}

// graphForm is a day where an event is of whole days.
func graphForm(e graphtest.Event, at string) string {
	if e["isAllDay"] == true {
		return at[:len("20060102")]
	}
	return at
}

func (g *graphFar) state(t *testing.T) (lines []string) {
	t.Helper()
	masters := g.masters()
	for id, e := range g.Events() {
		series, original := id, ""
		if of, is := e["seriesMasterId"].(string); is {
			series, original = of, graphForm(e, compact(fmt.Sprint(e["originalStart"])))
		}
		key := keyOf(masters[series])
		lines = append(lines, fmt.Sprintf("%s|%s|%s|%s", key, original, e["subject"], graphInstant(e)))
		gone, _ := e["cancelledOccurrences"].([]any)
		for _, one := range gone {
			day := fmt.Sprint(one)
			at, err := time.ParseInLocation(time.DateOnly, day[strings.LastIndexByte(day, '.')+1:], inBerlin())
			begin, failed := time.Parse(instantForm, graphInstant(e))
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
			clock := begin.In(inBerlin())
			at = time.Date(at.Year(), at.Month(), at.Day(), clock.Hour(), clock.Minute(), 0, 0, inBerlin())
			lines = append(lines, key+"|"+at.UTC().Format(instantForm)+"|cancelled")
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func graphAt(at time.Time, kind kind) map[string]any {
	if kind == allDay {
		return map[string]any{"dateTime": at.Format(time.DateOnly) + "T00:00:00", "timeZone": "UTC"}
	}
	return map[string]any{"dateTime": at.In(inBerlin()).Format("2006-01-02T15:04:05"), "timeZone": berlin}
}

func (g *graphFar) add(title string, at time.Time, kind kind) {
	e := graphtest.Event{
		"subject": title, "start": graphAt(at, kind), "end": graphAt(at.Add(length(kind)), kind),
		"isAllDay": kind == allDay,
		"body":     map[string]any{"contentType": "text", "content": title},
	}
	if kind == series {
		e["recurrence"] = map[string]any{
			"pattern": map[string]any{"type": "daily", "interval": 1.0},
			"range": map[string]any{
				"type": "numbered", "startDate": at.Format(time.DateOnly), "numberOfOccurrences": 20.0,
				"recurrenceTimeZone": berlin,
			},
		}
	}
	g.Set(e)
}

func (g *graphFar) change(id string, change func(e graphtest.Event)) {
	if e := g.Events()[id]; e != nil {
		change(e)
		g.Set(e)
	}
}

func (g *graphFar) retitle(id, title string) {
	g.change(id, func(e graphtest.Event) { e["subject"] = title })
}

func (g *graphFar) move(id string, at time.Time) {
	g.change(id, func(e graphtest.Event) {
		kind := timed
		if e["isAllDay"] == true {
			kind = allDay
		}
		if e["recurrence"] == nil {
			e["start"], e["end"] = graphAt(at, kind), graphAt(at.Add(length(kind)), kind)
		}
	})
}

func (g *graphFar) cancel(id string, at time.Time) {
	if e := g.Events()[id]; e != nil && e["recurrence"] != nil {
		g.Cancel(id, at.Format(time.DateOnly))
	}
}

func (g *graphFar) except(id, title string, at time.Time) {
	if e := g.Events()[id]; e != nil && e["recurrence"] != nil {
		g.Except(id, at.Format(time.DateOnly), graphtest.Event{
			"subject": title, "start": graphAt(at.Add(3*time.Hour), timed), "end": graphAt(at.Add(4*time.Hour), timed),
		})
	}
}

func (g *graphFar) renew(id string) {
	if e := g.Events()[id]; e != nil && e["recurrence"] == nil {
		g.drop(id)
		e = maps.Clone(e)
		delete(e, "id")
		g.Set(e)
	}
}
