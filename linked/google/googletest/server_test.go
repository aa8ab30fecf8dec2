package googletest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const ann = "ann@gmail.com"

// desk sends requests to a server with a calendar.
type desk struct {
	*testing.T
	*Server
}

func open(t *testing.T) *desk {
	t.Helper()
	d := &desk{t, New()}
	d.Server.Add(ann, "Europe/Berlin")
	return d
}

// ask sends a request below the calendar's events, such as "GET ?maxResults=1". It returns the status, and an error's
// reason.
func (d *desk) ask(request, body string, headers ...string) (string, Event) {
	d.Helper()
	method, path, _ := strings.Cut(request, " ")
	path = "/calendar/v3/calendars/primary/events" + path
	r := httptest.NewRequestWithContext(d.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer good")
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, r)
	var answer Event
	_ = json.Unmarshal(w.Body.Bytes(), &answer)
	if errors := list(object(answer, "error"), "errors"); len(errors) > 0 {
		return fmt.Sprint(w.Code, " ", errors[0]["reason"]), answer
	}
	return fmt.Sprint(w.Code), answer
}

func (d *desk) made(body string) Event {
	d.Helper()
	status, e := d.ask("POST ", body)
	if status != "200" {
		d.Fatal(status, e)
	}
	return e
}

const hour = `"start":{"dateTime":"2026-03-10T10:00:00+01:00","timeZone":"Europe/Berlin"},` +
	`"end":{"dateTime":"2026-03-10T11:00:00+01:00","timeZone":"Europe/Berlin"}`

func TestRefused(t *testing.T) {
	d := open(t)
	series := text(d.made(`{`+hour+`,"recurrence":["RRULE:FREQ=DAILY;COUNT=3"],"iCalUID":"u1"}`), "id")
	for _, c := range []struct{ request, body, want string }{
		{"GET ?unknown=1", "", "400 invalid"},
		{"GET ?maxResults=0", "", "400 invalid"},
		{"GET ?orderBy=startTime", "", "400 requestedOrderingNotAvailable"},
		{"GET ?timeMin=2026-03-10T10:00:00", "", "400 invalid"},
		{"GET ?timeMin=2026-03-10T10:00:00Z&timeMax=2026-03-10T10:00:00Z", "", "400 timeRangeEmpty"},
		{"GET ?pageToken=x", "", "400 invalid"},
		{"GET ?syncToken=x", "", "400 invalid"},
		{"GET ?fields=items(nothing)", "", "400 invalidParameter"},
		{"GET /nothing", "", "404 notFound"},
		{"POST ", `{"summary":"x"}`, "400 required"},
		{"POST ", `{"nothing":1,` + hour + `}`, "400 invalid"},
		{"POST ", `{"summary":1,` + hour + `}`, "400 invalid"},
		{"POST ", `{"start":{"date":"2026-03-10"},"end":{"dateTime":"2026-03-10T10:00:00Z"}}`, "400 invalid"},
		{"POST ", `{"start":{"date":"2026-03-10"},"end":{"date":"2026-03-09"}}`, "400 timeRangeEmpty"},
		{
			"POST ", `{"start":{"dateTime":"2026-03-10T10:00:00"},"end":{"dateTime":"2026-03-10T10:00:00Z"}}`,
			"400 invalid",
		},
		{"POST ", `{"start":{"dateTime":"2026-03-10T10:00:00Z"},"end":{"dateTime":"2026-03-10T10:00:00Z"},` +
			`"recurrence":["RRULE:FREQ=DAILY"]}`, "400 required"},
		{"POST ", `{` + hour + `,"recurrence":["DTSTART:20260310T100000Z"]}`, "400 invalid"},
		{"POST ", `{` + hour + `,"recurrence":["RRULE:FREQ=DAILY;COUNT=2;UNTIL=20260310T100000Z"]}`, "400 invalid"},
		{"POST ", `{` + hour + `,"id":"Wrong"}`, "400 invalid"},
		{"POST ", `{` + hour + `,"id":"` + series + `"}`, "409 duplicate"},
		{"POST ", `{` + hour + `,"iCalUID":"u1"}`, "409 duplicate"},
		{"POST ", `{` + hour + `,"iCalUID":"u2","id":"abcde"}`, "400 invalid"},
		{"POST /import", `{` + hour + `}`, "400 required"},
		{"POST ", `{` + hour + `,"colorId":"12"}`, "400 invalid"},
		{"POST ", `{` + hour + `,"attendees":[{"displayName":"Eve"}]}`, "400 invalid"},
		{
			"POST ", `{` + hour + `,"reminders":{"useDefault":true,"overrides":[{"method":"popup","minutes":1}]}}`,
			"400 cannotUseDefaultRemindersAndSpecifyOverride",
		},
		{"POST ", `{` + hour + `,"reminders":{"overrides":[{"method":"popup","minutes":40321}]}}`, "400 invalid"},
		{"POST ", `{` + hour + `,"eventType":"focusTime"}`, "400 eventTypeRestriction"},
		{
			"POST ", `{` + hour + `,"eventType":"focusTime","focusTimeProperties":{},"transparency":"transparent"}`,
			"400 eventTypeRestriction",
		},
		{"PATCH /" + series, `{"eventType":"focusTime"}`, "400 invalid"},
		{"PATCH /" + series, `{"start":{"date":"2026-03-10"}}`, "400 invalid"},
		{"PATCH /" + series + "_20260311T090000Z", `{"recurrence":["RRULE:FREQ=DAILY"]}`, "400 invalid"},
		{"PATCH /" + series + "_20260315T090000Z", `{}`, "404 notFound"},
		{"PUT /" + series, `{"summary":"x"}`, "400 required"},
	} {
		if got, answer := d.ask(c.request, c.body); got != c.want {
			t.Errorf("%s %s: %s, want %s: %v", c.request, c.body, got, c.want, answer)
		}
	}
	if got, _ := d.ask("PATCH /"+series, `{}`, "If-Match", `"0"`); got != "412 conditionNotMet" {
		t.Error(got)
	}
	d.Share("team@gmail.com", "UTC", "reader")
	path := "/calendar/v3/calendars/team@gmail.com/events/" + series
	r := httptest.NewRequestWithContext(d.Context(), http.MethodDelete, path, nil)
	r.Header.Set("Authorization", "Bearer good")
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Error(w.Code)
	}
}

