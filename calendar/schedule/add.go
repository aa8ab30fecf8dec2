package schedule

import (
	"context"
	"errors"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// ErrNoSeries is the error for a message that adds an instance to an event without a matching series.
var ErrNoSeries = errors.New("there is no series to add this to")

// Add applies an organizer's ADD to an attendee's copy (RFC 5546 §3.2.4): the series keeps its state and gets one more
// instance. The message describes the instance like an event of its own, under the series' UID.
func (r Rules) Add(ctx context.Context, d Delivery) (Delivered, error) {
	if d.Stored == nil || d.Stored.Master == nil {
		return Delivered{}, ErrNoSeries
	}
	if d.Message.Master == nil {
		return r.Invite(ctx, d)
	}
	in := receipt{r, d}
	_, known, err := in.known(ctx)
	if err != nil {
		return Delivered{}, err
	}
	if err := in.mayTell(ctx, known); err != nil {
		return Delivered{}, err
	}
	series, err := copyOf(d.Stored)
	if err != nil {
		return Delivered{}, err
	}
	added, err := copyOf(d.Message)
	if err != nil {
		return Delivered{}, err
	}
	start := added.Master.Property("DTSTART")
	isNew, err := addDate(series, start)
	if err != nil {
		return Delivered{}, err
	}
	lendZones(series.Calendar, added.Calendar)
	told := series
	if known.Object != d.Stored {
		if told, err = copyOf(known.Object); err != nil {
			return Delivered{}, err
		}
		if _, err := addDate(told, start); err != nil {
			return Delivered{}, err
		}
		if told, err = content.Of(told.Document); err != nil {
			return Delivered{}, err
		}
	}
	added.Master.Add(renamed(start, "RECURRENCE-ID"))
	for _, name := range [...]string{"RRULE", "RDATE", "EXDATE", "EXRULE"} {
		added.Master.Remove(name)
	}
	if series, err = content.Of(series.Document); err != nil {
		return Delivered{}, err
	}
	if added, err = content.Of(added.Document); err != nil {
		return Delivered{}, err
	}
	done, err := r.Invite(ctx, Delivery{Stored: series, Told: told, Message: added, Self: d.Self, Outside: d.Outside})
	if err != nil {
		return Delivered{}, err
	}
	done.Consequential, done.heeds = true, nil
	if isNew {
		// The answer to the series is no answer to the new instance.
		for _, c := range done.Object.Overrides {
			if mine := attendee(c, d.Self); mine != nil && c.Property("RECURRENCE-ID").Value() == start.Value() {
				setParam(mine, paramPartstat, NeedsAction)
			}
		}
		done.Object, err = content.Of(done.Object.Document)
	}
	return done, err
}

// addDate adds a date to a series and reports whether it is new. It must be a date or a time like the first one.
func addDate(series *content.Object, start *ical.Property) (isNew bool, err error) {
	first := series.Master.Property("DTSTART")
	if start == nil || first == nil {
		return false, ErrNoSeries
	}
	at, err := start.Time()
	if err != nil {
		return false, err
	}
	begins, err := first.Time()
	if err != nil {
		return false, err
	}
	if (at.Form == ical.FormDate) != (begins.Form == ical.FormDate) {
		return false, ErrNoSeries
	}
	if at == begins {
		return false, nil
	}
	for _, p := range series.Master.All("RDATE") {
		if times, err := p.Times(); err == nil && slices.Contains(times, at) {
			return false, nil
		}
	}
	series.Master.Add(renamed(start, "RDATE"))
	return true, nil
}

// renamed returns a time property under another name.
func renamed(p *ical.Property, name string) *ical.Property {
	made := ical.NewProperty(name, p.Value())
	for _, param := range [...]string{"VALUE", "TZID"} {
		if value, there := p.Param(param); there {
			made.SetParam(param, value)
		}
	}
	return made
}
