// Package freebusy computes busy times from events, published busy times and availability (RFC 7953), merged into
// periods that do not overlap.
package freebusy

import (
	"fmt"
	"time"

	"caldav-mcp-server/ical"
)

// Type is the kind of a busy period (RFC 5545 §3.2.9). If two overlap, the greater wins: a confirmed appointment
// over the hours outside of availability, and these over a tentative appointment.
type Type uint8

// The types, weakest first.
const (
	Free Type = iota
	Tentative
	Unavailable
	Busy
)

var names = [...]string{Free: "FREE", Tentative: "BUSY-TENTATIVE", Unavailable: "BUSY-UNAVAILABLE", Busy: "BUSY"}

// String returns the FBTYPE.
func (t Type) String() string { return names[t] }

// typeOf parses an FBTYPE or a BUSYTYPE. An unknown one is BUSY (RFC 5545 §3.2.9).
func typeOf(word string) Type {
	for t, name := range names {
		if name == word {
			return Type(t)
		}
	}
	return Busy
}

// Period is a busy period; its End is exclusive.
type Period struct {
	Start, End time.Time
	Type       Type
}

// Answer holds the properties of a VFREEBUSY other than its periods (RFC 4791 §7.10).
type Answer struct {
	From, Until time.Time
	// Stamp is the time of the response.
	Stamp time.Time
	UID   string
	// Unread counts the objects that could not be evaluated fully, and may add busy times.
	Unread int
}

// Component returns a VFREEBUSY.
func (a Answer) Component(periods []Period) *ical.Component {
	c := ical.NewComponent("VFREEBUSY")
	c.Add(ical.NewText("UID", a.UID))
	c.Add(ical.NewTime("DTSTAMP", ical.Instant(a.Stamp)))
	c.Add(ical.NewTime("DTSTART", ical.Instant(a.From)))
	c.Add(ical.NewTime("DTEND", ical.Instant(a.Until)))
	if a.Unread > 0 {
		c.Add(ical.NewText("COMMENT", fmt.Sprintf("Incomplete: objects that could not be evaluated: %d.", a.Unread)))
	}
	for _, p := range periods {
		property := ical.NewProperty("FREEBUSY", "", ical.NewParam("FBTYPE", p.Type.String()))
		property.SetPeriods(ical.Period{Start: ical.Instant(p.Start), End: ical.Instant(p.End)})
		c.Add(property)
	}
	return c
}
