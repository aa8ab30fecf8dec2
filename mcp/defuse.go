package mcp

import (
	"regexp"
	"slices"
	"strings"

	"caldav-mcp-server/mcp/wire"
)

// lures match markup that makes a host fetch or follow something when it shows a text as Markdown or HTML: the middle
// of a link or image, and the start of an element. The URL of an image can leak data that a model was tricked into
// writing there.
var lures = regexp.MustCompile(`\]\(|\]\[|<[A-Za-z/!?]`)

// gap is the character that defuses a lure: a narrow no-break space, which people do not type in these places.
const gap = "\u202f"

// defusedLures match lures with a gap. blankLures match lures with a plain space, which some models write for a gap.
var (
	defusedLures = regexp.MustCompile(`(\]|<)` + gap + `([\[(A-Za-z/!?])`)
	blankLures   = regexp.MustCompile(`(?:\] [(\[]|< [A-Za-z/!?])[^\s\]<]*`)
)

// defused adds a gap to each lure in a foreign text. It still reads the same, and no host follows it.
func defused(s string) string {
	return lures.ReplaceAllStringFunc(s, func(lure string) string { return lure[:1] + gap + lure[1:] })
}

// restored removes our gaps from a text that a model wrote. restored(defused(s)) is s, unless s has such a gap itself.
func restored(s string) string { return defusedLures.ReplaceAllString(s, "$1$2") }

// restoredFrom works like restored for a text that replaces a stored one. A model may have copied the stored text with
// plain spaces for the gaps. Such a space is removed if the stored text contains the word without it, and not with it.
func restoredFrom(stored, s string) string {
	return blankLures.ReplaceAllStringFunc(unescapedFrom(stored, s), func(word string) string {
		if whole := word[:1] + word[2:]; strings.Contains(stored, whole) && !strings.Contains(stored, word) {
			return whole
		}
		return word
	})
}

// defusedJSON defuses a result in JSON, where lures occur in strings only. ical_data stays as it is stored.
func defusedJSON(value any, data []byte) string {
	text := defused(string(data))
	if raw, has := value.(interface{ stored() string }); has {
		as, _ := wire.EncodeJSON(raw.stored()) // strings always marshal
		const key = `"ical_data":`
		text = strings.Replace(text, key+defused(string(as)), key+string(as), 1)
	}
	return text
}

// foreigner is a result that may quote text by other people. Its text is defused; its structured content is not.
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

// The conflicts of a new or moved event may be events that others wrote.
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

// Models never write the texts of these results back, so they are always defused.
func (deletedView) foreign() bool   { return true }
func (deletedTask) foreign() bool   { return true }
func (respondedView) foreign() bool { return true }
func (resultsView) foreign() bool   { return true }
func (fetchedView) foreign() bool   { return true }

func (v subscribedView) foreign() bool { return v.Untrusted != "" }
