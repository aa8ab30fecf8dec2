package service_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

// TestListsHoldWhatTheyShow: an agenda and a search hold a few kilobytes of each event, however long its
// texts are, and find all that there are (security H4).
func TestListsHoldWhatTheyShow(t *testing.T) {
	each(t, func(h *house) {
		work, _ := h.week()
		for i := range 4 {
			uid := fmt.Sprint("long", i)
			h.put(h.alice, work, calendar.ObjectName(uid),
				agendaEvent(uid, "DTSTART:20260304T100000Z", "RRULE:FREQ=DAILY;COUNT=2", "SUMMARY:Longwinded",
					"DESCRIPTION:"+strings.Repeat("words ", 100_000), "LOCATION:Here"))
		}
		agenda, err := h.Agenda(h.ctx, h.alice,
			query.AgendaQuery{From: day(1), Until: day(9), Keyword: "longwinded", Limit: 100})
		h.must(err)
		found, err := h.SearchEvents(h.ctx, h.alice, query.EventSearch{Text: "longwinded", Past: true, Limit: 100})
		h.must(err)
		for name, c := range map[string]struct {
			list []query.Occurrence
			want int
		}{"the agenda": {agenda.Occurrences, 8}, "the search": {found.Occurrences, 4}} {
			if len(c.list) != c.want {
				h.t.Errorf("%s has %d, want %d", name, len(c.list), c.want)
			}
			for _, o := range c.list {
				if n := held(o); n > 32<<10 || o.Component.Property("LOCATION").Text() != "Here" {
					h.t.Errorf("%s holds %d bytes of %s", name, n, o.Object.UID)
				}
			}
		}
	})
}

// held is how many bytes of an event's texts an occurrence keeps.
func held(o query.Occurrence) int {
	n := len(o.Object.Data) + len(o.Object.Search)
	var walk func(c *ical.Component)
	walk = func(c *ical.Component) {
		for p := range c.Properties() {
			n += len(p.String())
		}
		for sub := range c.Components() {
			walk(sub)
		}
	}
	walk(o.Component)
	return n
}
