package mcp

import (
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/publish"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// eventView is an event as the first version's writing tools return it. The first version has two sets of field names;
// readView has the other.
type eventView struct {
	UID          shown               `json:"uid"`
	Calendar     calendar.CalendarID `json:"calendar_id"`
	Title        shown               `json:"title"`
	Start        string              `json:"start" doc:"As iCalendar: in UTC, a date, or floating."`
	End          string              `json:"end" doc:"As iCalendar: of whole days, the day after the last."`
	ETag         calendar.ETag       `json:"etag"`
	RecurrenceID string              `json:"recurrence_id,omitempty" doc:"The instance of a series."`
}

// readView is an event as the first version's reading tools return it.
type readView struct {
	UID          shown               `json:"uid"`
	Calendar     calendar.CalendarID `json:"calendar_id"`
	Summary      shown               `json:"summary"`
	Start        string              `json:"dtstart" doc:"As iCalendar: in UTC, a date, or floating."`
	End          string              `json:"dtend" doc:"As iCalendar: of whole days, the day after the last."`
	ETag         calendar.ETag       `json:"etag"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
}

// timesView has times for people and models. It includes weekdays, because models compute them wrong.
type timesView struct {
	AllDay       bool   `json:"all_day"`
	StartLocal   string `json:"start_local"`
	StartWeekday string `json:"start_weekday"`
	EndLocal     string `json:"end_local" doc:"Of whole days, the last."`
	EndWeekday   string `json:"end_weekday"`
}

// zoneView is the time zone of the local times.
type zoneView struct {
	Timezone       string     `json:"timezone" doc:"Of all local times here." once:"true"`
	TimezoneSource zoneSource `json:"timezone_source" once:"true"`
}

// placedView is the times of an event and the time zone that it keeps.
type placedView struct {
	timesView
	zoneView
	EventTimezone string `json:"event_timezone,omitempty" doc:"The event's time zone; floating: the viewer's."`
	EndTimezone   string `json:"end_timezone,omitempty" doc:"Of its end, if different."`
	Recurring     bool   `json:"recurring"`
}

// moreView holds the details that events and tasks share.
type moreView struct {
	Rule        string  `json:"rrule,omitempty"`
	Description shown   `json:"description,omitempty"`
	Left        []shown `json:"exdate,omitempty" doc:"Left out of the series."`
	Extra       []shown `json:"rdate,omitempty"`
	URL         shown   `json:"url,omitempty"`
	Class       string  `json:"class,omitempty"`
	Color       string  `json:"color,omitempty"`
	Categories  []shown `json:"categories,omitempty"`

	Alarms []int `json:"alarms,omitempty" doc:"Minutes before the start; of a task without one, before it is due."`

	Others     []shown `json:"other_alarms,omitempty" doc:"Kept, unless alarms includes such, or is empty."`
	MoreAlarms int     `json:"more_alarms,omitempty" doc:"Number not shown: setting alarms would remove them."`
}

// detailsView holds all details of an event.
type detailsView struct {
	placedView
	moreView     `in:"get_event"`
	Location     shown   `json:"location,omitempty" in:"get_event"`
	MeetingLink  shown   `json:"meeting_link,omitempty" doc:"To join the call." in:"get_event"`
	Status       string  `json:"status,omitempty" in:"get_event"`
	Transparency string  `json:"transparency,omitempty" in:"get_event"`
	Attendees    []shown `json:"attendees,omitempty" doc:"Each followed by the answer." in:"get_event"`
	standingView `in:"get_event"`

	Comments []attendeeComment `json:"attendee_comments,omitempty" in:"get_event"`
}

func (v detailsView) foreign() bool { return v.standingView.foreign() || v.Comments != nil }

// attendeeComment is an attendee's message to the organizer.
type attendeeComment struct {
	Comment   shown `json:"comment"`
	Untrusted shown `json:"untrusted_text_by" once:"true"`
}

// mostComments limits the comments in a result.
const mostComments = 20

// commentsOn lists the comments that attendees sent with their answers, and in an invitation the organizer's comment on
// its cancellation.
func commentsOn(c *ical.Component, invitation bool) (all []attendeeComment) {
	if org := c.Property("ORGANIZER"); invitation && org != nil &&
		content.WordOf(c, "STATUS") == string(edit.Cancelled) {
		if text := content.TextOf(c, "COMMENT"); text != "" {
			by := short(bareAddress(org.Value()), longestListedTitle)
			all = append(all, attendeeComment{shown(cut(text)), shown(by)})
		}
	}
	for _, p := range c.All("ATTENDEE") {
		if text := schedule.CommentOf(p); text != "" && len(all) < mostComments {
			by := short(bareAddress(p.Value()), longestListedTitle)
			all = append(all, attendeeComment{shown(cut(text)), shown(by)})
		}
	}
	return all
}

// stamp formats a moment as in the first version: in UTC, or as a date or a floating time. A floating time in the
// second of two repeated hours is in UTC too; otherwise an event could end before its start.
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

// local formats a moment for people, with its weekday. A floating time has no offset, unless it is in the second of two
// repeated hours.
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

// times formats the times of an instance. The end of an all-day event is its last day.
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

// viewOfEvent returns an instance with the field names of the writing tools.
func viewOfEvent(i query.Instance) eventView {
	r := readViewOf(i)
	return eventView{r.UID, r.Calendar, r.Summary, r.Start, r.End, r.ETag, r.RecurrenceID}
}

func readViewOf(i query.Instance) readView {
	v := readView{
		UID: shown(i.Object.UID), Calendar: i.Object.Calendar, Summary: shown(cut(i.Object.Summary)),
		ETag:  i.Object.ETag,
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

// isSeries reports whether an instance belongs to a series. A single object with a recurrence id is an instance of a
// series that another organizer keeps.
func isSeries(i query.Instance) bool {
	return i.Object.Recurring || i.Component != nil && i.Component.Property("RECURRENCE-ID") != nil
}

func (z zoned) placed(i query.Instance) placedView {
	return placedView{z.times(i), z.view(), clockOf(i.Start), wire.Visible(content.EndZone(i.Component)), isSeries(i)}
}

// endThere formats the end of an event on the clock of its own zone; "" if that is the zone of its start.
func (r eventRows) endThere(i query.Instance) string {
	name := content.EndZone(i.Component)
	if name == "" || i.End.AllDay || i.End.Floating || i.End.Time.IsZero() {
		return ""
	}
	there, err := r.zones.Lookup(name)
	if err != nil {
		return ""
	}
	return i.End.Time.In(there.Location()).Format("Mon 2006-01-02 15:04 ") + there.Name()
}

// details returns all details of an instance, as the caller may see them.
func (z zoned) details(who calendar.Caller, cal calendar.Calendar, i query.Instance) detailsView {
	c := i.Component
	v := detailsView{
		placedView: z.placed(i), moreView: z.moreOf(c), Location: shown(cut(content.TextOf(c, "LOCATION"))),
		MeetingLink: shown(cut(publish.MeetingLink(c))),
		Status:      wire.Visible(content.WordOf(c, "STATUS")), Transparency: wire.Visible(content.WordOf(c, "TRANSP")),
		standingView: standing(who, cal, c),
	}
	v.Attendees = few(each(edit.AttendeesOf(c), attendeeText))
	v.Comments = commentsOn(c, v.Untrusted != "")
	return v
}

// moreOf returns the details that events and tasks share.
func (z zoned) moreOf(c *ical.Component) moreView {
	v := moreView{Description: shown(cut(content.TextOf(c, "DESCRIPTION")))}
	if p := c.Property("RRULE"); p != nil {
		v.Rule = wire.Visible(cut(p.Value()))
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
	v.Class, v.Color = wire.Visible(content.WordOf(c, "CLASS")), wire.Visible(cut(content.TextOf(c, "COLOR")))
	v.Left, v.Extra = few(each(edit.DatesOf(c, "EXDATE"), ical.Time.String)),
		few(each(edit.DatesOf(c, "RDATE"), ical.Time.String))
	return v
}

// attendeeText formats an attendee so that the tools that change events can parse it, and adds the response.
func attendeeText(a edit.Attendee) string {
	var words []string
	if strings.EqualFold(a.Role, optionalRole) {
		words = append(words, optional)
	}
	if a.Status != "" {
		words = append(words, a.Status)
	}
	if words == nil {
		return namedAttendee(a)
	}
	return namedAttendee(a) + " (" + strings.Join(words, ", ") + ")"
}

// namedAttendee formats an attendee's name and address. A name with special characters is quoted, so that attendeeOf
// can parse it.
func namedAttendee(a edit.Attendee) string {
	if a.Name == "" {
		return a.Address
	}
	text := a.Name + " <" + a.Address + ">"
	if attendeeOf(text).Name == a.Name {
		return text
	}
	return `"` + phraseEscapes.Replace(a.Name) + `" <` + a.Address + ">"
}

// phraseEscapes escapes a name for a quoted string (RFC 5322 §3.2.4).
var phraseEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// clockOf names the time zone that a moment was written in.
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

// sizeOf is the total length of an event's or task's texts in a list.
func sizeOf(i query.Instance) int {
	r := readViewOf(i)
	return len(r.Summary) + len(r.UID)
}
