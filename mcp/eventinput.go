package mcp

import (
	"reflect"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
)

// eventValues are what tools take to make an event or to change one.
type eventValues struct {
	start, end edit.Field[string]
	allDay     edit.Field[bool]
	values     edit.Fields
	// attendees are as they were given, with answers behind them.
	attendees edit.Field[[]string]
}

// takesMain are the parameters without which no event is made.
func (in *eventValues) takesMain() []field {
	return []field{
		fieldTo(&in.values.Summary, "title", "").upTo(longestTitle),
		fieldTo(&in.start, "start", timeForm),
		fieldTo(&in.end, "end", "Of whole days, the last."),
	}
}

func (in *eventValues) takesMore() []field {
	return []field{
		yesFieldTo(&in.allDay, "all_day", ""),
		fieldTo(&in.values.Location, "location", "").upTo(longestText),
		fieldTo(&in.values.Description, "description", "").upTo(longestText),
		listFieldTo(&in.attendees, "attendees", "All, such as Bob Ray <bob@example.com>.", strings.TrimSpace).
			items(longestList).upTo(longestTitle),
		fieldTo(&in.values.Rule, "rrule", "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10.").upTo(longestTitle),
		numbersFieldTo(&in.values.Alarms, "alarms", "All, minutes before the start.", alarmBefore).items(longestList),
		fieldTo(&in.values.Status, "status", "").oneOf(string(edit.Tentative), string(edit.Confirmed), string(edit.Cancelled)),
		fieldTo(&in.values.Transparency, "transparency", "TRANSPARENT: free.").oneOf(string(edit.Opaque), string(edit.Transparent)),
		listFieldTo(&in.values.Categories, "categories", "All.", strings.TrimSpace).items(longestList).upTo(longestTitle),
		fieldTo(&in.values.URL, "url", "").upTo(longestText),
	}
}

func alarmBefore(minutes int) edit.Alarm { return edit.Alarm{Minutes: minutes} }

// fields are the values that a call gives. What it leaves out stays; what it gives empty goes.
func (in *eventValues) fields() edit.Fields {
	f := in.values
	if list, given := in.attendees.Value(); given {
		f.Attendees = edit.To(each(list, attendeeOf))
	}
	return f
}

// recurs tells whether the call gives a rule.
func (in *eventValues) recurs() bool {
	_, given := in.values.Rule.Value()
	return given
}

// empty tells that the call gives nothing.
func (in *eventValues) empty() bool {
	return in.start.Left() && in.end.Left() && in.allDay.Left() && in.attendees.Left() && reflect.ValueOf(in.values).IsZero()
}

// newEvent is what create_event takes.
type newEvent struct {
	inCalendar
	eventValues
	inZone
}

func (in *newEvent) takes() []field {
	return slices.Concat(in.inCalendar.takes(), allNeeded(in.takesMain()), []field{in.takesZone()}, in.takesMore())
}

// eventPatch is what patch_event takes.
type eventPatch struct {
	reference
	eventValues
}

func (in *eventPatch) takes() []field { return in.rows(in.takesMain()) }

func (in *eventPatch) rows(main []field) []field {
	return slices.Concat(in.takesEvent(), in.takesSeries(), main, []field{in.takesZoneKept()}, in.takesMore(), []field{in.takesMatch()})
}

// eventReplacement is what update_event takes.
type eventReplacement struct{ eventPatch }

func (in *eventReplacement) takes() []field { return in.rows(allNeeded(in.takesMain())) }

// eventMove is what move_event takes.
type eventMove struct {
	reference
	id         string
	start, end edit.Field[string]
	to         calendar.CalendarID
}

func (in *eventMove) takes() []field {
	return slices.Concat([]field{
		takesCalendar(&in.Calendar), in.takesUID(),
		wordTo(&in.id, "event_id", "Instead of both: id from search."),
	}, in.takesSeries(), []field{
		fieldTo(&in.start, "new_start", timeForm),
		fieldTo(&in.end, "new_end", "Of whole days, the last."),
		in.takesZoneKept(),
		wordTo(&in.to, "to_calendar_id", "Instead of a time."),
		in.takesMatch(),
	})
}
