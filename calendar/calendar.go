package calendar

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
)

// Kind is the kind of component that an object holds (RFC 4791 §4.1: one kind per object).
type Kind string

// The kinds of components that calendars can hold.
const (
	Event        Kind = "VEVENT"
	Todo         Kind = "VTODO"
	Journal      Kind = "VJOURNAL"
	FreeBusy     Kind = "VFREEBUSY"
	Availability Kind = "VAVAILABILITY" // RFC 7953
)

// Kinds is the set of kinds that a calendar accepts, in the given order. A subscription has none.
type Kinds []Kind

// AllKinds returns every kind, the default for a new calendar.
func AllKinds() Kinds { return Kinds{Event, Todo, Journal, FreeBusy, Availability} }

// Has reports whether k is in the set.
func (ks Kinds) Has(k Kind) bool { return slices.Contains(ks, k) }

// String returns the kinds separated by commas.
func (ks Kinds) String() string {
	words := make([]string, len(ks))
	for i, k := range ks {
		words[i] = string(k)
	}
	return strings.Join(words, ",")
}

// Properties can be set by a calendar's owner.
type Properties struct {
	Name string
	// Description is nil when never set, which is not the same as empty.
	Description *string
	// Color is "#RRGGBB" or "#RRGGBBAA" as the client wrote it; nil when never set.
	Color *string
	// Order is the position in the user's list of calendars; nil when never set.
	Order *int64
	// Timezone is the IANA name of the zone for floating times. It is never empty in a stored calendar.
	Timezone string
	// TimezoneData is the VTIMEZONE object that a client set, verbatim; nil when never set.
	TimezoneData *string
	Kinds        Kinds
	// Transparent calendars do not count as busy (RFC 6638 §9.1).
	Transparent bool
	// Hidden calendars are left out of requests that name no calendar.
	Hidden bool
}

// Subscribed reports whether the calendar is a subscription: the address of a feed that the user's clients share
// and fetch themselves. It holds no objects unless it is Followed.
func (p Properties) Subscribed() bool { return len(p.Kinds) == 0 }

// Calendar is a calendar as one user sees it.
type Calendar struct {
	ID        CalendarID
	Owner     UserID
	OwnerName string
	// OwnerTitle is what people call the owner.
	OwnerTitle string
	// OwnerQuota is the owner's quota.
	OwnerQuota Quota
	// Segment is the calendar's name in its owner's URLs. A sharee's home has it under its ID instead; see Address.
	Segment Segment
	Properties
	// Version is the latest change; Pruned is the latest change that the journal has forgotten.
	Version, Pruned Version
	// Own counts the user's changes to their private data on a shared calendar's objects; see OwnPart.
	Own Version
	// Epoch is the store's, Edition the calendar's. Together with Version they identify one state of the calendar's
	// objects.
	Epoch             Epoch
	Edition           Edition
	Created, Modified time.Time
	// Access is the access of the user who asked.
	Access Access
	// OwnerFree is set when the calendar does not count as busy for its owner. Transparent is the setting of the
	// user who asked.
	OwnerFree bool
	// Shared tells the owner that the calendar has sharees.
	Shared bool
	// Origin is the source of a mirrored calendar.
	Origin Origin
	// Note is set on a subscription that has kinds; see Filled.
	Note bool
}

// Private reports whether only the owner may use the calendar: it is a subscription, whose secret address is in its
// properties, or shows the owner's suggestions.
func (c Calendar) Private() bool { return c.Subscribed() || c.Note || c.Proposed() }

// Followed reports whether the calendar is a subscription whose feed the server also fetches. CalDAV clients still
// see a subscription; all other readers see a read-only calendar.
func (c Calendar) Followed() bool { return (c.Note || c.Subscribed()) && c.Origin.Mirrors() }

// Filled returns a Followed calendar in the form for readers other than CalDAV clients: with all kinds.
func (c Calendar) Filled() Calendar {
	c.Note, c.Kinds = true, AllKinds()
	return c
}

// Address returns the calendar's last path segment in the home of the user who asked.
func (c Calendar) Address() Segment {
	if c.Access == OwnerAccess {
		return c.Segment
	}
	return Segment(c.ID)
}

// Floating returns the zone for the calendar's dates and floating times.
func (c Calendar) Floating(zones *zone.DB) *zone.Zone {
	z, err := zones.Lookup(c.Timezone)
	if err != nil {
		return zone.UTC()
	}
	return z
}

// SyncToken returns the token of the calendar's current state.
func (c Calendar) SyncToken() SyncToken { return c.History().Now() }

// History returns the range of the calendar's history that can be synchronized.
func (c Calendar) History() History {
	return History{Of: c.ID, Epoch: c.Epoch, Version: c.Version, Pruned: c.Pruned, Own: c.Own}
}

// NewCalendar describes a calendar to create. Defaults: Segment is the ID, Kinds is all kinds, Timezone is the
// user's.
type NewCalendar struct {
	Segment Segment
	Properties
	// Subscription creates a calendar without kinds, whatever Kinds says.
	Subscription bool
	// DeadProperties are stored with the new calendar.
	DeadProperties []DeadProperty
}

const (
	// MaxNameLength limits a display name, in bytes.
	MaxNameLength    = 1000
	maxSegmentLength = 255
)

// reserved are the names that scheduling uses in a calendar home (RFC 6638 §2).
var reserved = map[Segment]bool{"inbox": true, "outbox": true}

// Validate returns an error if a calendar may not have this address.
func (s Segment) Validate() error {
	if len(s) > maxSegmentLength {
		return Errorf(Invalid, "", "the calendar's address is longer than %d bytes", maxSegmentLength)
	}
	if reserved[s] {
		return Errorf(Forbidden, RuleCalendarsOnlyHere, "the address %q is kept for scheduling", string(s))
	}
	return nil
}

// ParseOrder parses a calendar's position in a list.
func ParseOrder(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, Errorf(Invalid, "", "%q is not a position in a list: write a whole number", text)
	}
	return n, nil
}
