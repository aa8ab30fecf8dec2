package calendar

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// SuggestionID identifies a suggestion.
type SuggestionID string

// SuggestionState is the state of a suggestion.
type SuggestionState string

// The states. Only an open suggestion has parts.
const (
	SuggestionOpen     SuggestionState = "open"
	SuggestionAccepted SuggestionState = "accepted"
	SuggestionDeclined SuggestionState = "declined"
)

// Suggestion is a change that an assistant proposes and that its user accepts or declines: one object, or several that
// change together. See docs/decisions/0122-suggestions.md.
type Suggestion struct {
	ID   SuggestionID
	User UserID
	// Maker is the assistant.
	Maker            Actor
	State            SuggestionState
	Created, Expires time.Time
	// Told is set once the user was notified of it.
	Told  bool
	Parts []SuggestedPart
}

// conversationGap ends a conversation: a suggestion that comes so long after the last one belongs to another.
const conversationGap = 30 * time.Minute

// SuggestionBundles groups suggestions by conversation: one assistant makes them, each less than conversationGap after
// the one before. All are sorted by age, the oldest first.
func SuggestionBundles(all []Suggestion) (bundles [][]Suggestion) {
	last := map[Actor]int{}
	for _, one := range all {
		i, known := last[one.Maker]
		if known {
			known = one.Created.Sub(bundles[i][len(bundles[i])-1].Created) < conversationGap
		}
		if !known {
			i = len(bundles)
			bundles = append(bundles, nil)
		}
		bundles[i] = append(bundles[i], one)
		last[one.Maker] = i
	}
	return bundles
}

// SuggestedPart is the suggested change of one object.
type SuggestedPart struct {
	Calendar CalendarID `json:"calendar"`
	Name     ObjectName `json:"name"`
	UID      UID        `json:"uid"`
	Kind     Kind       `json:"kind"`
	// Before is the text that the assistant read; empty for a new object. After is the new text; empty to delete it.
	Before []byte `json:"before,omitempty"`
	After  []byte `json:"after,omitempty"`
	// From is the UID of the series that a new one is split from.
	From UID `json:"from,omitempty"`
	// Comment is for the recipients of a cancellation.
	Comment string `json:"comment,omitempty"`
}

// The calendar "Proposed" is generated for CalDAV clients. See docs/decisions/0129-proposed-calendar.md.
const (
	ProposedID      = "proposed"
	ProposedSegment = "proposed-by-assistants"
)

// Proposed reports whether the calendar is the generated one that shows a user's suggestions to CalDAV clients.
func (c Calendar) Proposed() bool { return c.ID == ProposedID }

// proposedUID begins the UIDs of the events in that calendar.
const proposedUID = "proposal."

// ProposedUID returns the UID of the event that shows the suggestion's n-th part.
func (s Suggestion) ProposedUID(n int) UID {
	return UID(proposedUID + string(s.ID) + "." + strconv.Itoa(n) + "@caldav-server")
}

// SuggestionOf returns the suggestion that an event of the calendar "Proposed" shows, or "" for the UID of another
// event.
func SuggestionOf(uid UID) SuggestionID {
	rest, is := strings.CutPrefix(string(uid), proposedUID)
	id, _, both := strings.Cut(rest, ".")
	if !is || !both || !strings.HasSuffix(rest, "@caldav-server") {
		return ""
	}
	return SuggestionID(id)
}

// SuggestionLimits limit open suggestions: their number for one assistant, and the size of all suggestions to a user,
// because a calendar page reads them all.
type SuggestionLimits struct{ Number, Bytes int64 }

// SuggestionReader is the part of a Reader that lists suggestions.
type SuggestionReader interface {
	// Suggestions lists a user's suggestions, the oldest first. An expired one, or one whose token is revoked, does not
	// exist.
	Suggestions(ctx context.Context, user UserID, now time.Time) ([]Suggestion, error)
}

// Suggestions is the part of a Store that holds suggestions. An expired suggestion, or one whose token is revoked, does
// not exist for it.
type Suggestions interface {
	// InsertSuggestion adds an open suggestion. TooLarge if that would exceed the limits.
	InsertSuggestion(ctx context.Context, s Suggestion, most SuggestionLimits) error
	// Suggestion returns a user's open suggestion, or NotFound.
	Suggestion(ctx context.Context, user UserID, id SuggestionID, now time.Time) (Suggestion, error)
	// DeclineSuggestion decides a user's open suggestion; NotFound if there is none.
	DeclineSuggestion(ctx context.Context, user UserID, id SuggestionID) error
	// DeleteSuggestion deletes a user's open suggestion; NotFound if there is none.
	DeleteSuggestion(ctx context.Context, user UserID, id SuggestionID) error
}

// SuggestionKeeper is the part of a Tx that accepts suggestions.
type SuggestionKeeper interface {
	// AcceptSuggestion decides a user's open suggestion; NotFound if there is none.
	AcceptSuggestion(ctx context.Context, user UserID, id SuggestionID) error
}
