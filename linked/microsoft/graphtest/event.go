package graphtest

import (
	"encoding/base64"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/linked/rest/resttest"
)

// entry is a stored event, or an occurrence of a series. Its times are in UTC, as Graph returns them.
type entry struct {
	id       string
	event    Event
	version  int
	created  time.Time
	modified time.Time
	gone     bool
	// cancelled are the days of a series without an occurrence.
	cancelled  []string
	extensions map[string]Event
	// master and day belong to an occurrence.
	master, day string
}

const (
	clockForm = "2006-01-02T15:04:05.0000000"
	never     = "0001-01-01T00:00:00Z"
)

func text(e map[string]any, name string) string {
	found, _ := e[name].(string)
	return found
}

func object(e map[string]any, name string) map[string]any {
	found, _ := e[name].(map[string]any)
	return found
}

func objects(e map[string]any, name string) (all []map[string]any) {
	values, _ := e[name].([]any)
	for _, value := range values {
		one, _ := value.(map[string]any)
		all = append(all, one)
	}
	return all
}

func (e *entry) changeKey() string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "v%d", e.version))
}

func (e *entry) etag() string { return `W/"` + e.changeKey() + `"` }

func (e *entry) time(side string) time.Time {
	at, _ := time.Parse(clockForm, text(object(e.event, side), "dateTime"))
	return at
}

func (e *entry) allDay() bool { return e.event["isAllDay"] == true }

func (e *entry) recurring() bool { return object(e.event, "recurrence") != nil }

func (e *entry) organized() bool { return e.event["isOrganizer"] != false }

// cancellations are the values of cancelledOccurrences.
// https://learn.microsoft.com/en-us/graph/api/resources/event#properties
func (e *entry) cancellations() []any {
	all := []any{}
	for _, day := range e.cancelled {
		all = append(all, "OID."+e.id+"."+day)
	}
	return all
}

// zone is the zone of a series.
func (s *Server) zone(e *entry) *time.Location {
	name := text(object(object(e.event, "recurrence"), "range"), "recurrenceTimeZone")
	if found, p := s.location(name); p == nil && !e.allDay() {
		return found
	}
	return time.UTC
}

// find is an event or an occurrence, which the service makes when it is first needed.
func (s *Server) find(id string) *entry {
	if e := s.events[id]; e != nil {
		if e.gone {
			return nil
		}
		return e
	}
	master, day, _ := strings.Cut(id, ".")
	e := s.events[master]
	at, err := time.ParseInLocation(time.DateOnly, day, time.UTC)
	if err != nil || e == nil || e.gone || slices.Contains(e.cancelled, day) {
		return nil
	}
	for _, one := range s.occurrences(e, at.AddDate(0, 0, -2), at.AddDate(0, 0, 3)) {
		if one.day == day {
			return one
		}
	}
	return nil
}

// occurrences are the occurrences and exceptions of a series with an original start in a range.
func (s *Server) occurrences(e *entry, from, until time.Time) (all []*entry) {
	for _, at := range s.series(e).Starts(from, until, 2000) {
		day := at.In(s.zone(e)).Format(time.DateOnly)
		if slices.Contains(e.cancelled, day) {
			continue
		}
		id := e.id + "." + day
		if exception := s.events[id]; exception != nil && !exception.gone {
			all = append(all, exception)
			continue
		}
		one := &entry{
			id: id, event: maps.Clone(e.event), version: e.version, created: e.created, modified: e.modified,
			master: e.id, day: day,
		}
		length := e.time("end").Sub(e.time("start"))
		one.event["start"], one.event["end"] = inUTC(at), inUTC(at.Add(length))
		one.event["originalStart"] = at.UTC().Format(time.RFC3339)
		delete(one.event, "recurrence")
		all = append(all, one)
	}
	return all
}

func inUTC(at time.Time) map[string]any {
	return map[string]any{"dateTime": at.UTC().Format(clockForm), "timeZone": "UTC"}
}

func (s *Server) series(e *entry) *resttest.Series {
	series, err := resttest.NewSeries(e.time("start").In(s.zone(e)), e.allDay(), []string{s.rule(e)})
	if err != nil {
		panic(err)
	}
	return series
}

