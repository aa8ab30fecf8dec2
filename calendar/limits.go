package calendar

import (
	"caldav-mcp-server/calendar/meter"
)

// Limits bound the resources that a caller can use.
type Limits struct {
	// ObjectBytes limits the size of an object (CALDAV:max-resource-size).
	ObjectBytes int64
	// Instances limits the instances of an object in its first four months, and in an expansion
	// (CALDAV:max-instances).
	Instances int
	// Attendees limits the attendees of an instance (CALDAV:max-attendees-per-instance).
	Attendees int
	// UndoBytes limits the former states that one undo transaction reads, because all other writers wait for it.
	UndoBytes int64
	// Outbox limits a user's unsent mail.
	Outbox OutboxLimits
	// Telling limits a change's messages to other people: the text written for them, and the work.
	Telling meter.Limits
	// Cost limits the cost of a request.
	Cost meter.Limits
}

// DefaultLimits returns the default limits.
func DefaultLimits() Limits {
	return Limits{
		ObjectBytes: 4 << 20, Instances: 3000, Attendees: 1000, UndoBytes: 64 << 20, Outbox: outboxLimits(),
		Telling: tellingLimits(), Cost: costLimits(),
	}
}

// costLimits limits one request. Parsing an object of the maximum size takes 28 MB; 50 million steps take about
// five seconds.
func costLimits() meter.Limits {
	return meter.Limits{Held: 40 << 20, Written: 64 << 20, Instances: 200_000, Steps: 50_000_000}
}

// tellingLimits allows inviting a few hundred attendees to an event of a few kilobytes. All other writers wait for
// that for a second or two.
func tellingLimits() meter.Limits { return meter.Limits{Written: 64 << 20, Steps: 20_000_000} }

// outboxLimits allows a few invitations with a thousand attendees each, or one large event. Mail servers accept a
// few mebibytes, and a mail contains the message twice in base64.
func outboxLimits() OutboxLimits {
	return OutboxLimits{Letters: 5000, Bytes: 64 << 20, Letter: 1 << 20}
}
