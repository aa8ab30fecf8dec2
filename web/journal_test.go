package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// A change has a page that tells all it did, each field as it was and as it became, as text, to those only that may see
// the journal.
func TestChangePage(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("bob")
		work := h.made(ann, "Work")
		ours := callerOf(ann)
		when := "DTSTART:20260503T080000Z\r\nDTEND:20260503T090000Z\r\n"
		made, err := h.calendars.Add(t.Context(), ours, work, object("VEVENT", "1", "Lunch",
			when+"LOCATION:Room 1\r\nDESCRIPTION:Bring soup\\nand bread\r\nPRIORITY:1\r\nCLASS:PUBLIC"))
		h.must(err)
		notes := "Bring " + strings.ReplaceAll(evil, "\u0007", "") + strings.Repeat("salad ", 2000)
		changed := object("VEVENT", "1", "Dinner <b>", strings.ReplaceAll(when, "T0", "T1")+
			"LOCATION:Room 2\r\nDESCRIPTION:"+notes+"\r\nPRIORITY:5\r\nCLASS:PRIVATE")
		_, err = h.calendars.Put(t.Context(), ours, work, calendar.Draft{Name: made.Object.Name, Data: changed})
		h.must(err)
		found, err := h.calendars.History(t.Context(), ours, calendar.HistoryQuery{Limit: 10})
		h.must(err)
		path := "journal/" + found.Changes[0].ID().String()

		b := h.as("ann")
		list := b.get("journal").shows(http.StatusOK, "notes changed", "more", "Details").hides("Bring")
		if !strings.Contains(list.body, fmt.Sprintf("href=%q", "/account/"+path)) {
			t.Errorf("nothing leads to %s:\n%s", path, list.body)
		}
		page := b.get(path).shows(http.StatusOK, "Moved from Sun 3 May 10:00 to 20:00",
			"Title changed from “Lunch” to “Dinner <b>”", "Place changed from “Room 1” to “Room 2”",
			"Notes changed from “Bring soup and bread” to “Bring <script>", "Priority changed from “High” to “Normal”",
			"Visibility changed from “public” to “private”").
			hides("<script>", "<b>", "\u202e", "PRODID")
		if len(page.body) > 30<<10 {
			t.Errorf("the page has %d bytes", len(page.body))
		}
		b.get("journal/"+found.Changes[1].ID().String()).shows(http.StatusOK, "Created the event",
			"No visible changes")
		h.as("bob").get(path).shows(http.StatusNotFound).hides("Lunch", "Dinner", "Work")
		for _, wrong := range []string{"1", "x.1", string(work.ID) + ".999", string(work.ID) + ".-1"} {
			b.get("journal/" + wrong).shows(http.StatusNotFound)
		}
		h.must(takeBack(page))
		b.get(path).shows(http.StatusOK, "Taken back.", "Title changed from")

		b.post("calendars/"+string(work.ID), "name", "Toil", "color", "#123456", "description", "All of it", "timezone",
			"Europe/Paris", "order", "3", "hidden", "1").shows(http.StatusOK)
		found, err = h.calendars.History(t.Context(), ours, calendar.HistoryQuery{Limit: 1})
		h.must(err)
		b.get("journal/"+found.Changes[0].ID().String()).shows(http.StatusOK, "Name changed from “Work” to “Toil”",
			"Description set to “All of it”", "Hidden", "New position in the list")

		b.client.Transport = speaking("de")
		b.get("journal").shows(http.StatusOK, "Termin „Lunch“ geändert: verschoben von So, 3. Mai 20:00 auf 10:00",
			"Kalender „Toil“ geändert: Name von „Work“ in „Toil“ geändert")
		b.get(path).shows(http.StatusOK, "Verschoben von So, 3. Mai",
			"Sichtbarkeit von „öffentlich“ in „privat“ geändert")
	})
}

// A change that was made together with others is taken back with them, after the page has said how many they are.
func TestTakeBackTogether(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		work := h.made(ann, "Work")
		b := h.as("ann")
		both := append(object("VEVENT", "1", "Mass", "DTSTART:20260503T080000Z"),
			object("VEVENT", "2", "Choir", "DTSTART:20260504T080000Z")...)
		b.imports(both, "into", string(work.ID)).shows(http.StatusOK, "2 new.")
		titles := func() (list []string) {
			for o, err := range h.calendars.Objects(h.Context(), nil, callerOf(ann), work, calendar.ObjectQuery{}) {
				h.must(err)
				list = append(list, o.Summary)
			}
			return list
		}
		asked := b.get("journal").submit("/undo").
			shows(http.StatusOK, "Created the event", "2 changes in all", "Take back all 2 changes")
		if got := titles(); len(got) != 2 {
			t.Fatalf("before the answer there are %q", got)
		}
		asked.submit("/undo").at("journal?done=undone").shows(http.StatusOK, "Taken back.")
		if got := titles(); len(got) != 0 {
			t.Errorf("there are still %q", got)
		}
		// A change on its own needs no question, and a stranger's question finds nothing.
		h.put(callerOf(ann), work, object("VEVENT", "3", "Organ", "DTSTART:20260505T080000Z"))
		alone := b.get("journal")
		h.user("bob")
		stranger := h.as("bob")
		stranger.post("undo", "change", changeField.FindStringSubmatch(alone.body)[1], "ask", "1").
			shows(http.StatusNotFound).hides("Organ")
		alone.submit("/undo").at("journal?done=undone")
	})
}
