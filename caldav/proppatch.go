package caldav

import (
	"cmp"
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
	Lang         string        `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
	Instructions []instruction `xml:",any"`
}

// instruction is DAV:set or DAV:remove.
type instruction struct {
	XMLName xml.Name
	Lang    string `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
	Prop    struct {
		Lang     string    `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
		Elements []element `xml:",any"`
	} `xml:"DAV: prop"`
}

// edit is one property to set, or to remove when it has no value.
type edit struct {
	name  xml.Name
	value *element
	// lang is the language that the value is in unless it says so itself (RFC 4918 §4.3).
	lang string
}

func editsOf(instructions []instruction, lang string) []edit {
	var all []edit
	for _, i := range instructions {
		// RFC 4918 §17: what is not known is passed over.
		if i.XMLName != dav("set") && i.XMLName != dav("remove") {
			continue
		}
		for j := range i.Prop.Elements {
			e := edit{name: i.Prop.Elements[j].XMLName, lang: cmp.Or(i.Prop.Lang, i.Lang, lang)}
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
	// kept are the changes of properties that are not understood, or not wholly.
	kept []calendar.DeadProperty
}

// apply carries the edits out on p, in their order, and tells what became of each.
func (x *exchange) apply(all []edit, p *calendar.Properties, creating bool) outcome {
	var o outcome
	for _, e := range all {
		v := verdict{name: e.name}
		kept, err := x.set(e, p, creating)
		if err != nil {
			v.refusal, o.failed = x.failureOf(err), true
		}
		o.verdicts = append(o.verdicts, v)
		o.kept = append(o.kept, kept...)
	}
	return o
}

// set carries one edit out, and returns what there is to be kept of it.
func (x *exchange) set(e edit, p *calendar.Properties, creating bool) ([]calendar.DeadProperty, error) {
	row := x.byName[e.name]
	if row == nil || (row.set != nil || row.arrange != nil) && row.on&x.at.kind() == 0 {
		return x.keep(e)
	}
	if row.set == nil || x.at.kind() != atCalendar || row.flags&atCreation != 0 && !creating {
		return nil, breach("d:cannot-modify-protected-property", "the server keeps this property itself")
	}
	if err := row.set(p, e.value); err != nil {
		return nil, err
	}
	if e.value == nil || !e.value.isDressed() && e.lang == "" {
		e.value = nil
	}
	return x.keep(e)
}

// keep keeps a property as it is written.
func (x *exchange) keep(e edit) ([]calendar.DeadProperty, error) {
	if _, ok := (&resource{x: x, at: x.at}).holder(); !ok {
		return nil, refuseWith(http.StatusForbidden, "nothing is kept of this resource")
	}
	kept, err := e.keep()
	return []calendar.DeadProperty{kept}, err
}

// errRefused rolls back a change of which a part was refused.
var errRefused = errors.New("a property was refused")

// proppatch answers RFC 4918 §9.2.
func (x *exchange) proppatch() error {
	var q propertyUpdate
	if err := x.read(&q); err != nil {
		return err
	}
	all := editsOf(q.Instructions, q.Lang)
	if len(all) == 0 {
		return refuseWith(http.StatusBadRequest, "DAV:propertyupdate names no property")
	}
	o, err := x.patch(all)
	if err != nil {
		return err
	}
	if !o.failed && x.prefers(minimal) {
		return x.blank(http.StatusOK) // RFC 8144 §2.2
	}
	ms := x.multistatus(plan{})
	ms.raw("<d:response>").hrefElement(x.at)
	o.write(ms.markup)
	ms.raw("</d:response>")
	return ms.end()
}

// patch changes the properties of a resource.
func (x *exchange) patch(all []edit) (o outcome, err error) {
	when, err := x.precondition()
	if err != nil {
		return o, err
	}
	if x.at.kind() == atCalendar {
		return x.patchCalendar(all)
	}
	r, err := x.find(x.at)
	if err != nil {
		return o, err
	}
	if err := r.beOwn(); err != nil {
		return o, err
	}
	if x.at.kind() == atInbox {
		return x.patchInbox(all)
	}
	if o = x.apply(all, &calendar.Properties{}, false); o.failed {
		return o, nil
	}
	h, _ := r.holder()
	return o, x.Service.SetDeadProperties(x.r.Context(), x.caller, h, o.kept, when)
}

// patchCalendar changes what is understood and what is not in one step.
func (x *exchange) patchCalendar(all []edit) (o outcome, err error) {
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return o, err
	}
	err = x.Service.PatchCalendar(x.r.Context(), x.caller, cal.ID, func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
		if o = x.apply(all, p, false); o.failed {
			return nil, errRefused
		}
		return o.kept, nil
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
