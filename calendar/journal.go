package calendar

import (
	"context"
	"iter"
	"time"
)

// MaxAmong limits the UIDs of one journal query.
const MaxAmong = 32

// JournalQuery selects changes from one calendar's journal. The zero query selects all of them.
type JournalQuery struct {
	// From and Until limit the versions, both inclusive; 0 means no limit.
	From, Until Version
	// NotAfter limits the time; zero means no limit.
	NotAfter time.Time
	// Of selects the changes about one UID; the empty UID means the calendar's settings. Whom selects the changes
	// about one user's share.
	Of   *UID
	Whom UserID
	// Among selects the changes about several UIDs, at most MaxAmong.
	Among []UID
	// Token and User select the changes that they made; empty means any.
	Token TokenID
	User  UserID
	// Assistant selects the changes that were made through MCP. It does not combine with Of, Whom, Among and Token.
	Assistant bool
	// WithBefore requests Before instead of the fields that only lists show.
	WithBefore bool
}

// JournalReader is the part of a Store that reads the journal.
type JournalReader interface {
	// Journal yields the matching changes, latest first. They have either the fields for lists and Undoes, or with
	// WithBefore only the logged fields and Before. It holds a bounded number of rows and bytes in memory.
	Journal(ctx context.Context, cal CalendarID, q JournalQuery) iter.Seq2[Change, error]
	// Texts returns Before and After of some changes of a calendar, in any order. It skips texts larger than most
	// bytes and unreadable ones.
	Texts(ctx context.Context, cal CalendarID, changes []Version, most int64) ([]ChangeTexts, error)
	// Unit returns the changes of the same transaction, and those joined to it, first one first. NotFound when
	// there is no such change.
	Unit(ctx context.Context, id ChangeID) ([]ChangeID, error)
	// LinesGone returns the latest journal entry that was pruned.
	LinesGone(ctx context.Context, cal CalendarID) (LinesGone, error)
	// Actors returns the tokens in a calendar's journal, in byte order, each with every agent name that it used.
	// Changes of shares count only if they concern the user, or if the user is empty.
	Actors(ctx context.Context, cal CalendarID, user UserID) ([]Actor, error)
	// Assistants returns the names of the assistants that created some objects through MCP. It leaves out objects that
	// were created otherwise, and those whose creation was pruned.
	Assistants(ctx context.Context, objects []ObjectUID) (map[ObjectUID]string, error)
}

// ObjectUID names an object by its UID.
type ObjectUID struct {
	Calendar CalendarID
	UID      UID
}

// LinesGone is the latest journal entry that was pruned, by version and time. It is zero if nothing was pruned. All
// later entries exist.
type LinesGone struct {
	Version Version
	At      time.Time
}

// Since reports whether entries of that time or later were pruned.
func (g LinesGone) Since(at time.Time) bool { return g.Version > 0 && !g.At.Before(at) }

// Check refuses a sync token if entries after it were pruned. It accepts the zero token.
func (g LinesGone) Check(t SyncToken) error {
	if t == (SyncToken{}) || t.Version >= g.Version {
		return nil
	}
	return Errorf(Forbidden, RuleSyncToken, "the journal no longer has all changes since this sync token").
		Advising("ask without it, or since " + ShortTime(g.At.Add(time.Second)))
}

// ChangeTexts are the bytes before and after a change.
type ChangeTexts struct {
	Version       Version
	Before, After []byte
	// Latest is set when no later change concerns the same thing. For calendars and shares, which store no bytes
	// until they change, After is nil then.
	Latest bool
}

// Actor is a token that changed something, and the name that the token or its program had then.
type Actor struct {
	Token TokenID
	Agent string
}

// SeesChange reports whether the caller may see a change. Only the owner sees changes of other users' shares.
func (c Caller) SeesChange(cal Calendar, change Change) bool {
	return change.Subject() != AboutShare || change.Whom == c.User.ID || cal.Access == OwnerAccess
}

// Visible filters out the changes that the caller may not see.
func (c Caller) Visible(cal Calendar, changes iter.Seq2[Change, error]) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for change, err := range changes {
			if (err != nil || c.SeesChange(cal, change)) && !yield(change, err) {
				return
			}
		}
	}
}

// HistoryQuery selects changes that the caller may see, latest first.
type HistoryQuery struct {
	// Calendar selects one calendar. Empty means all that the caller may write to, and the caller's own calendars
	// in the trash.
	Calendar CalendarID
	// Since selects changes at that time or later. After selects changes after a sync token, which belongs to one
	// calendar.
	Since time.Time
	After SyncToken
	// UID selects the changes to one object, Token and User select the changes that they made; empty means any.
	UID   UID
	Token TokenID
	User  UserID
	// Assistant selects the changes that were made through MCP. It does not combine with UID and Token.
	Assistant bool
	// Described requests Before and After, which descriptions need, as long as they are not too large in total.
	Described bool
	// Limit is the page size, Cursor is the end of the previous page.
	Limit  int
	Cursor string
}
