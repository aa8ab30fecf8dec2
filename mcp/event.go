package mcp

import "caldav-mcp-server/calendar"

// Limits for the texts of an event that a tool creates. People write shorter texts. Longer ones are pasted, and every
// later read of the event would return them.
const (
	longestTitle = 1000
	longestText  = 50_000
	// longestID limits identifiers; clients choose their length.
	longestID = 1000
	// longestObject is larger than any stored object.
	longestObject = 1 << 30
	// longestList limits lists of attendees, alarms and categories.
	longestList = 200
)

// timeForms tells a model how to write a time; timeForm is the short version.
const (
	timeForms = "as 2026-03-01T09:00:00 (local, in timezone), 2026-03-01T09:00:00+01:00, 20260301T090000Z, or 2026-03-01 for whole days"
	timeForm  = "2026-03-01T09:00, 2026-03-01."
)

// eventTools returns the tools for single events.
func (b toolbox) eventTools() []tool {
	return []tool{
		sending(b.once(tool{
			name: "create_event", title: "Create event",
			description: "Creates an event or a series (rrule), tells of conflicts and likely duplicates, and writes to its attendees.",
			scope:       calendar.ScopeWrite, hints: hints{},
			begin: within(b, b.createEvent), gives: createdView{},
		})), reading(tool{
			name: "get_event", title: "Get event",
			description: "Returns one event, or instance of a series, with all details and its iCalendar text.",
			begin:       about(anEvent, b.subject, b.getEvent), gives: fullView{},
		}), sending(b.changing(tool{
			name: "update_event", title: "Replace event",
			description: "Replaces title, start, end, description and location: what you leave out of the last two is removed. Tells attendees. Prefer patch_event.",
			begin:       about(anEvent, b.aim, b.updateEvent), gives: patchedView{},
		})), sending(b.changing(tool{
			name: "patch_event", title: "Change event",
			description: "Changes only the fields you give; an empty text or list removes one. Tells attendees. For the time only: move_event.",
			begin:       doing(b.patchEvent), gives: patchedView{},
		})), sending(b.changing(tool{
			name: "move_event", title: "Move event",
			description: "Moves an event to another time (new_start; without new_end its length stays) and tells attendees, or to another calendar (to_calendar_id), or copies it there.",
			begin:       doing(b.moveEvent), gives: changedView{},
		})), sending(b.once(tool{
			name: "delete_event", title: "Delete event",
			description: "Deletes an event or instances, and tells attendees that it is off, or the organizer that the user declines. To show it as cancelled: patch_event with status CANCELLED.",
			scope:       calendar.ScopeRead | calendar.ScopeWrite | calendar.ScopeDelete, hints: hints{destructive: true, idempotent: true},
			begin: about(anEvent, b.aim, b.deleteEvent), gives: deletedView{},
		})), reading(tool{
			name: "query_events", title: "Query events",
			description: "Lists one calendar's events with etags; between start and end each instance of a series, else each series once. For days in words, or all calendars: list_events.",
			begin:       within(b, b.queryEvents), gives: queryView{},
		}),
	}
}
