package dav

import (
	"cmp"
	"encoding/xml"
	"net/http"
	"slices"
)

// PropertyUpdate is DAV:propertyupdate (RFC 4918 §14.19): instructions in the order of their execution.
type PropertyUpdate struct {
	XMLName      xml.Name      `xml:"DAV: propertyupdate"`
	Lang         string        `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
	Instructions []Instruction `xml:",any"`
}

// Instruction is DAV:set or DAV:remove.
type Instruction struct {
	XMLName xml.Name
	Lang    string `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
	Prop    struct {
		Lang     string    `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
		Elements []Element `xml:",any"`
	} `xml:"DAV: prop"`
}

// Edit sets one property, or removes it if Value is nil.
type Edit struct {
	Name  xml.Name
	Value *Element
	// Lang is the language of the value, unless its own xml:lang overrides it (RFC 4918 §4.3).
	Lang string
}

// EditsOf returns the edits of instructions. lang is the language of the whole request.
func EditsOf(instructions []Instruction, lang string) []Edit {
	var all []Edit
	for _, i := range instructions {
		// RFC 4918 §17: unknown elements are ignored.
		if i.XMLName != Name("set") && i.XMLName != Name("remove") {
			continue
		}
		for j := range i.Prop.Elements {
			e := Edit{Name: i.Prop.Elements[j].XMLName, Lang: cmp.Or(i.Prop.Lang, i.Lang, lang)}
			if i.XMLName == Name("set") {
				e.Value = &i.Prop.Elements[j]
			}
			all = append(all, e)
		}
	}
	return all
}

// Proppatch answers PROPPATCH (RFC 4918 §9.2) of the resource at an address. patch makes the changes, all of them or
// none, and returns the outcome of each.
func (x *Exchange) Proppatch(at Address, patch func([]Edit) (Outcome, error)) error {
	var q PropertyUpdate
	if err := x.Read(&q); err != nil {
		return err
	}
	all := EditsOf(q.Instructions, q.Lang)
	if len(all) == 0 {
		return Refuse(http.StatusBadRequest, "DAV:propertyupdate names no property")
	}
	o, err := patch(all)
	if err != nil {
		return err
	}
	if !o.Failed && x.Prefers(Minimal) {
		return x.Blank(http.StatusOK) // RFC 8144 §2.2
	}
	ms := x.Multistatus()
	ms.Raw("<d:response>").Href(at)
	o.Write(ms.Markup)
	ms.Raw("</d:response>")
	return ms.End()
}

// verdict is the result for one property.
type verdict struct {
	name xml.Name
	// refusal is nil if the property can be set.
	refusal *StatusError
}

// Outcome is the result for all properties. If one fails, none is set.
type Outcome struct {
	verdicts []verdict
	Failed   bool
}

// Add adds the result for a property; refusal is nil if it can be set.
func (o *Outcome) Add(n xml.Name, refusal *StatusError) {
	o.verdicts = append(o.verdicts, verdict{n, refusal})
	o.Failed = o.Failed || refusal != nil
}

// Text returns the element of an edit that sets one, as XML that can be stored on its own.
func (e Edit) Text() string {
	var m Markup
	m.foreign(e.Value, "", e.Lang)
	return string(m.Buf)
}

// Write writes the outcome as propstats: one for all properties without a refusal, and one for each refusal. If there
// was a refusal, the first kind has the status 424.
func (o Outcome) Write(m *Markup) {
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
	f := &StatusError{Status: http.StatusOK}
	if o.Failed {
		f.Status = http.StatusFailedDependency
	}
	m.propstat(fine, f)
}
