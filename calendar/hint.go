package calendar

// Hint says where something changed. It may come twice, or for nothing.
type Hint struct {
	Calendars []CalendarID
	// Subscribers are those whose subscriptions changed.
	Subscribers []SubscriberID
	// Everything is set when anything may have changed: access, or the set of calendars.
	Everything bool
}

// Empty tells whether there is nothing to tell.
func (n Hint) Empty() bool {
	return !n.Everything && len(n.Calendars) == 0 && len(n.Subscribers) == 0
}

// Watchable is the part of a Store that tells of changes.
type Watchable interface {
	// Watch has heard called after each change that is kept from now on: at once when it was this
	// process that kept it, soon when it was another one. heard must not wait for anything. After
	// stop it is not called again.
	Watch(heard func(Hint)) (stop func())
}
