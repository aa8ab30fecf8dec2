package graphtest

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// desk sends requests to a server.
type desk struct {
	*testing.T
	*Server
}

func open(t *testing.T) *desk {
	t.Helper()
	d := &desk{t, New()}
	d.Base, d.Owner = "https://graph.test", "ann@graph.test"
	return d
}

// ask sends a request below /v1.0/me, such as "GET /events". It returns the status, and an error's code.
func (d *desk) ask(request, body string, headers ...string) (string, Event) {
	d.Helper()
	method, path, _ := strings.Cut(request, " ")
	path = "/v1.0/me" + strings.ReplaceAll(strings.TrimPrefix(path, d.Base+"/v1.0/me"), " ", "%20")
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
	return strings.TrimSpace(fmt.Sprint(w.Code, " ", text(object(answer, "error"), "code"))), answer
}

func (d *desk) made(body string) string {
	d.Helper()
	status, e := d.ask("POST /events", body)
	if status != "201" {
		d.Fatal(status, e)
	}
	return text(e, "id")
}

const (
	hour = `"start":{"dateTime":"2026-03-10T10:00:00","timeZone":"Europe/Berlin"},` +
		`"end":{"dateTime":"2026-03-10T11:00:00","timeZone":"Europe/Berlin"}`
	daily = `"recurrence":{"pattern":{"type":"daily","interval":1},` +
		`"range":{"type":"numbered","startDate":"2026-03-10","numberOfOccurrences":3}}`
)

func TestRefused(t *testing.T) {
	d := open(t)
	series := d.made(`{` + hour + `,` + daily + `,"transactionId":"t1"}`)
	rule := func(pattern, limits string) string {
		return `{` + hour + `,"recurrence":{"pattern":{` + pattern + `},"range":{"startDate":"2026-03-10",` + limits +
			`}}}`
	}
	for _, c := range []struct{ request, body, want string }{
		{"GET /events?$nothing=1", "", "400 BadRequest"},
		{"GET /events?$select=nothing", "", "400 RequestBroker--ParseUri"},
		{"GET /events?$filter=nothing eq 1", "", "400 ErrorInvalidUrlQueryFilter"},
		{"GET /events?$top=1001", "", "400 ErrorInvalidUrlQuery"},
		{"GET /calendarView", "", "400 ErrorInvalidParameter"},
		{"GET /calendarView/delta?startDateTime=2026-03-01&$select=id", "", "400 ErrorInvalidUrlQuery"},
		{"GET /calendarView/delta?$deltatoken=x", "", "410 SyncStateNotFound"},
		{"GET /events/nothing", "", "404 ErrorItemNotFound"},
		{"GET /calendars/nothing/events", "", "404 ResourceNotFound"},
		{"POST /events", `{"subject":"x"}`, "400 ErrorPropertyValidationFailure"},
		{"POST /events", `{"nothing":1,` + hour + `}`, "400 RequestBodyRead"},
		{"POST /events", `{"subject":1,` + hour + `}`, "400 RequestBodyRead"},
		{"POST /events", `{"showAs":"away",` + hour + `}`, "400 RequestBodyRead"},
		{
			"POST /events", `{"start":{"dateTime":"2026-03-10T10:00:00","timeZone":"Nowhere"}}`,
			"400 TimeZoneNotSupportedException",
		},
		{"POST /events", `{"start":{"dateTime":"2026-03-10T10:00:00Z","timeZone":"UTC"}}`, "400 ErrorInvalidArgument"},
		{"POST /events", `{"isAllDay":true,` + hour + `}`, "400 ErrorInvalidRequest"},
		{"POST /events", `{` + hour + `,"transactionId":"t1"}`, "409 ErrorDuplicateTransactionId"},
		{"POST /events", rule(`"type":"daily"`, `"type":"noEnd"`), "400 ErrorRecurrenceInvalid"},
		{"POST /events", rule(`"type":"weekly","interval":1`, `"type":"noEnd"`), "400 ErrorRecurrenceInvalid"},
		{"POST /events", rule(`"type":"daily","interval":1`, `"type":"numbered"`), "400 ErrorRecurrenceInvalid"},
		{"POST /events", strings.Replace(rule(`"type":"daily","interval":1`, `"type":"noEnd"`), `e":"2026-03-10",`,
			`e":"2026-03-11",`, 1), "400 ErrorPropertyValidationFailure"},
		{"PATCH /events/" + series + ".2026-03-11", `{` + daily + `}`, "400 ErrorInvalidRequest"},
		{"PATCH /events/" + series + ".2026-03-11", `{"start":{"dateTime":"2026-03-12T10:00:00","timeZone":"UTC"},` +
			`"end":{"dateTime":"2026-03-12T10:00:00","timeZone":"UTC"}}`, "400 ErrorOccurrenceCrossingBoundary"},
		{"PATCH /events/" + series + ".2026-03-13", `{}`, "404 ErrorItemNotFound"},
		{"POST /events/" + series + "/accept", `{}`, "400 ErrorInvalidRequest"},
		{"POST /events/" + series + "/extensions", `{"extensionName":"a"}`, "400 BadRequest"},
	} {
		if got, answer := d.ask(c.request, c.body); got != c.want {
			t.Errorf("%s %s: %s, want %s: %v", c.request, c.body, got, c.want, answer)
		}
	}
	if got, _ := d.ask("PATCH /events/"+series, `{}`, "If-Match", `W/"x"`); got != "412 ErrorIrresolvableConflict" {
		t.Error(got)
	}
}

