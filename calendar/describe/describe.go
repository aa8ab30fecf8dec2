// Package describe puts journal entries into words, lists the properties that a change modified, and names the
// program that made it.
package describe

import (
	"slices"

	"caldav-mcp-server/calendar"
)

// describer puts one change into words.
type describer struct {
	Wording

	// year is the year of the change, which is left out of dates.
	year int
	// full includes long texts.
	full bool
}

// things are the texts for the kinds of objects.
var things = map[calendar.Kind]string{
	calendar.Event: "did.thing.event", calendar.Todo: "did.thing.task", calendar.Journal: "did.thing.journal",
	calendar.FreeBusy: "did.thing.busy", calendar.Availability: "did.thing.availability",
}

// actions are the texts for changes as a whole.
var actions = map[calendar.ChangeKind]string{
	calendar.Created: "did.created", calendar.Modified: "did.changed", calendar.Deleted: "did.deleted",
	calendar.Accepted: "did.accepted", calendar.Declined: "did.declined",
}

// mostDetails limits the details of one change.
const mostDetails = 4

// named returns a thing with its name.
func (d describer) named(thing, name string) string {
	return d.lang.Text("did.named", "what", d.lang.Text(thing), "name", d.quote(name))
}

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
	text := d.lang.Text(actions[c.Did], "what", what)
	if c.Did != calendar.Modified || c.Before == nil || c.After == nil {
		return text
	}
	details, err := d.details(c)
	switch more := len(details) - mostDetails; {
	case err != nil:
		return text
	case len(details) == 0:
		return d.lang.Text("did.changed-unseen", "change", text)
	case more > 0:
		details = append(details[:mostDetails:mostDetails], d.lang.Text("did.more", "count", more))
	}
	list := details[0]
	for _, next := range details[1:] {
		list = d.lang.Text("did.list", "first", list, "next", next)
	}
	return d.lang.Text("did.changed-how", "change", text, "details", list)
}

// purposes are the texts for the access of a share.
var purposes = [...]string{
	calendar.NoAccess: "did.purpose.none", calendar.FreeBusyAccess: "did.purpose.busy",
	calendar.ReadAccess: "did.purpose.read", calendar.WriteAccess: "did.purpose.write",
	calendar.OwnerAccess: "did.purpose.own",
}

func (d describer) share(c calendar.Change) string {
	what, whom := d.named("did.thing.calendar", c.In.Name), d.lang.Text("did.share.another-user")
	if c.WhomName != "" {
		whom = d.quote(c.WhomName)
	}
	purpose := d.lang.Text(purposes[c.Given])
	switch c.Did {
	case calendar.Created:
		return d.lang.Text("did.share.created", "what", what, "whom", whom, "purpose", purpose)
	case calendar.Deleted:
		return d.lang.Text("did.share.ended", "what", what, "whom", whom)
	case calendar.Accepted, calendar.Declined:
		return d.lang.Text(actions[c.Did], "what", what)
	case calendar.Modified:
	}
	text := d.lang.Text("did.share.changed", "what", what, "whom", whom, "purpose", purpose)
	before, err := calendar.DecodeTerms(c.Before)
	if c.Before != nil && err == nil && before.Access != c.Given && int(before.Access) < len(purposes) {
		return d.lang.Text("did.share.no-longer", "change", text, "purpose", d.lang.Text(purposes[before.Access]))
	}
	return text
}

// from describes a value that was changed, set or removed. Its name is a text.
func (d describer) from(name, before, after string) string {
	what := d.lang.Text(name)
	switch {
	case before == "":
		return d.lang.Text("did.value.set", "what", what, "after", d.quote(after))
	case after == "":
		return d.lang.Text("did.value.removed", "what", what, "before", d.quote(before))
	}
	return d.lang.Text("did.value.changed", "what", what, "before", d.quote(before), "after", d.quote(after))
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
	for _, s := range [...]struct{ name, before, after string }{
		{"did.field.name", old.Name, now.Name},
		{"did.field.colour", text(old.Color), text(now.Color)},
		{"did.field.description", text(old.Description), text(now.Description)},
		{"did.field.time-zone", old.Timezone, now.Timezone},
		{"did.field.address", string(old.Address), string(now.Address)},
		{"did.field.contents", d.contents(old.Kinds), d.contents(now.Kinds)},
	} {
		if s.before != s.after {
			details = append(details, d.from(s.name, s.before, s.after))
		}
	}
	for _, s := range [...]struct {
		changed bool
		text    string
	}{
		{now.Transparent && !old.Transparent, "did.setting.free"},
		{old.Transparent && !now.Transparent, "did.setting.busy"},
		{now.Hidden && !old.Hidden, "did.setting.hidden"},
		{old.Hidden && !now.Hidden, "did.setting.shown"},
		{
			text(old.TimezoneData) != text(now.TimezoneData) && old.Timezone == now.Timezone,
			"did.setting.zone-definition",
		},
		{valueOf(old.Order) != valueOf(now.Order), "did.setting.position"},
		{!slices.Equal(old.DeadProperties, now.DeadProperties), "did.setting.by-programs"},
	} {
		if s.changed {
			details = append(details, d.lang.Text(s.text))
		}
	}
	return details, nil
}

// contents names the kinds that a calendar holds.
func (d describer) contents(kinds calendar.Kinds) string {
	switch events, tasks := kinds.Has(calendar.Event), kinds.Has(calendar.Todo); {
	case d.raw:
		return kinds.String()
	case events && tasks:
		return d.lang.Text("calendars.holds-both")
	case events:
		return d.lang.Text("calendars.events")
	case tasks:
		return d.lang.Text("calendars.tasks")
	}
	return kinds.String()
}

func valueOf(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}
