package calendar

import (
	"caldav-mcp-server/calendar/meter"
)

// Limits bound what a caller can ask the service to keep or compute.
type Limits struct {
	// ObjectBytes is the largest object taken (CALDAV:max-resource-size).
	ObjectBytes int64
	// Instances bounds how often an object may recur in its first four months, and in an
	// expansion (CALDAV:max-instances).
	Instances int
	// Attendees bounds the attendees of an instance (CALDAV:max-attendees-per-instance).
	Attendees int
	// UndoBytes bounds what one transaction of an undo reads of former states: the writers of all others wait for it.
	UndoBytes int64
	// Outbox bounds the mail of a user that waits to be sent.
	Outbox OutboxLimits
	// Telling bounds what a change may have for other people: the text that is written for them, and the work of that.
	Telling meter.Limits
	// Cost bounds what a request may cost.
	Cost meter.Limits
}

// DefaultLimits returns the limits that serve unless told otherwise.
func DefaultLimits() Limits {
	return Limits{ObjectBytes: 4 << 20, Instances: 3000, Attendees: 1000, UndoBytes: 64 << 20, Outbox: outboxLimits(), Telling: tellingLimits(), Cost: costLimits()}
}

// costLimits are what one request may cost: an object of the largest size that is parsed takes 28 MB, and 50 million steps
// some five seconds.
func costLimits() meter.Limits {
	return meter.Limits{Held: 40 << 20, Written: 64 << 20, Instances: 200_000, Steps: 50_000_000}
}

// tellingLimits are what a change may have for other people: some hundreds are invited to an event of some kilobytes, and
// all others wait for it for a second or two.
func tellingLimits() meter.Limits { return meter.Limits{Written: 64 << 20, Steps: 20_000_000} }

// outboxLimits are what may wait of one user: some invitations of a thousand, or one large one. Mail servers take a few
// mebibytes, and the message goes into a mail twice, in base64.
func outboxLimits() OutboxLimits {
	return OutboxLimits{Letters: 5000, Bytes: 64 << 20, Letter: 1 << 20}
}
