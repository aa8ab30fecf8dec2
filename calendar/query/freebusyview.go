package query

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/publish"
	"caldav-mcp-server/ical"
)

// generated reports whether the caller sees generated objects in a calendar.
func generated(c calendar.Caller, cal calendar.Calendar) bool {
	return cal.Proposed() || c.SeesBusyAlone(cal)
}

// generatedView returns the generated objects.
func (s *Queries) generatedView(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar,
) (freeBusyView, error) {
	if cal.Proposed() {
		return s.proposedView(ctx, m, c)
	}
	return s.freeBusyView(ctx, m, c, cal)
}

// freeBusyView is the free/busy view of a calendar, for sharees with free/busy access only. It has an event for each
// busy time, derived from the time alone. So names, ETags and versions reveal no more than the times do.
type freeBusyView struct {
	// objects are sorted by start and numbered from 1.
	objects []calendar.Object
	// version identifies the times: it differs whenever one of them does.
	version calendar.Version
}

// busyDays is the time range of free/busy views. Long past weeks are useless, and people plan together for a year at
// most.
func (s *Queries) busyDays() (today, from, until time.Time) {
	today = s.now().UTC().Truncate(24 * time.Hour)
	return today, today.AddDate(0, -1, 0), today.AddDate(1, 0, 0)
}

// freeBusyView returns the free/busy view of a calendar.
func (s *Queries) freeBusyView(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar,
) (freeBusyView, error) {
	own, err := s.addresses(ctx, cal, mailsOf{})
	if err != nil {
		return freeBusyView{}, err
	}
	today, from, until := s.busyDays()
	at := freeBusyKey{cal.ID, cal.Epoch, cal.Edition, cal.Version, today.Unix(), cal.Timezone, strings.Join(own, " ")}
	if g, known := s.freeBusyCache.get(at); known {
		return g, nil
	}
	busy, err := s.FreeBusy(ctx, c, BusyQuery{Calendars: []calendar.Calendar{cal}, From: from, Until: until, Meter: m})
	if err != nil {
		return freeBusyView{}, err
	}
	g, sum := freeBusyView{}, sha256.New()
	for i, p := range busy.Periods {
		o := busyObject(cal.ID, p)
		o.Version = calendar.Version(i + 1)
		g.objects = append(g.objects, o)
		sum.Write([]byte(o.ETag))
	}
	// Any 63-bit number will do: it is only compared for equality.
	g.version = calendar.Version(binary.BigEndian.Uint64(sum.Sum(nil)) >> 1)
	s.freeBusyCache.put(at, g)
	return g, nil
}

// busyObject returns a busy time as an object. Its creation time is its start, to hide the real one.
func busyObject(id calendar.CalendarID, p freebusy.Period) calendar.Object {
	uid := alias(id, p.Start.UTC().String())
	event := publish.Busy(p, uid, p.Start)
	root := content.Root(event)
	data, start, end := ical.NewDocument(root).Bytes(), p.Start.Unix(), p.End.Unix()
	return calendar.Object{
		Calendar: id, Name: calendar.ObjectName(uid + ".ics"), ETag: calendar.ETagOf(data), Size: int64(len(data)),
		Data: data,
		Derived: calendar.Derived{
			UID: calendar.UID(uid), Kind: calendar.Event, Summary: event.Property("SUMMARY").Text(),
			Span: calendar.Span{Start: &start, End: &end}, Status: event.Property("STATUS").Text(),
		},
	}
}

// alias returns a stable UID that reveals nothing about its input. The calendar's id, which no feed contains, keeps the
// public from guessing the input.
func alias(id calendar.CalendarID, of string) string {
	sum := sha256.Sum256([]byte(string(id) + "\x00" + of))
	return hex.EncodeToString(sum[:16])
}

