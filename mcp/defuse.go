package mcp

import (
	"regexp"
	"slices"

	"caldav-mcp-server/calendar"
)

// lures are what makes a host that shows a text as Markdown or HTML fetch or follow something: the middle of a link or of an image,
// and the beginning of an element. An image's address can carry away what a model was made to write into it.
var lures = regexp.MustCompile(`\]\(|\]\[|<[A-Za-z/!?]`)

// defused is text of somebody else with a blank in each of them: it reads as before, and is nothing but text.
func defused(s string) string {
	return lures.ReplaceAllStringFunc(s, func(lure string) string { return lure[:1] + " " + lure[1:] })
}

// foreigner is an answer that may say what somebody else wrote. Its text is defused; the structure has the words as they are.
type foreigner interface{ foreign() bool }

func isForeign(v any) bool {
	f, ok := v.(foreigner)
	return ok && f.foreign()
}

func anyForeign[T foreigner](list []T) bool { return slices.ContainsFunc(list, T.foreign) }

func (v standingView) foreign() bool { return v.Untrusted != "" }

func (v taskView) foreign() bool { return v.Untrusted != "" }

func (v tasksView) foreign() bool { return anyForeign(v.Tasks) }

func (v wholeTask) foreign() bool { return v.taskView.foreign() || anyForeign(v.Subtasks) }

// A new event may meet what others wrote, and so may one that was moved.
func (v createdView) foreign() bool { return v.standingView.foreign() || v.clashes.foreign() }

func (v changedView) foreign() bool { return v.standingView.foreign() || v.clashes.foreign() }

func (v clashes) foreign() bool { return v.Conflicts != nil || v.Duplicates != nil }

// queriedEvents are the text of query_events.
type queriedEvents []queriedEvent

func (v queriedEvents) foreign() bool { return anyForeign(v) }

// calendarViews are the text of list_calendars.
type calendarViews []calendarView

func (v calendarViews) foreign() bool { return anyForeign(v) }

func (v calendarView) foreign() bool {
	return v.Permission != "" && v.Permission != permissions[calendar.OwnerAccess]
}

// What these say of an event nobody writes back, whoever wrote it.
func (deletedView) foreign() bool   { return true }
func (deletedTask) foreign() bool   { return true }
func (respondedView) foreign() bool { return true }
func (resultsView) foreign() bool   { return true }
func (fetchedView) foreign() bool   { return true }
