package planner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/timetext"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// EventForm holds the fields of the form for an event, as typed. The form also sends a digest of each part as it was
// shown. An edit consists of the parts that differ from their digest, so it changes nothing that the visitor has not
// changed, and it notices a part that another person changed meanwhile.
type EventForm struct {
	Calendar               calendar.CalendarID
	Title, Location, Notes string
	URL, Color             string
	Start, StartTime       string // 2026-11-23 and 09:30
	End, EndTime           string // of whole days, the last one
	AllDay                 bool
	Zone, EndZone          string
	Repeat                 Repeat
	Alarms                 []string // in minutes before the start
	Free, Private          bool
	Guests, Optional       string // one per line
	Was                    string // the digests
	ETag                   calendar.ETag
	has                    func(name string) bool
}

// floatingZone is the value of the zone's field for an event that takes place at the same local time everywhere.
const floatingZone = "floating"

// ReadForm reads a form.
func ReadForm(v url.Values) EventForm {
	text := func(name string) string { return strings.TrimSpace(v.Get(name)) }
	f := EventForm{
		Calendar: calendar.CalendarID(text("calendar")), Title: text("title"), Location: text("location"),
		Notes: lines(v.Get("notes")), URL: text("url"), Color: colorIn(text("color"), text("shade")),
		Start:     text("start"),
		StartTime: text("start-time"), End: text("end"), EndTime: text("end-time"), AllDay: v.Get("all-day") != "",
		Zone: text("zone"), EndZone: text("end-zone"), Free: v.Get("free") != "", Private: v.Get("private") != "",
		Guests: lines(v.Get("guests")), Optional: lines(v.Get("optional")), Was: v.Get("was"),
		ETag: calendar.ETag(v.Get("etag")),
		Repeat: Repeat{
			Freq: text("repeat"), Every: text("every"), Days: v["days"], Ends: text("ends"), Until: text("until"),
			Count: text("count"),
		},
	}
	for _, minutes := range v["alarm"] {
		if minutes != "" && !slices.Contains(f.Alarms, minutes) {
			f.Alarms = append(f.Alarms, minutes)
		}
	}
	// A form shows only the fields that the visitor may change. Boxes that are not ticked are not sent.
	shown := strings.Fields(v.Get("shown"))
	f.has = func(name string) bool { return len(shown) == 0 || slices.Contains(shown, name) }
	return f
}

// lines returns the text of a field with simple line ends.
func lines(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}

// parts returns the parts of a form that change together.
func (f EventForm) parts() map[string]string {
	r := f.Repeat
	if f.AllDay {
		f.StartTime, f.EndTime = "", "" // only proposals, see ProposeTimes
	}
	return map[string]string{
		"title": f.Title, "location": f.Location, "notes": f.Notes, "url": f.URL, "color": f.Color,
		"times": strings.Join([]string{
			f.Start, f.StartTime, f.End, f.EndTime, strconv.FormatBool(f.AllDay), f.Zone, f.EndZone,
		}, " "),
		"repeat": strings.Join([]string{r.Freq, r.Every, strings.Join(r.Days, ","), r.Ends, r.Until, r.Count}, " "),
		"alarms": strings.Join(f.Alarms, " "), "free": strconv.FormatBool(f.Free),
		"private": strconv.FormatBool(f.Private), "guests": f.Guests + "\n\n" + f.Optional,
	}
}

// partNames lists the parts of a form in their order on the page.
var partNames = []string{
	"title", "times", "repeat", "location", "guests", "notes", "alarms", "url", "free", "private", "color",
}

