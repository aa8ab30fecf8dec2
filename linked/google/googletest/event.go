package googletest

import (
	"fmt"
	"maps"
	"net/http"
	"net/mail"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/linked/rest/resttest"
)

const (
	instantForm = "20060102T150405Z"
	localForm   = "2006-01-02T15:04:05"
	dayForm     = "20060102"
)

func (e *entry) etag() string { return fmt.Sprintf(`"%d"`, e.version) }

func (e *entry) cancelled() bool { return e.event["status"] == "cancelled" }

func (e *entry) series() string { return text(e.event, "recurringEventId") }

// deleted reports whether the event is cancelled for good; a cancelled instance is part of its series.
func (e *entry) deleted() bool { return e.cancelled() && (e.series() == "" || e.event["gone"] != nil) }

func text(e map[string]any, name string) string {
	found, _ := e[name].(string)
	return found
}

func object(e map[string]any, name string) map[string]any {
	found, _ := e[name].(map[string]any)
	return found
}

func list(e map[string]any, name string) (all []map[string]any) {
	values, _ := e[name].([]any)
	for _, value := range values {
		one, _ := value.(map[string]any)
		all = append(all, one)
	}
	return all
}

// organized reports whether the calendar's copy of an event is the organizer's.
func (c *Calendar) organized(e Event) bool { return text(object(e, "organizer"), "email") == c.ID }

// begin is the start or the end of a stored event.
func begin(side map[string]any, days *time.Location) time.Time {
	if day := text(side, "date"); day != "" {
		at, _ := time.ParseInLocation(time.DateOnly, day, days)
		return at
	}
	at, _ := time.Parse(time.RFC3339, text(side, "dateTime"))
	if where, err := time.LoadLocation(text(side, "timeZone")); err == nil {
		at = at.In(where)
	}
	return at
}

// starts are the original starts of a series, or nil.
func (c *Calendar) starts(e Event) *resttest.Series {
	var lines []string
	for _, line := range asList(e["recurrence"]) {
		lines = append(lines, fmt.Sprint(line))
	}
	if len(lines) == 0 {
		return nil
	}
	start := object(e, "start")
	series, err := resttest.NewSeries(begin(start, time.UTC), text(start, "date") != "", lines)
	if err != nil {
		return nil
	}
	return series
}

func asList(value any) []any {
	all, _ := value.([]any)
	return all
}

// instance is an instance of a series that is not stored.
// https://developers.google.com/workspace/calendar/api/guides/recurringevents#instances_of_recurring_events
func (c *Calendar) instance(id string) (*entry, *resttest.Problem) {
	at := strings.LastIndexByte(id, '_')
	master := c.events[id[:max(at, 0)]]
	if master == nil || master.deleted() {
		return nil, missing()
	}
	original, err := time.Parse(instantForm, id[at+1:])
	if text(object(master.event, "start"), "date") != "" {
		original, err = time.Parse(dayForm, id[at+1:])
	}
	if series := c.starts(master.event); err != nil || series == nil || !series.Has(original) {
		return nil, missing()
	}
	return master.at(original), nil
}

// at is the instance of a series with an original start.
func (e *entry) at(original time.Time) *entry {
	instance, form := maps.Clone(e.event), instantForm
	from, until := begin(object(e.event, "start"), time.UTC), begin(object(e.event, "end"), time.UTC)
	side := func(at time.Time) map[string]any {
		if text(object(e.event, "start"), "date") != "" {
			form = dayForm
			return map[string]any{"date": at.Format(time.DateOnly)}
		}
		zone := from.Location()
		return map[string]any{"dateTime": at.In(zone).Format(time.RFC3339), "timeZone": zone.String()}
	}
	delete(instance, "recurrence")
	instance["start"], instance["end"] = side(original), side(original.Add(until.Sub(from)))
	instance["originalStartTime"], instance["recurringEventId"] = instance["start"], e.event["id"]
	instance["id"] = text(e.event, "id") + "_" + original.UTC().Format(form)
	return &entry{instance, e.version, e.created, e.updated}
}

// defaults are values that Google leaves out of responses, as the reference names them.
var defaults = map[string]any{
	"anyoneCanAddSelf": false, "attendeesOmitted": false, "endTimeUnspecified": false, "guestsCanInviteOthers": true,
	"guestsCanModify": false, "guestsCanSeeOtherGuests": true, "privateCopy": false, "transparency": "opaque",
	"visibility": "default", "summary": "", "description": "", "location": "", "colorId": "", "eventLabelId": "",
}

