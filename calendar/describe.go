package calendar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Describe says in a person's words what happened, as it follows the name of the user who did it: `changed the event
// "Lunch": moved from Mon 3 Nov 10:00 to 11:00`. Times are told in the location, and quote sets apart what
// people wrote. What a change did to something is told where the bytes before and after are there, see
// [HistoryQuery].
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

// Deeds are all that a modification did, one by one, in the words of Describe: there are none where the bytes before
// and after are not there, or differ in nothing that people see. Long texts, which Describe only names, are told as well.
func (c Change) Deeds(in *time.Location, quote func(string) string) []string {
	deeds, err := teller{in: in, quote: quote, year: c.At.In(in).Year(), full: true}.deeds(c)
	if err != nil {
		return nil
	}
	return deeds
}

// teller is how a change is told.
type teller struct {
	in    *time.Location
	quote func(string) string
	// year is the one that goes without saying.
	year int
	// full tells that long texts are told, too.
	full bool
}

// things are the words for the kinds of objects. A thing of which nothing is left was most likely an event.
var things = map[Kind]string{
	Event: "event", Todo: "task", Journal: "journal entry", FreeBusy: "busy time", Availability: "availability",
}

// mostDeeds is how much is told of one change.
const mostDeeds = 4

// deeds tells the differences between the bytes before and after, where both are there.
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

// deed tells what was done to something.
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

// purposes say what a calendar is shared for.
var purposes = [...]string{NoAccess: "for nothing", FreeBusyAccess: "to see when it is busy", ReadAccess: "to read", WriteAccess: "to read and write", OwnerAccess: "to own"}

func (t teller) share(c Change) string {
	what, whom := "the calendar "+t.quote(c.In.Name), "somebody"
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

// from tells that a value was changed, set or removed, in the words for it.
func (t teller) from(what, before, after string) string {
	switch {
	case before == "":
		return fmt.Sprintf("%s set to %s", what, t.quote(after))
	case after == "":
		return fmt.Sprintf("%s %s removed", what, t.quote(before))
	}
	return fmt.Sprintf("%s changed from %s to %s", what, t.quote(before), t.quote(after))
}

// settings tells how a calendar's own state differs.
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
		{text(old.TimezoneData) != text(now.TimezoneData) && old.Timezone == now.Timezone, "another definition of its time zone"},
		{valueOf(old.Order) != valueOf(now.Order), "another place in the list"},
		{!slices.Equal(old.DeadProperties, now.DeadProperties), "what programs keep with it"},
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