// digests returns the digests of the parts, for the form itself.
func (f EventForm) digests() string {
	parts := f.parts()
	list := make([]string, len(partNames))
	for i, name := range partNames {
		list[i] = name + "." + digest(parts[name])
	}
	return strings.Join(list, "_")
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Sealed returns the form with the digests of its present parts.
func (f EventForm) Sealed() EventForm {
	f.Was = f.digests()
	return f
}

// Touched lists the parts that the visitor changed.
func (f EventForm) Touched() []string {
	was, parts := map[string]string{}, f.parts()
	for entry := range strings.SplitSeq(f.Was, "_") {
		if name, sum, ok := strings.Cut(entry, "."); ok {
			was[name] = sum
		}
	}
	return slices.DeleteFunc(slices.Clone(partNames), func(name string) bool {
		return was[name] == digest(parts[name]) || f.has != nil && !f.has(name)
	})
}

// NewForm returns the form of a new event on a day or at a time, with the usual values.
func (p *Planner) NewForm(at string, all []SideCalendar) (EventForm, error) {
	f := EventForm{Zone: p.Zone.Name(), Repeat: Repeat{Every: "1"}}
	start := p.here(p.Now).Truncate(time.Hour).Add(time.Hour)
	if day, err := p.readDay(at); err == nil {
		y, m, d := day.Date()
		start = time.Date(y, m, d, start.Hour(), 0, 0, 0, p.Zone.Location())
	} else if exact, err := time.ParseInLocation(localForm, at, p.Zone.Location()); err == nil {
		start = exact
	} else if at != "" {
		return f, p.invalid("planner.bad-day", "day", clean(at), "example", p.today().Format(time.DateOnly))
	}
	f.setTimes(start, start.Add(time.Hour))
	for _, cal := range all {
		if cal.Write && f.Calendar == "" {
			f.Calendar = cal.ID
		}
	}
	return f, nil
}

// setTimes sets the times of an event that does not last whole days.
func (f *EventForm) setTimes(start, end time.Time) {
	f.Start, f.StartTime = start.Format(time.DateOnly), start.Format(clockForm)
	f.End, f.EndTime = end.Format(time.DateOnly), end.Format(clockForm)
}

// ProposeTimes fills in the times of an event that has none: an hour from the next full hour, on the same day. They
// count once the visitor says that the event does not last whole days.
func (p *Planner) ProposeTimes(f *EventForm) {
	hour := min(p.here(p.Now).Hour()+1, 22)
	if start, err := time.Parse(clockForm, f.StartTime); err == nil {
		hour = min(start.Hour(), 22)
	} else {
		f.StartTime = clockAt(hour)
	}
	if _, err := time.Parse(clockForm, f.EndTime); err != nil {
		f.EndTime = cmp.Or(f.EndTime, clockAt(hour+1))
	}
}

func clockAt(hour int) string {
	return time.Date(2000, 1, 1, hour, 0, 0, 0, time.UTC).Format(clockForm)
}

// clockForm is a time of day, as inputs of forms write it.
const clockForm = "15:04"

// FormOf returns the form of an event, or of an instance of a series.
func (p *Planner) FormOf(ctx context.Context, cal calendar.Calendar, i query.Instance) EventForm {
	c := i.Component
	f := EventForm{
		Calendar: cal.ID, Title: oneLine(content.TextOf(c, "SUMMARY")),
		Location: oneLine(content.TextOf(c, "LOCATION")), Notes: lines(content.TextOf(c, "DESCRIPTION")),
		Color: content.TextOf(c, "COLOR"), Free: content.Transparent(c), AllDay: i.Start.AllDay,
		Private: slices.Contains([]string{string(edit.Private), string(edit.Confidential)}, content.WordOf(c, "CLASS")),
		ETag:    i.Object.ETag,
	}
	if url := c.Property("URL"); url != nil {
		f.URL = strings.TrimSpace(url.Value())
	}
	for _, a := range edit.AlarmsOf(c) {
		f.Alarms = append(f.Alarms, strconv.Itoa(a.Minutes))
	}
	start, end := i.Start.Time, i.End.Time
	switch {
	case i.Start.AllDay:
		f.Start = start.Format(time.DateOnly)
		f.End = i.End.Civil().AddDays(-1).Date().String()[:len(time.DateOnly)]
		if !end.After(start) {
			f.End = f.Start
		}
		f.Zone = p.Zone.Name()
	case i.Start.Floating:
		f.Zone = floatingZone
		f.setTimes(start, end)
	default:
		f.Zone = start.Location().String()
		f.setTimes(start, end.In(start.Location()))
		if there := endThere(i); there.Location().String() != f.Zone {
			f.EndZone = there.Location().String()
			f.End, f.EndTime = there.Format(time.DateOnly), there.Format(clockForm)
		}
	}
	f.Repeat = p.repeatOf(c, i.Start)
	p.learnNames(ctx, true, c)
	f.Guests, f.Optional = p.guestsOf(cal, c)
	return f.Sealed()
}

// endThere returns the end of an event on the clock of its own zone. UTC is no clock that people use.
func endThere(i query.Instance) time.Time {
	name := content.EndZone(i.Component)
	if name == "" || name == time.UTC.String() || i.End.AllDay || i.End.Floating {
		return i.End.Time
	}
	there, err := zone.NewDB().Lookup(name)
	if err != nil {
		return i.End.Time
	}
	return i.End.Time.In(there.Location())
}

// oneLine returns a text for an input of one line, which cannot hold line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Merge returns the form of the present event with the visitor's changes, and the names of the parts that another
// person changed, too.
func (p *Planner) Merge(typed, now EventForm) (merged EventForm, both []string) {
	touched := typed.Touched()
	changed := EventForm{Was: typed.Was}
	merged = now
	for _, name := range touched {
		merged.take(name, typed)
		if current := now; !slices.Contains(changed.unchanged(current), name) {
			both = append(both, name)
		}
	}
	merged.Was, merged.has = now.Was, typed.has
	return merged, both
}

// unchanged lists the parts of a form that still have the digests that f has.
func (f EventForm) unchanged(now EventForm) []string {
	now.Was, now.has = f.Was, nil
	touched := now.Touched()
	return slices.DeleteFunc(slices.Clone(partNames), func(name string) bool { return slices.Contains(touched, name) })
}

// take copies a part of another form.
func (f *EventForm) take(name string, from EventForm) {
	switch name {
	case "title":
		f.Title = from.Title
	case "location":
		f.Location = from.Location
	case "notes":
		f.Notes = from.Notes
	case "url":
		f.URL = from.URL
	case "color":
		f.Color = from.Color
	case "times":
		f.Start, f.StartTime, f.End, f.EndTime = from.Start, from.StartTime, from.End, from.EndTime
		f.AllDay, f.Zone, f.EndZone = from.AllDay, from.Zone, from.EndZone
	case "repeat":
		f.Repeat = from.Repeat
	case "alarms":
		f.Alarms = from.Alarms
	case "free":
		f.Free = from.Free
	case "private":
		f.Private = from.Private
	case "guests":
		f.Guests, f.Optional = from.Guests, from.Optional
	}
}

// FormError is an error in one field of a form.
type FormError struct {
	// Field is the name of the input.
	Field string
	err   *calendar.Error
}

func (e *FormError) Error() string { return e.err.Error() }

// Unwrap returns the error for the page.
func (e *FormError) Unwrap() error { return e.err }

func (p *Planner) invalid(id string, pairs ...any) *calendar.Error {
	return calendar.Errorf(calendar.Invalid, "", "%s", p.text(id, pairs...))
}

// wrong returns an error in a field.
func (p *Planner) wrong(field, id string, pairs ...any) error {
	return &FormError{field, p.invalid(id, pairs...)}
}

// Draft returns the event that a form describes.
func (p *Planner) Draft(ctx context.Context, f EventForm) (edit.Draft, error) {
	d := edit.Draft{Kind: content.Event}
	parts := slices.DeleteFunc(slices.Clone(partNames), func(name string) bool { return name == "times" })
	var err error
	if d.Fields, err = p.fields(ctx, f, nil, parts); err != nil {
		return d, err
	}
	start, end, err := p.times(f)
	d.Times = edit.Times{Start: edit.To(start), End: edit.To(end), AsGiven: true}
	return d, err
}

// Change returns the changes of a form to an event. Nothing is changed if the visitor touched nothing.
func (p *Planner) Change(
	ctx context.Context, f, before EventForm, i query.Instance,
) (c edit.Change, differs bool, err error) {
	touched := f.Touched()
	if len(touched) == 0 {
		return c, false, nil
	}
	if slices.Contains(touched, "times") {
		start, end, err := p.times(f)
		if err != nil {
			return c, false, err
		}
		c.Times = edit.Times{
			Start: edit.To(start), End: edit.To(end),
			AsGiven:    f.Zone != before.Zone || f.AllDay != before.AllDay,
			EndAsGiven: f.EndZone != before.EndZone,
		}
		if f.Start == before.Start && f.StartTime == before.StartTime && !c.Times.AsGiven {
			c.Times.Start = edit.Field[ical.Time]{}
		}
	}
	c.Fields, err = p.fields(ctx, f, i.Component, slices.DeleteFunc(touched, func(name string) bool {
		return name == "times"
	}))
	return c, true, err
}

// textField changes a text, or removes it if it is empty.
func textField(text string) edit.Field[string] {
	if text == "" {
		return edit.Clear[string]()
	}
	return edit.To(text)
}

// fields returns the changes of some parts. The event is nil if it is new.
func (p *Planner) fields(
	ctx context.Context, f EventForm, event *ical.Component, parts []string,
) (e edit.Fields, err error) {
	fresh := event == nil
	for _, name := range parts {
		switch name {
		case "title":
			e.Summary = textField(f.Title)
		case "location":
			e.Location = textField(f.Location)
		case "notes":
			e.Description = textField(f.Notes)
		case "url":
			e.URL = textField(f.URL)
		case "color":
			e.Color = textField(f.Color)
		case "free":
			e.Transparency = choose(f.Free, edit.Transparent, fresh)
		case "private":
			e.Class = choose(f.Private, edit.Private, fresh)
		case "alarms":
			e.Alarms, err = p.alarms(f.Alarms)
		case "repeat":
			e.Rule, err = p.rule(f)
		case "guests":
			e.Attendees, err = p.attendees(ctx, f, event)
		}
		if err != nil {
			return e, err
		}
	}
	if fresh {
		// Nothing can be removed from a new event.
		for _, text := range []*edit.Field[string]{
			&e.Summary, &e.Location, &e.Description, &e.URL, &e.Color, &e.Rule,
		} {
			if text.Cleared() {
				*text = edit.Field[string]{}
			}
		}
	}
	return e, nil
}

// choose sets a word if a box is ticked. Otherwise it removes the word, unless the event is new.
func choose[T any](ticked bool, word T, fresh bool) edit.Field[T] {
	switch {
	case ticked:
		return edit.To(word)
	case fresh:
		return edit.Field[T]{}
	}
	return edit.Clear[T]()
}

// mostAlarms limits the reminders of a form.
const mostAlarms = 10

func (p *Planner) alarms(list []string) (edit.Field[[]edit.Alarm], error) {
	if len(list) == 0 {
		return edit.Clear[[]edit.Alarm](), nil
	}
	if len(list) > mostAlarms {
		return edit.Field[[]edit.Alarm]{}, p.wrong("alarm", "planner.many-alarms", "count", mostAlarms)
	}
	var alarms []edit.Alarm
	for _, text := range list {
		minutes, err := strconv.Atoi(text)
		if err != nil {
			return edit.Field[[]edit.Alarm]{}, p.wrong("alarm", "planner.bad-alarm", "text", clean(text))
		}
		alarms = append(alarms, edit.Alarm{Minutes: minutes})
	}
	return edit.To(alarms), nil
}

// times returns the start and the end of an event. The end of whole days is the day after the last.
func (p *Planner) times(f EventForm) (start, end ical.Time, err error) {
	if start, err = p.time(f, "start", f.Start, f.StartTime, f.Zone); err != nil {
		return start, end, err
	}
	last := cmp.Or(f.End, f.Start)
	if end, err = p.time(f, "end", last, cmp.Or(f.EndTime, f.StartTime), cmp.Or(f.EndZone, f.Zone)); err != nil {
		return start, end, err
	}
	switch {
	case f.AllDay && end.Civil.Before(start.Civil), !f.AllDay && f.EndZone == "" && end.Civil.Before(start.Civil):
		return start, end, p.wrong("end", "planner.end-before-start")
	case f.AllDay:
		end = ical.Date(end.Civil.AddDays(1))
	}
	return start, end, nil
}

// time reads a time of a form.
func (p *Planner) time(f EventForm, field, date, clock, zoneName string) (ical.Time, error) {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil || day.Year() < 1900 || day.Year() > 9000 {
		return ical.Time{}, p.wrong(field, "planner.bad-day", "day", clean(date), "example",
			p.today().Format(time.DateOnly))
	}
	civil := ical.CivilDate(day.Year(), day.Month(), day.Day())
	if f.AllDay {
		return ical.Date(civil), nil
	}
	at, err := time.Parse(clockForm, clock)
	if err != nil {
		return ical.Time{}, p.wrong(field+"-time", "planner.bad-time", "time", clean(clock))
	}
	civil = civil.AddSeconds(int64(at.Hour()*3600 + at.Minute()*60))
	if zoneName == floatingZone {
		return ical.Floating(civil), nil
	}
	z := p.Zone
	if zoneName != "" {
		if z, err = zone.NewDB().Ask(zoneName); err != nil {
			return ical.Time{}, p.wrong("zone", "planner.bad-zone", "zone", clean(zoneName))
		}
	}
	t, err := timetext.Local(civil, z)
	if doubt := (*timetext.AmbiguousError)(nil); asError(err, &doubt) {
		if doubt.Skipped {
			return t, p.wrong(field+"-time", "planner.skipped-time", "time", clock, "zone", z.Name())
		}
		return ical.Zoned(civil, z.Name()), nil // the first of the two
	}
	return t, err
}

// mostGuests limits the guests of a form.
const mostGuests = 500

// guestsOf returns the guests of an event for a form, one per line, with the names that learnNames found. The organizer
// and the visitor are left out.
func (p *Planner) guestsOf(cal calendar.Calendar, c *ical.Component) (required, optional string) {
	var must, may []string
	for _, a := range edit.AttendeesOf(c) {
		if p.hidden(cal, c, a) {
			continue
		}
		line := guestLine(p.nameOf(a.Name, a.Address), a.Address)
		if strings.EqualFold(a.Role, optionalRole) {
			may = append(may, line)
		} else {
			must = append(must, line)
		}
	}
	return strings.Join(must, "\n"), strings.Join(may, "\n")
}

// guestLine writes a guest in the form that a form reads. A name with a separator is quoted.
func guestLine(name, address string) string {
	name = oneLine(name)
	switch {
	case name == "", name == address:
		return address
	case strings.ContainsAny(name, `,;<>@"`):
		name = `"` + strings.ReplaceAll(name, `"`, "'") + `"`
	}
	return name + " <" + address + ">"
}

const optionalRole = "OPT-PARTICIPANT"

// hidden reports whether a form leaves out an attendee: the organizer and the visitor always stay.
func (p *Planner) hidden(cal calendar.Calendar, c *ical.Component, a edit.Attendee) bool {
	if lookup.IsOwn(p.Caller, cal, a.Address) {
		return true
	}
	organizer := c.Property("ORGANIZER")
	return organizer != nil && strings.EqualFold(strings.TrimPrefix(strings.ToLower(organizer.Value()), "mailto:"),
		a.Address)
}

// attendees returns the attendees of a form, and the event's attendees that the form leaves out.
func (p *Planner) attendees(
	ctx context.Context, f EventForm, event *ical.Component,
) (edit.Field[[]edit.Attendee], error) {
	var list []edit.Attendee
	if event != nil {
		cal, err := p.Service.Calendar(ctx, p.Caller, f.Calendar)
		if err != nil {
			return edit.Field[[]edit.Attendee]{}, err
		}
		for _, a := range edit.AttendeesOf(event) {
			if p.hidden(cal, event, a) {
				list = append(list, a)
			}
		}
	}
	for _, group := range []struct{ field, text, role string }{
		{"guests", f.Guests, "REQ-PARTICIPANT"}, {"optional", f.Optional, optionalRole},
	} {
		for _, line := range splitGuests(group.text) {
			a, err := p.guest(ctx, group.field, line)
			if err != nil {
				return edit.Field[[]edit.Attendee]{}, err
			}
			a.Role = group.role
			list = append(list, a)
		}
	}
	if len(list) > mostGuests {
		return edit.Field[[]edit.Attendee]{}, p.wrong("guests", "planner.many-guests", "count", mostGuests)
	}
	if event == nil && len(list) == 0 {
		return edit.Field[[]edit.Attendee]{}, nil
	}
	return edit.To(list), nil
}

// splitGuests splits a list of guests at line ends, and at commas and semicolons after an address.
func splitGuests(text string) []string {
	var list []string
	quoted := false
	begin := 0
	add := func(end int) {
		if guest := strings.TrimSpace(text[begin:end]); guest != "" {
			list = append(list, guest)
		}
	}
	for i, r := range text {
		switch r {
		case '"':
			quoted = !quoted
		case '\n':
			quoted = false
			add(i)
			begin = i + 1
		case ',', ';':
			if before := text[begin:i]; !quoted && (strings.Contains(before, "@") || !strings.Contains(before, "<")) {
				add(i)
				begin = i + 1
			}
		}
	}
	add(len(text))
	return list
}

// Guests reads a list of guests in a field.
func (p *Planner) Guests(ctx context.Context, field, text string) (list []edit.Attendee, err error) {
	for _, line := range splitGuests(lines(text)) {
		a, err := p.guest(ctx, field, line)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// guest reads one guest: an address with or without a name, or the name of a user or a room.
func (p *Planner) guest(ctx context.Context, field, text string) (edit.Attendee, error) {
	if strings.Contains(text, "@") {
		if a, err := mail.ParseAddress(text); err == nil {
			return edit.Attendee{Address: a.Address, Name: a.Name}, nil
		}
		// Names with dots and commas are often not quoted.
		if name, rest, ok := strings.Cut(text, "<"); ok {
			address, _, _ := strings.Cut(rest, ">")
			if a, err := mail.ParseAddress(strings.TrimSpace(address)); err == nil {
				return edit.Attendee{Address: a.Address, Name: strings.Trim(strings.TrimSpace(name), `"`)}, nil
			}
		}
		return edit.Attendee{}, p.wrong(field, "planner.bad-guest", "guest", clean(text))
	}
	found, err := p.Service.FindPeople(ctx, p.Caller, func(u calendar.User, compare calendar.Comparison) bool {
		return compare(u.Name, text, calendar.Equals) || compare(u.DisplayName, text, calendar.Equals)
	})
	if err != nil {
		return edit.Attendee{}, err
	}
	people := slices.DeleteFunc(found, func(u calendar.User) bool { return u.Group })
	found = slices.DeleteFunc(slices.Clone(people), func(u calendar.User) bool { return u.Email == "" })
	switch len(found) {
	case 0:
		if len(people) > 0 {
			return edit.Attendee{}, p.wrong(field, "planner.guest-without-mail", "guest", people[0].Title())
		}
		return edit.Attendee{}, p.wrong(field, "planner.unknown-guest", "guest", clean(text))
	case 1:
		return edit.Attendee{Address: found[0].Email, Name: found[0].Title()}, nil
	}
	return edit.Attendee{}, p.wrong(field, "planner.several-guests", "guest", clean(text), "count", len(found))
}
