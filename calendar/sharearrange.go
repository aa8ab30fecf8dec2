package calendar

import (
	"reflect"
)

// Arrangement is how a sharee has a calendar for themselves. What is nil is as its owner has
// it.
type Arrangement struct {
	Name, Description, Color *string
	Order                    *int64
	// Opaque tells that the calendar takes the sharee's time as well. caldav-sharing §5.5.5: until
	// they say so, it does not, whatever its owner says of their own time.
	Opaque bool
	// Hidden is theirs alone, like the owner's is.
	Hidden bool
}

// Under is what counts of it with an access. Who has come to have the busy times alone could not
// change it any more, nor see why a calendar is hidden: it rests until they have more again.
func (a Arrangement) Under(access Access) Arrangement {
	if access < needs[ArrangeCalendar].access {
		return Arrangement{}
	}
	return a
}

// Over returns the properties as the sharee has them.
func (a Arrangement) Over(p Properties) Properties {
	if a.Name != nil {
		p.Name = *a.Name
	}
	if a.Description != nil {
		p.Description = a.Description
	}
	if a.Color != nil {
		p.Color = a.Color
	}
	if a.Order != nil {
		p.Order = a.Order
	}
	p.Transparent, p.Hidden = !a.Opaque, a.Hidden
	return p
}

// ArrangementOf is what makes the owner's properties the sharee's. To remove one is to have
// the owner's again, and so is to set it to the same.
func ArrangementOf(owners, sharees Properties) Arrangement {
	a := Arrangement{Opaque: !sharees.Transparent, Hidden: sharees.Hidden}
	if sharees.Name != "" && sharees.Name != owners.Name {
		a.Name = &sharees.Name
	}
	if sharees.Description != nil && (owners.Description == nil || *sharees.Description != *owners.Description) {
		a.Description = sharees.Description
	}
	if sharees.Color != nil && (owners.Color == nil || *sharees.Color != *owners.Color) {
		a.Color = sharees.Color
	}
	if sharees.Order != nil && (owners.Order == nil || *sharees.Order != *owners.Order) {
		a.Order = sharees.Order
	}
	return a
}

// Personal tells whether two sets of properties differ in those alone that each sharee has for
// themselves.
func Personal(a, b Properties) bool {
	b.Name, b.Description, b.Color, b.Order = a.Name, a.Description, a.Color, a.Order
	b.Transparent, b.Hidden = a.Transparent, a.Hidden
	return reflect.DeepEqual(a, b)
}
