package calendar

import (
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
)

// Kind is the kind of component that an object holds (RFC 4791 §4.1: one kind per object).
type Kind string

// The kinds that calendars can hold.
const (
	Event        Kind = "VEVENT"
	Todo         Kind = "VTODO"
	Journal      Kind = "VJOURNAL"
	FreeBusy     Kind = "VFREEBUSY"
	Availability Kind = "VAVAILABILITY" // RFC 7953
)

// Kinds is the set of kinds that a calendar takes, in the order it was given. That of a
// subscription is empty.
type Kinds []Kind

// AllKinds returns every kind; it is what a calendar takes when its maker does not say.
func AllKinds() Kinds { return Kinds{Event, Todo, Journal, FreeBusy, Availability} }

// Has tells whether k is among them.
func (ks Kinds) Has(k Kind) bool { return slices.Contains(ks, k) }

// String returns the kinds as a comma list.
func (ks Kinds) String() string {
	words := make([]string, len(ks))
	for i, k := range ks {
		words[i] = string(k)
	}
	return strings.Join(words, ",")
}

// Properties are what a calendar's owner can set.
type Properties struct {
	Name string
	// Description is nil when never set, which is not the same as empty.
	Description *string
	// Color is "#RRGGBB" or "#RRGGBBAA" as the client wrote it; nil when never set.
	Color *string
	// Order is the place among the user's calendars; nil when never set.
	Order *int64
	// Timezone is the IANA name that floating times take; never empty in a stored calendar.
	Timezone string
	// TimezoneData is the VTIMEZONE object that a client set, verbatim; nil when never set.
	TimezoneData *string
	Kinds        Kinds
	// Transparent calendars do not count as busy (RFC 6638 §9.1).
	Transparent bool
	// Hidden calendars are left out where calendars are not named.
	Hidden bool
}

// Subscribed tells that the calendar is a subscription: a note, shared by a user's apps, of a
// feed elsewhere that they fetch themselves. It holds no objects but those of a Calendar that is Followed.
func (p Properties) Subscribed() bool { return len(p.Kinds) == 0 }

// Calendar is a calendar as one user sees it.
type Calendar struct {
	ID        CalendarID
	Owner     UserID
	OwnerName string
	// OwnerTitle is what people call the owner.
	OwnerTitle string
	// OwnerQuota bounds what the owner may have.
	OwnerQuota Quota
	// Segment is the calendar's name in its owner's URLs. A shared calendar stands in the
	// sharee's home under its id instead: see Address.
	Segment Segment
	Properties
	// Version is that of the latest change; Pruned the latest that the journal has forgotten.
	Version, Pruned Version
	// Own counts what the user who asked has changed of what they have for themselves of a shared calendar's objects.
	Own Version
	// Epoch is the store's, Edition the calendar's. With the Version they name one state of the
	// calendar's objects.
	Epoch             Epoch
	Edition           Edition
	Created, Modified time.Time
	// Access is what the user who asked may do.
	Access Access
	// OwnerFree tells that it takes none of its owner's time, whatever it takes of a sharee's: that
	// is what Transparent says of the caller.
	OwnerFree bool
	// Shared tells the owner that others have a share of it.
	Shared bool
	// Origin is where its events are from, if it mirrors a calendar elsewhere.
	Origin Origin
	// Note tells that it is a subscription, though it has kinds, see Filled.
	Note bool
}

// Followed tells that the calendar is a subscription whose feed the server fetches as well: apps see what they always saw, and
// everybody else a calendar that is only read.
func (c Calendar) Followed() bool { return (c.Note || c.Subscribed()) && c.Origin.Mirrors() }

// Filled is a calendar that is Followed as everybody but apps is told of it: it has the kinds of a calendar.
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

// Floating returns the zone in which the calendar's dates and floating times are read.
func (c Calendar) Floating(zones *zone.DB) *zone.Zone {
	z, err := zones.Lookup(c.Timezone)
	if err != nil {
		return zone.UTC()
	}
	return z
}

// SyncToken returns the token for the calendar as it is.
func (c Calendar) SyncToken() SyncToken { return c.History().Now() }

// History returns what of the calendar's past can be synchronized.
func (c Calendar) History() History {
	return History{Of: c.ID, Epoch: c.Epoch, Version: c.Version, Pruned: c.Pruned, Own: c.Own}
}

// NewCalendar is what it takes to make one. An empty Segment means its id; an empty Kinds
// all of them; an empty Timezone that of its user.
type NewCalendar struct {
	Segment Segment
	Properties
	// Subscription makes one that takes no kind, whatever Kinds says.
	Subscription bool
	// DeadProperties are kept of it from the start.
	DeadProperties []DeadProperty
}

const (
	// MaxNameLength is how many bytes a name for people may have.
	MaxNameLength    = 1000
	maxSegmentLength = 255
)

// reserved are the names that scheduling has in a calendar home (RFC 6638 §2).
var reserved = map[Segment]bool{"inbox": true, "outbox": true}

// Validate tells whether a calendar may have the address.
func (s Segment) Validate() error {
	if len(s) > maxSegmentLength {
		return Errorf(Invalid, "", "the calendar's address is longer than %d bytes", maxSegmentLength)
	}
	if reserved[s] {
		return Errorf(Forbidden, RuleCalendarsOnlyHere, "the address %q is kept for scheduling", string(s))
	}
	return nil
}