// TestReturned: responses are normalized, complete with the fields of the service, and without default values.
func TestReturned(t *testing.T) {
	d := open(t)
	e := d.made(`{"start":{"dateTime":"2026-03-10T04:00:00-05:00","timeZone":"America/New_York"},` +
		`"end":{"dateTime":"2026-03-10T05:00:00.5","timeZone":"America/New_York"},"transparency":"opaque",` +
		`"summary":"",` +
		`"recurrence":["RRULE:BYDAY=TU;INTERVAL=1;COUNT=3;FREQ=WEEKLY"],"conferenceData":{"createRequest":` +
		`{"requestId":"r"}},"attendees":[{"email":"` + ann + `"},{"email":"eve@example.net","self":true}],` +
		`"extendedProperties":{"private":{"` + strings.Repeat("k", 45) + `":"v","a":"` + strings.Repeat("v", 2000) +
		`"}}}`)
	value := text(object(object(e, "extendedProperties"), "private"), "a")
	for _, name := range []string{"created", "updated", "extendedProperties", "etag", "htmlLink"} {
		if e[name] == nil {
			t.Errorf("no %s", name)
		}
		delete(e, name)
	}
	id, self := text(e, "id"), map[string]any{"email": ann, "self": true}
	want := Event{
		"kind": "calendar#event", "id": id, "iCalUID": id + "@google.com", "status": "confirmed",
		"eventType": "default",
		"start":     map[string]any{"dateTime": "2026-03-10T10:00:00+01:00", "timeZone": "America/New_York"},
		"end":       map[string]any{"dateTime": "2026-03-10T10:00:00+01:00", "timeZone": "America/New_York"},
		"organizer": self, "creator": self, "sequence": 0.0, "reminders": map[string]any{"useDefault": true},
		"recurrence": []any{"RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=TU"},
		"attendees": []any{
			map[string]any{"email": ann, "self": true, "organizer": true, "responseStatus": "needsAction"},
			map[string]any{"email": "eve@example.net", "responseStatus": "needsAction"},
		},
	}
	if diff := cmp.Diff(want, e); diff != "" || len(value) != 1024 {
		t.Errorf("-want +got\n%s", diff)
	}
	_, e = d.ask("PATCH /"+id+"?conferenceDataVersion=1", `{"conferenceData":{"createRequest":{"requestId":"r"}}}`)
	if !strings.HasPrefix(text(e, "hangoutLink"), "https://meet.google.com/") {
		t.Errorf("%v", e)
	}
	_, e = d.ask("PATCH /"+id+"_20260317T090000Z?sendUpdates=all", `{"summary":"Moved"}`)
	if original := object(e, "originalStartTime"); original["dateTime"] != "2026-03-17T10:00:00+01:00" ||
		e["recurringEventId"] != id || len(d.Mails()) != 1 || d.Mails()[0].To != "eve@example.net" {
		t.Errorf("%v %v", e, d.Mails())
	}
}