// TestReturned: all properties are returned, times in UTC or the preferred zone, and bodies as HTML unless text is
// preferred.
func TestReturned(t *testing.T) {
	d := open(t)
	id := d.made(`{` + hour + `,"subject":"Lunch","body":{"contentType":"text","content":"a & b"},"location":` +
		`{"displayName":"Café"},` + daily + `,"attendees":[{"emailAddress":{"address":"eve@corp.test"}}]}`)
	_, e := d.ask("GET /events/"+id, "")
	for name, want := range map[string]any{
		"start": map[string]any{"dateTime": "2026-03-10T09:00:00.0000000", "timeZone": "UTC"},
		"type":  "seriesMaster", "originalStartTimeZone": "Europe/Berlin", "showAs": "busy", "isReminderOn": true,
		"location": map[string]any{
			"displayName": "Café", "locationType": "default", "uniqueId": "Café", "uniqueIdType": "private",
		},
		"recurrence": map[string]any{
			"pattern": map[string]any{
				"type": "daily", "interval": 1.0, "month": 0.0, "dayOfMonth": 0.0, "firstDayOfWeek": "sunday",
				"index": "first",
			},
			"range": map[string]any{
				"type": "numbered", "startDate": "2026-03-10", "endDate": "0001-01-01", "numberOfOccurrences": 3.0,
				"recurrenceTimeZone": "Europe/Berlin",
			},
		},
		"attendees": []any{map[string]any{
			"type": "required", "status": map[string]any{"response": "none", "time": never},
			"emailAddress": map[string]any{"address": "eve@corp.test"},
		}},
	} {
		if diff := cmp.Diff(want, e[name]); diff != "" {
			t.Errorf("%s -want +got\n%s", name, diff)
		}
	}
	if body := text(object(e, "body"), "content"); !strings.Contains(body, ">a &amp; b</div>") {
		t.Error(body)
	}
	_, e = d.ask("GET /events/"+id+"?$select=start,body,cancelledOccurrences", "",
		"Prefer", `outlook.timezone="W. Europe Standard Time", outlook.body-content-type="text"`)
	delete(e, "@odata.etag")
	want := Event{
		"id": id, "body": map[string]any{"contentType": "text", "content": "a & b"}, "cancelledOccurrences": []any{},
		"start": map[string]any{"dateTime": "2026-03-10T10:00:00.0000000", "timeZone": "W. Europe Standard Time"},
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if mails := d.Mails(); len(mails) != 1 || mails[0] != (Mail{"eve@corp.test", "invitation", "Lunch"}) {
		t.Error(mails)
	}
}

func TestDelta(t *testing.T) {
	for _, instances := range []bool{false, true} {
		d := open(t)
		d.Instances, d.PageSize = instances, 2
		id := d.made(`{` + hour + `,` + daily + `}`)
		link := "/calendarView/delta?startDateTime=2026-03-01T00:00:00Z&endDateTime=2026-04-01T00:00:00Z"
		read := func(want ...string) {
			t.Helper()
			var got []string
			for next := link; next != ""; {
				status, answer := d.ask("GET "+next, "")
				for _, e := range objects(answer, "value") {
					name := strings.Replace(text(e, "id"), id, "s", 1) + " " + text(e, "type")
					if e["@removed"] != nil {
						name += "removed"
					}
					if e["type"] != "seriesMaster" || !instances {
						got = append(got, name)
					}
				}
				next = text(answer, "@odata.nextLink")
				if end := text(answer, "@odata.deltaLink"); end != "" {
					link = end
				}
				if status != "200" {
					t.Fatal(status, answer)
				}
			}
			if !instances {
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		}
		read("s.2026-03-10 occurrence", "s.2026-03-11 occurrence", "s.2026-03-12 occurrence")
		read()
		d.ask("PATCH /events/"+id+".2026-03-11", `{"subject":"x"}`)
		d.ask("DELETE /events/"+id+".2026-03-12", "")
		read("s.2026-03-11 exception", "s.2026-03-12 removed")
		if _, e := d.ask("GET /events/"+id+"?$select=cancelledOccurrences", ""); !cmp.Equal(e["cancelledOccurrences"],
			[]any{"OID." + id + ".2026-03-12"}) {
			t.Error(e)
		}
		d.Drop(id)
		read("s.2026-03-10 removed", "s.2026-03-11 removed")
		d.Forget()
		if got, _ := d.ask("GET "+link, ""); got != "410 SyncStateNotFound" {
			t.Error(got)
		}
	}
}

func TestGuest(t *testing.T) {
	d := open(t)
	id := d.Set(Event{
		"start": map[string]any{"dateTime": "2026-03-10T10:00:00", "timeZone": "UTC"}, "isOrganizer": false,
		"end":       map[string]any{"dateTime": "2026-03-10T11:00:00", "timeZone": "UTC"},
		"organizer": map[string]any{"emailAddress": map[string]any{"address": "boss@corp.test"}},
	})
	if got, _ := d.ask("POST /events/"+id+"/cancel", "{}"); got != "400 ErrorAccessDenied" {
		t.Error(got)
	}
	got, _ := d.ask("POST /events/"+id+"/decline", `{"comment":"no"}`)
	if got != "202" || d.Mails()[0].To != "boss@corp.test" {
		t.Error(got, d.Mails())
	}
	if _, e := d.ask("GET /events/"+id, ""); object(e, "responseStatus")["response"] != "declined" {
		t.Error(e)
	}
}

func TestExtensions(t *testing.T) {
	d := open(t)
	id := d.made(`{` + hour + `,"extensions":[{"@odata.type":"microsoft.graph.openTypeExtension",` +
		`"extensionName":"com.a","x":1}]}`)
	filter := url.QueryEscape("extensions/any(f:f/id eq 'com.a')")
	_, all := d.ask("GET /events?$expand=extensions($filter=id eq 'com.a')&$filter="+filter, "")
	if found := objects(all, "value"); len(found) != 1 || objects(found[0], "extensions")[0]["x"] != 1.0 {
		t.Error(all)
	}
	for request, want := range map[string]string{
		"GET /events/" + id + "/extensions/" + prefix + "com.a": "200",
		"GET /events/" + id + "/extensions/b":                   "404 ErrorItemNotFound",
	} {
		if got, answer := d.ask(request, ""); got != want {
			t.Error(request, got, answer)
		}
	}
	if _, e := d.ask("GET /events/"+id, ""); e["extensions"] != nil {
		t.Error(e)
	}
}
