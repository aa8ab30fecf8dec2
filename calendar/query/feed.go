package query

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/publish"
	"caldav-mcp-server/ical"
)

// FeedForm is a format of a public link.
type FeedForm string

// The formats: a calendar's events or its busy times as events, and one VFREEBUSY. The values are the file extensions
// of RFC 5545 §8.1.
const (
	FeedEvents   FeedForm = "ics"
	FeedFreeBusy FeedForm = "ifb"
)

const (
	// feedRefresh is how often clients should poll. A poll reads one row if nothing has changed.
	feedRefresh = time.Hour
	// feedRendition is the version of the output format. Increment it with each change of the output, because it is
	// part of the ETag.
	feedRendition = 4
)

// Feed is the current content of a public link.
type Feed struct {
	// Tag changes whenever the text may change.
	Tag calendar.ETag
	// Modified is zero for busy times: it would reveal changes that they do not show.
	Modified time.Time
	// File is the suggested file name.
	File string
	// Name is the display name. Color is nil and Timezone is empty if there is none for the public.
	Name     string
	Color    *string
	Timezone string
	// Events is set if the calendar holds events.
	Events bool

	queries  *Queries
	meter    *meter.Meter
	caller   calendar.Caller
	calendar calendar.Calendar
	form     FeedForm
	// whole is set for the calendar itself; otherwise the feed shows the busy times as of day.
	whole bool
	day   time.Time
	busy  BusyQuery
	found Busy
}

// Feed returns a calendar as the visitor of a link may see it: its public content, or its owner's busy times.
func (s *Queries) Feed(
	ctx context.Context, m *meter.Meter, c calendar.Caller, id calendar.CalendarID, form FeedForm,
) (Feed, error) {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return Feed{}, err
	}
	if err := c.May(calendar.SeeBusy, cal); err != nil {
		return Feed{}, err
	}
	f := Feed{
		queries: s, meter: m, caller: c, calendar: cal, form: form, Events: cal.Kinds.Has(calendar.Event),
	}
	if f.whole = form == FeedEvents && c.May(calendar.ReadObjects, cal) == nil; f.whole {
		f.Tag, f.File, f.Modified = f.tag(fmt.Sprintf("%d-%d", cal.Edition, cal.Version)), cal.Name+".ics", cal.Modified
		f.Name, f.Color, f.Timezone = cal.Name, cal.Color, cal.Timezone
		return f, nil
	}
	f.busy = BusyQuery{Calendars: []calendar.Calendar{cal}, Meter: m}
	f.day, f.busy.From, f.busy.Until = s.busyDays()
	if f.found, err = s.FreeBusy(ctx, c, f.busy); err != nil {
		return Feed{}, err
	}
	// The tag depends on the text only: it must not reveal changes outside the busy times.
	// Another form of this text would make all subscribers fetch their feeds again.
	text := fmt.Sprintf("{%v %d}", f.found.Periods, f.found.Unread)
	f.Tag, f.File = f.tag(fmt.Sprint(f.day, f.owner(), text)), "busy."+string(form)
	// Not the calendar's name, color or zone: they hint at the purpose of the busy times.
	f.Name = f.owner() + " (busy)"
	return f, nil
}

// tag returns an opaque ETag, which hides the number of changes from the public.
func (f Feed) tag(at string) calendar.ETag {
	return calendar.ETag(fmt.Sprintf(`"%s-%s"`, f.calendar.Epoch, f.alias(fmt.Sprint(at, feedRendition))))
}

// Write writes the feed's text. Unreadable objects go to unreadable instead.
func (f Feed) Write(ctx context.Context, to io.Writer, unreadable func(calendar.Object, error)) error {
	if f.whole {
		return f.writeWhole(ctx, to, unreadable)
	}
	if f.form == FeedFreeBusy {
		_, err := to.Write(f.queries.BusyText(f.busy, f.found))
		return err
	}
	w, err := archive.NewWriter(to, archive.Header{Name: f.Name, Refresh: feedRefresh}, f.queries.zones)
	if err != nil {
		return err
	}
	root := ical.NewComponent("VCALENDAR")
	for _, p := range f.found.Periods {
		root.AddComponent(publish.Busy(p, f.alias(p.Start.UTC().String()), f.day))
	}
	if err := w.AddTree(root); err != nil {
		return err
	}
	return w.Close()
}

func (f Feed) writeWhole(ctx context.Context, to io.Writer, unreadable func(calendar.Object, error)) error {
	head := headerOf(f.calendar)
	head.Refresh = feedRefresh
	w, err := archive.NewWriter(to, head, f.queries.zones)
	if err != nil {
		return err
	}
	w.Shape = f.shape
	_, err = f.queries.exportTo(ctx, f.meter, f.caller, w, f.calendar, nil, unreadable)
	return err
}

// Agenda returns the events of the feed in a time range, with as much of them as its text has.
func (f Feed) Agenda(ctx context.Context, q AgendaQuery) (Agenda, error) {
	q.Calendars, q.Meter, q.shape = []calendar.Calendar{f.calendar}, f.meter, f.shape
	who := f.caller
	if !f.whole {
		who.Most = calendar.FreeBusyAccess
	}
	return f.queries.Agenda(ctx, who, q)
}

// shape reduces an object to its public parts.
func (f Feed) shape(doc *ical.Document) error { return publish.Object(doc, f.queries.zones, f.alias) }

// owner returns the display name of the calendar's owner.
func (f Feed) owner() string { return cmp.Or(f.caller.User.DisplayName, f.caller.User.Name) }

func (f Feed) alias(of string) string { return alias(f.calendar.ID, of) }