// rule is the recurrence of a series as an RRULE.
// https://learn.microsoft.com/en-us/graph/api/resources/recurrencepattern
func (s *Server) rule(e *entry) string {
	pattern, limits := object(object(e.event, "recurrence"), "pattern"), object(object(e.event, "recurrence"), "range")
	var days []string
	values, _ := pattern["daysOfWeek"].([]any)
	for _, day := range values {
		days = append(days, strings.ToUpper(fmt.Sprint(day)[:2]))
	}
	by := ";BYDAY=" + strings.Join(days, ",")
	nth := by + ";BYSETPOS=" + map[string]string{
		"first": "1", "second": "2", "third": "3", "fourth": "4", "last": "-1",
	}[text(pattern, "index")]
	month, day := fmt.Sprint(";BYMONTH=", pattern["month"]), fmt.Sprint(";BYMONTHDAY=", pattern["dayOfMonth"])
	rule := map[string]string{
		"daily":           "DAILY",
		"weekly":          "WEEKLY" + by + ";WKST=" + strings.ToUpper(text(pattern, "firstDayOfWeek") + "  ")[:2],
		"absoluteMonthly": "MONTHLY" + day, "relativeMonthly": "MONTHLY" + nth,
		"absoluteYearly": "YEARLY" + month + day, "relativeYearly": "YEARLY" + month + nth,
	}[text(pattern, "type")]
	rule = fmt.Sprint("RRULE:FREQ=", rule, ";INTERVAL=", pattern["interval"])
	switch text(limits, "type") {
	case "numbered":
		rule += fmt.Sprint(";COUNT=", limits["numberOfOccurrences"])
	case "endDate":
		last, _ := time.ParseInLocation(time.DateOnly, text(limits, "endDate"), s.zone(e))
		until := last.AddDate(0, 0, 1).Add(-time.Second).UTC().Format("20060102T150405Z")
		if e.allDay() {
			until = last.Format("20060102")
		}
		rule += ";UNTIL=" + until
	}
	return rule
}

// view is an event as it is returned. All its properties are present.
func (s *Server) view(e *entry, prefs preferences) Event {
	v := Event{
		"@odata.etag": e.etag(), "id": e.id, "changeKey": e.changeKey(), "isReminderOn": true,
		"createdDateTime": e.created.Format(time.RFC3339), "lastModifiedDateTime": e.modified.Format(time.RFC3339),
		"reminderMinutesBeforeStart": 15, "categories": []any{}, "hasAttachments": false, "subject": "",
		"importance": "normal", "sensitivity": "normal", "isAllDay": false, "isCancelled": false, "isOrganizer": true,
		"responseRequested": true, "showAs": "busy", "isOnlineMeeting": false, "onlineMeetingProvider": "unknown",
		"allowNewTimeProposals": true, "isDraft": false, "hideAttendees": false, "attendees": []any{},
		"webLink": "https://outlook.office365.com/owa/?itemid=" + e.id + "&exvsurl=1&path=/calendar/item",
		"organizer": map[string]any{
			"emailAddress": map[string]any{"name": s.Owner, "address": s.Owner},
		},
		"responseStatus": map[string]any{"response": "organizer", "time": never}, "onlineMeetingUrl": nil,
		"onlineMeeting": nil, "recurrence": nil, "transactionId": nil, "seriesMasterId": nil,
		"location": place(map[string]any{}), "locations": []any{}, "type": "singleInstance",
	}
	for name, value := range e.event {
		if value != nil {
			v[name] = value
		}
	}
	switch {
	case e.recurring():
		v["type"] = "seriesMaster"
	case e.master != "" && s.events[e.id] == nil:
		v["type"] = "occurrence"
	case e.master != "":
		v["type"] = "exception"
	}
	if e.master != "" {
		v["seriesMasterId"] = e.master
		v["iCalUId"] = fmt.Sprint(v["iCalUId"], strings.ReplaceAll(e.day, "-", ""))
	}
	for _, side := range []string{"start", "end"} {
		clock := e.time(side)
		// Whole days have no zone: they are the same days in each.
		if !e.allDay() {
			clock = clock.In(prefs.zone)
		}
		v[side] = map[string]any{"dateTime": clock.Format(clockForm), "timeZone": prefs.zoneName}
	}
	body := object(e.event, "body")
	plain := content(body, false)
	v["bodyPreview"] = string([]rune(plain)[:min(255, len([]rune(plain)))])
	v["body"] = map[string]any{"contentType": "text", "content": plain}
	if prefs.html {
		v["body"] = map[string]any{"contentType": "html", "content": content(body, true)}
	}
	return v
}

