package caldav

import (
	"encoding/xml"
	"errors"
	"net/http"
	"slices"

	"caldav-mcp-server/calendar"
)

// propertyUpdate is DAV:propertyupdate (RFC 4918 §14.19): instructions in the order in
// which they are to be carried out.
type propertyUpdate struct {
	XMLName      xml.Name      `xml:"DAV: propertyupdate"`
	Instructions []instruction `xml:",any"`
}

// instruction is DAV:set or DAV:remove.
type instruction struct {
	XMLName xml.Name
	Prop    struct {
		Elements []element `xml:",any"`
	} `xml:"DAV: prop"`
}

// edit is one property to set, or to remove when it has no value.
type edit struct {
	name  xml.Name
	value *element
}

func editsOf(instructions []instruction) []edit {
	var all []edit
	for _, i := range instructions {
		for j := range i.Prop.Elements {
			e := edit{name: i.Prop.Elements[j].XMLName}
			if i.XMLName == dav("set") {
				e.value = &i.Prop.Elements[j]
			}
			all = append(all, e)
		}
	}
	return all
}

// verdict is what became of one property.
type verdict struct {
	name xml.Name
	// refusal is nil when the property can be set.
	refusal *failure
}

// outcome is what became of all of them. When one failed, none is set.
type outcome struct {
	verdicts []verdict
	failed   bool
}

// apply carries the edits out on p, in their order, and tells what became of each.
func (x *exchange) apply(all []edit, p *calendar.Properties, creating bool) outcome {
	var o outcome
	for _, e := range all {
		v := verdict{name: e.name}
		if err := x.set(e, p, creating); err != nil {
			v.refusal, o.failed = x.failureOf(err), true
		}
		o.verdicts = append(o.verdicts, v)
	}
	return o
}

func (x *exchange) set(e edit, p *calendar.Properties, creating bool) error {
	row := x.byName[e.name]
	switch {
	case row == nil:
		return refuseWith(http.StatusForbidden, "this server does not keep this property")
	case row.set == nil, x.at.kind() != atCalendar, row.flags&atCreation != 0 && !creating:
		return breach("d:cannot-modify-protected-property", "the server keeps this property itself")
	}
	return row.set(p, e.value)
}

// errRefused rolls back a change of which a part was refused.
var errRefused = errors.New("a property was refused")

// proppatch answers RFC 4918 §9.2.
func (x *exchange) proppatch() error {
	var q propertyUpdate
	if err := x.read(&q); err != nil {
		return err
	}
	all := editsOf(q.Instructions)
	if len(all) == 0 {
		return refuseWith(http.StatusBadRequest, "DAV:propertyupdate names no property")
	}
	o, err := x.patch(all)
	if err != nil {
		return err
	}
	if !o.failed && x.prefersMinimal() {
		x.w.Header().Set("Content-Length", "0")
		x.w.WriteHeader(http.StatusOK) // RFC 8144 §2.2
		return nil
	}
	ms := x.multistatus(plan{})
	ms.raw("<d:response>").hrefElement(x.at)
	o.write(ms.markup)
	ms.raw("</d:response>")
	return ms.end()
}

// patch changes a calendar's properties, or finds out why those of something else cannot be.
func (x *exchange) patch(all []edit) (o outcome, err error) {
	if x.at.kind() != atCalendar {
		if _, err := x.find(x.at); err != nil {
			return o, err
		}
		return x.apply(all, &calendar.Properties{}, false), nil
	}
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return o, err
	}
	err = x.service.ChangeCalendar(x.r.Context(), x.caller, cal.ID, func(p *calendar.Properties) error {
		if o = x.apply(all, p, false); o.failed {
			return errRefused
		}
		return nil
	})
	if errors.Is(err, errRefused) {
		err = nil
	}
	return o, err
}

// write writes the outcome as propstats: those that were set together, each that was
// refused with its reason, and those that failed along with them.
func (o outcome) write(m *markup) {
	var fine []xml.Name
	for _, v := range o.verdicts {
		if v.refusal != nil {
			m.propstat([]xml.Name{v.name}, v.refusal)
		} else if !slices.Contains(fine, v.name) {
			fine = append(fine, v.name)
		}
	}
	if len(fine) == 0 {
		return
	}
	f := &failure{status: http.StatusOK}
	if o.failed {
		f.status = http.StatusFailedDependency
	}
	m.propstat(fine, f)
}
