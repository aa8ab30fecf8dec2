package caldav

import (
	"cmp"
	"encoding/xml"
	"errors"
	"net/http"
	"slices"

	"caldav-mcp-server/calendar"
)

// propertyUpdate is DAV:propertyupdate (RFC 4918 §14.19): instructions in the order of their execution.
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

// edit sets one property, or removes it if value is nil.
type edit struct {
	name  xml.Name
	value *element
	// lang is the language of the value, unless its own xml:lang overrides it (RFC 4918 §4.3).
	lang string
}

func editsOf(instructions []instruction, lang string) []edit {
	var all []edit
	for _, i := range instructions {
		// RFC 4918 §17: unknown elements are ignored.
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

// verdict is the result for one property.
type verdict struct {
	name xml.Name
	// refusal is nil if the property can be set.
	refusal *failure
}

// outcome is the result for all properties. If one fails, none is set.
type outcome struct {
	verdicts []verdict
	failed   bool
	// kept are the changes of dead properties, including elements whose attributes no code here interprets.
	kept []calendar.DeadProperty
}

// apply applies the edits to p in order, and returns the result of each.
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

// set applies one edit, and returns the dead properties to store.
func (x *exchange) set(e edit, p *calendar.Properties, creating bool) ([]calendar.DeadProperty, error) {
	row := x.byName[e.name]
	if row == nil || (row.set != nil || row.arrange != nil) && row.on&x.at.kind() == 0 {
		return x.keep(e)
	}
	if row.set == nil || x.at.kind() != atCalendar || row.flags&atCreation != 0 && !creating {
		return nil, breach("d:cannot-modify-protected-property", "only the server sets this property")
	}
	if err := row.set(p, e.value); err != nil {
		return nil, err
	}
	if e.value == nil || !e.value.isDressed() && e.lang == "" {
		e.value = nil
	}
	return x.keep(e)
}

// keep returns the change that stores the edit as a dead property.
func (x *exchange) keep(e edit) ([]calendar.DeadProperty, error) {
	if _, ok := (&resource{x: x, at: x.at}).holder(); !ok {
		return nil, refuseWith(http.StatusForbidden, "this resource stores no properties")
	}
	kept, err := e.keep()
	return []calendar.DeadProperty{kept}, err
}

// errRefused rolls back a change after one of its parts was refused.
var errRefused = errors.New("a property was refused")

// proppatch answers PROPPATCH (RFC 4918 §9.2).
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
	ms.raw("<d:response>").href(&x.at)
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

// patchCalendar changes live and dead properties of a calendar in one transaction.
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

// write writes the outcome as propstats: one for all properties without a refusal, and one for each refusal. If there
// was a refusal, the first kind has the status 424.
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
