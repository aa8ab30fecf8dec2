package mcp

import (
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
)

// The longest texts that an event made by a tool may have. What people write is shorter; what
// is longer was pasted, and would come back with every reading of the event.
const (
	longestTitle = 1000
	longestText  = 50_000
	// longestID is that of identifiers, which clients make as long as they like.
	longestID = 1000
	// longestObject is more than any stored object has.
	longestObject = 1 << 30
	// longestList bounds lists of attendees, alarms and categories.
	longestList = 200
)

// timeForms tells a model how to write a time.
const timeForms = "as 2026-03-01T09:00:00 (local, in timezone), 2026-03-01T09:00:00+01:00, 20260301T090000Z, or 2026-03-01 for whole days"

// Parameters that several tools take.
var (
	takesEvent    = field{name: "event_uid", kind: text, doc: "The event's uid.", longest: longestID}
	takesZone     = field{name: "timezone", kind: text, doc: "The zone of local times, such as Europe/Berlin. If missing: the user's, else the calendar's, else UTC.", optional: true}
	takesZoneKept = field{name: "timezone", kind: text, doc: "The zone of the local times you give; it changes none by itself. If missing: the user's, else the calendar's, else UTC.", optional: true}
	takesInstance = field{name: "recurrence_id", kind: text, doc: "Which instance of a series, as listed: give it with scope all, too. Leave it out for a single event.", optional: true}
	takesShown    = field{name: "recurrence_id", kind: text, doc: "Which instance of a series, as listed. Leave it out for a single event or a whole series.", optional: true}
	takesScope    = field{
		name: "scope", kind: text, optional: true, words: []string{string(edit.This), string(edit.Following), string(edit.All)},
		doc: "How much of a series: this instance, it and the following ones, or all. Required for a series, never guessed: ask the user.",
	}
	takesMatch = field{name: "if_match", kind: text, doc: "The etag you last saw: if it has changed since, nothing is done.", optional: true}
)

// eventTools are the tools about single events.
func (b toolbox) eventTools() []tool {
	return []tool{
		b.once(tool{
			name: "create_event", title: "Create event",
			description: "Creates an event in one calendar, once or as a series (rrule), and returns it as it was stored, with its uid and weekday. Conflicts and likely duplicates are reported beside it, never refused. It invites nobody and sends nothing.",
			scope:       calendar.ScopeWrite,
			hints:       hints{},
			takes:       join([]field{calendarID, takesTitle, takesStart, takesEnd}, takesTexts, []field{takesZone}, takesMore),
			gives:       structuredCreation{},
			run:         b.createEvent,
		}), {
			name: "get_event", title: "Get event",
			description: "Returns one event, or one instance of a series, with all its details and its iCalendar text.",
			scope:       calendar.ScopeRead,
			hints:       hints{readOnly: true, idempotent: true},
			takes: []field{
				calendarID, takesEvent, takesShown, takesZone,
				{name: "ical_offset", kind: number, doc: "Where in the iCalendar text to go on: ical_next_offset of the answer before.", optional: true, most: longestObject},
			},
			gives: structuredRead{},
			run:   b.getEvent,
		}, b.once(tool{
			name: "update_event", title: "Replace event",
			description: "Replaces title, start, end, description and location of an event: a description or location that you leave out is removed. All else stays unless given. To change single fields, use patch_event.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite,
			hints:       hints{destructive: true, idempotent: true},
			takes:       join([]field{calendarID, takesEvent, takesTitle, takesStart, takesEnd}, takesTexts, []field{takesZoneKept}, takesMore, takesTarget),
			gives:       structuredChange{},
			run:         b.updateEvent,
		}), b.once(tool{
			name: "patch_event", title: "Change event",
			description: "Changes only the fields that you give and keeps everything else of the event as it is. An empty text or list removes a field. A new start without an end keeps the length.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite,
			hints:       hints{destructive: true, idempotent: true},
			takes:       join([]field{calendarID, takesEvent}, optionally(takesTitle, takesStart, takesEnd), takesTexts, []field{takesZoneKept}, takesMore, takesTarget),
			gives:       structuredChange{},
			run:         b.patchEvent,
		}), b.once(tool{
			name: "move_event", title: "Move event",
			description: "Moves an event, or instances of a series, to another time (new_start), or a whole event or series to another calendar (to_calendar_id), and changes nothing else: zone, alarms, attendees and series stay. Without new_end it lasts as long as before.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite,
			hints:       hints{destructive: true, idempotent: true},
			takes:       join(takesID, optionally(calendarID, takesEvent), takesMove, []field{takesZoneKept}, takesTarget),
			gives:       structuredMove{},
			run:         b.moveEvent,
		}), b.once(tool{
			name: "delete_event", title: "Delete event",
			description: "Deletes an event, or the instances of a series that scope names. Clients stop showing it; to have it shown as cancelled, use patch_event with status CANCELLED.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite | calendar.ScopeDelete,
			hints:       hints{destructive: true, idempotent: true},
			takes:       join([]field{calendarID, takesEvent}, takesTarget),
			gives:       deletedView{},
			run:         b.deleteEvent,
		}), b.queryTool(),
	}
}

