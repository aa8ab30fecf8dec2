package calendar

import (
	"fmt"
	"reflect"
)

// ForSharees returns a calendar's properties for a sharee. The name is cut and ends with the owner's, since the
// first calendars of all users have the same name.
func (c Calendar) ForSharees() Properties {
	p := c.Properties
	p.Name = cut(p.Name, longestForeign) + c.OwnerMark()
	return p
}

// OwnerMark returns the end of a calendar's name for its sharees.
func (c Calendar) OwnerMark() string { return fmt.Sprintf(" (%s)", cut(c.OwnerTitle, longestForeign)) }

// longestForeign limits the characters that other users see of a name.
const longestForeign = 100

// cut shortens a text and marks the cut.
func cut(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// Arrangement holds a sharee's own settings of a calendar. Nil means the owner's value; see Calendar.ForSharees.
type Arrangement struct {
	Name, Description, Color *string
	Order                    *int64
	// Opaque is set when the calendar also counts as busy for the sharee. By default it does not, whatever the
	// owner's setting (caldav-sharing §5.5.5).
	Opaque bool
	// Hidden is the sharee's own setting; the owner has another.
	Hidden bool
}

// Under returns the settings that apply with an access. A sharee with access to only the busy times could not
// change them, or see why a calendar is hidden. So they do not apply until the sharee has more access again.
func (a Arrangement) Under(access Access) Arrangement {
	if access < needs[ArrangeCalendar].access {
		return Arrangement{}
	}
	return a
}

// Over returns the owner's properties with the sharee's settings applied.
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

// ArrangementOf returns the settings that turn the owner's properties into the sharee's. A property that the sharee
// removes, or sets to the owner's value, follows the owner again.
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

// Personal reports whether two sets of properties differ only in properties that each sharee sets for themselves.
func Personal(a, b Properties) bool {
	b.Name, b.Description, b.Color, b.Order = a.Name, a.Description, a.Color, a.Order
	b.Transparent, b.Hidden = a.Transparent, a.Hidden
	return reflect.DeepEqual(a, b)
}
