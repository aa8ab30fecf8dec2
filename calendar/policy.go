package calendar

// Policy is what administrators decide for all users. It may change at any time, for all processes.
type Policy struct {
	// OpenDirectory lets every user see and search all others. Without it they see those with whom they share
	// a calendar, and find others by their exact name or address.
	OpenDirectory bool
	// NeedAcceptance lets a user who is offered a calendar be asked first. Without it they have it at once, and
	// may give it up.
	NeedAcceptance bool
	// Quota bounds what users may have who have no bounds of their own.
	Quota Quota
}
