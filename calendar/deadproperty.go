package calendar

// PropertyName is the name of a property that is kept without being understood: a dead one, as
// RFC 4918 §4 has it.
type PropertyName struct {
	// Space is the namespace, which may be empty.
	Space, Local string
}

// DeadProperty is such a property. In a change, an empty Value takes it away.
type DeadProperty struct {
	Name PropertyName
	// Value is all of it, name and attributes included, in the words of the door that took it.
	Value string
}

// Place says what sort of thing properties are kept of.
type Place uint8

// The places there are.
const (
	AtPrincipal Place = iota
	AtHome
	AtCalendar
	AtObject
	// AtShare is a calendar as somebody else than its owner has it.
	AtShare
)

// Holder is what properties are kept of. They go when it goes.
type Holder struct {
	Place Place
	// User is set at a principal, at a home and at a share, Calendar at a calendar, at an object
	// and at a share.
	User     UserID
	Calendar Calendar
	Object   ObjectName
}

const (
	// MaxDeadProperties is how many properties are kept of one thing.
	MaxDeadProperties = 100
	// MaxDeadPropertyBytes is the size of the largest that is kept.
	MaxDeadPropertyBytes = 32 << 10
	// MaxAllDeadPropertyBytes is the size of all that is kept of one thing. A home is listed with what is kept of its calendars.
	MaxAllDeadPropertyBytes = 256 << 10
)

// CheckDeadProperties tells whether the properties are small enough to be kept.
func CheckDeadProperties(edits []DeadProperty) error {
	for _, e := range edits {
		if len(e.Value) > MaxDeadPropertyBytes || len(e.Name.Space)+len(e.Name.Local) > MaxNameLength {
			return Errorf(TooLarge, RuleDiskSpace, "the property %s has more than %d bytes", e.Name.Local, MaxDeadPropertyBytes)
		}
	}
	return nil
}

// CheckKept tells whether one thing may keep all that it has after a change, by which it has grown so much.
func CheckKept(all Usage, grown int64) error {
	switch {
	case all.Objects > MaxDeadProperties:
		return Errorf(TooLarge, RuleDiskSpace, "no more than %d properties are kept of one resource", MaxDeadProperties)
	case all.Bytes > MaxAllDeadPropertyBytes && grown > 0:
		return Errorf(TooLarge, RuleDiskSpace, "the properties of one resource have no more than %d bytes in all", MaxAllDeadPropertyBytes)
	}
	return nil
}

// Holder tells whose properties of a calendar are meant: what the owner's clients keep of it is
// only the owner's, and each sharee's theirs.
func (c Caller) Holder(h Holder) Holder {
	if h.Place == AtCalendar && h.Calendar.Access != OwnerAccess {
		h.Place, h.User = AtShare, c.User.ID
	}
	return h
}

// MayRead tells whether the caller may read what is kept there.
func (c Caller) MayRead(h Holder) error {
	if h.Place == AtPrincipal || h.Place == AtHome {
		return c.MayOwn(ReadObjects)
	}
	return c.May(ReadObjects, h.Calendar)
}

// MayWrite tells whether the caller may change what is kept there.
func (c Caller) MayWrite(h Holder) error {
	switch h.Place {
	case AtPrincipal, AtHome:
		return c.MayOwn(ChangeCalendar)
	case AtCalendar:
		return c.May(ChangeCalendar, h.Calendar)
	case AtShare:
		return c.May(ArrangeCalendar, h.Calendar)
	case AtObject:
	}
	return c.May(WriteObjects, h.Calendar)
}
