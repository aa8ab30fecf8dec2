package calendar

// Policy is what administrators decide for all users. It may change at any time, for all processes.
type Policy struct {
	// OpenDirectory lets every user see and search all others. Without it they see those with whom they share
	// a calendar, and find others by their exact name or address.
	OpenDirectory bool
	// NeedAcceptance asks users before they get a calendar that another user shares. Without it they have it at once, and may leave it.
	NeedAcceptance bool
	// Quota bounds what users may have who have no bounds of their own.
	Quota Quota
}
