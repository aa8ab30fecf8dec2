package google

import (
	"encoding/json"
	"maps"

	"caldav-mcp-server/calendar/mirror"
)

// Event types of Google. The properties of a type are in the field of its name and "Properties".
// https://developers.google.com/workspace/calendar/api/guides/calendar-status
const (
	focusTime       = "focusTime"
	outOfOffice     = "outOfOffice"
	workingLocation = "workingLocation"
	birthday        = "birthday"
)

// keeps reports whether Google accepts an event as one of a type: a copy may be for another calendar, and an app may
// have changed its times.
func (w *write) keeps(e *Event, kind string) bool {
	day, free := e.Start.Date != "", e.Transparency == transparent
	switch kind {
	case focusTime, outOfOffice:
		return w.cal.Primary && !day && !free
	case workingLocation:
		return w.cal.Primary && free && e.Visibility == "public"
	}
	return false
}

// properties names the field of a type's properties.
func properties(kind string) string { return kind + "Properties" }

// plain turns an event into one of the default type, unless Google creates events of its type.
func (w *write) plain(e *Event) {
	if e.Rest[properties(e.Type)] != nil && w.keeps(e, e.Type) {
		return
	}
	e.Type, e.Rest = usualEvent, maps.Clone(e.Rest)
	for _, kind := range []string{focusTime, outOfOffice, workingLocation, birthday} {
		delete(e.Rest, properties(kind))
	}
}

// restored keeps the type of a deleted event that is stored again, because no type can change.
func (w *write) restored(deleted, e *Event) error {
	e.Type = "" // Google keeps it
	name := properties(deleted.Type)
	if kept := deleted.Rest[name]; kept != nil && e.Rest[name] == nil {
		e.Rest = maps.Clone(e.Rest)
		if e.Rest == nil {
			e.Rest = map[string]json.RawMessage{}
		}
		e.Rest[name] = kept
	}
	e.Sequence = max(e.Sequence, deleted.Sequence) // Google refuses a lower one
	return w.keepsType(deleted, e)
}

// keepsType refuses a change that would end the type of the event at Google.
func (w *write) keepsType(now, want *Event) error {
	status := now.Type == focusTime || now.Type == outOfOffice || now.Type == workingLocation
	if !status || w.keeps(want, now.Type) {
		return nil
	}
	if now.Type == workingLocation {
		return mirror.Refusef("At Google, a working location is public and counts as free. To change that, delete it " +
			"and create an event.")
	}
	return mirror.Refusef("An event of Google's type %s has times and counts as busy. To change that, delete it and "+
		"create another one.", now.Type)
}
