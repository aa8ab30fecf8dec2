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

// FeedForm is a form in which a calendar is given to a visitor by a public link.
type FeedForm string

// The forms there are: a calendar's events, or its busy times as such, and one VFREEBUSY. Each has
// the file's ending of RFC 5545 §8.1.
const (
	FeedEvents   FeedForm = "ics"
	FeedFreeBusy FeedForm = "ifb"
)

const (
	// feedRefresh is how often programs are asked to look again. To look costs one row while
	// nothing has changed.
	feedRefresh = time.Hour
	// feedRendition numbers the ways in which this program has written feeds: a copy of an older
	// one must not pass for the present one.
	feedRendition = 3
)

// Feed is what a public link shows of a calendar as it is now.
type Feed struct {
	// Tag changes whenever the text may.
	Tag calendar.ETag
	// Modified is zero for busy times: it would tell of changes that they do not show.
	Modified time.Time
	// File is what to call it.
	File string
	// Name is what programs are to call it, Color is nil where it has none that strangers may see.
	Name  string
	Color *string

	queries  *Queries
	meter    *meter.Meter
	caller   calendar.Caller
	calendar calendar.Calendar
	form     FeedForm
	// whole tells that it is the calendar; otherwise it is busy times, as they are asked for on a day.
	whole bool
	day   time.Time
	busy  BusyQuery
	found Busy
}

// Feed returns a calendar as a visitor by a link sees it: all of it but for what is not public,
// or when its owner is busy.
func (s *Queries) Feed(ctx context.Context, m *meter.Meter, c calendar.Caller, id calendar.CalendarID, form FeedForm) (Feed, error) {
	cal, err := s.Calendar(ctx, c, id)
	if err != nil {
		return Feed{}, err
	}
	if err := c.May(calendar.SeeBusy, cal); err != nil {
		return Feed{}, err
	}
	f := Feed{queries: s, meter: m, caller: c, calendar: cal, form: form}
	if f.whole = form == FeedEvents && c.May(calendar.ReadObjects, cal) == nil; f.whole {
		f.Tag, f.File, f.Modified = f.tag(fmt.Sprintf("%d-%d", cal.Edition, cal.Version)), cal.Name+".ics", cal.Modified
		f.Name, f.Color = cal.Name, cal.Color
		return f, nil
	}
	f.busy = BusyQuery{Calendars: []calendar.Calendar{cal}, Meter: m}
	f.day, f.busy.From, f.busy.Until = s.busyDays()
	if f.found, err = s.FreeBusy(ctx, c, f.busy); err != nil {
		return Feed{}, err
	}
	// Only of the text: when something was changed that takes no time is not for strangers.
	f.Tag, f.File = f.tag(fmt.Sprint(f.day, f.owner(), f.found)), "busy."+string(form)
	// Not the calendar's name, nor its colour, nor its zone: they tell what the times are for.
	f.Name = f.owner() + " (busy)"
	return f, nil
}

// tag is for strangers to compare: how many changes there were is not theirs to know.
func (f Feed) tag(at string) calendar.ETag {
	return calendar.ETag(fmt.Sprintf(`"%s-%s"`, f.calendar.Epoch, f.alias(fmt.Sprint(at, feedRendition))))
}

// Write writes the feed's text. Objects that cannot be read go to unreadable instead.
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
	w.Shape = func(doc *ical.Document) error { return publish.Object(doc, f.queries.zones, f.alias) }
	_, err = f.queries.exportTo(ctx, f.meter, f.caller, w, f.calendar, nil, unreadable)
	return err
}

// owner is what people call whose calendar it is.
func (f Feed) owner() string { return cmp.Or(f.caller.User.DisplayName, f.caller.User.Name) }

func (f Feed) alias(of string) string { return alias(f.calendar.ID, of) }
