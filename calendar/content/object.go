// Package content tells what a calendar object's text holds, and whether it keeps the rules for such objects.
package content

import (
	"bytes"
	"slices"

	"caldav-mcp-server/ical"
)

// ProductID names us in what we write (RFC 5545 §3.7.3).
const ProductID = "-//caldav-mcp-server//EN"

// Root returns a new VCALENDAR of ours around components.
func Root(components ...*ical.Component) *ical.Component {
	root := ical.NewComponent("VCALENDAR")
	root.Add(ical.NewText("VERSION", "2.0"))
	root.Add(ical.NewText("PRODID", ProductID))
	for _, c := range components {
		root.AddComponent(c)
	}
	return root
}

// Names of the components that an object is made of.
const (
	Event        = "VEVENT"
	Todo         = "VTODO"
	Journal      = "VJOURNAL"
	FreeBusy     = "VFREEBUSY"
	Availability = "VAVAILABILITY"
	timezone     = "VTIMEZONE"
)

// Kinds lists the components of which an object can hold one kind.
func Kinds() []string { return []string{Event, Todo, Journal, FreeBusy, Availability} }

// Object is a calendar object's text with its parts found.
type Object struct {
	Document *ical.Document
	Calendar *ical.Component
	Kind     string
	UID      string
	// Master is the component without a RECURRENCE-ID; nil in an object of only overrides,
	// as an invitation to single instances leaves it.
	Master *ical.Component
	// Overrides are the components with one, in the order of the text.
	Overrides []*ical.Component
	// sets are remembered in an object that is shared.
	sets *sets
}

// Read parses an object and finds its parts. It checks what finding them takes; Check
// looks at the rest.
func Read(data []byte, lim ical.Limits) (*Object, error) {
	doc, err := ical.Parse(data, lim)
	if err != nil {
		return nil, syntaxFault(err)
	}
	return Of(doc)
}

// Of finds the parts of an object that is a tree already.
func Of(doc *ical.Document) (*Object, error) {
	root, err := doc.Calendar()
	if err != nil {
		return nil, syntaxFault(err)
	}
	o := &Object{Document: doc, Calendar: root}
	var copies []*ical.Component
	for c := range root.Components() {
		if o.repeats(c) {
			copies = append(copies, c)
		} else if err := o.sort(c); err != nil {
			return nil, err
		}
	}
	for _, c := range copies {
		root.RemoveComponent(c)
	}
	if o.Kind == "" {
		return nil, o.nothingKnown()
	}
	return o, nil
}

// repeats tells whether a component is the master over again, letter by letter. calcurse-caldav
// sends that once it has been refused a change, and never anything else if it is refused that too.
func (o *Object) repeats(c *ical.Component) bool {
	return o.Master != nil && c.Name() == o.Kind && c.Property("RECURRENCE-ID") == nil &&
		bytes.Equal(letters(c), letters(o.Master))
}

// letters are a component's text, without the blank lines around it.
func letters(c *ical.Component) []byte { return bytes.TrimSpace(ical.NewDocument(c).Bytes()) }

// Main returns the component that speaks for the object: the master, or else the first
// override.
func (o *Object) Main() *ical.Component {
	if o.Master != nil {
		return o.Master
	}
	return o.Overrides[0]
}

// Components returns master and overrides, in this order.
func (o *Object) Components() []*ical.Component {
	if o.Master == nil {
		return o.Overrides
	}
	return append([]*ical.Component{o.Master}, o.Overrides...)
}

// sort puts a component in its place. Those that no RFC names are kept in the text and
// otherwise not touched.
func (o *Object) sort(c *ical.Component) error {
	if !slices.Contains(Kinds(), c.Name()) {
		return nil
	}
	if o.Kind != "" && o.Kind != c.Name() {
		return fault(RuleValidObject, "the object holds both %s and %s; store them as two objects", o.Kind, c.Name())
	}
	uid := ""
	if p := c.Property("UID"); p != nil {
		uid = p.Text()
	}
	if uid == "" {
		return fault(RuleValidObject, "line %d: the %s has no UID", c.Line(), c.Name())
	}
	if o.UID != "" && o.UID != uid {
		return fault(RuleValidObject, "the object holds two UIDs, %q and %q; store them as two objects", o.UID, uid)
	}
	o.Kind, o.UID = c.Name(), uid
	return o.place(c)
}

func (o *Object) place(c *ical.Component) error {
	if c.Property("RECURRENCE-ID") != nil {
		o.Overrides = append(o.Overrides, c)
		return nil
	}
	if o.Master != nil {
		return fault(RuleValidObject, "line %d: a second %s without a RECURRENCE-ID", c.Line(), c.Name())
	}
	o.Master = c
	return nil
}

func (o *Object) nothingKnown() error {
	for c := range o.Calendar.Components() {
		if c.Name() != timezone {
			return fault(RuleSupportedKind, "no calendar takes a %s", c.Name())
		}
	}
	return fault(RuleValidObject, "the calendar object is empty: it holds no event, task or journal entry")
}
