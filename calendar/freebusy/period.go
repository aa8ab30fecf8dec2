// Package freebusy tells when somebody is busy: from events, from published busy times and
// from the availability of RFC 7953, merged into periods that do not overlap.
package freebusy

import (
	"fmt"
	"time"

	"caldav-mcp-server/ical"
)

// Type is how busy a period is (RFC 5545 §3.2.9). Where two overlap, the greater wins: a
// firm appointment over office hours, and these over what is not settled yet.
type Type uint8

// The types, from the weakest on.
const (
	Free Type = iota
	Tentative
	Unavailable
	Busy
)

var names = [...]string{Free: "FREE", Tentative: "BUSY-TENTATIVE", Unavailable: "BUSY-UNAVAILABLE", Busy: "BUSY"}

// String returns the FBTYPE.
func (t Type) String() string { return names[t] }

// typeOf reads an FBTYPE or a BUSYTYPE. RFC 5545 §3.2.9: one that is unknown is BUSY.
func typeOf(word string) Type {
	for t, name := range names {
		if name == word {
			return Type(t)
		}
	}
	return Busy
}

// Period is a time in which somebody is busy, up to but not including its End.
type Period struct {
	Start, End time.Time
	Type       Type
}

// Answer is what a VFREEBUSY says besides its periods (RFC 4791 §7.10).
type Answer struct {
	From, Until time.Time
	// Stamp is when the answer was made.
	Stamp time.Time
	UID   string
	// Unread is how many objects may take more time than the periods tell.
	Unread int
}

// Component writes a VFREEBUSY.
func (a Answer) Component(periods []Period) *ical.Component {
	c := ical.NewComponent("VFREEBUSY")
	c.Add(ical.NewText("UID", a.UID))
	c.Add(ical.NewTime("DTSTAMP", ical.Instant(a.Stamp)))
	c.Add(ical.NewTime("DTSTART", ical.Instant(a.From)))
	c.Add(ical.NewTime("DTEND", ical.Instant(a.Until)))
	if a.Unread > 0 {
		c.Add(ical.NewText("COMMENT", fmt.Sprintf("Not all is known: %d of what is there could not be followed to its end.", a.Unread)))
	}
	for _, p := range periods {
		property := ical.NewProperty("FREEBUSY", "", ical.NewParam("FBTYPE", p.Type.String()))
		property.SetPeriods(ical.Period{Start: ical.Instant(p.Start), End: ical.Instant(p.End)})
		c.Add(property)
	}
	return c
}
