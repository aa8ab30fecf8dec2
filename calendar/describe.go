package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Describe puts a change into words, to follow the name of the user who made it: `changed the event "Lunch": moved
// from Mon 3 Nov 10:00 to 11:00`. Times are in the location; quote marks text that users wrote. The details of a
// modification need Before and After, see [HistoryQuery].
func (c Change) Describe(in *time.Location, quote func(string) string) string {
	t := teller{in: in, quote: quote, year: c.At.In(in).Year()}
	switch c.Subject() {
	case AboutShare:
		return t.share(c)
	case AboutCalendar:
		return t.deed(c, "the calendar "+quote(c.In.Name))
	case AboutObject:
	}
	what := "the " + cmp.Or(things[c.Kind], things[Event])
	if c.Summary != "" {
		what += " " + quote(c.Summary)
	}
	return t.deed(c, what)
}

// Deeds lists every detail of a modification, in the words of Describe. It is empty if Before and After are missing
// or differ in nothing that users see. Long texts, which Describe only names, are included.
func (c Change) Deeds(in *time.Location, quote func(string) string) []string {
	deeds, err := teller{in: in, quote: quote, year: c.At.In(in).Year(), full: true}.deeds(c)
	if err != nil {
		return nil
	}
	return deeds
}

// teller puts changes into words.
type teller struct {
	in    *time.Location
	quote func(string) string
	// year is the year of the change, which is left out of dates.
	year int
	// full includes long texts.
	full bool
}

// things are the words for the kinds of objects. An object that is gone for good was most likely an event.
var things = map[Kind]string{
	Event: "event", Todo: "task", Journal: "journal entry", FreeBusy: "busy time", Availability: "availability",
}

// mostDeeds limits the details of one change.
const mostDeeds = 4

// deeds lists the differences between Before and After, if both are present.
func (t teller) deeds(c Change) ([]string, error) {
	switch {
	case c.Did != Modified || c.Before == nil || c.After == nil:
		return nil, nil
	case c.Subject() == AboutCalendar:
		return t.settings(c.Before, c.After)
	case c.Subject() == AboutObject:
		return t.object(c.Before, c.After)
	}
	return nil, nil // the sentence says all of a share
}

// deed describes a change to a thing.
func (t teller) deed(c Change, what string) string {
	if c.Did != Modified {
		return string(c.Did) + " " + what
	}
	text := "changed " + what
	if c.Before == nil || c.After == nil {
		return text
	}
	deeds, err := t.deeds(c)
	switch more := len(deeds) - mostDeeds; {
	case err != nil:
		return text
	case len(deeds) == 0:
		return text + " in details that only programs see"
	case more > 0:
		deeds = append(deeds[:mostDeeds:mostDeeds], fmt.Sprintf("%d more", more))
	}
	return text + ": " + strings.Join(deeds, "; ")
}

// purposes are the words for the access of a share.
var purposes = [...]string{NoAccess: "for nothing", FreeBusyAccess: "to see when it is busy", ReadAccess: "to read", WriteAccess: "to read and write", OwnerAccess: "to own"}

func (t teller) share(c Change) string {
	what, whom := "the calendar "+t.quote(c.In.Name), "another user"
	if c.WhomName != "" {
		whom = t.quote(c.WhomName)
	}
	switch c.Did {
	case Created:
		return fmt.Sprintf("shared %s with %s %s", what, whom, purposes[c.Given])
	case Deleted:
		return fmt.Sprintf("stopped sharing %s with %s", what, whom)
	case Accepted, Declined:
		return string(c.Did) + " " + what
	case Modified:
	}
	text := fmt.Sprintf("changed the share of %s with %s: %s", what, whom, purposes[c.Given])
	if before, err := DecodeTerms(c.Before); c.Before != nil && err == nil && before.Access != c.Given && int(before.Access) < len(purposes) {
		text += ", no longer " + purposes[before.Access]
	}
	return text
}

// from describes a value that was changed, set or removed.
func (t teller) from(what, before, after string) string {
	switch {
	case before == "":
		return fmt.Sprintf("%s set to %s", what, t.quote(after))
	case after == "":
		return fmt.Sprintf("%s %s removed", what, t.quote(before))
	}
	return fmt.Sprintf("%s changed from %s to %s", what, t.quote(before), t.quote(after))
}

// settings lists the differences between two settings of a calendar.
func (t teller) settings(before, after []byte) ([]string, error) {
	old, err := DecodeSettings(before)
	if err != nil {
		return nil, err
	}
	now, err := DecodeSettings(after)
	if err != nil {
		return nil, err
	}
	var deeds []string
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
			deeds = append(deeds, t.from(s.what, s.before, s.after))
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
		{text(old.TimezoneData) != text(now.TimezoneData) && old.Timezone == now.Timezone, "new definition of its time zone"},
		{valueOf(old.Order) != valueOf(now.Order), "new position in the list"},
		{!slices.Equal(old.DeadProperties, now.DeadProperties), "properties set by programs"},
	} {
		if s.changed {
			deeds = append(deeds, s.text)
		}
	}
	return deeds, nil
}

func valueOf(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}