var (
	breaks = regexp.MustCompile(`(?i)<br\s*/?>|</(p|div|li|tr|h\d)>`)
	links  = regexp.MustCompile(`(?is)<a [^>]*href=["']?([^"'>]*)["']?[^>]*>(.*?)</a>`)
	tags   = regexp.MustCompile(`(?s)<(head|style).*?</(head|style)>|<[^>]*>`)
)

// content is a body as HTML or as text. Graph returns HTML unless a request prefers text.
// https://learn.microsoft.com/en-us/graph/api/resources/itembody
func content(body map[string]any, asHTML bool) string {
	written := text(body, "content")
	isHTML := strings.EqualFold(text(body, "contentType"), "html")
	switch {
	case asHTML && isHTML:
		if strings.Contains(written, "<html") {
			return written
		}
		return head + written + tail
	case asHTML:
		lines := strings.ReplaceAll(html.EscapeString(strings.ReplaceAll(written, "\r\n", "\n")), "\n", "<br>\r\n")
		if lines != "" {
			lines = `<div class="PlainText">` + lines + "</div>"
		}
		return head + lines + tail
	case isHTML:
		written = strings.NewReplacer("\r", "", "\n", " ").Replace(written)
		written = links.ReplaceAllString(written, "$2&lt;$1&gt;")
		written = tags.ReplaceAllString(breaks.ReplaceAllString(written, "\n"), "")
		return strings.ReplaceAll(strings.TrimSpace(html.UnescapeString(written)), "\n", "\r\n")
	}
	return written
}

const (
	head = `<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"></head><body>` + "\r\n"
	tail = "\r\n</body></html>\r\n"
)

// place completes a location.
// https://learn.microsoft.com/en-us/graph/api/resources/location
func place(given map[string]any) map[string]any {
	full := map[string]any{"displayName": "", "locationType": "default", "uniqueIdType": "unknown"}
	if name := text(given, "displayName"); name != "" {
		full["uniqueId"], full["uniqueIdType"] = name, "private"
	} else {
		full["address"], full["coordinates"] = map[string]any{}, map[string]any{}
	}
	maps.Copy(full, given)
	return full
}

// readOnly are the properties that requests can neither set nor change; the service ignores them.
// https://learn.microsoft.com/en-us/graph/api/event-update#request-body
var readOnly = []string{
	"id", "changeKey", "createdDateTime", "lastModifiedDateTime", "bodyPreview", "iCalUId", "isCancelled",
	"isOrganizer", "onlineMeeting", "onlineMeetingUrl", "organizer", "originalStart", "originalStartTimeZone",
	"originalEndTimeZone", "responseStatus", "seriesMasterId", "type", "webLink", "hasAttachments", "isDraft",
	"cancelledOccurrences", "exceptionOccurrences", "instances", "extensions", "attachments", "calendar",
}

