package mcp

import (
	"regexp"
	"slices"
	"strings"
)

// lures are what makes a host that shows a text as Markdown or HTML fetch or follow something: the middle of a link or of an image,
// and the beginning of an element. An image's address can carry away what a model was made to write into it.
var lures = regexp.MustCompile(`\]\(|\]\[|<[A-Za-z/!?]`)

// gap is the character that defuses a lure: a narrow no-break space, which people do not write in these places.
const gap = "\u202f"

// defusedLures are lures with a gap. blankLures have a plain blank: some models write one for a gap.
var (
	defusedLures = regexp.MustCompile(`(\]|<)` + gap + `([\[(A-Za-z/!?])`)
	blankLures   = regexp.MustCompile(`(?:\] [(\[]|< [A-Za-z/!?])[^\s\]<]*`)
)

// defused is a foreign text with a gap in each lure. It reads as before, and no host follows it.
func defused(s string) string {
	return lures.ReplaceAllStringFunc(s, func(lure string) string { return lure[:1] + gap + lure[1:] })
}

// restored removes our gaps from a text that a model wrote. restored(defused(s)) is s, unless s itself has such a gap.
func restored(s string) string { return defusedLures.ReplaceAllString(s, "$1$2") }

// restoredFrom is restored for a text that replaces a stored one. A model may have copied the stored text with plain blanks for the
// gaps. Such a blank is removed if the stored text has the next word only without it.
func restoredFrom(stored, s string) string {
	return blankLures.ReplaceAllStringFunc(unescapedFrom(stored, s), func(word string) string {
		if whole := word[:1] + word[2:]; strings.Contains(stored, whole) && !strings.Contains(stored, word) {
			return whole
		}
		return word
	})
}

// defusedJSON defuses an answer in JSON, where lures occur in strings only. ical_data stays as it is stored.
func defusedJSON(value any, data []byte) string {
	text := defused(string(data))
	if raw, has := value.(interface{ stored() string }); has {
		as, _ := encodeJSON(raw.stored()) // a string can always be written
		const key = `"ical_data":`
		text = strings.Replace(text, key+defused(string(as)), key+string(as), 1)
	}
	return text
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

func (v calendarView) foreign() bool { return v.Untrusted != "" }

// What these say of an event nobody writes back, whoever wrote it.
func (deletedView) foreign() bool   { return true }
func (deletedTask) foreign() bool   { return true }
func (respondedView) foreign() bool { return true }
func (resultsView) foreign() bool   { return true }
func (fetchedView) foreign() bool   { return true }

func (v subscribedView) foreign() bool { return v.Untrusted != "" }
