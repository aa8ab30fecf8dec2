package planner

import (
	"context"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/calendar/publish"
	"caldav-mcp-server/calendar/query"
)

const (
	// mostPublic limits the occurrences of a public page.
	mostPublic = 1000
	// publicNotes limits the description of an event on a public page, in characters.
	publicNotes = 2000
)

// busyTitles are the texts for events without a public title.
var busyTitles = map[string]string{
	publish.BusyTitle: "public.busy", publish.TentativeTitle: "public.tentative",
	publish.UnavailableTitle: "public.unavailable",
}

// PublicView is a page of a public link: a month or a list.
type PublicView struct {
	*View
	// Zoned is the zone in the addresses of the page; "" if the visitor chose none.
	Zoned string
	// Notes are the descriptions of events.
	Notes map[*Entry]string
}

// To returns the address of another page of the link.
func (v PublicView) To(kind Kind, date string) string {
	q := url.Values{"view": {string(kind)}, "date": {date}}
	if v.Zoned != "" {
		q.Set("zone", v.Zoned)
	}
	return "?" + q.Encode()
}

// Public returns a page of a public link. The events lead to their day in the list.
func (p *Planner) Public(
	ctx context.Context, feed query.Feed, kind Kind, day time.Time, zoned string,
) (PublicView, error) {
	from, n := p.extent(kind, day)
	v := PublicView{p.frame(kind, day, from, n), zoned, map[*Entry]string{}}
	found, err := feed.Agenda(ctx, query.AgendaQuery{
		From: from, Until: grid.Midnight(from, n), Timezone: p.Zone, Limit: mostPublic,
	})
	if err != nil {
		return v, err
	}
	// Only the feed knows which properties of the calendar are public.
	shown := SwatchOf(calendar.Calendar{Properties: calendar.Properties{Name: feed.Name, Color: feed.Color}})
	for i, e := range p.lay(v.View, found, nil, from, n, day) {
		if e == nil {
			continue
		}
		o := found.Occurrences[i]
		e.Href, e.Swatch = v.To(List, iso(p.here(o.Start.Time))), shown
		if id, ok := busyTitles[e.Title]; ok {
			e.Title = p.text(id)
		}
		e.Rest = strings.Join(append([]string{""}, e.Marks...), ", ")
		notes := []rune(visible(strings.TrimSpace(content.TextOf(o.Component, "DESCRIPTION"))))
		if len(notes) > publicNotes {
			notes = append(notes[:publicNotes], '…')
		}
		v.Notes[e] = string(notes)
	}
	return v, nil
}