// normalize validates a changed event, and completes it. sent are the changed properties; trusted ones are of the
// owner, who may also set some that requests cannot.
func (s *Server) normalize(e *entry, sent Event, trusted bool) *problem {
	for name := range e.event {
		if strings.Contains(name, "@odata.") || slices.Contains([]string{
			"id", "changeKey", "createdDateTime", "lastModifiedDateTime", "bodyPreview", "cancelledOccurrences", "type",
			"seriesMasterId", "webLink", "extensions",
		}, name) || e.event[name] == nil {
			delete(e.event, name)
		}
	}
	if p := s.times(e, sent, trusted); p != nil {
		return p
	}
	if p := s.recurrence(e); p != nil {
		return p
	}
	if e.event["iCalUId"] == nil {
		e.event["iCalUId"] = fmt.Sprintf("040000008200E00074C5B7101A82E008%08d", s.made)
	}
	if len(objects(e.event, "attendees")) > 500 {
		return bad("ErrorInvalidRequest", "The maximum number of attendees is 500.")
	}
	all := []any{}
	for _, guest := range objects(e.event, "attendees") {
		full := map[string]any{"type": "required", "status": map[string]any{"response": "none", "time": never}}
		maps.Copy(full, guest)
		if text(object(guest, "emailAddress"), "address") == "" {
			return bad("ErrorInvalidRecipients", "At least one recipient isn't valid.")
		}
		all = append(all, full)
	}
	e.event["attendees"] = all
	switch places, given := sent["locations"].([]any); {
	case sent["location"] != nil && (!trusted || !given || len(places) <= 1):
		e.event["location"] = place(object(e.event, "location"))
		e.event["locations"] = []any{e.event["location"]}
	case given && len(places) > 0 && !trusted:
		e.event["location"] = place(objects(e.event, "locations")[0])
	}
	if sent["isOnlineMeeting"] == true && e.event["onlineMeeting"] == nil && !trusted {
		join := "https://teams.microsoft.com/l/meetup-join/" + e.id
		e.event["onlineMeeting"], e.event["onlineMeetingProvider"] = map[string]any{"joinUrl": join}, "teamsForBusiness"
		e.event["body"] = map[string]any{
			"contentType": "html",
			"content":     content(object(e.event, "body"), true) + `<a href="` + join + `">Join</a>`,
		}
	} else if meeting := object(e.event, "onlineMeeting"); meeting != nil && sent["body"] != nil && !trusted {
		// A body without the meeting blob disables the meeting.
		if !strings.Contains(text(object(e.event, "body"), "content"), text(meeting, "joinUrl")) {
			delete(e.event, "onlineMeeting")
			e.event["isOnlineMeeting"] = false
		} else {
			e.event["isOnlineMeeting"] = true
		}
	}
	return nil
}

// times moves start and end to UTC, and keeps their zones.
// https://learn.microsoft.com/en-us/graph/api/resources/datetimetimezone
func (s *Server) times(e *entry, sent Event, trusted bool) *problem {
	for _, side := range []string{"start", "end"} {
		given := object(e.event, side)
		name := text(given, "timeZone")
		if given == nil {
			return bad("ErrorPropertyValidationFailure", "At least one property failed validation: %s.", side)
		}
		where, p := s.location(name)
		if p != nil {
			return p
		}
		at, err := time.ParseInLocation("2006-01-02T15:04:05", text(given, "dateTime"), where)
		if err != nil {
			return bad("ErrorInvalidArgument", "%s is not a date and time: %v", side, given["dateTime"])
		}
		if e.allDay() {
			// "If true, start and end must be set to midnight and be in the same time zone."
			if at.Format("150405") != "000000" || name != text(object(e.event, "start"), "timeZone") {
				return bad("ErrorInvalidRequest", "The %s of an all-day event needs to be set to midnight.", side)
			}
			at, _ = time.Parse(time.DateOnly, at.Format(time.DateOnly))
		}
		original := map[string]string{"start": "originalStartTimeZone", "end": "originalEndTimeZone"}[side]
		if sent[side] != nil && (!trusted || e.event[original] == nil) {
			e.event[original] = name
		}
		e.event[side] = inUTC(at)
	}
	if start, end := e.time("start"), e.time("end"); end.Before(start) || e.allDay() && !end.After(start) {
		return bad("ErrorPropertyValidationFailure", "The end of the event is before its start.")
	}
	return nil
}

var patterns = map[string][]string{
	"daily": {}, "weekly": {"daysOfWeek", "firstDayOfWeek"}, "absoluteMonthly": {"dayOfMonth"},
	"relativeMonthly": {"daysOfWeek"}, "absoluteYearly": {"dayOfMonth", "month"},
	"relativeYearly": {"daysOfWeek", "month"},
}