// ids are the events of a list, with the status of the cancelled ones.
func ids(answer Event, series string) (all []string) {
	for _, e := range list(answer, "items") {
		name := strings.Replace(text(e, "id"), series, "s", 1)
		if e["status"] == "cancelled" {
			name += " cancelled"
		}
		all = append(all, name)
	}
	return all
}

func TestLists(t *testing.T) {
	d := open(t)
	series := text(d.made(`{`+hour+`,"recurrence":["RRULE:FREQ=DAILY;COUNT=3"],"iCalUID":"u1"}`), "id")
	_, all := d.ask("GET ", "")
	_, expanded := d.ask("GET ?singleEvents=true", "")
	token := text(all, "nextSyncToken")
	d.ask("DELETE /"+series+"_20260311T090000Z", "")
	listed := func(query string, want ...string) {
		t.Helper()
		status, answer := d.ask("GET ?"+query, "")
		if diff := cmp.Diff(want, ids(answer, series)); status != "200" || diff != "" {
			t.Errorf("%s: %s, -want +got\n%s", query, status, diff)
		}
	}
	listed("syncToken="+token, "s_20260311T090000Z cancelled")
	listed("", "s", "s_20260311T090000Z cancelled")
	listed("singleEvents=true", "s_20260310T090000Z", "s_20260312T090000Z")
	listed("singleEvents=true&orderBy=startTime&timeMin=2026-03-11T10:00:00Z", "s_20260312T090000Z")
	listed("iCalUID=u1&showDeleted=true", "s", "s_20260311T090000Z cancelled")
	d.PageSize = 1
	_, first := d.ask("GET ?singleEvents=true", "")
	listed("singleEvents=true&pageToken="+text(first, "nextPageToken"), "s_20260312T090000Z")
	d.PageSize = 0
	if got, _ := d.ask("DELETE /"+series, ""); got != "204" {
		t.Error(got)
	}
	if got, _ := d.ask("DELETE /"+series, ""); got != "410 deleted" {
		t.Error(got)
	}
	listed("")
	listed("syncToken="+token, "s cancelled", "s_20260311T090000Z cancelled")
	for query, want := range map[string]string{
		"q=x&":               "400 syncTokenWithRequestRestrictions",
		"showDeleted=false&": "400 syncTokenWithRequestRestrictions",
		"singleEvents=true&": "400 invalid",
	} {
		if got, _ := d.ask("GET ?"+query+"syncToken="+token, ""); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	d.Forget()
	got, _ := d.ask("GET ?singleEvents=true&syncToken="+text(expanded, "nextSyncToken"), "")
	if got != "410 fullSyncRequired" {
		t.Error(got)
	}
}

// TestGuest: a guest's copy changes the guest's own answer, and the organizer is told.
func TestGuest(t *testing.T) {
	d := open(t)
	_, e := d.ask("POST /import", `{`+hour+`,"iCalUID":"u1","organizer":{"email":"boss@corp.test"},"attendees":[`+
		`{"email":"`+ann+`"},{"email":"eve@example.net","responseStatus":"accepted"}]}`)
	id := text(e, "id")
	got, e := d.ask("PATCH /"+id+"?sendUpdates=all", `{"attendees":[{"email":"`+ann+
		`","responseStatus":"declined"},{"email":"eve@example.net","responseStatus":"declined"}]}`)
	if guests := list(e, "attendees"); got != "200" || guests[0]["responseStatus"] != "declined" ||
		guests[1]["responseStatus"] != "accepted" || d.Mails()[0].To != "boss@corp.test" {
		t.Errorf("%s %v %v", got, e, d.Mails())
	}
	if got, _ := d.ask("PATCH /"+id, `{"guestsCanModify":true}`); got != "403 forbiddenForNonOrganizer" {
		t.Error(got)
	}
}
