// Package describe puts journal entries into words, lists the properties that a change modified, and names the
// program that made it.
package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// Change puts a change into words, to follow the name of the user who made it: `changed the event "Lunch": moved
// from Mon 3 Nov 10:00 to 11:00`. Times are in the location; quote marks text that users wrote. The details of a
// modification need Before and After, see [calendar.HistoryQuery].
func Change(c calendar.Change, in *time.Location, quote func(string) string) string {
	d := describer{in: in, quote: quote, year: c.At.In(in).Year()}
	switch c.Subject() {
	case calendar.AboutShare:
		return d.share(c)
	case calendar.AboutCalendar:
		return d.action(c, "the calendar "+quote(c.In.Name))
	case calendar.AboutObject:
	}
	what := "the " + cmp.Or(things[c.Kind], things[calendar.Event])
	if c.Summary != "" {
		what += " " + quote(c.Summary)
	}
	return d.action(c, what)
}

// Details lists every detail of a modification, in the words of [Change]. It is empty if Before and After are missing
// or differ in nothing that users see. Long texts, which Change only names, are included.
func Details(c calendar.Change, in *time.Location, quote func(string) string) []string {
	details, err := describer{in: in, quote: quote, year: c.At.In(in).Year(), full: true}.details(c)
	if err != nil {
		return nil
	}
	return details
}

// describer puts changes into words.
type describer struct {
	in    *time.Location
	quote func(string) string
	// year is the year of the change, which is left out of dates.
	year int
	// full includes long texts.
	full bool
}

// things are the words for the kinds of objects. An object that is gone for good was most likely an event.
var things = map[calendar.Kind]string{
	calendar.Event: "event", calendar.Todo: "task", calendar.Journal: "journal entry", calendar.FreeBusy: "busy time",
	calendar.Availability: "availability",
}

// mostDetails limits the details of one change.
const mostDetails = 4

// details lists the differences between Before and After, if both are present.
func (d describer) details(c calendar.Change) ([]string, error) {
	switch {
	case c.Did != calendar.Modified || c.Before == nil || c.After == nil:
		return nil, nil
	case c.Subject() == calendar.AboutCalendar:
		return d.settings(c.Before, c.After)
	case c.Subject() == calendar.AboutObject:
		return d.object(c.Before, c.After)
	}
	return nil, nil // the sentence says all of a share
}

// action describes a change to a thing.
func (d describer) action(c calendar.Change, what string) string {
	if c.Did != calendar.Modified {
		return string(c.Did) + " " + what
	}
	text := "changed " + what
	if c.Before == nil || c.After == nil {
		return text
	}
	details, err := d.details(c)
	switch more := len(details) - mostDetails; {
	case err != nil:
		return text
	case len(details) == 0:
		return text + " in details that only programs see"
	case more > 0:
		details = append(details[:mostDetails:mostDetails], fmt.Sprintf("%d more", more))
	}
	return text + ": " + strings.Join(details, "; ")
}

// purposes are the words for the access of a share.
var purposes = [...]string{
	calendar.NoAccess: "for nothing", calendar.FreeBusyAccess: "to see when it is busy", calendar.ReadAccess: "to read",
	calendar.WriteAccess: "to read and write", calendar.OwnerAccess: "to own",
}

func (d describer) share(c calendar.Change) string {
	what, whom := "the calendar "+d.quote(c.In.Name), "another user"
	if c.WhomName != "" {
		whom = d.quote(c.WhomName)
	}
	switch c.Did {
	case calendar.Created:
		return fmt.Sprintf("shared %s with %s %s", what, whom, purposes[c.Given])
	case calendar.Deleted:
		return fmt.Sprintf("stopped sharing %s with %s", what, whom)
	case calendar.Accepted, calendar.Declined:
		return string(c.Did) + " " + what
	case calendar.Modified:
	}
	text := fmt.Sprintf("changed the share of %s with %s: %s", what, whom, purposes[c.Given])
	before, err := calendar.DecodeTerms(c.Before)
	if c.Before != nil && err == nil && before.Access != c.Given && int(before.Access) < len(purposes) {
		text += ", no longer " + purposes[before.Access]
	}
	return text
}

// from describes a value that was changed, set or removed.
func (d describer) from(what, before, after string) string {
	switch {
	case before == "":
		return fmt.Sprintf("%s set to %s", what, d.quote(after))
	case after == "":
		return fmt.Sprintf("%s %s removed", what, d.quote(before))
	}
	return fmt.Sprintf("%s changed from %s to %s", what, d.quote(before), d.quote(after))
}

// settings lists the differences between two settings of a calendar.
func (d describer) settings(before, after []byte) ([]string, error) {
	old, err := calendar.DecodeSettings(before)
	if err != nil {
		return nil, err
	}
	now, err := calendar.DecodeSettings(after)
	if err != nil {
		return nil, err
	}
	var details []string
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	for _, s := range [...]struct{ what, before, after string }{
		{"name", old.Name, now.Name},
		{"colour", text(old.Color), text(now.Color)},
		{"description", text(old.Description), text(now.Description)},
		{"time zone", old.Timezone, now.Timezone},
		{"address", string(old.Address), string(now.Address)},
		{"contents", old.Kinds.String(), now.Kinds.String()},
	} {
		if s.before != s.after {
			details = append(details, d.from(s.what, s.before, s.after))
		}
	}
	for _, s := range [...]struct {
		changed bool
		text    string
	}{
		{now.Transparent && !old.Transparent, "no longer counts as busy"},
		{old.Transparent && !now.Transparent, "counts as busy again"},
		{now.Hidden && !old.Hidden, "hidden"},
		{old.Hidden && !now.Hidden, "shown again"},
		{
			text(old.TimezoneData) != text(now.TimezoneData) && old.Timezone == now.Timezone,
			"new definition of its time zone",
		},
		{valueOf(old.Order) != valueOf(now.Order), "new position in the list"},
		{!slices.Equal(old.DeadProperties, now.DeadProperties), "properties set by programs"},
	} {
		if s.changed {
			details = append(details, s.text)
		}
	}
	return details, nil
}

func valueOf(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}
