package calendar

// Box is all that a user was told, or that came to them, with what is gone by now.
type Box[T any] struct {
	// Version is that of the latest change, Pruned of the latest removal that was forgotten.
	Version, Pruned Version
	// Items are by name.
	Items []T
}

// BoxItem is what a box has in it.
type BoxItem interface {
	// Latest is the version of its latest change, and tells whether it is gone with that.
	Latest() (v Version, gone bool)
}

// BoxChanges is what changed in a box.
type BoxChanges[T any] struct {
	// Now is the token for the box as it is.
	Now SyncToken
	// Items are those that are new, changed or gone, by Version.
	Items []T
}
