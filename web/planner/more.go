package planner

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// DayOf returns the date of a subject in the visitor's zone.
func (p *Planner) DayOf(s Subject) string { return iso(p.here(s.Start.Time)) }

// Writable returns the calendars that the visitor may add events or tasks to, the default one first.
func (p *Planner) Writable(ctx context.Context, kind calendar.Kind) ([]SideCalendar, error) {
	all, err := p.calendars(ctx, kind)
	if err != nil {
		return nil, err
	}
	var list []SideCalendar
	for _, cal := range all {
		if p.Caller.May(calendar.WriteObjects, cal) != nil {
			continue
		}
		listed := SideCalendar{Swatch: SwatchOf(cal), Write: true}
		if cal.Access != calendar.OwnerAccess {
			listed.Owner = clean(cal.OwnerTitle)
		}
		list = append(list, listed)
	}
	said, err := p.Service.Scheduling(ctx, p.Caller)
	if at := slices.IndexFunc(list, func(cal SideCalendar) bool { return cal.ID == said.Default }); at > 0 {
		first := list[at]
		list = slices.Insert(slices.Delete(list, at, at+1), 0, first)
	}
	return list, err
}

// Require returns an error unless the visitor may change the subject.
func (p *Planner) Require(s Subject) error {
	if p.Caller.May(calendar.WriteObjects, s.Calendar) != nil {
		return p.invalid("planner.read-only")
	}
	return nil
}

// Foreign reports whether another person organizes the event, so that its time and text are theirs.
func (p *Planner) Foreign(s Subject) bool {
	organizer := s.Component.Property("ORGANIZER")
	return organizer != nil && !lookup.IsOwn(p.Caller, s.Calendar, organizer.Value()) &&
		p.answerIn(s.Calendar, s.Instance) != ""
}

// Prefill sets fields of a new event that the address names.
func (p *Planner) Prefill(f *EventForm, q url.Values) {
	if title := q.Get("title"); title != "" {
		f.Title = oneLine(title)
	}
	if location := q.Get("location"); location != "" {
		f.Location = oneLine(location)
	}
	if cal := q.Get("calendar"); cal != "" {
		f.Calendar = calendar.CalendarID(cal)
	}
	if q.Get("all-day") != "" {
		f.AllDay = true
	}
	if end, err := time.Parse(localForm, q.Get("end")); err == nil {
		f.End, f.EndTime = end.Format(time.DateOnly), end.Format(clockForm)
	} else if day, err := time.Parse(time.DateOnly, q.Get("end")); err == nil {
		f.End = day.Format(time.DateOnly)
	}
}

// CopyOf returns the form of a new event with the values of another one, without its guests.
func (p *Planner) CopyOf(ctx context.Context, s Subject) EventForm {
	f := p.FormOf(ctx, s.Calendar, s.Instance)
	f.Guests, f.Optional, f.ETag, f.Was = "", "", "", ""
	f.Repeat = Repeat{Every: "1"}
	return f
}

// Weekdays returns the weekdays of a form, from the visitor's first day on.
func (p *Planner) Weekdays() []Choice {
	first := p.Caller.User.FirstDay()
	var list []Choice
	for i := range 7 {
		day := (first + time.Weekday(i)) % 7
		list = append(list, Choice{weekdayCodes[day], p.Language.ShortWeekday(day)})
	}
	return list
}

// FreqChoices returns the ways to repeat, worded for the day of the event.
func (p *Planner) FreqChoices(f EventForm) []Choice {
	var list []Choice
	start, err := time.Parse(time.DateOnly, f.Start)
	if err != nil {
		start = p.today()
	}
	for _, freq := range Freqs {
		id := "planner.repeat." + freq
		if freq == "" {
			id = "planner.repeat.none"
		}
		switch freq {
		case monthly:
			list = append(list, Choice{freq, p.text(id, "day", start.Day())})
		case nthDay:
			which := p.Language.NthWeekday((start.Day()+6)/7, start.Weekday())
			list = append(list, Choice{freq, p.text(id, "which", which)})
		case lastDay:
			list = append(list, Choice{freq, p.text(id, "which", p.Language.NthWeekday(-1, start.Weekday()))})
		case yearly:
			list = append(list, Choice{freq, p.text(id, "day", p.Language.DayMonth(start))})
		default:
			list = append(list, Choice{freq, p.text(id)})
		}
	}
	if f.Repeat.Freq == keptRule || f.Repeat.Kept != "" {
		list = append(list, Choice{keptRule, f.Repeat.Kept})
	}
	return list
}