// view is an event as it is returned, with times in a zone.
func (c *Calendar) view(e *entry, zone *time.Location) Event {
	v := Event{"kind": "calendar#event", "etag": e.etag()}
	kept := func(names ...string) {
		for _, name := range names {
			if value := e.event[name]; value != nil && !reflect.DeepEqual(value, defaults[name]) {
				v[name] = value
			}
		}
	}
	// Only these fields of cancelled instances are guaranteed.
	kept("id", "status", "recurringEventId", "originalStartTime")
	if !e.cancelled() || e.series() == "" {
		kept(slices.Collect(maps.Keys(e.event))...)
		v["htmlLink"] = "https://www.google.com/calendar/event?eid=" + url.QueryEscape(text(e.event, "id"))
		v["created"], v["updated"] = e.created.Format(stampForm), e.updated.Format(stampForm)
	}
	delete(v, "gone")
	for _, name := range []string{"start", "end", "originalStartTime"} {
		if side := object(v, name); text(side, "dateTime") != "" {
			side = maps.Clone(side)
			side["dateTime"] = begin(side, zone).In(zone).Format(time.RFC3339)
			v[name] = side
		}
	}
	for _, name := range []string{"organizer", "creator"} {
		if who := object(v, name); text(who, "email") == c.ID {
			who = maps.Clone(who)
			who["self"] = true
			v[name] = who
		}
	}
	if guests := list(v, "attendees"); len(guests) > 0 {
		all := make([]any, len(guests))
		for i, guest := range guests {
			guest = maps.Clone(guest)
			if guest["email"] == c.ID {
				guest["self"] = true
			}
			if guest["email"] == object(v, "organizer")["email"] {
				guest["organizer"] = true
			}
			all[i] = guest
		}
		v["attendees"] = all
	}
	for _, entry := range list(object(v, "conferenceData"), "entryPoints") {
		if entry["entryPointType"] == "video" {
			v["hangoutLink"] = entry["uri"]
		}
	}
	return v
}

const stampForm = "2006-01-02T15:04:05.000Z"

var readOnly = []string{"kind", "etag", "htmlLink", "hangoutLink", "created", "updated", "locked"}

// draft is a write of an event. Its body contains the fields that were sent.
type draft struct {
	*Server
	cal     *Calendar
	body    Event
	old     *entry
	query   url.Values
	browser bool
}

// write validates and stores an event.
func (d *draft) write(next Event) *resttest.Problem {
	next = maps.Clone(next)
	if next["status"] == nil {
		next["status"] = "confirmed"
	}
	if d.old != nil && next["status"] == "cancelled" {
		if !d.old.cancelled() {
			d.drop(d.cal, d.old)
		}
		return nil
	}
	if d.old != nil && d.old.cancelled() && d.old.series() != "" && next["start"] == nil {
		if plain, p := d.cal.instance(text(next, "id")); p == nil {
			maps.Copy(plain.event, next)
			next = plain.event
		}
	}
	for _, name := range append([]string{"gone"}, readOnly...) {
		delete(next, name)
	}
	d.identify(next)
	for _, check := range []func(Event) *resttest.Problem{
		words, d.times, d.sequence, d.attendees, reminders, properties, d.conference, d.kind, d.visibility,
	} {
		if p := check(next); p != nil {
			return p
		}
	}
	d.store(next)
	return nil
}

// identify sets the fields that the service itself maintains.
func (d *draft) identify(next Event) {
	self := map[string]any{"email": d.cal.ID}
	old := Event{"organizer": self, "creator": self, "eventType": "default"}
	if d.old != nil {
		old = d.old.event
	}
	for _, name := range kept[1:] {
		if next[name] == nil && old[name] != nil || name == "creator" || name == "organizer" && d.old != nil {
			next[name] = old[name]
		}
	}
	if next["iCalUID"] == nil {
		next["iCalUID"] = text(next, "id") + "@google.com"
	}
	for _, who := range []string{"organizer", "creator"} {
		one := maps.Clone(object(next, who))
		delete(one, "self")
		next[who] = one
	}
}

func (d *draft) store(next Event) {
	now := time.Unix(1_770_000_000+int64(d.version), 0)
	if d.Now != nil {
		now = d.Now()
	}
	now = now.UTC().Truncate(time.Millisecond)
	d.version++
	id := text(next, "id")
	stored := &entry{next, d.version, now, now}
	if d.old != nil {
		stored.created = d.old.created
		// Updating reminders does not change the field updated.
		if same(d.old.event, next) {
			stored.updated = d.old.updated
		}
		d.notify(d.old.event, next)
	} else {
		d.notify(nil, next)
	}
	d.cal.events[id] = stored
	if next["recurrence"] == nil {
		d.cal.exceptions(id, func(e *entry) { d.end(e) })
	}
}