// What tools take to make or change an event.
var (
	takesTitle = field{name: "title", kind: text, doc: "What the event is called.", longest: longestTitle}
	takesStart = field{name: "start", kind: text, doc: "When it starts: " + timeForms + "."}
	takesEnd   = field{name: "end", kind: text, doc: "When it ends, in the same form; of whole days, the last one: 2026-03-01 to 2026-03-02 are two (20260301 to 20260303 in iCalendar)."}
	takesTexts = []field{
		{name: "description", kind: text, doc: "Notes.", optional: true, longest: longestText},
		{name: "location", kind: text, doc: "Where it is.", optional: true, longest: longestText},
	}
	takesMore = []field{
		{name: "all_day", kind: yesNo, doc: "Whether it takes whole days; dates say so by themselves.", optional: true},
		{name: "rrule", kind: text, doc: "How it recurs: FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10.", optional: true, longest: longestTitle},
		{name: "attendees", kind: listOf, item: text, doc: "All who take part: Bob Ray <bob@example.com>. Nobody is sent anything, and answers stay as they are.", optional: true, most: longestList, longest: longestTitle},
		{name: "alarms", kind: listOf, item: number, doc: "All reminders, in minutes before the start.", optional: true, most: longestList},
		{name: "status", kind: text, doc: "Whether it will take place.", optional: true, words: []string{string(edit.Tentative), string(edit.Confirmed), string(edit.Cancelled)}},
		{name: "transparency", kind: text, doc: "OPAQUE: busy; TRANSPARENT: free.", optional: true, words: []string{string(edit.Opaque), string(edit.Transparent)}},
		{name: "url", kind: text, doc: "A page about it.", optional: true, longest: longestText},
		{name: "categories", kind: listOf, item: text, doc: "All its tags.", optional: true, most: longestList, longest: longestTitle},
	}
	takesID = []field{
		{name: "event_id", kind: text, doc: "The event's id, from search or list_events. Else give calendar_id and event_uid.", optional: true, longest: longestID},
	}
	takesMove = []field{
		{name: "new_start", kind: text, doc: "When it shall start: " + timeForms + ".", optional: true},
		{name: "new_end", kind: text, doc: "When it shall end; of whole days, the last one, such as 2026-03-02.", optional: true},
		{name: "to_calendar_id", kind: text, doc: "Instead of a time: the calendar that it shall be in. Needs the scope delete, too.", optional: true},
	}
	takesTarget = []field{takesInstance, takesScope, takesMatch}
)

// join puts lists of fields together.
func join(lists ...[]field) []field {
	var all []field
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// optionally is for tools that can do without these.
func optionally(fields ...field) []field {
	for i := range fields {
		fields[i].optional = true
	}
	return fields
}