// People returns the users and rooms that the visitor sees, for suggestions.
func (p *Planner) People(ctx context.Context) ([]Choice, error) {
	people, err := p.Service.People(ctx, p.Caller)
	if err != nil {
		return nil, err
	}
	var list []Choice
	for _, u := range people {
		if u.Email == "" || u.Group || u.ID == p.Caller.User.ID || len(list) == mostGuests {
			continue
		}
		list = append(list, Choice{guestLine(clean(u.Title()), u.Email), clean(u.Title())})
	}
	return list, nil
}

// mostMet limits the addresses of Met.
const mostMet = 200

// Met returns the people that the visitor met in events, as lines of a form. The users of People are left out.
func (p *Planner) Met(ctx context.Context) ([]string, error) {
	people, err := p.Service.People(ctx, p.Caller)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(people))
	for _, u := range people {
		known[strings.ToLower(u.Email)] = true
	}
	met, err := p.Service.Met(ctx, p.Caller, p.meter, mostMet)
	list := make([]string, 0, len(met))
	for _, a := range met {
		if !known[strings.ToLower(a.Address)] {
			list = append(list, guestLine(clean(a.Name), a.Address))
		}
	}
	return list, err
}

// Parts describes the present values of some parts of a form.
func (p *Planner) Parts(now EventForm, names []string) []Choice {
	var list []Choice
	for _, name := range names {
		words := now.parts()[name]
		switch name {
		case "times":
			words = strings.TrimSpace(now.Start + " " + now.StartTime + " – " + now.End + " " + now.EndTime)
		case "repeat":
			words = p.text("planner.repeat.none")
			for _, choice := range p.FreqChoices(now) {
				if choice.Value == now.Repeat.Freq {
					words = choice.Words
				}
			}
		case "free", "private":
			words = p.text("planner.no")
			if name == "free" && now.Free || name == "private" && now.Private {
				words = p.text("planner.yes")
			}
		case "alarms":
			var alarms []string
			for _, minutes := range now.Alarms {
				alarms = append(alarms, p.AlarmChoice(minutes).Words)
			}
			words = strings.Join(alarms, ", ")
		}
		list = append(list, Choice{p.text("planner.part." + name), clean(words)})
	}
	return list
}

// Move returns the change of a drag: new local times, or new days for an event of whole days.
func (p *Planner) Move(s Subject, start, end string) (edit.Change, error) {
	read := func(field, text string) (ical.Time, error) {
		day, clock, _ := strings.Cut(text, "T")
		return p.time(EventForm{AllDay: clock == ""}, field, day, clock, p.Zone.Name())
	}
	var c edit.Change
	from, err := read("start", start)
	if err != nil {
		return c, err
	}
	if from.IsDate() != s.Start.AllDay {
		c.Times.AsGiven = true
	}
	c.Times.Start = edit.To(from)
	if end == "" {
		return c, nil
	}
	to, err := read("end", end)
	if err != nil {
		return c, err
	}
	c.Times.End = edit.To(to)
	return c, nil
}

// Retime sets the new times of a drag in a form. They are in the visitor's zone, and the event keeps its own one. It
// keeps its length unless the drag gives an end.
func (p *Planner) Retime(f *EventForm, s Subject, start, end string) error {
	change, err := p.Move(s, start, end)
	if err != nil {
		return err
	}
	from, _ := change.Times.Start.Value()
	if from.IsDate() || s.Start.AllDay {
		f.Start = iso(wall(from.Civil))
		f.End = iso(wall(from.Civil).Add(s.End.Time.Sub(s.Start.Time) - 12*time.Hour))
		return nil
	}
	there := s.Start.Time.Location()
	begin, _ := p.Zone.Resolve(from.Civil)
	until := begin.Add(s.End.Time.Sub(s.Start.Time))
	if to, given := change.Times.End.Value(); given {
		until, _ = p.Zone.Resolve(to.Civil)
	}
	f.setTimes(begin.In(there), until.In(there))
	if f.EndZone != "" {
		last := until.In(s.End.Time.Location())
		f.End, f.EndTime = last.Format(time.DateOnly), last.Format(clockForm)
	}
	return nil
}

// Delete deletes an event or a task, or a part of a series.
// The comment is for its guests.
func (p *Planner) Delete(
	ctx context.Context, s Subject, scope edit.Scope, comment string, seen calendar.ETag,
) (ledger.Edited, error) {
	e := ledger.Cancellation{
		Target: s.Target(scope), Telling: calendar.TellAll, Comment: clean(comment), Meter: p.meter,
	}
	if seen != "" {
		e.When.Match = []calendar.ETag{seen}
	}
	return p.Service.CancelObject(ctx, p.Caller, s.Calendar, s.Object.UID, e)
}