func same(old, next Event) bool {
	plain := maps.Clone(next)
	plain["reminders"] = old["reminders"]
	return reflect.DeepEqual(plain, old)
}

func (c *Calendar) exceptions(series string, each func(*entry)) {
	for _, id := range slices.Sorted(maps.Keys(c.events)) {
		if e := c.events[id]; e.series() == series {
			each(e)
		}
	}
}

// drop deletes an event, with its exceptions, or cancels an instance.
func (s *Server) drop(c *Calendar, e *entry) {
	id := text(e.event, "id")
	s.version++
	next := &entry{maps.Clone(e.event), s.version, e.created, e.updated}
	next.event["status"] = "cancelled"
	c.events[id] = next
	c.exceptions(id, s.end)
}

// end deletes an exception of a series that is no more.
func (s *Server) end(e *entry) {
	s.version++
	e.version = s.version
	e.event = maps.Clone(e.event)
	e.event["status"], e.event["gone"] = "cancelled", true
}

// notify mails the guests of an organizer's event, or the organizer about a guest's answer.
// https://developers.google.com/workspace/calendar/api/v3/reference/events/patch#sendUpdates
func (d *draft) notify(old, next Event) {
	mode := d.query.Get("sendUpdates")
	if d.query.Get("sendNotifications") == "true" && mode == "" {
		mode = "all"
	}
	told := func(to string) {
		outside := !strings.HasSuffix(to, "@gmail.com")
		if mode == "all" || mode == "externalOnly" && outside {
			d.mails = append(d.mails, Mail{to, text(next, "summary")})
		}
	}
	if !d.cal.organized(next) {
		if d.answer(old) != d.answer(next) {
			told(text(object(next, "organizer"), "email"))
		}
		return
	}
	for _, guest := range list(next, "attendees") {
		if guest["email"] != d.cal.ID {
			told(text(guest, "email"))
		}
	}
}

func (d *draft) answer(e Event) string {
	for _, guest := range list(e, "attendees") {
		if guest["email"] == d.cal.ID {
			return text(guest, "responseStatus")
		}
	}
	return ""
}

// enumerations are the values of fields, as the reference lists them.
var enumerations = map[string]string{
	"status": "confirmed tentative cancelled", "transparency": "opaque transparent",
	"visibility": "default public private confidential", "colorId": "1 2 3 4 5 6 7 8 9 10 11",
	"eventType": "birthday default focusTime fromGmail outOfOffice workingLocation",
}

func words(next Event) *resttest.Problem {
	for name, values := range enumerations {
		if value := text(next, name); value != "" && !slices.Contains(strings.Fields(values), value) {
			return resttest.Invalid(name, "Invalid value for: %s is not a valid value", value)
		}
	}
	if source := object(next, "source"); len(source) > 0 && !strings.HasPrefix(text(source, "url"), "http") {
		return resttest.Invalid("source.url", "The source URL scheme must be HTTP or HTTPS.")
	}
	if files := list(next, "attachments"); len(files) > 25 ||
		slices.ContainsFunc(files, func(f map[string]any) bool { return text(f, "fileUrl") == "" }) {
		return resttest.Invalid("attachments", "At most 25 attachments, each with a fileUrl.")
	}
	return nil
}

// times validates start, end and recurrence, and normalizes them.
// https://developers.google.com/workspace/calendar/api/concepts/events-calendars
func (d *draft) times(next Event) *resttest.Problem {
	rules := asList(next["recurrence"])
	if len(rules) == 0 {
		delete(next, "recurrence")
	} else if next["recurringEventId"] != nil {
		return resttest.Invalid("recurrence", "An instance of a recurring event has no recurrence.")
	}
	for _, name := range []string{"start", "end", "originalStartTime"} {
		if next[name] == nil && name == "originalStartTime" {
			continue
		}
		side, p := d.moment(object(next, name), name, len(rules) > 0)
		if p != nil {
			return p
		}
		next[name] = side
	}
	start, end := object(next, "start"), object(next, "end")
	if (start["date"] == nil) != (end["date"] == nil) {
		return resttest.Invalid("", "Start and end times must either both be date or both be dateTime.")
	}
	if begin(end, time.UTC).Before(begin(start, time.UTC)) {
		return &resttest.Problem{
			Code: http.StatusBadRequest, Domain: "calendar", Reason: "timeRangeEmpty", Location: "timeMax",
			Message: "The specified time range is empty.",
		}
	}
	lines := make([]any, len(rules))
	for i, rule := range rules {
		var p *resttest.Problem
		if lines[i], p = recurrence(fmt.Sprint(rule), start["date"] != nil); p != nil {
			return p
		}
	}
	if len(rules) > 0 {
		if next["recurrence"] = lines; d.cal.starts(next) == nil {
			return resttest.Invalid("recurrence", "Invalid recurrence rule.")
		}
	}
	return nil
}

