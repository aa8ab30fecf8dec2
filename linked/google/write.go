package google

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/vevent"
)

// Put implements mirror.Source.
func (a *Account) Put(ctx context.Context, remote string, o mirror.Object) (mirror.Object, error) {
	cal, err := a.calendar(ctx, remote)
	if err != nil {
		return o, err
	}
	var now *Series
	if o.Ref != "" {
		if now, err = a.stored(ctx, remote, o); err != nil {
			return o, err
		}
	}
	want, err := Read(o.Data, now, cal, a.zones)
	if err != nil {
		return o, vevent.Unread(err)
	}
	w := &write{account: a, remote: remote, cal: cal, guests: "none"}
	for _, e := range append([]*Event{want.Master}, want.Exceptions...) {
		if !o.Quiet && e != nil && slices.ContainsFunc(e.Attendees, func(g Attendee) bool {
			return g.Email != cal.Self
		}) {
			w.guests = "all"
		}
	}
	if now == nil {
		now, err = w.create(ctx, want)
	}
	if err == nil {
		err = w.change(ctx, now, want)
	}
	if err != nil {
		return o, rest.Gone(err)
	}
	held, err := a.series(ctx, remote, now.ref(), now.first())
	if err != nil {
		// It is written; the next poll reads its present state.
		return o, &mirror.Later{Unknown: true, Cause: err}
	}
	return a.object(held, cal), nil
}

// stored fetches an object, which must still have the version to be overwritten.
func (a *Account) stored(ctx context.Context, remote string, o mirror.Object) (*Series, error) {
	s, err := a.series(ctx, remote, o.Ref, &Event{SeriesID: o.Ref, UID: o.UID})
	if err != nil {
		return nil, err
	}
	if listed, _, _ := strings.Cut(o.Version, aside); s.version() != listed {
		return nil, mirror.ErrConflict
	}
	return s, nil
}

// Delete implements mirror.Source.
func (a *Account) Delete(ctx context.Context, remote string, o mirror.Object) error {
	s, err := a.stored(ctx, remote, mirror.Object{Ref: o.Ref, Version: o.Version})
	if err != nil {
		if errors.Is(err, mirror.ErrExpired) {
			return mirror.ErrGone
		}
		return err
	}
	w := &write{account: a, remote: remote, guests: "none"}
	if !o.Quiet && len(s.first().Attendees) != 0 {
		w.guests = "all"
	}
	if s.Master != nil {
		return rest.Gone(w.send(ctx, http.MethodDelete, "/"+url.PathEscape(o.Ref), s.Master.ETag, nil, nil))
	}
	for _, e := range s.Exceptions {
		if e.Status == cancelled {
			continue
		}
		if err := w.send(ctx, http.MethodDelete, "/"+url.PathEscape(e.ID), e.ETag, nil, nil); err != nil {
			return rest.Gone(err)
		}
	}
	return nil
}

// write is a change of an object, which may take several requests.
type write struct {
	account *Account
	remote  string
	cal     Calendar
	// guests is the sendUpdates parameter: who gets a mail.
	guests string
	// done is set once a part is written: a later failure leaves the object half changed.
	done bool
}

func (w *write) send(ctx context.Context, method, path, match string, body, into any) error {
	query := url.Values{"sendUpdates": {w.guests}}
	if method != http.MethodDelete {
		query.Set("supportsAttachments", "true")
		query.Set("conferenceDataVersion", "1")
	}
	if path == "/import" {
		query.Del("sendUpdates")
	}
	err := w.account.client.Do(ctx,
		rest.Request{Method: method, Path: eventsOf(w.remote) + path, Query: query, Match: match, Body: body}, into)
	switch {
	case err == nil:
		w.done = true
	case w.done:
		return &mirror.Later{Unknown: true, Cause: err} // Google took only a part of the change
	}
	return err
}

// create makes an event. If a deleted event has its UID, that one is restored, since Google never reuses a UID.
func (w *write) create(ctx context.Context, want *Series) (*Series, error) {
	if want.Master == nil {
		return nil, vevent.Single()
	}
	query := url.Values{"maxResults": {perPage}, "iCalUID": {want.Master.UID}, "showDeleted": {"true"}}
	there, err := w.account.list(ctx, w.remote, query)
	if err != nil {
		return nil, err
	}
	var deleted *Event
	for _, e := range there.Items {
		if e.SeriesID == "" && e.Status != cancelled {
			return nil, mirror.ErrConflict
		}
		if e.SeriesID == "" {
			deleted = e
		}
	}
	if slices.ContainsFunc(grouped(there.Items), (*Series).alive) {
		return nil, mirror.ErrConflict
	}
	var made Event
	body := w.fresh(want.Master)
	switch {
	case deleted != nil:
		if err = w.restored(deleted, body); err == nil {
			err = w.send(ctx, http.MethodPut, "/"+url.PathEscape(deleted.ID), deleted.ETag, body, &made)
		}
	case w.foreign(want.Master):
		body.Type = ""
		err = w.send(ctx, http.MethodPost, "/import", "", body, &made)
	default:
		body.Organizer = nil
		err = w.send(ctx, http.MethodPost, "", "", body, &made)
	}
	if err != nil {
		return nil, err
	}
	// Instances that were cancelled before the deletion are still cancelled.
	s, err := w.account.series(ctx, w.remote, made.ID, &made)
	if err == nil && s.Master != nil {
		// It was just written. Google may return it in other words, which are no change to tell guests about.
		written := *want.Master
		written.ID, written.ETag, written.Type = s.Master.ID, s.Master.ETag, s.Master.Type
		s.Master = &written
	}
	return s, err
}