// recurrence validates a pattern and a range, and completes them.
func (s *Server) recurrence(e *entry) *problem {
	given := object(e.event, "recurrence")
	if given == nil {
		return nil
	}
	if e.master != "" {
		return bad("ErrorInvalidRequest", "An occurrence has no recurrence.")
	}
	pattern := map[string]any{"month": 0.0, "dayOfMonth": 0.0, "firstDayOfWeek": "sunday", "index": "first"}
	limits := map[string]any{
		"recurrenceTimeZone": e.event["originalStartTimeZone"], "numberOfOccurrences": 0.0, "endDate": "0001-01-01",
	}
	for name, value := range object(given, "pattern") {
		if value != nil {
			pattern[name] = value
		}
	}
	for name, value := range object(given, "range") {
		if value != nil && value != "" {
			limits[name] = value
		}
	}
	required, known := patterns[text(pattern, "type")]
	for _, name := range required {
		if days, is := pattern[name].([]any); pattern[name] == 0.0 || is && len(days) == 0 || pattern[name] == nil {
			known = false
		}
	}
	number := func(of map[string]any, name string) float64 { n, _ := of[name].(float64); return n }
	known = known && number(pattern, "interval") >= 1
	if !known || number(pattern, "month") > 12 || number(pattern, "dayOfMonth") > 31 {
		return bad("ErrorRecurrenceInvalid", "The recurrence pattern is not valid.")
	}
	e.event["recurrence"] = map[string]any{"pattern": pattern, "range": limits}
	zone := s.zone(e)
	first := e.time("start").In(zone).Format(time.DateOnly)
	switch kind := text(limits, "type"); {
	case text(limits, "startDate") != first:
		return bad("ErrorPropertyValidationFailure", "The startDate of the range must be the start of the event.")
	case kind == "numbered" && number(limits, "numberOfOccurrences") < 1,
		kind == "endDate" && text(limits, "endDate") < first,
		!slices.Contains([]string{"numbered", "endDate", "noEnd"}, kind):
		return bad("ErrorRecurrenceInvalid", "The recurrence range is not valid.")
	}
	if len(s.series(e).Starts(time.Time{}, time.Time{}, 1)) == 0 {
		return bad("ErrorRecurrenceHasNoOccurrence", "The recurrence has no occurrence.")
	}
	return nil
}

// store saves a changed event as its next version.
func (s *Server) store(e *entry) {
	s.version++
	e.version = s.version
	e.modified = s.now()
	if e.created.IsZero() {
		e.created = e.modified
	}
	s.events[e.id] = e
	if e.master != "" {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(s.events)) {
		one := s.events[id]
		if one.master != e.id || one.gone {
			continue
		}
		at, err := time.Parse(time.RFC3339, text(one.event, "originalStart"))
		var near []*entry
		if err == nil && e.recurring() {
			near = s.occurrences(e, at.AddDate(0, 0, -1), at.AddDate(0, 0, 1))
		}
		if !slices.ContainsFunc(near, func(o *entry) bool { return o.day == one.day }) {
			s.end(one)
		}
	}
}

func (s *Server) now() time.Time {
	if s.Now != nil {
		return s.Now().UTC().Truncate(time.Second)
	}
	return time.Unix(1_770_000_000+int64(s.version), 0).UTC()
}

func (s *Server) end(e *entry) {
	s.version++
	ended := *e
	ended.gone, ended.version, ended.modified = true, s.version, s.now()
	s.events[e.id] = &ended
}

// drop deletes an event with its exceptions, or cancels an occurrence.
func (s *Server) drop(e *entry) {
	if s.events[e.id] != nil {
		s.end(e)
	}
	for _, one := range s.events {
		if one.master == e.id && !one.gone {
			s.end(one)
		}
	}
	if master := s.events[e.master]; master != nil {
		s.version++
		changed := *master
		changed.cancelled = append(slices.Clone(master.cancelled), e.day)
		changed.modified = s.now()
		s.events[e.master] = &changed
	}
}

// boundary holds an exception between the days of its neighbors.
// https://learn.microsoft.com/en-us/graph/api/event-update#response
func (s *Server) boundary(e *entry) *problem {
	master := s.events[e.master]
	where := s.zone(master)
	original, _ := time.Parse(time.RFC3339, text(e.event, "originalStart"))
	day := e.time("start").In(where).Format(time.DateOnly)
	for _, one := range s.occurrences(master, original.AddDate(-5, 0, 0), original.AddDate(5, 0, 0)) {
		other := one.time("start").In(where).Format(time.DateOnly)
		if one.day < e.day && other >= day || one.day > e.day && other <= day {
			return bad("ErrorOccurrenceCrossingBoundary",
				"Modified occurrence is crossing or overlapping adjacent occurrence.")
		}
	}
	return nil
}
