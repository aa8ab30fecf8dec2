// Package content extracts data from the text of a calendar object, and validates it.
package content

import (
	"bytes"
	"slices"

	"caldav-mcp-server/ical"
)

// ProductID is our PRODID (RFC 5545 §3.7.3).
const ProductID = "-//caldav-mcp-server//EN"

// Root returns a new VCALENDAR with our PRODID and the given components.
func Root(components ...*ical.Component) *ical.Component {
	root := ical.NewComponent("VCALENDAR")
	root.Add(ical.NewText("VERSION", "2.0"))
	root.Add(ical.NewText("PRODID", ProductID))
	for _, c := range components {
		root.AddComponent(c)
	}
	return root
}

// The names of an object's components.
const (
	Event        = "VEVENT"
	Todo         = "VTODO"
	Journal      = "VJOURNAL"
	FreeBusy     = "VFREEBUSY"
	Availability = "VAVAILABILITY"
	timezone     = "VTIMEZONE"
)

// Kinds lists the kinds of components. An object contains one kind.
func Kinds() []string { return []string{Event, Todo, Journal, FreeBusy, Availability} }

// Object is a parsed calendar object.
type Object struct {
	Document *ical.Document
	Calendar *ical.Component
	Kind     string
	UID      string
	// Master is the component without a RECURRENCE-ID. It is nil in an object with only overrides, as in an
	// invitation to single instances.
	Master *ical.Component
	// Overrides are the components with a RECURRENCE-ID, in the order of the text.
	Overrides []*ical.Component
	// sets caches the recurrence set of a shared object.
	sets *sets
}

// Read parses an object. It validates only the structure; Check validates the rest.
func Read(data []byte, lim ical.Limits) (*Object, error) {
	doc, err := ical.Parse(data, lim)
	if err != nil {
		return nil, syntaxFault(err)
	}
	return Of(doc)
}

// Of returns the object of a parsed document.
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

// repeats reports whether a component is an exact copy of the master. calcurse-caldav sends such a copy after one
// of its changes was rejected, and keeps sending it if that is rejected too.
func (o *Object) repeats(c *ical.Component) bool {
	return o.Master != nil && c.Name() == o.Kind && c.Property("RECURRENCE-ID") == nil &&
		bytes.Equal(letters(c), letters(o.Master))
}

// letters returns a component's text without surrounding blank lines.
func letters(c *ical.Component) []byte { return bytes.TrimSpace(ical.NewDocument(c).Bytes()) }

// Main returns the component that represents the object: the master, or else the first override.
func (o *Object) Main() *ical.Component {
	if o.Master != nil {
		return o.Master
	}
	return o.Overrides[0]
}

// Components returns the master and the overrides, in this order.
func (o *Object) Components() []*ical.Component {
	if o.Master == nil {
		return o.Overrides
	}
	return append([]*ical.Component{o.Master}, o.Overrides...)
}

// sort stores a component in the object's fields. Components that no RFC defines only stay in the text.
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
			return fault(RuleSupportedKind, "no calendar accepts a %s", c.Name())
		}
	}
	return fault(RuleValidObject, "the calendar object is empty: it holds no event, task or journal entry")
}