// foreign reports whether the account is not the event's organizer: its copy is private.
func (w *write) foreign(e *Event) bool {
	return e.Organizer != nil && len(e.Attendees) != 0 && w.cal.Self != "" &&
		!strings.EqualFold(e.Organizer.Email, w.cal.Self)
}

// fresh returns the event without the fields that Google sets, as one of a type that can be created.
func (w *write) fresh(e *Event) *Event {
	made := *e
	made.Meet, made.Omitted = "", false
	w.plain(&made)
	if made.Type == usualEvent {
		made.Type = ""
	}
	return &made
}

// change brings an object from one state to another: first the series, then its instances.
func (w *write) change(ctx context.Context, now, want *Series) error {
	if (now.Master == nil) != (want.Master == nil) {
		return vevent.Few()
	}
	if now.Master != nil {
		if err := w.patch(ctx, now.Master, want.Master); err != nil {
			return err
		}
	}
	out := writer{cal: w.cal, zones: w.account.zones}
	left := map[string]*Event{}
	for _, e := range now.Exceptions {
		key, err := out.key(e)
		if err != nil {
			return err
		}
		left[key] = e
	}
	for _, e := range want.Exceptions {
		key, err := out.key(e)
		if err != nil {
			return err
		}
		if err := w.instance(ctx, now, left[key], e); err != nil {
			return err
		}
		delete(left, key)
	}
	for key, e := range left {
		if err := w.leave(ctx, e, key, want); err != nil {
			return err
		}
	}
	return nil
}

// instance updates one instance, which may not be an exception yet.
func (w *write) instance(ctx context.Context, s *Series, now, want *Event) error {
	if want.Status == cancelled {
		return nil
	}
	if now == nil {
		if s.Master == nil {
			return vevent.Few()
		}
		found, err := w.find(ctx, s.Master.ID, want.Original)
		if err != nil {
			return err
		}
		now = found
	}
	return w.patch(ctx, now, want)
}

// find returns the instance with an original start.
func (w *write) find(ctx context.Context, series string, at *Moment) (*Event, error) {
	when := at.Date
	if when == "" {
		when = at.DateTime
	}
	var all page
	query := url.Values{"originalStart": {when}, "showDeleted": {"true"}}
	err := w.account.client.Do(ctx, rest.Request{
		Method: http.MethodGet, Path: eventsOf(w.remote) + "/" + url.PathEscape(series) + "/instances", Query: query,
	}, &all)
	if err != nil {
		return nil, err
	}
	if len(all.Items) == 0 {
		return nil, vevent.NoInstance(when)
	}
	return all.Items[0], nil
}

// leave ends an exception: it is excluded now, or equal to the series again.
func (w *write) leave(ctx context.Context, now *Event, key string, want *Series) error {
	if want.Master == nil || excluded(want.Master, key, w.account.zones) {
		if now.Status == cancelled {
			return nil
		}
		return w.send(ctx, http.MethodDelete, "/"+url.PathEscape(now.ID), now.ETag, nil, nil)
	}
	like, err := w.usual(want.Master, now.Original)
	if err != nil {
		return err
	}
	return w.patch(ctx, now, like)
}

// usual returns the instance that the series itself defines.
func (w *write) usual(master *Event, at *Moment) (*Event, error) {
	like := *master
	like.Recurrence, like.Original, like.UID = nil, at, ""
	start, end, err := w.span(master)
	if err != nil {
		return nil, err
	}
	like.Start = at
	if at.Date != "" {
		day, err := time.Parse(time.DateOnly, at.Date)
		if err != nil {
			return nil, err
		}
		like.End = &Moment{Date: day.Add(end.Sub(start)).Format(time.DateOnly)}
		return &like, nil
	}
	z := writer{cal: w.cal, zones: w.account.zones}.zone(master.Start.Zone)
	from, err := moment(at.DateTime, z)
	if err != nil {
		return nil, err
	}
	like.Start = &Moment{DateTime: from.In(z.Location()).Format(time.RFC3339), Zone: master.Start.Zone}
	like.End = &Moment{DateTime: from.Add(end.Sub(start)).In(z.Location()).Format(time.RFC3339), Zone: master.End.Zone}
	return &like, nil
}

func (w *write) span(e *Event) (start, end time.Time, err error) {
	at := func(m *Moment) (time.Time, error) {
		if m.Date != "" {
			return time.Parse(time.DateOnly, m.Date)
		}
		return moment(m.DateTime, writer{cal: w.cal, zones: w.account.zones}.zone(m.Zone))
	}
	if start, err = at(e.Start); err == nil {
		end, err = at(e.End)
	}
	return start, end, err
}

// patch sends the changed fields of an event.
func (w *write) patch(ctx context.Context, now, want *Event) error {
	if now.Organizer != nil && want.Organizer != nil && len(want.Attendees) != 0 && len(now.Attendees) != 0 &&
		!strings.EqualFold(now.Organizer.Email, want.Organizer.Email) {
		return vevent.OtherOrganizer("Google", now.Organizer.Email)
	}
	if err := w.keepsType(now, want); err != nil {
		return err
	}
	changes, err := w.difference(now, want)
	if err != nil || len(changes) == 0 {
		return err
	}
	return w.send(ctx, http.MethodPatch, "/"+url.PathEscape(now.ID), now.ETag, changes, nil)
}
