package calendar

import (
	"fmt"
	"reflect"
)

// ForSharees returns a calendar's properties for a sharee. The name is cut and ends with the owner's, since the first
// calendars of all users have the same name.
func (c Calendar) ForSharees() Properties {
	p := c.Properties
	p.Name = cut(p.Name, longestForeign) + c.OwnerMark()
	return p
}

// OwnerMark is the end of a calendar's name for its sharees.
func (c Calendar) OwnerMark() string { return fmt.Sprintf(" (%s)", cut(c.OwnerTitle, longestForeign)) }

// longestForeign limits the characters that other users see of a name.
const longestForeign = 100

// cut is the beginning of a text, with a mark where more follows.
func cut(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// Arrangement is how a sharee has a calendar for themselves. What is nil is as its owner has
// it, see Calendar.ForSharees.
type Arrangement struct {
	Name, Description, Color *string
	Order                    *int64
	// Opaque tells that the calendar takes the sharee's time as well. caldav-sharing §5.5.5: until
	// they say so, it does not, whatever its owner says of their own time.
	Opaque bool
	// Hidden is only theirs, like the owner's is.
	Hidden bool
}

// Under is what counts of it with an access. A sharee who has come to have only the busy times could not
// change it any more, nor see why a calendar is hidden: it rests until they have more again.
func (a Arrangement) Under(access Access) Arrangement {
	if access < needs[ArrangeCalendar].access {
		return Arrangement{}
	}
	return a
}

// Over returns the properties that sharees find as this one has them.
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

// ArrangementOf is what makes the properties that sharees find this one's. To remove one is to have
// what there was again, and so is to set it to the same.
func ArrangementOf(found, sharees Properties) Arrangement {
	a := Arrangement{Opaque: !sharees.Transparent, Hidden: sharees.Hidden}
	if sharees.Name != "" && sharees.Name != found.Name {
		a.Name = &sharees.Name
	}
	if sharees.Description != nil && (found.Description == nil || *sharees.Description != *found.Description) {
		a.Description = sharees.Description
	}
	if sharees.Color != nil && (found.Color == nil || *sharees.Color != *found.Color) {
		a.Color = sharees.Color
	}
	if sharees.Order != nil && (found.Order == nil || *sharees.Order != *found.Order) {
		a.Order = sharees.Order
	}
	return a
}

// Personal tells whether two sets of properties differ only in those that each sharee has for
// themselves.
func Personal(a, b Properties) bool {
	b.Name, b.Description, b.Color, b.Order = a.Name, a.Description, a.Color, a.Order
	b.Transparent, b.Hidden = a.Transparent, a.Hidden
	return reflect.DeepEqual(a, b)
}