// moment is a start or an end, with an offset and a zone.
func (d *draft) moment(side map[string]any, name string, recurring bool) (map[string]any, *resttest.Problem) {
	day, at, zone := text(side, "date"), text(side, "dateTime"), text(side, "timeZone")
	if day == "" && at == "" {
		return nil, &resttest.Problem{
			Code: http.StatusBadRequest, Domain: "global", Reason: "required", Message: "Missing " + name + " time.",
		}
	}
	if day != "" {
		if _, err := time.Parse(time.DateOnly, day); err != nil || at != "" {
			return nil, resttest.Invalid(name, "Invalid %s time.", name)
		}
		return map[string]any{"date": day}, nil
	}
	if zone == "" && recurring {
		return nil, &resttest.Problem{
			Code: http.StatusBadRequest, Domain: "global", Reason: "required",
			Message: "Missing time zone definition for " + name + " time.",
		}
	}
	parsed, err := time.Parse(time.RFC3339, at)
	where := d.cal.zone
	if zone != "" {
		var unknown error
		if where, unknown = time.LoadLocation(zone); unknown != nil || zone == "Local" {
			return nil, resttest.Invalid(name, "Invalid time zone definition for %s time.", name)
		}
		if err != nil {
			parsed, err = time.ParseInLocation(localForm, at, where)
		}
	}
	if err != nil {
		return nil, resttest.Invalid(name, "Invalid %s time: %s", name, at)
	}
	parsed = parsed.Truncate(time.Second).In(where)
	return map[string]any{"dateTime": parsed.Format(time.RFC3339), "timeZone": where.String()}, nil
}

// ruleOrder is Google's order of the parts of a rule.
var ruleOrder = []string{"FREQ", "WKST", "UNTIL", "COUNT", "INTERVAL"}

// recurrence normalizes a line such as RRULE:FREQ=DAILY (RFC 5545 §3.8.5).
func recurrence(line string, allDay bool) (string, *resttest.Problem) {
	head, value, _ := strings.Cut(line, ":")
	name, _, _ := strings.Cut(head, ";")
	switch name {
	case "RDATE", "EXDATE":
		return line, nil
	case "RRULE", "EXRULE":
	default:
		return "", resttest.Invalid("recurrence", "Invalid recurrence rule: %s", line)
	}
	parts := strings.Split(strings.ToUpper(value), ";")
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "INTERVAL=1" })
	counted := false
	for _, part := range parts {
		key, of, _ := strings.Cut(part, "=")
		if key == "UNTIL" && (len(of) == len(dayForm)) != allDay || counted && (key == "UNTIL" || key == "COUNT") {
			return "", resttest.Invalid("recurrence", "Invalid recurrence rule: %s", line)
		}
		counted = counted || key == "UNTIL" || key == "COUNT"
	}
	slices.SortStableFunc(parts, func(a, b string) int { return rank(a) - rank(b) })
	return head + ":" + strings.Join(parts, ";"), nil
}

func rank(part string) int {
	key, _, _ := strings.Cut(part, "=")
	if at := indexOf(ruleOrder, key); at >= 0 {
		return at
	}
	return len(ruleOrder)
}

func indexOf(all []string, one string) int { return slices.Index(all, one) }

// sequence refuses a sequence number below the current one, and increments it when the event moves.
func (d *draft) sequence(next Event) *resttest.Problem {
	if d.old == nil {
		if next["sequence"] == nil {
			next["sequence"] = 0.0
		}
		return nil
	}
	current, _ := d.old.event["sequence"].(float64)
	given, ok := next["sequence"].(float64)
	if ok && given < current {
		return resttest.Invalid("sequence", "Invalid sequence value. The specified sequence number is below the "+
			"current sequence number of the resource. Re-fetch the resource and use its sequence number.")
	}
	next["sequence"] = max(given, current)
	for _, name := range []string{"start", "end", "recurrence"} {
		if given <= current && !reflect.DeepEqual(next[name], d.old.event[name]) {
			next["sequence"] = current + 1
		}
	}
	return nil
}

