package calendar

// PropertyName is the name of a dead property: one that the server stores without interpreting it (RFC 4918 §4).
type PropertyName struct {
	// Space is the namespace, which may be empty.
	Space, Local string
}

// DeadProperty is a dead property. In a change, an empty Value removes it.
type DeadProperty struct {
	Name PropertyName
	// Value is the whole XML element, name and attributes included, as the CalDAV client sent it.
	Value string
}

// Place is the kind of resource that has a property.
type Place uint8

// The places.
const (
	AtPrincipal Place = iota
	AtHome
	AtCalendar
	AtObject
	// AtShare is a calendar as a sharee has it.
	AtShare
)

// Holder is the resource that has properties. They are deleted with it.
type Holder struct {
	Place Place
	// User is set for a principal, a home and a share; Calendar is set for a calendar, an object and a share.
	User     UserID
	Calendar Calendar
	Object   ObjectName
}

const (
	// MaxDeadProperties limits the properties of one resource.
	MaxDeadProperties = 100
	// MaxDeadPropertyBytes limits the size of one property.
	MaxDeadPropertyBytes = 32 << 10
	// MaxAllDeadPropertyBytes limits the total size of one resource's properties. A listing of a home returns those
	// of all its calendars.
	MaxAllDeadPropertyBytes = 256 << 10
)

// CheckDeadProperties returns an error if a property is too large.
func CheckDeadProperties(edits []DeadProperty) error {
	for _, e := range edits {
		if len(e.Value) > MaxDeadPropertyBytes || len(e.Name.Space)+len(e.Name.Local) > MaxNameLength {
			return Errorf(TooLarge, RuleDiskSpace, "the property %s has more than %d bytes", e.Name.Local,
				MaxDeadPropertyBytes)
		}
	}
	return nil
}

// CheckKept checks a resource's total after a change that grew by grown bytes. The limit on bytes applies only to
// growth.
func CheckKept(all Usage, grown int64) error {
	switch {
	case all.Objects > MaxDeadProperties:
		return Errorf(TooLarge, RuleDiskSpace, "no more than %d properties are kept of one resource", MaxDeadProperties)
	case all.Bytes > MaxAllDeadPropertyBytes && grown > 0:
		return Errorf(TooLarge, RuleDiskSpace, "the properties of one resource have no more than %d bytes in all",
			MaxAllDeadPropertyBytes)
	}
	return nil
}

// Holder returns the holder of the caller's properties of a calendar. The owner and each sharee have their own.
func (c Caller) Holder(h Holder) Holder {
	if h.Place == AtCalendar && h.Calendar.Access != OwnerAccess {
		h.Place, h.User = AtShare, c.User.ID
	}
	return h
}

// MayRead authorizes reading the properties of h.
func (c Caller) MayRead(h Holder) error {
	if h.Place == AtPrincipal || h.Place == AtHome {
		return c.MayOwn(ReadObjects)
	}
	return c.May(ReadObjects, h.Calendar)
}

// MayWrite authorizes changing the properties of h.
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
