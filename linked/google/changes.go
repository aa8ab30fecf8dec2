package google

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/vevent"
)

// mostEvents limits the events of a calendar; mostPages stops a server that never ends its list.
const (
	mostEvents = 100_000
	mostPages  = 2_000
	perPage    = "2500"
)

// page is a page of events.
type page struct {
	Zone      string     `json:"timeZone"`
	Reminders []Reminder `json:"defaultReminders"`
	Items     []*Event   `json:"items"`
	Next      string     `json:"nextPageToken"`
	Sync      string     `json:"nextSyncToken"`
}

func eventsOf(remote string) string { return "/calendars/" + url.PathEscape(remote) + "/events" }

// list reads all pages of a query.
func (a *Account) list(ctx context.Context, remote string, query url.Values) (page, error) {
	var all page
	for range mostPages {
		var one page
		if err := a.client.Do(ctx, rest.Request{Method: http.MethodGet, Path: eventsOf(remote), Query: query},
			&one); err != nil {
			return all, err
		}
		all.Zone, all.Reminders, all.Sync = one.Zone, one.Reminders, one.Sync
		all.Items = append(all.Items, one.Items...)
		if len(all.Items) > mostEvents {
			return all, vevent.TooMany("Google", mostEvents)
		}
		if one.Next == "" {
			all.Items = newest(all.Items)
			return all, nil
		}
		query.Set("pageToken", one.Next)
	}
	return all, vevent.Endless()
}

// newest keeps only the last version of an event that is listed twice.
func newest(items []*Event) []*Event {
	seen := map[string]int{}
	kept := items[:0]
	for _, e := range items {
		if at, twice := seen[e.ID]; twice {
			kept[at] = e
			continue
		}
		seen[e.ID] = len(kept)
		kept = append(kept, e)
	}
	return kept
}

// Changes implements mirror.Source. It lists series and exceptions instead of instances, so that this server expands
// the rules. If any event of a series has changed, the whole series is fetched.
func (a *Account) Changes(ctx context.Context, remote, cursor string) (mirror.Changes, error) {
	query := url.Values{"maxResults": {perPage}}
	if cursor != "" {
		query.Set("syncToken", cursor)
	}
	all, err := a.list(ctx, remote, query)
	switch {
	case rest.Is(err, http.StatusGone) && cursor != "":
		return mirror.Changes{}, mirror.ErrExpired
	case err != nil:
		return mirror.Changes{}, rest.Gone(err)
	}
	cal := Calendar{Zone: all.Zone, Reminders: all.Reminders, Self: owner(remote)}
	out := mirror.Changes{Cursor: all.Sync, Whole: cursor == ""}
	if out.Whole {
		for _, s := range grouped(all.Items) {
			out.Objects = append(out.Objects, a.object(s, cal))
		}
		return out, nil
	}
	return a.touched(ctx, remote, cal, all.Items, out)
}

// grouped groups the events that form one object.
func grouped(items []*Event) []*Series {
	var all []*Series
	byRef := map[string]*Series{}
	at := func(ref string) *Series {
		if byRef[ref] == nil {
			byRef[ref] = &Series{}
			all = append(all, byRef[ref])
		}
		return byRef[ref]
	}
	for _, e := range items {
		switch {
		case e.SeriesID != "":
			s := at(e.SeriesID)
			s.Exceptions = append(s.Exceptions, e)
		case e.Status != cancelled:
			at(e.ID).Master = e
		}
	}
	return slices.DeleteFunc(all, func(s *Series) bool { return !s.alive() })
}

// alive reports whether a series has anything to show: cancelled instances alone are nothing.
func (s *Series) alive() bool {
	return s.Master != nil || slices.ContainsFunc(s.Exceptions, func(e *Event) bool { return e.Status != cancelled })
}

// touched fetches the changed objects. The list is complete only for single events.
func (a *Account) touched(ctx context.Context, remote string, cal Calendar, items []*Event,
	out mirror.Changes,
) (mirror.Changes, error) {
	done := map[string]bool{}
	for _, e := range items {
		ref := e.ID
		if e.SeriesID != "" {
			ref = e.SeriesID
		}
		if done[ref] {
			continue
		}
		done[ref] = true
		if e.SeriesID == "" && e.Status != cancelled && len(e.Recurrence) == 0 {
			out.Objects = append(out.Objects, a.object(&Series{Master: e}, cal))
			continue
		}
		s, err := a.series(ctx, remote, ref, e)
		switch {
		case errors.Is(err, mirror.ErrGone):
			out.Gone = append(out.Gone, ref)
		case err != nil:
			return mirror.Changes{}, err
		default:
			version, more := s.version(), s.unlisted(items)
			s.Exceptions = append(s.Exceptions, more...)
			o := a.object(s, cal)
			if len(more) != 0 {
				o.Version = version + aside + o.Version
			}
			out.Objects = append(out.Objects, o)
		}
	}
	return out, nil
}

// unlisted returns the cancelled instances among some events that a series lacks. A change names an instance that was
// cancelled, and a list by UID may lack it: Google fills only its id, its series and its original start.
func (s *Series) unlisted(items []*Event) (list []*Event) {
	for _, e := range items {
		if e.SeriesID == s.ref() && e.Status == cancelled &&
			!slices.ContainsFunc(s.Exceptions, func(known *Event) bool { return known.ID == e.ID }) {
			list = append(list, e)
		}
	}
	return list
}

// series fetches all events of an object. hint is one of them; its UID finds the others if the account cannot see the
// master.
func (a *Account) series(ctx context.Context, remote, ref string, hint *Event) (*Series, error) {
	var master Event
	err := a.client.Do(ctx, rest.Request{Method: http.MethodGet, Path: eventsOf(remote) + "/" + url.PathEscape(ref)},
		&master)
	uid := master.UID
	switch {
	case rest.Is(err, http.StatusNotFound, http.StatusGone):
		if hint == nil || hint.SeriesID == "" {
			return nil, mirror.ErrGone
		}
		if uid = hint.UID; uid == "" {
			// Only a cancelled instance is known. The state of the others requires a full list.
			return nil, mirror.ErrExpired
		}
	case err != nil:
		return nil, rest.Gone(err)
	case master.Status == cancelled:
		return nil, mirror.ErrGone
	case len(master.Recurrence) == 0:
		return &Series{Master: &master}, nil
	}
	all, err := a.list(ctx, remote, url.Values{"maxResults": {perPage}, "iCalUID": {uid}, "showDeleted": {"true"}})
	if err != nil {
		return nil, rest.Gone(err)
	}
	for _, s := range grouped(all.Items) {
		if s.ref() == ref {
			return s, nil
		}
	}
	return nil, mirror.ErrGone
}

// object converts a series for the mirror. If it cannot be converted, the object has a fault.
func (a *Account) object(s *Series, cal Calendar) mirror.Object {
	o := mirror.Object{Ref: s.ref(), Version: s.version(), UID: s.first().UID}
	var err error
	if o.Data, err = Text(s, cal, a.zones); err != nil {
		o.Fault = vevent.Unsaid(err)
	}
	return o
}

// aside separates two versions of an object: with the listed events only, and with the unlisted instances too.
const aside = "."

// version identifies the state of the whole object: Google's ETags cover only single events.
func (s *Series) version() string {
	var tags []string
	if s.Master != nil {
		tags = append(tags, s.Master.ID+" "+s.Master.ETag)
	}
	for _, e := range s.Exceptions {
		tags = append(tags, e.ID+" "+e.ETag)
	}
	return vevent.StateOf(tags)
}
