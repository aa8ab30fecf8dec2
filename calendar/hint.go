package calendar

// Hint says where something changed. Hints may be duplicated or spurious.
type Hint struct {
	Calendars []CalendarID
	// Subscribers are the subscribers whose subscriptions changed.
	Subscribers []SubscriberID
	// Everything is set when anything may have changed, such as access or the list of calendars.
	Everything bool
}

// Empty reports whether the hint names no change.
func (n Hint) Empty() bool {
	return !n.Everything && len(n.Calendars) == 0 && len(n.Subscribers) == 0
}

// Watchable is the part of a Store that reports changes.
type Watchable interface {
	// Watch registers heard for every change that is committed from now on: immediately for changes by this
	// process, soon for those by other processes. heard must not block. It is not called again after stop.
	Watch(heard func(Hint)) (stop func())
}