var answers = []string{"needsAction", "declined", "tentative", "accepted"}

// attendees validates the guests. A copy that is not the organizer's changes only the account's own answer.
// https://developers.google.com/workspace/calendar/api/concepts/sharing
func (d *draft) attendees(next Event) *resttest.Problem {
	guests := list(next, "attendees")
	only := next["attendeesOmitted"] == true
	delete(next, "attendeesOmitted")
	was := map[string]map[string]any{}
	if d.old != nil {
		for _, guest := range list(d.old.event, "attendees") {
			was[text(guest, "email")] = guest
		}
	}
	foreign := !d.browser && d.old != nil && !d.cal.organized(d.old.event)
	all := []any{}
	for i, guest := range guests {
		guest = maps.Clone(guest)
		address := text(guest, "email")
		if _, err := mail.ParseAddress(address); err != nil {
			return resttest.Invalid(fmt.Sprintf("attendees[%d].email", i), "Invalid attendee email.")
		}
		for _, name := range []string{"self", "organizer", "id", "asyncOperation"} {
			delete(guest, name)
		}
		if guest["responseStatus"] == nil {
			guest["responseStatus"] = "needsAction"
		}
		if !slices.Contains(answers, text(guest, "responseStatus")) {
			return resttest.Invalid("attendees.responseStatus", "Invalid attendee response status.")
		}
		if (foreign || only) && address != d.cal.ID && was[address] != nil {
			guest = was[address]
		}
		delete(was, address)
		all = append(all, guest)
	}
	if only {
		for _, address := range slices.Sorted(maps.Keys(was)) {
			all = append(all, was[address])
		}
	}
	delete(next, "attendees")
	if len(all) > 0 {
		next["attendees"] = all
	}
	if !foreign {
		return nil
	}
	for _, name := range []string{"guestsCanInviteOthers", "guestsCanModify", "guestsCanSeeOtherGuests"} {
		a, b := next[name], d.old.event[name]
		if (a == nil || a == defaults[name]) != (b == nil || b == defaults[name]) {
			return &resttest.Problem{
				Code: http.StatusForbidden, Domain: "calendar", Reason: "forbiddenForNonOrganizer",
				Message: "Shared properties can only be changed by the organizer of the event.",
			}
		}
	}
	return nil
}

func reminders(next Event) *resttest.Problem {
	given := object(next, "reminders")
	if given == nil {
		next["reminders"] = map[string]any{"useDefault": true}
		return nil
	}
	overrides := list(given, "overrides")
	if given["useDefault"] == true && len(overrides) > 0 {
		return &resttest.Problem{
			Code: http.StatusBadRequest, Domain: "calendar", Reason: "cannotUseDefaultRemindersAndSpecifyOverride",
			Message: "Cannot specify both default reminders and overrides at the same time.",
		}
	}
	for _, one := range overrides {
		minutes, ok := one["minutes"].(float64)
		ok = ok && minutes >= 0 && minutes <= 40320
		if !ok || !slices.Contains([]string{"email", "popup"}, text(one, "method")) {
			return resttest.Invalid("reminders", "Invalid reminder: %v", one)
		}
	}
	if len(overrides) > 5 {
		return resttest.Invalid("reminders", "The maximum number of override reminders is 5.")
	}
	kept := map[string]any{"useDefault": given["useDefault"] == true}
	if len(overrides) > 0 {
		kept["overrides"] = given["overrides"]
	}
	next["reminders"] = kept
	return nil
}

// properties drops long names and truncates long values of extended properties.
// https://developers.google.com/workspace/calendar/api/guides/extended-properties#limitations
func properties(next Event) *resttest.Problem {
	kept := map[string]any{}
	for kind, group := range object(next, "extendedProperties") {
		all, size := map[string]any{}, 0
		named, _ := group.(map[string]any)
		for name, value := range named {
			if value := []rune(fmt.Sprint(value)); len([]rune(name)) <= 44 {
				all[name] = string(value[:min(len(value), 1024)])
				size += len(name) + len(value)
			}
		}
		if len(all) > 300 || size > 32<<10 {
			return resttest.Invalid("extendedProperties", "There may be up to 300 properties totaling up to 32kB.")
		}
		if len(all) > 0 {
			kept[kind] = all
		}
	}
	delete(next, "extendedProperties")
	if len(kept) > 0 {
		next["extendedProperties"] = kept
	}
	return nil
}

