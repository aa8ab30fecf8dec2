package mcp

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/timetext"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// eventValues holds the arguments of tools that create or change an event.
type eventValues struct {
	start, end edit.Field[string]
	// minutes is a duration that replaces the end. endZone is the time zone of the end.
	minutes edit.Field[int]
	endZone string
	away    *zoned
	allDay  edit.Field[bool]
	values  edit.Fields
	// attendees are as the caller wrote them, including any response. more are added, less are removed.
	attendees  edit.Field[[]string]
	more, less []string
	alarms     edit.Field[[]string]
	// left and extra are the exception dates (EXDATE) and additional dates (RDATE) of a series.
	left, extra edit.Field[[]string]
}

// takesMain returns the parameters that every new event needs.
func (in *eventValues) takesMain() []field {
	return []field{
		fieldTo(&in.values.Summary, "title", "Title.").upTo(longestTitle),
		fieldTo(&in.start, "start", timeForm),
		fieldTo(&in.end, "end", "Of whole days, the last."),
	}
}

// longestLasting is a year, in minutes.
const longestLasting = 366 * 24 * 60

// takesRare returns parameters that few calls use; update_event, a tool of the first version, lacks them.
func (in *eventValues) takesRare() []field {
	return []field{
		numberFieldTo(&in.minutes, "duration_minutes", "Instead of end.").between(1, longestLasting),
		wordTo(&in.endZone, "end_timezone", "If another."),
		fieldTo(&in.values.Class, "class", "Who sees it.").oneOf(string(edit.Public),
			string(edit.Private),
			string(edit.Confidential)),
		fieldTo(&in.values.Color, "color", "As in CSS: teal.").upTo(longestName),
		listFieldTo(&in.left, "exdate", "All skipped dates.", strings.TrimSpace).items(longestList),
		listFieldTo(&in.extra, "rdate", "All added dates.", strings.TrimSpace).items(longestList),
	}
}

// takesGuests returns the parameters that add or remove attendees.
func (in *eventValues) takesGuests() []field {
	return []field{
		listTo(&in.more, "add_attendees", "To add.").items(longestList).upTo(longestTitle),
		listTo(&in.less, "remove_attendees", "Addresses.").items(longestList).upTo(longestTitle),
	}
}

func (in *eventValues) takesMore() []field {
	return []field{
		yesFieldTo(&in.allDay, "all_day", "Whole days."),
		fieldTo(&in.values.Location, "location", "Place.").upTo(longestText),
		fieldTo(&in.values.Description, "description", "Notes.").upTo(longestText),
		listFieldTo(&in.attendees, "attendees", "All: Bob Ray <bob@example.com> (optional).",
			strings.TrimSpace).items(longestList).upTo(longestTitle),
		fieldTo(&in.values.Rule, "rrule", "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10.").upTo(longestTitle),
		listFieldTo(&in.alarms, "alarms", alarmForm, strings.TrimSpace).items(longestList),
		fieldTo(&in.values.Status, "status", "CANCELLED: it is off.").oneOf(string(edit.Tentative),
			string(edit.Confirmed),
			string(edit.Cancelled)),
		fieldTo(&in.values.Transparency, "transparency", "TRANSPARENT: free.").oneOf(string(edit.Opaque),
			string(edit.Transparent)),
		listFieldTo(&in.values.Categories, "categories", "All tags.", strings.TrimSpace).items(longestList).
			upTo(longestTitle),
		fieldTo(&in.values.URL, "url", "A link.").upTo(longestText),
	}
}

// alarmForm tells a model how to write a reminder.
const alarmForm = "All: minutes before; 1 hour before end."

// fields returns the values of a call. A missing one leaves the property unchanged, an empty one removes it. guests are
// the attendees that the call can remove.
func (in *eventValues) fields(z zoned, guests []edit.Attendee) (f edit.Fields, err error) {
	f = in.values
	if list, given := in.attendees.Value(); given {
		f.Attendees = edit.To(each(list, attendeeOf))
	}
	if f.Invite, f.Uninvite, err = in.guests(guests); err != nil {
		return f, err
	}
	if f.Alarms, err = readEach(in.alarms, z.alarm); err != nil {
		return f, err
	}
	if f.Left, err = datesOf("exdate", in.left); err != nil {
		return f, err
	}
	f.Extra, err = datesOf("rdate", in.extra)
	return f, err
}

// datesOf parses the dates of a series. As in a recurrence id, a local time is in the time zone of the series.
func datesOf(name string, given edit.Field[[]string]) (edit.Field[[]ical.Time], error) {
	return readEach(given, func(text string) (ical.Time, error) {
		at, err := timetext.Parse(text, nil)
		if err != nil || text == "" {
			err = errArgument(`%q cannot be read: %s; write each as 2026-03-01, or 2026-03-01T09:00 on the clock `+
				`of the series`, name, wire.Quote(text))
		}
		return at, err
	})
}

