package calendar

import (
	"context"
	"iter"
	"time"
)

// MaxAmong is how many UIDs one question of the journal may be about.
const MaxAmong = 32

// JournalQuery selects changes in one calendar's journal. The zero query selects all of them.
type JournalQuery struct {
	// From and Until bound the versions, both included; 0 is no bound.
	From, Until Version
	// NotAfter is the latest time; the zero time is no bound.
	NotAfter time.Time
	// Of restricts to what concerns one UID, where the empty one stands for the calendar's
	// settings; Whom to what concerns one user's share.
	Of   *UID
	Whom UserID
	// Among restricts to what concerns one of a few UIDs, MaxAmong at most.
	Among []UID
	// Token and User restrict to what they did; empty is anybody.
	Token TokenID
	User  UserID
	// WithBefore asks for the bytes before, in the place of what only lists show.
	WithBefore bool
}

// JournalReader is the part of a Store that reads the journal.
type JournalReader interface {
	// Journal yields the changes that match, the latest first: as lists show them, with their
	// Undoes and without Before, or with Before and what was logged only. It holds no more than a
	// bounded number of rows and of bytes.
	Journal(ctx context.Context, cal CalendarID, q JournalQuery) iter.Seq2[Change, error]
	// Texts returns the bytes before and after some changes of a calendar, in any order. What has
	// more than most bytes is left out, and what cannot be read.
	Texts(ctx context.Context, cal CalendarID, changes []Version, most int64) ([]ChangeTexts, error)
	// Unit returns the changes that were made in the same transaction or joined to it, the first
	// one first.
	// NotFound when there is no such change.
	Unit(ctx context.Context, id ChangeID) ([]ChangeID, error)
	// LinesGone returns up to where a calendar's journal has forgotten its lines.
	LinesGone(ctx context.Context, cal CalendarID) (LinesGone, error)
	// Actors returns the tokens that are in a calendar's journal, in byte order, each with every
	// name under which it is there. Of changes of shares only those of the user's own count,
	// unless the user is empty.
	Actors(ctx context.Context, cal CalendarID, user UserID) ([]Actor, error)
}

// LinesGone is the latest line that a journal has forgotten, by its version and its time; the zero one is of a journal that has
// all of its lines. What came later is there without holes.
type LinesGone struct {
	Version Version
	At      time.Time
}

// Since tells whether lines of that time or later are gone.
func (g LinesGone) Since(at time.Time) bool { return g.Version > 0 && !g.At.Before(at) }

// Check refuses a sync token since which lines are gone. The zero token asks for none.
func (g LinesGone) Check(t SyncToken) error {
	if t == (SyncToken{}) || t.Version >= g.Version {
		return nil
	}
	return Errorf(Forbidden, RuleSyncToken, "since this sync token was given the journal has forgotten who changed what").
		Advising("ask without it, or since " + ShortTime(g.At.Add(time.Second)))
}

// ChangeTexts are the bytes before and after a change.
type ChangeTexts struct {
	Version       Version
	Before, After []byte
	// Latest tells that nothing came later of what the change is about. Of calendars and shares,
	// which have no bytes until they change, there is no After then.
	Latest bool
}

// Actor is a token that changed something, and what it or the program with it was called then.
type Actor struct {
	Token TokenID
	Agent string
}

// SeesChange tells whether a change is the caller's to know: of a calendar's sharees, only its
// owner is told.
func (c Caller) SeesChange(cal Calendar, change Change) bool {
	return change.Subject() != AboutShare || change.Whom == c.User.ID || cal.Access == OwnerAccess
}

// Visible leaves out the changes that are not the caller's to know.
func (c Caller) Visible(cal Calendar, changes iter.Seq2[Change, error]) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for change, err := range changes {
			if (err != nil || c.SeesChange(cal, change)) && !yield(change, err) {
				return
			}
		}
	}
}
