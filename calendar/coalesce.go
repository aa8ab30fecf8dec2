package calendar

import (
	"slices"
	"time"
)

// Coalesce merges a new letter with the waiting letters to the same recipient about the same UID, which are given
// in order. It returns the new letter as it must be posted, whether to post it at all, and the waiting letters to
// drop. So a user who changes an event three times in a minute sends one mail, and a user who creates and deletes
// an event sends none. ahead is set when another letter to the recipient about this UID is being sent right now.
func Coalesce(waiting []Letter, ahead bool, next Letter) (posted Letter, post bool, dropped []LetterID) {
	var notBefore time.Time
	given := next
	for _, old := range waiting {
		if !supersedes(given, old) {
			// A letter about one instance does not concern letters about another instance.
			ahead = ahead || old.Recurrence == "" || given.Recurrence == "" || old.Recurrence == given.Recurrence
			continue
		}
		if len(dropped) == 0 {
			// A letter that was tried may have arrived, even if the other server reported a failure.
			next.First = old.First && old.Tries == 0
		}
		dropped = append(dropped, old.ID)
		if old.Posted.Before(next.Posted) {
			next.Posted = old.Posted
		}
		if old.Tries > 0 && old.Due.After(notBefore) {
			notBefore = old.Due
		}
	}
	next.First = next.First && !ahead
	if held := next.Posted.Add(LetterHeld); held.Before(next.Due) {
		next.Due = held
	}
	if next.Due.Before(notBefore) {
		next.Due = notBefore
	}
	return next, next.Method != MethodCancel || !next.First, dropped
}

// superseded lists the methods of older letters that a new letter makes obsolete. same applies to letters about the
// same instance or the whole event. instances applies to letters about single instances, when the new letter is
// about the whole event.
var superseded = map[Method]struct{ same, instances []Method }{
	// A new REQUEST for the series need not mention a cancelled instance, so that CANCEL is still sent.
	MethodRequest: {[]Method{MethodRequest, MethodCancel, MethodAdd}, []Method{MethodRequest, MethodAdd}},
	MethodCancel:  {[]Method{MethodRequest, MethodCancel, MethodAdd}, []Method{MethodRequest, MethodCancel, MethodAdd}},
	MethodReply:   {same: []Method{MethodReply}},
	MethodCounter: {same: []Method{MethodCounter}},
	MethodRefresh: {same: []Method{MethodRefresh}},
	MethodAdd:     {},
	MethodDecline: {},
}

// supersedes reports whether the recipient of next no longer needs old.
func supersedes(next, old Letter) bool {
	if next.Method == MethodRequest && next.First && old.Method == MethodCancel {
		// The attendee is invited again and must answer again. Without the CANCEL they would keep their former
		// answer, which the organizer no longer has. A client that deletes an event and creates it again does not
		// get here.
		return false
	}
	row := superseded[next.Method]
	switch next.Recurrence {
	case old.Recurrence:
		return slices.Contains(row.same, old.Method)
	case "":
		return slices.Contains(row.instances, old.Method)
	}
	return false
}
