package mcp

import (
	"strings"
	"time"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// eventView is an event in the form of the first version's tools that write. It has two sets of names for the
// same: those that read have another.
type eventView struct {
	UID          shown               `json:"uid"`
	Calendar     calendar.CalendarID `json:"calendar_id"`
	Title        shown               `json:"title"`
	Start        string              `json:"start" doc:"As iCalendar: in UTC, a date, or floating."`
	End          string              `json:"end" doc:"As iCalendar: of whole days, the day after the last."`
	ETag         calendar.ETag       `json:"etag"`
	RecurrenceID string              `json:"recurrence_id,omitempty" doc:"Which instance of a series it is."`
}

// readView is one in the form of the tools that read.
type readView struct {
	UID          shown               `json:"uid"`
	Calendar     calendar.CalendarID `json:"calendar_id"`
	Summary      shown               `json:"summary"`
	Start        string              `json:"dtstart" doc:"As iCalendar: in UTC, a date, or floating."`
	End          string              `json:"dtend" doc:"As iCalendar: of whole days, the day after the last."`
	ETag         calendar.ETag       `json:"etag"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
}

// timesView is for people and models, which get weekdays wrong when they work them out.
type timesView struct {
	AllDay       bool   `json:"all_day"`
	StartLocal   string `json:"start_local"`
	StartWeekday string `json:"start_weekday"`
	EndLocal     string `json:"end_local" doc:"Of whole days, the last."`
	EndWeekday   string `json:"end_weekday"`
}

// zoneView says what the local times are in.
type zoneView struct {
	Timezone       string     `json:"timezone" doc:"Of all local times here."`
	TimezoneSource zoneSource `json:"timezone_source"`
}

// placedView is when an event is, and on whose clock.
type placedView struct {
	timesView
	zoneView
	EventTimezone string `json:"event_timezone,omitempty" doc:"The zone whose clock the event keeps; floating: that of wherever one is."`
	EndTimezone   string `json:"end_timezone,omitempty" doc:"Of its end, where that is another."`
	Recurring     bool   `json:"recurring"`
}

// moreView is what else there is to say of an event or a task.
type moreView struct {
	Rule        string  `json:"rrule,omitempty"`
	Description shown   `json:"description,omitempty"`
	Left        []shown `json:"exdate,omitempty" doc:"Left out of the series."`
	Extra       []shown `json:"rdate,omitempty"`
	URL         shown   `json:"url,omitempty"`
	Class       string  `json:"class,omitempty"`
	Color       string  `json:"color,omitempty"`
	Categories  []shown `json:"categories,omitempty"`
	Alarms      []int   `json:"alarms,omitempty" doc:"Minutes before the start; of a task without one, before it is due."`
	Others      []shown `json:"other_alarms,omitempty" doc:"They stay, unless alarms is given with such, or empty."`
	MoreAlarms  int     `json:"more_alarms,omitempty" doc:"So many are not shown: setting alarms would remove them."`
}

// detailsView is all that there is to say of an event.
type detailsView struct {
	placedView
	moreView     `in:"get_event"`
	Location     shown   `json:"location,omitempty" in:"get_event"`
	Status       string  `json:"status,omitempty" in:"get_event"`
	Transparency string  `json:"transparency,omitempty" in:"get_event"`
	Attendees    []shown `json:"attendees,omitempty" doc:"Each with the answer behind it." in:"get_event"`
	standingView `in:"get_event"`
}

// stamp writes a moment as the first version has it: in UTC, or as a date or a floating time. What floats to the second time
// that a clock shows is in UTC too, or an event would end before it begins.
func stamp(m recur.Moment) string {
	switch {
	case m.Time.IsZero():
		return ""
	case m.AllDay:
		return ical.Date(m.Civil()).String()
	case m.Floating && !m.Repeated():
		return ical.Floating(m.Civil()).String()
	default:
		return ical.Instant(m.Time).String()
	}
}

// local writes a moment for people, with its weekday. A floating time has no offset, unless it is one that the clock shows again.
func (z zoned) local(m recur.Moment) (at, weekday string) {
	switch {
	case m.Time.IsZero():
		return "", ""
	case m.AllDay:
		return m.Civil().Date().String()[:len(time.DateOnly)], m.Civil().Weekday().String()
	case m.Floating && !m.Repeated():
		return m.Civil().String(), m.Civil().Weekday().String()
	default:
		there := m.Time.In(z.Location())
		return there.Format(time.RFC3339), there.Weekday().String()
	}
}

func (z zoned) view() zoneView { return zoneView{z.Name(), z.source} }

// times writes when an instance is. The end of whole days is the last of them.
func (z zoned) times(i query.Instance) timesView {
	v := timesView{AllDay: i.Start.AllDay || i.Start.Time.IsZero() && i.End.AllDay}
	v.StartLocal, v.StartWeekday = z.local(i.Start)
	end := i.End
	if end.AllDay && end.Time.After(i.Start.Time) && i.Component.Name() == content.Event {
		last := end.Civil().AddDays(-1)
		v.EndLocal, v.EndWeekday = last.Date().String()[:len(time.DateOnly)], last.Weekday().String()
		return v
	}
	v.EndLocal, v.EndWeekday = z.local(end)
	return v
}

// viewOfEvent is an instance in the names of the tools that write.
func viewOfEvent(i query.Instance) eventView {
	r := readViewOf(i)
	return eventView{r.UID, r.Calendar, r.Summary, r.Start, r.End, r.ETag, r.RecurrenceID}
}

func readViewOf(i query.Instance) readView {
	v := readView{
		UID: shown(i.Object.UID), Calendar: i.Object.Calendar, Summary: shown(cut(i.Object.Summary)), ETag: i.Object.ETag,
		Start: stamp(i.Start), End: stamp(i.End),
	}
	if i.Component != nil {
		v.Summary = shown(cut(content.TextOf(i.Component, "SUMMARY")))
	}
	if isSeries(i) {
		v.RecurrenceID = stamp(i.RecurrenceID)
	}
	return v
}

// isSeries tells whether an instance is one of several. One alone that has a recurrence id is
// of a series that somebody else keeps.
func isSeries(i query.Instance) bool {
	return i.Object.Recurring || i.Component != nil && i.Component.Property("RECURRENCE-ID") != nil
}

func (z zoned) placed(i query.Instance) placedView {
	return placedView{z.times(i), z.view(), clockOf(i.Start), endZoneOf(i.Component), isSeries(i)}
}

// endZoneOf names the zone in which an event ends, if that is not the one in which it begins.
func endZoneOf(c *ical.Component) string {
	if c == nil || c.Property("DTSTART") == nil || c.Property("DTEND") == nil {
		return ""
	}
	start, err := c.Property("DTSTART").Time()
	if err != nil {
		return ""
	}
	end, err := c.Property("DTEND").Time()
	switch {
	case err != nil || end.Form == start.Form && end.TZID == start.TZID:
		return ""
	case end.Form == ical.FormUTC:
		return time.UTC.String()
	}
	return visible(end.TZID)
}

// details says all of an instance, as it stands to the caller.
func (z zoned) details(who calendar.Caller, cal calendar.Calendar, i query.Instance) detailsView {
	c := i.Component
	v := detailsView{
		placedView: z.placed(i), moreView: z.moreOf(c), Location: shown(cut(content.TextOf(c, "LOCATION"))),
		Status: visible(content.WordOf(c, "STATUS")), Transparency: visible(content.WordOf(c, "TRANSP")), standingView: standing(who, cal, c),
	}
	v.Attendees = few(each(edit.AttendeesOf(c), attendeeText))
	return v
}

// moreOf says what events and tasks have alike.
func (z zoned) moreOf(c *ical.Component) moreView {
	v := moreView{Description: shown(cut(content.TextOf(c, "DESCRIPTION")))}
	if p := c.Property("RRULE"); p != nil {
		v.Rule = visible(cut(p.Value()))
	}
	if p := c.Property("URL"); p != nil {
		v.URL = shown(cut(p.Value()))
	}
	var tags []string
	for _, p := range c.All("CATEGORIES") {
		tags = append(tags, p.TextList()...)
	}
	v.Categories = few(tags)
	for _, a := range edit.AlarmsOf(c) {
		if len(v.Alarms) == mostItems {
			v.MoreAlarms++
			continue
		}
		v.Alarms = append(v.Alarms, a.Minutes)
	}
	v.Others = few(each(edit.OtherAlarmsOf(c), z.alarmText))
	v.Class, v.Color = visible(content.WordOf(c, "CLASS")), visible(cut(content.TextOf(c, "COLOR")))
	v.Left, v.Extra = few(each(edit.DatesOf(c, "EXDATE"), ical.Time.String)), few(each(edit.DatesOf(c, "RDATE"), ical.Time.String))
	return v
}

// mostItems is how many of a list one event shows.
const mostItems = 100

// few shows the first of a list, and says how many are left out.
func few(list []string) []shown {
	var items []shown
	for i, item := range list {
		if i == mostItems {
			return append(items, shown(moreItems(len(list)-i)))
		}
		items = append(items, shown(short(item, longestListedTitle)))
	}
	return items
}

// attendeeText writes an attendee as the tools that change events read them, with the answer.
func attendeeText(a edit.Attendee) string {
	words := []string{a.Address}
	if a.Name != "" {
		words = []string{a.Name, "<" + a.Address + ">"}
	}
	if a.Status != "" {
		words = append(words, "("+a.Status+")")
	}
	return strings.Join(words, " ")
}

// clockOf names the clock on which a moment was written.
func clockOf(m recur.Moment) string {
	switch {
	case m.AllDay, m.Time.IsZero():
		return ""
	case m.Floating:
		return "floating"
	default:
		return m.Time.Location().String()
	}
}

// maxShown is how much of a long text results repeat, in characters.
const maxShown = 2000

// cut shortens a long text, and says so.
func cut(s string) string {
	n := utf8.RuneCountInString(s)
	if n <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown]) + moreCharacters(n-maxShown)
}
