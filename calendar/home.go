package calendar

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
)

// Home is what is recorded of a user's home: what it held when it was last asked what
// changed in it. The record is brought up to date when it is read, by comparison. So
// whatever changes a home is noticed, and a write to a calendar need not know in whose
// homes it stands.
type Home struct {
	// Epoch is the store's.
	Epoch Epoch
	// Version is that of the latest change that was noticed; Pruned of the latest removal that
	// was forgotten.
	Version, Pruned Version
	// Replaced is that of the latest change by which an address came to another calendar: that the
	// one before is gone from there cannot be told to a user who sees only that one.
	Replaced Version
	Members  []Member
}

// Member is a calendar in a home.
type Member struct {
	Address  Segment
	Calendar CalendarID
	// Seen is the version that the calendar had, or another number that changes when the user sees
	// a change; Access what the user could do with it.
	Seen   Version
	Access Access
	// Version is the home's, of the latest change of this member.
	Version Version
	// Gone tells that there is nothing at the address any more.
	Gone bool
}

// HomeChange is what became of an address in a home.
type HomeChange struct {
	Address Segment
	Version Version
	// Gone tells that nothing is there any more; else Calendar is what is.
	Gone     bool
	Calendar Calendar
}

// HomeChanges is what changed in a home.
type HomeChanges struct {
	// Now is the token of the home as it is.
	Now SyncToken
	// List is in the order of Version.
	List []HomeChange
	// Calendars are those that are there, as CalendarsInHome lists them.
	Calendars []Calendar
}

// Since lists the changes after a token that are the caller's to know.
func (h Home) Since(c Caller, since SyncToken, calendars []Calendar) []HomeChange {
	at := make(map[Segment]Calendar, len(calendars))
	for _, cal := range slices.Backward(calendars) {
		// Backward, so that an own calendar hides a shared one of the same address, as in notice.
		at[cal.Address()] = cal
	}
	var list []HomeChange
	for _, m := range h.Members {
		change := HomeChange{Address: m.Address, Version: m.Version, Gone: m.Gone, Calendar: at[m.Address]}
		switch {
		case m.Version <= since.Version, m.Gone && since == (SyncToken{}):
		case !m.concerns(c):
		default:
			list = append(list, change)
		}
	}
	slices.SortFunc(list, func(a, b HomeChange) int { return cmp.Compare(a.Version, b.Version) })
	return list
}

// concerns tells whether the caller's token reaches the calendar.
func (m Member) concerns(c Caller) bool {
	return c.Calendars == nil || slices.Contains(c.Calendars, m.Calendar)
}

// SeenBy is the version of the latest change that is the caller's to know.
func (h Home) SeenBy(c Caller) (latest Version) {
	for _, m := range h.Members {
		if m.concerns(c) {
			latest = max(latest, m.Version)
		}
	}
	return latest
}

// Notice compares the record to what is there, corrects it, and returns what was not right.
// Each change gets a version of its own, so that paging is exact.
func (h *Home) Notice(calendars []Calendar) []Member {
	known := make(map[Segment]int, len(h.Members))
	for i, m := range h.Members {
		known[m.Address] = i
	}
	next := h.Version
	var changed []Member
	there := make(map[Segment]bool, len(calendars))
	for _, cal := range calendars {
		m := Member{Address: cal.Address(), Calendar: cal.ID, Seen: cal.seenAs(), Access: cal.Access}
		// An own calendar hides a shared one of the same address: see Store.CalendarAt.
		if there[m.Address] {
			continue
		}
		there[m.Address] = true
		i, ok := known[m.Address]
		if ok {
			m.Version = h.Members[i].Version
			if m == h.Members[i] {
				continue
			}
		}
		next++
		if ok && m.Calendar != h.Members[i].Calendar {
			h.Replaced = next
		}
		m.Version = next
		changed = append(changed, m)
	}
	for _, m := range h.Members {
		if !m.Gone && !there[m.Address] {
			next++
			m.Gone, m.Version = true, next
			changed = append(changed, m)
		}
	}
	h.correct(known, changed)
	return changed
}

// seenAs is a version for the home's record. Of a calendar that is shared it is made of what its user has
// for themselves too, which moves the calendar on for nobody. A sharee of only the busy times is told no more
// than what it is called.
func (c Calendar) seenAs() Version {
	if c.Access == OwnerAccess {
		return c.Version
	}
	sum := fnv.New64a()
	_, _ = fmt.Fprintf(sum, "%q %q %d %q", c.Name, *cmp.Or(c.Color, new(string)), *cmp.Or(c.Order, new(int64)), c.Timezone)
	if c.Access > FreeBusyAccess {
		_, _ = fmt.Fprintf(sum, " %d %q %t %t", c.Version, *cmp.Or(c.Description, new(string)), c.Transparent, c.Hidden)
		if c.Own > 0 {
			_, _ = fmt.Fprintf(sum, " %d", c.Own)
		}
	}
	return Version(sum.Sum64() >> 1)
}

// correct puts the changed members into the record.
func (h *Home) correct(known map[Segment]int, changed []Member) {
	h.Members = slices.Clone(h.Members)
	for _, m := range changed {
		if i, ok := known[m.Address]; ok {
			h.Members[i] = m
		} else {
			h.Members = append(h.Members, m)
		}
	}
}