// Answer answers an invitation, for one instance or for all.
func (p *Planner) Answer(ctx context.Context, s Subject, status, comment string, one bool) error {
	r := ledger.Response{Response: schedule.Response{Status: status, Comment: clean(comment)}, Meter: p.meter}
	if one {
		r.Instance = s.At
	}
	_, err := p.Service.Respond(ctx, p.Caller, s.Calendar, s.Object.UID, r)
	return err
}

// Carry moves or copies an event to another calendar.
func (p *Planner) Carry(ctx context.Context, s Subject, to calendar.CalendarID, copied bool) (calendar.Saved, error) {
	target, err := p.Service.Calendar(ctx, p.Caller, to)
	if err != nil {
		return calendar.Saved{}, err
	}
	carry := p.Service.MoveToCalendar
	if copied {
		carry = p.Service.CopyToCalendar
	}
	return carry(ctx, p.Caller, s.Calendar, s.Object.UID, target, calendar.Precondition{})
}

// palette lists the colours to choose for an event. RFC 7986 §5.9 allows names of CSS alone.
var palette = []string{
	"crimson", "darkorange", "gold", "yellowgreen", "seagreen", "teal", "deepskyblue", "royalblue", "darkviolet",
	"hotpink", "sienna", "slategray",
}

// otherColor is the choice of any shade. It becomes the nearest name.
const otherColor = "other"

// ColorChoices returns the colours to choose, with the present one.
func (p *Planner) ColorChoices(now string) []Choice {
	list := []Choice{{"", p.text("planner.color.none")}}
	for _, name := range palette {
		list = append(list, Choice{name, p.text("planner.color." + name)})
	}
	if !slices.ContainsFunc(list, func(c Choice) bool { return c.Value == now }) {
		list = append(list, Choice{now, clean(now)})
	}
	return list
}

// shades are the names that a free choice can become, with their values.
var shades = []shade{
	{"black", 0x000000},
	{"gray", 0x808080},
	{"silver", 0xc0c0c0},
	{"white", 0xffffff},
	{"darkred", 0x8b0000},
	{"crimson", 0xdc143c},
	{"red", 0xff0000},
	{"tomato", 0xff6347},
	{"salmon", 0xfa8072},
	{"darkorange", 0xff8c00},
	{"orange", 0xffa500},
	{"gold", 0xffd700},
	{"yellow", 0xffff00},
	{"khaki", 0xf0e68c},
	{"chocolate", 0xd2691e},
	{"saddlebrown", 0x8b4513},
	{"sienna", 0xa0522d},
	{"tan", 0xd2b48c},
	{"olive", 0x808000},
	{"yellowgreen", 0x9acd32},
	{"lime", 0x00ff00},
	{"limegreen", 0x32cd32},
	{"green", 0x008000},
	{"darkgreen", 0x006400},
	{"seagreen", 0x2e8b57},
	{"teal", 0x008080},
	{"turquoise", 0x40e0d0},
	{"cyan", 0x00ffff},
	{"skyblue", 0x87ceeb},
	{"deepskyblue", 0x00bfff},
	{"dodgerblue", 0x1e90ff},
	{"royalblue", 0x4169e1},
	{"blue", 0x0000ff},
	{"navy", 0x000080},
	{"slateblue", 0x6a5acd},
	{"slategray", 0x708090},
	{"purple", 0x800080},
	{"darkviolet", 0x9400d3},
	{"orchid", 0xda70d6},
	{"violet", 0xee82ee},
	{"magenta", 0xff00ff},
	{"hotpink", 0xff69b4},
	{"deeppink", 0xff1493},
	{"pink", 0xffc0cb},
	{"lavender", 0xe6e6fa},
	{"maroon", 0x800000},
}

type shade struct {
	name  string
	value int
}

// colorIn returns the name of a chosen colour. The name for a free choice is the nearest one.
func colorIn(name, free string) string {
	want, err := strconv.ParseInt(strings.TrimPrefix(free, "#"), 16, 32)
	if name != otherColor || err != nil {
		return name
	}
	distance := func(s shade) (sum int) {
		for shift := 0; shift < 24; shift += 8 {
			d := int(want)>>shift&0xff - s.value>>shift&0xff
			sum += d * d
		}
		return sum
	}
	return slices.MinFunc(shades, func(a, b shade) int { return cmp.Compare(distance(a), distance(b)) }).name
}
