package microsoft

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/vevent"
)

// Put implements mirror.Source.
func (a *Account) Put(ctx context.Context, remote string, o mirror.Object) (mirror.Object, error) {
	want, err := Read(o.Data, a.zones)
	if err != nil {
		return o, vevent.Unread(err)
	}
	w := &write{account: a, remote: remote}
	ref, now := o.Ref, (*Series)(nil)
	if ref == "" {
		if ref, now, err = w.create(ctx, want); err != nil {
			return o, rest.Gone(err)
		}
	} else if now, err = a.stored(ctx, ref, o.Version); err != nil {
		return o, err
	}
	if err := w.change(ctx, now, want); err != nil {
		return o, rest.Gone(err)
	}
	held, err := a.series(ctx, ref)
	if err != nil {
		// It is written; the next poll reads its present state.
		return o, &mirror.Later{Unknown: true, Cause: err}
	}
	return a.object(ref, held), nil
}

// stored fetches an object, which must still have the version to be overwritten.
func (a *Account) stored(ctx context.Context, ref, version string) (*Series, error) {
	s, err := a.series(ctx, ref)
	if err != nil {
		return nil, err
	}
	if s.version() != version {
		return nil, mirror.ErrConflict
	}
	return s, nil
}

// Delete implements mirror.Source. Graph offers no way to suppress the mails to attendees.
func (a *Account) Delete(ctx context.Context, remote string, o mirror.Object) error {
	s, err := a.stored(ctx, o.Ref, o.Version)
	if err != nil {
		return err
	}
	w := &write{account: a, remote: remote}
	return rest.Gone(w.send(ctx, http.MethodDelete, eventPath(o.Ref), s.first().ETag, nil, nil))
}

// write is a change of an object, which may take several requests.
type write struct {
	account *Account
	remote  string
	// done is set once a part is written: a later failure leaves the object half changed.
	done bool
}

func (w *write) send(ctx context.Context, method, path, match string, body, into any) error {
	err := w.account.client.Do(ctx, rest.Request{Method: method, Path: path, Match: match, Body: body}, into)
	switch {
	case err == nil:
		w.done = true
	case w.done:
		return &mirror.Later{Unknown: true, Cause: err} // Microsoft took only a part of the change
	}
	return err
}

// names limits how often an event with the same UID can be created: Microsoft accepts each transaction id once, even
// after a deletion.
const names = 5

// create makes an event, with a transaction id that identifies repeated tries.
func (w *write) create(ctx context.Context, want *Series) (string, *Series, error) {
	if want.Master == nil {
		return "", nil, vevent.Single()
	}
	if err := w.host(ctx, want.Master); err != nil {
		return "", nil, err
	}
	there, err := w.named(ctx, want.Master)
	if err != nil {
		return "", nil, err
	}
	if there {
		return "", nil, mirror.ErrConflict
	}
	uid := strings.TrimPrefix(want.Master.Transaction, ours)
	for n := range names {
		fields := fieldsOf(want.Master)
		fields["transactionId"] = transaction(uid, n)
		if len(want.Master.Extensions) != 0 {
			fields["extensions"] = want.Master.Extensions
		}
		var made Event
		err = w.send(ctx, http.MethodPost, of(w.remote)+"/events", "", fields, &made)
		if rest.Is(err, http.StatusConflict) {
			if err := w.unmade(ctx, uid); err != nil {
				return "", nil, err
			}
			continue
		}
		if err != nil {
			return "", nil, err
		}
		s, err := w.account.series(ctx, made.ID)
		if err == nil && s.Master != nil {
			s.Master.Body = want.Master.Body // Graph may return it in other words
		}
		return made.ID, s, err
	}
	return "", nil, err
}

// transaction returns the n-th transaction id for a UID.
func transaction(uid string, n int) string {
	if n == 0 {
		return ours + uid
	}
	return ours[:len(ours)-1] + strconv.Itoa(n) + ":" + uid
}

// unmade checks that no event with the UID exists, once its transaction id turns out to be taken. The event may have
// been moved, or be a series, whose instances have no transaction id.
func (w *write) unmade(ctx context.Context, uid string) error {
	items, _, err := list[*Event](ctx, w.account,
		of(w.remote)+"/events?"+rest.Query(url.Values{"$select": {"id,transactionId"}}))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(items, func(there *Event) bool { return there.Transaction != "" && there.uid() == uid }) {
		return mirror.ErrConflict
	}
	return nil
}

// host refuses another organizer's event: Microsoft would make the account its organizer and send new invitations.
func (w *write) host(ctx context.Context, e *Event) error {
	if e.Organizer == nil || len(e.Attendees) == 0 {
		return nil
	}
	c, err := w.account.calendar(ctx, w.remote)
	if err != nil {
		return err
	}
	if c.Owner.Address != "" && !strings.EqualFold(c.Owner.Address, e.Organizer.Address.Address) {
		return mirror.Refusef("Microsoft cannot store an invitation from %s, since it would make you the organizer. "+
			"Answer it where it arrived.",
			e.Organizer.Address.Address)
	}
	return nil
}

// named reports whether an event with the UID exists already, at the time of this one.
func (w *write) named(ctx context.Context, e *Event) (bool, error) {
	out := writer{zones: w.account.zones}
	at, err := out.instant(e.Start)
	if err != nil {
		return false, err
	}
	items, _, err := list[*Event](ctx, w.account, of(w.remote)+"/calendarView"+about(at))
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(items, func(there *Event) bool { return there.uid() == e.uid() }), nil
}

