package calendar

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
)

// Home is the stored record of a user's home: its members at the last synchronization. Each read compares the
// record with the current calendars and updates it. So every kind of change is noticed, and a write to a calendar
// need not know which homes contain it.
type Home struct {
	// Epoch is the store's epoch.
	Epoch Epoch
	// Version is the latest noticed change, Pruned the latest pruned removal.
	Version, Pruned Version
	// Replaced is the latest change that gave an address to another calendar. A token that reaches only the former
	// calendar cannot be told of its removal from there.
	Replaced Version
	Members  []Member
	// Suggests is set if the user has open suggestions, or a valid token with ScopePropose. It is not stored.
	Suggests bool
}

// Member is a calendar in a home.
type Member struct {
	Address  Segment
	Calendar CalendarID
	// Seen is the calendar's version, or another number that changes with every change that the user sees. Access
	// is the user's access at that time.
	Seen   Version
	Access Access
	// Version is the home's version of the member's latest change.
	Version Version
	// Gone is set when the address no longer has a calendar.
	Gone bool
	// Private is set if the user's delegates do not see the calendar, see [Calendar.Private].
	Private bool
}

// HomeChange is a change of one address in a home.
type HomeChange struct {
	Address Segment
	Version Version
	// Gone is set when the address no longer has a calendar; otherwise Calendar is the one there.
	Gone     bool
	Calendar Calendar
}

// HomeChanges lists the changes in a home.
type HomeChanges struct {
	// Now is the token of the home's current state.
	Now SyncToken
	// List is sorted by Version.
	List []HomeChange
	// Calendars are the current calendars, as CalendarsInHome lists them.
	Calendars []Calendar
}

// Since returns the changes after a token that the caller may see.
func (h Home) Since(c Caller, since SyncToken, calendars []Calendar) []HomeChange {
	at := make(map[Segment]Calendar, len(calendars))
	for _, cal := range slices.Backward(calendars) {
		// Iterate backward so that the user's own calendar wins over a shared one with the same address, as in
		// Notice.
		at[cal.Address()] = cal
	}
	var list []HomeChange
	for _, m := range h.Members {
		change := HomeChange{Address: m.Address, Version: m.Version, Gone: m.Gone, Calendar: at[m.Address]}
		switch {
		case m.Version <= since.Version, m.Gone && since == (SyncToken{}):
		case !m.concerns(c), !m.Gone && c.ActsFor() && !c.Sees(change.Calendar):
		default:
			list = append(list, change)
		}
	}
	slices.SortFunc(list, func(a, b HomeChange) int { return cmp.Compare(a.Version, b.Version) })
	return list
}

// concerns reports whether the caller reaches the calendar.
func (m Member) concerns(c Caller) bool {
	if c.ActsFor() && (m.Access != OwnerAccess || m.Private) || m.Calendar == ProposedID && !c.seesProposed() {
		return false
	}
	return c.Calendars == nil || slices.Contains(c.Calendars, m.Calendar)
}

// SeenBy returns the version of the latest change that the caller may see.
func (h Home) SeenBy(c Caller) (latest Version) {
	for _, m := range h.Members {
		if m.concerns(c) {
			latest = max(latest, m.Version)
		}
	}
	return latest
}

// Notice updates the record from the current calendars and returns the changed members. Each change gets its own
// version, so that paging is exact.
func (h *Home) Notice(calendars []Calendar) []Member {
	known := make(map[Segment]int, len(h.Members))
	for i, m := range h.Members {
		known[m.Address] = i
	}
	next := h.Version
	var changed []Member
	there := make(map[Segment]bool, len(calendars))
	for _, cal := range calendars {
		m := Member{
			Address: cal.Address(), Calendar: cal.ID, Seen: cal.seenAs(), Access: cal.Access, Private: cal.Private(),
		}
		// The user's own calendar wins over a shared one with the same address; see Store.CalendarAt.
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

// seenAs returns the calendar's version for the home's record. For a sharee it also depends on the sharee's own
// settings, which do not advance the calendar's version. For a sharee of only the busy times it depends only on the
// name and how the calendar is shown.
func (c Calendar) seenAs() Version {
	if c.Access == OwnerAccess {
		return c.Version
	}
	sum := fnv.New64a()
	_, _ = fmt.Fprintf(sum, "%q %q %d %q", c.Name, *cmp.Or(c.Color, new(string)), *cmp.Or(c.Order, new(int64)),
		c.Timezone)
	if c.Access > FreeBusyAccess {
		_, _ = fmt.Fprintf(sum, " %d %q %t %t", c.Version, *cmp.Or(c.Description, new(string)), c.Transparent, c.Hidden)
		if c.Own > 0 {
			_, _ = fmt.Fprintf(sum, " %d", c.Own)
		}
	}
	return Version(sum.Sum64() >> 1)
}

// correct writes the changed members into the record.
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
