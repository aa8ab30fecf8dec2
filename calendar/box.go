package calendar

// Box holds everything that a user was sent or notified of, including items deleted by now.
type Box[T any] struct {
	// Version is the latest change, Pruned the latest deletion that was pruned.
	Version, Pruned Version
	// Items are sorted by name.
	Items []T
}

// BoxItem is an item in a Box.
type BoxItem interface {
	// Latest returns the version of the item's latest change, and whether that change deleted it.
	Latest() (v Version, gone bool)
}

// BoxChanges lists the changes in a box.
type BoxChanges[T any] struct {
	// Now is the token of the box's current state.
	Now SyncToken
	// Items are new, changed or deleted, sorted by Version.
	Items []T
}