// matching yields the objects that match a query, by name, as a store would.
func (g freeBusyView) matching(q calendar.ObjectQuery) iter.Seq2[candidate, error] {
	admits := admission(q)
	found := slices.DeleteFunc(slices.Clone(g.objects), func(o calendar.Object) bool {
		return q.Names != nil && !slices.Contains(q.Names, o.Name) || !admits(&o)
	})
	slices.SortFunc(found, func(a, b calendar.Object) int { return cmp.Compare(a.Name, b.Name) })
	return func(yield func(candidate, error) bool) {
		for _, o := range found {
			if !q.WithData {
				o.Data = nil
			}
			if !yield(candidate{Object: o}, nil) {
				return
			}
		}
	}
}

// find returns the first object that is selects.
func (g freeBusyView) find(is func(calendar.Object) bool) (calendar.Object, bool) {
	i := slices.IndexFunc(g.objects, is)
	if i < 0 {
		return calendar.Object{}, false
	}
	return g.objects[i], true
}

// since yields the objects that a client with this token lacks. Free/busy views have no history: either nothing
// changed, or the client gets everything again.
func (g freeBusyView) since(cal calendar.Calendar, t calendar.SyncToken) iter.Seq2[calendar.Object, error] {
	rest := g.objects
	switch {
	case t == calendar.SyncToken{}:
	case t.Epoch != cal.Epoch || t.Calendar != cal.ID:
		return failed[calendar.Object](cal.History().Check(t))
	case t.Begun == 0 && t.Version == g.version:
		rest = nil
	case t.Begun == g.version && t.Version >= 0 && t.Version <= calendar.Version(len(rest)):
		rest = rest[t.Version:]
	default:
		return failed[calendar.Object](calendar.ErrSyncToken("the generated calendar has changed"))
	}
	return func(yield func(calendar.Object, error) bool) {
		for _, o := range rest {
			o.Data = nil
			if !yield(o, nil) {
				return
			}
		}
	}
}

// Token returns the sync token of a calendar for the caller. A sharee with free/busy access learns only of changes of
// the busy times.
func (s *Queries) Token(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar,
) (calendar.SyncToken, error) {
	now := cal.SyncToken()
	if !c.SeesBusyAlone(cal) {
		return now, c.May(calendar.ReadObjects, cal)
	}
	g, err := s.freeBusyView(ctx, m, c, cal)
	now.Version, now.Own = g.version, 0
	return now, err
}

// seen yields the matching objects of a calendar, by name, as the caller sees them.
func (s *Queries) seen(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, q calendar.ObjectQuery,
) iter.Seq2[candidate, error] {
	if !generated(c, cal) {
		return s.asOwn(ctx, m, c, cal, q.WithData, s.objects(ctx, m, cal, q))
	}
	g, err := s.generatedView(ctx, m, c, cal)
	if err != nil {
		return failed[candidate](err)
	}
	return g.matching(q)
}

// ObjectByUID returns one object of a calendar by its UID, with its data, as the caller sees it.
func (s *Queries) ObjectByUID(
	ctx context.Context, m *meter.Meter, c calendar.Caller, cal calendar.Calendar, uid calendar.UID,
) (calendar.Object, error) {
	if !generated(c, cal) {
		return s.Reader.SeenByUID(ctx, m, c, cal, uid)
	}
	g, err := s.generatedView(ctx, m, c, cal)
	if err != nil {
		return calendar.Object{}, err
	}
	if o, ok := g.find(func(o calendar.Object) bool { return o.UID == uid }); ok {
		return o, nil
	}
	return calendar.Object{}, calendar.ErrNoUID(uid)
}

// OwnByUID returns an object in one of the caller's own calendars by its UID, with its data.
func (s *Queries) OwnByUID(ctx context.Context, c calendar.Caller, uid calendar.UID) (calendar.Object, error) {
	home, err := s.CalendarsInHome(ctx, c)
	if err != nil {
		return calendar.Object{}, err
	}
	for _, cal := range home {
		if cal.Access != calendar.OwnerAccess {
			continue
		}
		o, err := s.ObjectByUID(ctx, nil, c, cal, uid)
		if err == nil || calendar.ReasonOf(err) != calendar.NotFound {
			return o, err
		}
	}
	return calendar.Object{}, calendar.ErrNoUID(uid)
}
