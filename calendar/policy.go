package calendar

// Policy holds the administrator's settings that apply to all users. It may change at any time, for all processes.
type Policy struct {
	// OpenDirectory lets every user see and search all others. Otherwise users see only users who share a calendar
	// with them, and find others by their exact name or address.
	OpenDirectory bool
	// NeedAcceptance asks users before they get a calendar that another user shares. Otherwise they get it at once,
	// and may leave it.
	NeedAcceptance bool
	// Quota applies to users without a quota of their own.
	Quota Quota
}