// readEach parses each text of an optional list.
func readEach[T any](given edit.Field[[]string], read func(string) (T, error)) (edit.Field[[]T], error) {
	list, ok := given.Value()
	if !ok {
		return edit.Field[[]T]{}, nil
	}
	values := make([]T, len(list))
	for i, text := range list {
		var err error
		if values[i], err = read(text); err != nil {
			return edit.Field[[]T]{}, err
		}
	}
	return edit.To(values), nil
}

// guests returns the attendees to add and those to remove. The latter may be named as results show them.
func (in *eventValues) guests(there []edit.Attendee) (more, less []edit.Attendee, err error) {
	if len(in.more)+len(in.less) > 0 && !in.attendees.Left() {
		return nil, nil, errArgument(`give all "attendees", or "add_attendees" and "remove_attendees", not both`)
	}
	for _, text := range in.less {
		a, err := guestNamed(there, text)
		if err != nil {
			return nil, nil, err
		}
		less = append(less, a)
	}
	return each(in.more, attendeeOf), less, nil
}

// guestNamed finds an attendee by address or name.
func guestNamed(there []edit.Attendee, text string) (edit.Attendee, error) {
	asked := attendeeOf(text)
	var found []edit.Attendee
	var all []string
	for _, a := range there {
		if strings.EqualFold(a.Address, bareAddress(asked.Address)) {
			return a, nil
		}
		if strings.EqualFold(a.Name, strings.TrimSpace(text)) {
			found = append(found, a)
		}
		all = append(all, wire.Quote(attendeeText(a)))
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return edit.Attendee{}, errArgument(`"remove_attendees": %d attendees are called %s`, len(found), wire.Quote(text)).
		Advising("name one by the address: there are " + cmp.Or(strings.Join(all[:min(len(all), maxNamed)],
			", "), "none"))
}

// recurs reports whether the call gives a rule or additional dates.
func (in *eventValues) recurs() bool {
	_, given := in.values.Rule.Value()
	return given || !in.extra.Left()
}

// empty reports whether the call gives nothing.
func (in *eventValues) empty() bool {
	return in.start.Left() && in.end.Left() && in.minutes.Left() && in.endZone == "" && in.allDay.Left() &&
		in.attendees.Left() && in.alarms.Left() &&
		in.left.Left() && in.extra.Left() && len(in.more)+len(in.less) == 0 && reflect.ValueOf(in.values).IsZero()
}

// newEvent holds the arguments of create_event.
type newEvent struct {
	inCalendar
	eventValues
	inZone
}

func (in *newEvent) takes() []field {
	main := allNeeded(in.takesMain())
	main[len(main)-1] = main[len(main)-1].neededFirst() // without an end, the event lasts an hour or the whole day
	return slices.Concat(in.inCalendar.takes(), main, []field{in.takesZone()}, in.takesMore(), in.takesRare())
}

// eventPatch holds the arguments of patch_event.
type eventPatch struct {
	reference
	eventValues
}

func (in *eventPatch) takes() []field {
	return slices.Concat(in.rows(in.takesMain()), in.takesGuests(), in.takesRare())
}

func (in *eventPatch) rows(main []field) []field {
	return slices.Concat(in.takesEvent(), in.takesSeries(), main, []field{in.takesZoneKept()}, in.takesMore(),
		[]field{in.takesMatch()})
}

// eventReplacement holds the arguments of update_event.
type eventReplacement struct{ eventPatch }

func (in *eventReplacement) takes() []field { return in.rows(allNeeded(in.takesMain())) }

// eventMove holds the arguments of move_event.
type eventMove struct {
	reference
	id         string
	start, end edit.Field[string]
	to         calendar.CalendarID
	copy       bool
}

func (in *eventMove) takes() []field {
	return slices.Concat([]field{
		takesCalendar(&in.Calendar), in.takesUID(),
		wordTo(&in.id, "event_id", "Instead of both."),
	}, in.takesSeries(), []field{
		fieldTo(&in.start, "new_start", timeForm),
		fieldTo(&in.end, "new_end", "Of whole days, the last."),
		in.takesZoneKept(),
		wordTo(&in.to, "to_calendar_id", "Instead of a time."),
		yesTo(&in.copy, "copy", "Keep the original."),
		in.takesMatch(),
	})
}

// A call that a tool cannot carry out is refused. A success without an effect would be reported to the user as done.

// check refuses a change of nothing, and an empty start or end.
func (in *eventPatch) check() error {
	if in.empty() {
		return errArgument("nothing to change was given").
			Advising("give at least one of " + parameters(slices.Concat(in.takesMain(), in.takesMore(),
				in.takesGuests(), in.takesRare())))
	}
	for _, side := range [...]struct {
		name string
		edit.Field[string]
	}{{"start", in.start}, {"end", in.end}} {
		if !side.Left() && !isTime(side.Field) {
			return errArgument("%q must not be empty: an event has a start and an end; leave %q out to keep it",
				side.name, side.name)
		}
	}
	return in.checkZone("start or end", in.start, in.end)
}

// isTime reports whether a parameter gives a time. An empty one removes the time.
func isTime(f edit.Field[string]) bool {
	value, _ := f.Value()
	return strings.TrimSpace(value) != ""
}

// checkZone refuses a time zone without a time that it applies to.
func (in inZone) checkZone(names string, times ...edit.Field[string]) error {
	if in.timezone == "" || slices.ContainsFunc(times, isTime) {
		return nil
	}
	return errArgument(`"timezone" is the zone of the times that you give, and you gave none: on its own it ` +
		`changes nothing`).
		Advising(`leave "timezone" out, or give ` + names + " with it")
}

// checkAnswers refuses attendees whose response differs from the stored one, because only they can set it.
func (in *eventValues) checkAnswers(event *ical.Component) error {
	var there []edit.Attendee
	if event != nil {
		there = edit.AttendeesOf(event)
	}
	list, _ := in.attendees.Value()
	for _, value := range list {
		_, given, _ := cutAnswer(value)
		if given == "" {
			continue
		}
		if event == nil {
			return errArgument(`"attendees": %s has an answer, but nobody has been asked yet`, wire.Quote(value)).
				Advising("leave the answers out of attendees that you copy")
		}
		if now := answerOf(there, attendeeOf(value).Address); !strings.EqualFold(now, given) {
			return errArgument(`"attendees": the answer of %s is %s and cannot be changed to %s by this tool`,
				wire.Quote(attendeeOf(value).Address), now, wire.Quote(given)).
				Advising("leave answers out to keep them; attendees answer for themselves, the user with " +
					"respond_to_event")
		}
	}
	return nil
}

// answerOf returns the response of an attendee.
func answerOf(all []edit.Attendee, address string) string {
	for _, a := range all {
		if strings.EqualFold(a.Address, address) && a.Status != "" {
			return a.Status
		}
	}
	return noAnswer
}

// checkGuests refuses attendees without an address, and names the people and rooms that the caller may mean.
func (b toolbox) checkGuests(ctx context.Context, c *call, in *eventValues, event *ical.Component) error {
	list, _ := in.attendees.Value()
	var there []edit.Attendee
	if event != nil {
		there = edit.AttendeesOf(event)
	}
	for _, text := range slices.Concat(list, in.more) {
		a := attendeeOf(text)
		known := slices.ContainsFunc(there, func(o edit.Attendee) bool {
			return strings.EqualFold(o.Address, a.Address)
		})
		if strings.ContainsAny(a.Address, "@:/") || known {
			continue
		}
		e := errArgument(`"attendees": %s has no mail address`, wire.Quote(a.Address))
		e.Hint = "write it as Bob Ray <bob@example.com>; ask the user for the address"
		if people := b.meant(ctx, c, a.Address); people != nil {
			e.Hint = "write " + strings.Join(people, " or ") + ", if the user means that"
		}
		return e
	}
	return nil
}

// meant lists the people and rooms with an address that a name may mean, as far as the caller knows them.
func (b toolbox) meant(ctx context.Context, c *call, name string) (list []string) {
	people, err := b.service.People(ctx, c.caller)
	said := content.Words(name)
	if err != nil || len(said) == 0 {
		return nil
	}
	for _, u := range people {
		words := append(content.Words(u.DisplayName), strings.ToLower(u.Name))
		if u.Email == "" || u.Group || len(list) == maxNamed || slices.ContainsFunc(said, func(word string) bool {
			return !slices.Contains(words, word)
		}) {
			continue
		}
		list = append(list, wire.Visible(namedAttendee(edit.Attendee{Name: u.DisplayName, Address: u.Email})))
	}
	return list
}

// adviseUser adds the people whom a name may mean to the refusal of an unknown user.
func (b toolbox) adviseUser(ctx context.Context, c *call, name string, err error) error {
	if err == nil || calendar.ReasonOf(err) != calendar.NotFound {
		return err
	}
	people, failed := b.service.People(ctx, c.caller)
	said := content.Words(name)
	if failed != nil || len(said) == 0 {
		return err
	}
	var list []string
	for _, u := range people {
		words := append(content.Words(u.DisplayName), strings.ToLower(u.Name))
		if u.ID == c.caller.User.ID || u.Room.Bookable() || len(list) == maxNamed ||
			slices.ContainsFunc(said, func(word string) bool { return !slices.Contains(words, word) }) {
			continue
		}
		list = append(list, fmt.Sprintf("%s (%s)", wire.Quote(u.Name), wire.Visible(u.DisplayName)))
	}
	if list == nil {
		return err
	}
	e := calendar.Errorf(calendar.NotFound, "", "no user has the login name or mail address %s", wire.Quote(name))
	e.Hint, e.Cause = "the user may mean "+strings.Join(list, " or ")+": give the login name in quotation marks", err
	return e
}