// about returns a window around a moment.
func about(at time.Time) string { return window(at.Add(-24*time.Hour), at.Add(48*time.Hour)) }

// change brings an object from one state to another: first the series, then its instances.
func (w *write) change(ctx context.Context, now, want *Series) error {
	if (now.Master == nil) != (want.Master == nil) {
		return vevent.Few()
	}
	if now.Master != nil {
		reset, err := w.patch(ctx, now.Master, want.Master)
		if err != nil {
			return err
		}
		if reset && len(now.Exceptions)+len(now.Cancelled) != 0 {
			// Another rule or time resets all instances.
			if now, err = w.account.series(ctx, now.Master.ID); err != nil {
				return err
			}
		}
	}
	for _, day := range now.Cancelled {
		if !slices.Contains(want.Cancelled, day) {
			return mirror.Refusef("Microsoft does not bring back a cancelled instance (%s). Create an event for that "+
				"day.", day)
		}
	}
	if err := w.instances(ctx, now, want); err != nil {
		return err
	}
	if err := w.cancel(ctx, now, want); err != nil {
		return err
	}
	return w.keep(ctx, now, want)
}

// instances writes the exceptions.
func (w *write) instances(ctx context.Context, now, want *Series) error {
	left := map[string]*Event{}
	for _, e := range now.Exceptions {
		left[moment(e.Original)] = e
	}
	for _, e := range want.Exceptions {
		there := left[moment(e.Original)]
		delete(left, moment(e.Original))
		if there == nil {
			found, err := w.find(ctx, now, e.Original)
			if err != nil {
				return err
			}
			there = found
		}
		if _, err := w.patch(ctx, there, e); err != nil {
			return err
		}
	}
	if want.Master == nil {
		return nil
	}
	for _, e := range left {
		if slices.Contains(want.Cancelled, w.day(e.Original, want.Master)) {
			continue
		}
		like, err := w.usual(want.Master, e.Original)
		if err != nil {
			return err
		}
		if _, err := w.patch(ctx, e, like); err != nil {
			return err
		}
	}
	return nil
}

// cancel deletes the excluded instances.
func (w *write) cancel(ctx context.Context, now, want *Series) error {
	for _, day := range want.Cancelled {
		if slices.Contains(now.Cancelled, day) {
			continue
		}
		at, err := w.start(want.Master, day)
		if err != nil {
			return err
		}
		found, err := w.find(ctx, now, at)
		if _, refused := errors.AsType[*mirror.Refusal](err); refused {
			continue // no such instance exists
		}
		if err != nil {
			return err
		}
		if err := w.send(ctx, http.MethodDelete, eventPath(found.ID), "", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// moment normalizes an instant.
func moment(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return at
	}
	return t.UTC().Format(time.RFC3339)
}

// start returns the start of a day's instance.
func (w *write) start(of *Event, day string) (string, error) {
	if of.AllDay {
		return day + "T00:00:00Z", nil
	}
	out := writer{zones: w.account.zones}
	at, err := out.instant(&Moment{DateTime: day + of.Start.DateTime[len(day):], Zone: of.Start.Zone})
	return at.UTC().Format(time.RFC3339), err
}

// day returns an instance's day in its series' zone.
func (w *write) day(original string, of *Event) string {
	out := writer{zones: w.account.zones}
	t, err := out.original(&Event{Original: original}, of)
	if err != nil {
		return ""
	}
	if t.TZID == "" && !t.IsDate() {
		return dayOf(out.zone(of.StartZone).Civil(time.Unix(t.Civil.Seconds(), 0)))
	}
	return dayOf(t.Civil)
}

// find returns the instance with an original start.
func (w *write) find(ctx context.Context, s *Series, original string) (*Event, error) {
	if s.Master == nil {
		return nil, vevent.Few()
	}
	at, err := time.Parse(time.RFC3339, original)
	if err != nil {
		return nil, err
	}
	items, _, err := list[*Event](ctx, w.account, eventPath(s.Master.ID)+"/instances"+about(at))
	if err != nil {
		return nil, err
	}
	out := writer{zones: w.account.zones}
	for _, e := range items {
		begins := moment(e.Original)
		if from, err := out.instant(e.Start); e.Original == "" && err == nil {
			begins = from.UTC().Format(time.RFC3339)
		}
		if begins == moment(original) {
			return e, nil
		}
	}
	return nil, vevent.NoInstance(original[:len(time.DateOnly)])
}

// usual returns the instance that the series itself defines.
func (w *write) usual(of *Event, original string) (*Event, error) {
	like := *of
	like.Recurrence, like.Original = nil, original
	out := writer{zones: w.account.zones}
	at, err := time.Parse(time.RFC3339, original)
	if err != nil {
		return nil, err
	}
	start, err := out.instant(of.Start)
	if err != nil {
		return nil, err
	}
	end, err := out.instant(of.End)
	if err != nil {
		return nil, err
	}
	like.Start = &Moment{DateTime: at.UTC().Format(wall), Zone: "UTC"}
	like.End = &Moment{DateTime: at.Add(end.Sub(start)).UTC().Format(wall), Zone: "UTC"}
	if !of.AllDay {
		like.Start = &Moment{DateTime: out.zone(of.Start.Zone).Civil(at).String(), Zone: of.Start.Zone}
		like.End = &Moment{DateTime: out.zone(of.End.Zone).Civil(at.Add(end.Sub(start))).String(), Zone: of.End.Zone}
	}
	return &like, nil
}