// conference creates the conference of a createRequest.
// https://developers.google.com/workspace/calendar/api/guides/create-events#conferencing
func (d *draft) conference(next Event) *resttest.Problem {
	data := object(next, "conferenceData")
	if len(data) == 0 {
		delete(next, "conferenceData")
		return nil
	}
	wanted := object(data, "createRequest")
	whole := data["conferenceSolution"] != nil && len(list(data, "entryPoints")) > 0
	if !whole && text(wanted, "requestId") == "" {
		return resttest.Invalid("conferenceData", "Either conferenceSolution or createRequest is required.")
	}
	if whole && (d.old == nil || d.body["conferenceData"] == nil ||
		wanted["requestId"] == object(object(d.old.event, "conferenceData"), "createRequest")["requestId"]) {
		return nil
	}
	if text(wanted, "requestId") == "" {
		return nil
	}
	solution := object(wanted, "conferenceSolutionKey")
	if solution == nil {
		solution = map[string]any{"type": "hangoutsMeet"}
	}
	if solution["type"] != "hangoutsMeet" {
		return resttest.Invalid("conferenceData", "Invalid conference type value.")
	}
	code := "aaa-bbbb-" + string([]byte{'a' + byte(d.version%26), 'a' + byte(d.version/26%26), 'a'})
	next["conferenceData"] = map[string]any{
		"createRequest": map[string]any{
			"requestId": wanted["requestId"], "conferenceSolutionKey": solution,
			"status": map[string]any{"statusCode": "success"},
		},
		"entryPoints": []any{map[string]any{
			"entryPointType": "video", "uri": "https://meet.google.com/" + code, "label": "meet.google.com/" + code,
		}},
		"conferenceSolution": map[string]any{
			"key": solution, "name": "Google Meet", "iconUri": "https://fonts.gstatic.com/meet.png",
		},
		"conferenceId": code,
	}
	return nil
}

// kind validates the rules of event types.
// https://developers.google.com/workspace/calendar/api/guides/calendar-status
func (d *draft) kind(next Event) *resttest.Problem {
	kind := text(next, "eventType")
	if d.old != nil && kind != d.old.event["eventType"] {
		return &resttest.Problem{
			Code: http.StatusBadRequest, Domain: "calendar", Reason: "eventTypeRestriction",
			Message: "Event type cannot be changed.",
		}
	}
	if d.browser {
		return nil
	}
	properties := kind + "Properties"
	day := text(object(next, "start"), "date") != ""
	status := next[properties] != nil && d.cal == d.calendars[0] // "only available on primary calendars"
	bad := false
	switch kind {
	case "fromGmail":
		bad = d.old == nil
	case "workingLocation":
		bad = !status || next["visibility"] != "public" || next["transparency"] != "transparent"
	case "focusTime", "outOfOffice":
		bad = !status || day || next["transparency"] == "transparent"
	case "birthday":
		bad = !day || next["visibility"] != "private" || next["transparency"] != "transparent" ||
			!strings.Contains(fmt.Sprint(next["recurrence"]), "FREQ=YEARLY")
	}
	if bad {
		return &resttest.Problem{
			Code: http.StatusBadRequest, Domain: "calendar", Reason: "eventTypeRestriction",
			Message: "Invalid properties for an event of type " + kind,
		}
	}
	return nil
}

// visibility applies a more restrictive value of an instance to its series, and ignores a less restrictive one.
// https://developers.google.com/workspace/calendar/api/v3/reference/events#visibility
func (d *draft) visibility(next Event) *resttest.Problem {
	master := d.cal.events[text(next, "recurringEventId")]
	if master == nil {
		return nil
	}
	level := func(e Event) int {
		return indexOf([]string{"public", "", "default", "private", "confidential"}, text(e, "visibility"))
	}
	switch {
	case max(level(next), 1) > max(level(master.event), 1)+1:
		master.event = maps.Clone(master.event)
		master.event["visibility"] = next["visibility"]
		d.version++
		master.version = d.version
	case level(next) < level(master.event):
		next["visibility"] = master.event["visibility"]
	}
	return nil
}

func validID(id string) bool {
	return len(id) >= 5 && len(id) <= 1024 && strings.Trim(id, "abcdefghijklmnopqrstuv0123456789") == ""
}
