package caldav_test

import (
	"bytes"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/emersion/go-ical"
	dav "github.com/emersion/go-webdav/caldav"

	"caldav-mcp-server/internal/testdb"
)

// TestClient lets a third-party client work with the server, from a bare host name to the deletion of an event.
func TestClient(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		server := httptest.NewServer(h)
		defer server.Close()
		client, err := dav.NewClient(server.Client(), server.URL)
		if err != nil {
			t.Fatal(err)
		}
		h.must(t,
			"MKCALENDAR /dav/calendars/alice/work/",
			`<C:mkcalendar xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:">
			<D:set><D:prop><D:displayname>Work</D:displayname><C:calendar-description>All of it</C:calendar-description>
			<C:supported-calendar-component-set><C:comp name="VEVENT"/></C:supported-calendar-component-set>
			</D:prop></D:set></C:mkcalendar>`)
		calendar := discover(t, client)
		if calendar.Name != "Work" || calendar.Description != "All of it" || calendar.MaxResourceSize != 4<<20 ||
			!slices.Equal(calendar.SupportedComponentSet, []string{"VEVENT"}) {
			t.Errorf("the client sees the calendar %+v", calendar)
		}
		useObjects(t, client, calendar.Path)
	})
}

// discover finds the only calendar.
func discover(t *testing.T, client *dav.Client) dav.Calendar {
	t.Helper()
	principal, err := client.FindCurrentUserPrincipal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	home, err := client.FindCalendarHomeSet(t.Context(), principal)
	if err != nil {
		t.Fatal(err)
	}
	calendars, err := client.FindCalendars(t.Context(), home)
	if err != nil || len(calendars) != 1 {
		t.Fatalf("calendars: %v, %v", calendars, err)
	}
	return calendars[0]
}

// useObjects creates, lists, reads, changes and deletes events.
func useObjects(t *testing.T, client *dav.Client, path string) {
	t.Helper()
	ctx := t.Context()
	for _, uid := range []string{"a", "b"} {
		if _, err := client.PutCalendarObject(ctx, path+uid+".ics", clientEvent(uid, "Ärger 🎉")); err != nil {
			t.Fatal(err)
		}
	}
	changed, err := client.PutCalendarObject(ctx, path+"a.ics", clientEvent("a", "Changed"))
	if err != nil {
		t.Fatal(err)
	}
	read, err := client.GetCalendarObject(ctx, path+"a.ics")
	if err != nil || read.ETag != changed.ETag || summaryOf(t, read) != "Changed" {
		t.Errorf("reading: %+v, %v; want the ETag %s", read, err, changed.ETag)
	}
	if err := client.RemoveAll(ctx, path+"a.ics"); err != nil {
		t.Error(err)
	}
	left, err := client.ReadDir(ctx, path, false)
	if err != nil || len(left) != 2 || left[1].Path != path+"b.ics" {
		t.Errorf("what is left: %+v, %v", left, err)
	}
	whole := dav.CalendarCompRequest{Name: "VCALENDAR", AllProps: true, AllComps: true}
	got, err := client.MultiGetCalendar(ctx, path, &dav.CalendarMultiGet{
		Paths: []string{path + "b.ics"}, CompRequest: whole,
	})
	if err != nil || len(got) != 1 || summaryOf(t, &got[0]) != "Ärger 🎉" {
		t.Errorf("multiget: %+v, %v", got, err)
	}
}

func summaryOf(t *testing.T, o *dav.CalendarObject) string {
	t.Helper()
	events := o.Data.Events()
	if len(events) != 1 {
		var b bytes.Buffer
		_ = ical.NewEncoder(&b).Encode(o.Data)
		t.Fatalf("%d events in %s", len(events), b.String())
	}
	summary, err := events[0].Props.Text(ical.PropSummary)
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

// clientEvent returns an event made with the client's own library.
func clientEvent(uid, summary string) *ical.Calendar {
	e := ical.NewEvent()
	e.Props.SetText(ical.PropUID, uid)
	e.Props.SetText(ical.PropSummary, summary)
	e.Props.SetDateTime(ical.PropDateTimeStamp, now)
	e.Props.SetDateTime(ical.PropDateTimeStart, now.Add(24*time.Hour))
	c := ical.NewCalendar()
	c.Props.SetText(ical.PropVersion, "2.0")
	c.Props.SetText(ical.PropProductID, "-//test//EN")
	c.Children = append(c.Children, e.Component)
	return c
}
