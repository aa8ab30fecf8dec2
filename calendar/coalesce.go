package calendar

import (
	"slices"
	"time"
)

// Coalesce decides what becomes of a new letter and of those to the same recipient about the same UID
// that wait, in their order: which of them are dropped, and whether the new one is still to be posted,
// as it then is. A user who changes an event three times in a minute sends one mail, and one who makes it and takes
// it back sends none. Ahead tells that another letter of theirs is being sent right now.
func Coalesce(waiting []Letter, ahead bool, next Letter) (posted Letter, post bool, dropped []LetterID) {
	var notBefore time.Time
	given := next
	for _, old := range waiting {
		if !supersedes(given, old) {
			// Of one instance a letter about another one says nothing.
			ahead = ahead || old.Recurrence == "" || given.Recurrence == "" || old.Recurrence == given.Recurrence
			continue
		}
		if len(dropped) == 0 {
			// One that was tried may have arrived, whatever the other side said.
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

// superseded tells which methods a new message makes pointless: where it is about the same instance or
// about all of the event, and, where it is about all of it, of its instances.
var superseded = map[Method]struct{ same, instances []Method }{
	// That an instance was called off stays to be told where the series is told anew, which need not say so.
	MethodRequest: {[]Method{MethodRequest, MethodCancel, MethodAdd}, []Method{MethodRequest, MethodAdd}},
	MethodCancel:  {[]Method{MethodRequest, MethodCancel, MethodAdd}, []Method{MethodRequest, MethodCancel, MethodAdd}},
	MethodReply:   {same: []Method{MethodReply}},
	MethodCounter: {same: []Method{MethodCounter}},
	MethodRefresh: {same: []Method{MethodRefresh}},
	MethodAdd:     {},
	MethodDecline: {},
}

// supersedes tells whether the recipient of next need not get old.
func supersedes(next, old Letter) bool {
	if next.Method == MethodRequest && next.First && old.Method == MethodCancel {
		// They are invited anew, and asked anew: without the cancel their answer of before would stand with them, and not with
		// the organizer. A client that deletes an event and makes it again is no such case.
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
