package caldav

import (
	"encoding/xml"
	"net/http"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// syncRequest is DAV:sync-collection (RFC 6578 §6.1).
type syncRequest struct {
	XMLName xml.Name   `xml:"DAV: sync-collection"`
	Token   *string    `xml:"DAV: sync-token"`
	Level   string     `xml:"DAV: sync-level"`
	Limit   *string    `xml:"DAV: limit>nresults"`
	Prop    *requested `xml:"DAV: prop"`
}

// check validates the request. limit is the largest number of results, 0 for all. deep is set if changes within
// members are requested, too.
func (q *syncRequest) check() (limit int, deep bool, err error) {
	if q.Token == nil || q.Prop == nil {
		return 0, false, dav.Refuse(http.StatusBadRequest,
			"sync-collection needs DAV:sync-token, empty at first, and DAV:prop")
	}
	// Drafts of RFC 6578 had no sync-level, and some clients still leave it out.
	switch strings.TrimSpace(q.Level) {
	case "", "1":
	case "infinite":
		deep = true
	default:
		return 0, false, dav.Refuse(http.StatusBadRequest, "sync-level must be 1 or infinite")
	}
	limit, err = resultLimit(q.Limit)
	return limit, deep, err
}

// syncCollection answers RFC 6578 §3.2: it lists changes since a token, in the order of their versions, up to the
// version at the time of the request.
func syncCollection(x *request, r *resource, q *syncRequest) error {
	limit, deep, err := q.check()
	if err != nil {
		return err
	}
	p, err := planReport(x, q.Prop, false)
	if err != nil {
		return err
	}
	since, err := calendar.ParseSyncToken(strings.TrimSpace(*q.Token))
	if err != nil {
		return err
	}
	return r.node().sync(x, r, p, since, limit, deep)
}

// syncCalendar lists the changes in a calendar.
func syncCalendar(x *request, r *resource, p plan, since calendar.SyncToken, limit int, _ bool) error {
	now, err := x.tokenOf(r.calendar)
	if err != nil {
		return err
	}
	s := &synchronization{multistatus: x.multistatus(p), collection: r, since: since, now: now, version: now.Version}
	if r.calendar.Subscribed() {
		return s.finish()
	}
	for o, err := range x.Service.Changes(x.R.Context(), x.Meter, x.caller, r.calendar, since) {
		if err != nil {
			return err
		}
		// Paging is exact, because versions are ordered: the token of a page is the version of its last change
		// (§3.6).
		if limit > 0 && s.count >= limit {
			s.more = true
			break
		}
		if err := s.take(o); err != nil {
			return err
		}
	}
	return s.finish()
}

// synchronization is the response to a sync-collection in progress.
type synchronization struct {
	*multistatus
	collection *resource
	// since is the client's token, now the current token of the calendar.
	since, now calendar.SyncToken
	// pending are changes whose calendar data has yet to be fetched.
	pending []calendar.Object
	count   int
	// version is the version that the response brings the client up to. more is set if there are later changes.
	version calendar.Version
	last    calendar.Version
	// lastOwn is set once only the client's own changes remain, see [calendar.Object].
	lastOwn calendar.Version
	more    bool
}

// take answers for one change, at once or, if the data is requested, in a batch.
func (s *synchronization) take(o calendar.Object) error {
	s.count++
	s.last, s.lastOwn = o.Version, o.Own
	if !s.plan.data {
		return s.tell(o)
	}
	s.pending = append(s.pending, o)
	if len(s.pending) < chunk {
		return nil
	}
	return s.fetch()
}

// tell writes the current state of an object.
func (s *synchronization) tell(o calendar.Object) error {
	r := resource{x: s.x, at: s.collection.at, calendar: s.collection.calendar, object: o}
	r.at.form, r.at.object = formObject, o.Name
	if o.Deleted {
		return s.Gone(s.x.href(r.at))
	}
	return s.add(&r)
}

// fetch writes the pending changes with their data. It omits an object that was deleted in the meantime: its
// tombstone has a later version, which the next synchronization returns.
func (s *synchronization) fetch() error {
	var names []calendar.ObjectName
	for _, o := range s.pending {
		if !o.Deleted {
			names = append(names, o.Name)
		}
	}
	f := newFetcher(s.x, true, s.collection.calendar)
	if len(names) > 0 {
		if err := f.fetchFrom(s.x.at.calendar, names); err != nil {
			return err
		}
	}
	defer f.empty()
	for _, o := range s.pending {
		if err := s.tellWhole(f, o); err != nil {
			return err
		}
	}
	s.pending = s.pending[:0]
	return nil
}

// tellWhole writes a change with its data.
func (s *synchronization) tellWhole(f *fetcher, o calendar.Object) error {
	held := s.x.Meter.Held()
	defer func() { s.x.Meter.Free(s.x.Meter.Held() - held) }()
	at := s.collection.at
	at.form, at.object = formObject, o.Name
	if o.Deleted {
		return s.tell(o)
	}
	r, err := f.at(at)
	if err != nil || r == nil {
		return err
	}
	return s.tell(r.object)
}

// finish writes the pending changes and the new token.
func (s *synchronization) finish() error {
	if err := s.fetch(); err != nil {
		return err
	}
	if s.more {
		s.Truncated(&s.collection.at)
		s.version = s.last
	}
	next := s.since.After(s.version, s.more, s.now)
	if s.more && s.lastOwn > 0 {
		next.Own = s.lastOwn
	}
	s.Element("d:sync-token", next.String())
	return s.End()
}

// listedChange is a change in a list that is always read whole: a home, the notifications or the inbox.
type listedChange struct {
	*resource
	version calendar.Version
	gone    bool
	// closed is set if the client requests changes within the member, which only a report on the member itself
	// returns.
	closed bool
}

// syncList writes the changes since a token in the order of their versions, and the new token. Paging is exact, since
// each change has its own version.
func syncList(x *request, p plan, list []listedChange, since, now calendar.SyncToken, limit int) error {
	last := now.Version
	more := limit > 0 && len(list) > limit
	if more {
		list = list[:limit]
		last = list[limit-1].version
	}
	ms := x.multistatus(p)
	for _, change := range list {
		var err error
		switch {
		case change.gone:
			err = ms.Gone(x.href(change.at))
		case change.closed:
			// RFC 6578 §3.3: the member supports the report, but its parent does not include it.
			ms.Refused(&change.at, http.StatusForbidden, "d:sync-traversal-supported")
			err = ms.Flush(dav.FlushBytes)
		default:
			err = ms.add(change.resource)
		}
		if err != nil {
			return err
		}
	}
	if more {
		ms.Truncated(&x.at)
	}
	ms.Element("d:sync-token", since.After(last, more, now).String())
	return ms.End()
}

// syncHome lists the calendars that were added to the caller's home, changed in it or removed from it. A calendar
// that is no longer shared counts as deleted. deep requests the objects of the calendars as well, which is refused
// for each of them: a calendar numbers its own changes and has its own token.
func syncHome(x *request, _ *resource, p plan, since calendar.SyncToken, limit int, deep bool) error {
	changes, err := x.Service.HomeChanges(x.R.Context(), x.caller, since)
	if err != nil {
		return err
	}
	list := make([]listedChange, 0, len(changes.List))
	for _, change := range changes.List {
		at := place{form: formCalendar, user: x.at.user, calendar: change.Address}
		list = append(list,
			listedChange{&resource{x: x, at: at, calendar: change.Calendar}, change.Version, change.Gone, deep})
	}
	return syncList(x, p, list, since, changes.Now, limit)
}
