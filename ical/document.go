package ical

import (
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"
)

// calendarName is the name of the component that holds all others (RFC 5545 §3.4).
const calendarName = "VCALENDAR"

// Document is a whole text. It is not safe for use by several goroutines while
// one of them changes it; only reading is.
type Document struct {
	lead       string // byte order mark and blank lines before the first BEGIN
	eol        string // what ends the lines that are written anew
	components []*Component
}

// NewDocument makes a document that is written with CRLF, as RFC 5545 asks.
func NewDocument(components ...*Component) *Document {
	return &Document{eol: "\r\n", components: components}
}

// Components walks over the top-level components.
func (d *Document) Components() iter.Seq[*Component] { return slices.Values(d.components) }

// Add appends a top-level component.
func (d *Document) Add(c *Component) { d.components = append(d.components, c) }

// Calendar is the one VCALENDAR of the document. Streams of several, and other
// top-level components, are errors.
func (d *Document) Calendar() (*Component, error) {
	if n := len(d.components); n != 1 {
		return nil, failAt(0, KindSyntax, fmt.Sprintf("the text holds %d components at its top, not one VCALENDAR", n))
	}
	c := d.components[0]
	if c.name != calendarName {
		return nil, failAt(c.line, KindSyntax, fmt.Sprintf("the text is a %s, not a VCALENDAR", shortName(c.name)))
	}
	return c, nil
}

// Bytes writes the document: the very bytes that were parsed, but for the
// lines of what was touched since.
func (d *Document) Bytes() []byte {
	w := writer{eol: d.eol, out: make([]byte, 0, d.size())}
	w.out = append(w.out, d.lead...)
	w.start = len(w.out)
	for _, c := range d.components {
		w.component(c)
	}
	return w.out
}

// String is Bytes as a string.
func (d *Document) String() string { return string(d.Bytes()) }

// Clone copies the document deeply.
func (d *Document) Clone() *Document {
	clone := &Document{lead: d.lead, eol: d.eol, components: make([]*Component, len(d.components))}
	for i, c := range d.components {
		clone.components[i] = c.Clone()
	}
	return clone
}

// MendFolds folds anew the lines whose folds cut a rune in two, and tells
// whether there were any. RFC 5545 §3.1 allows such folds, but a text that has
// them is no UTF-8 as a whole, so XML and text columns cannot carry it.
func (d *Document) MendFolds() bool {
	mended := false
	for _, c := range d.components {
		mended = c.mendFolds() || mended
	}
	return mended
}

func (c *Component) mendFolds() bool {
	mended := false
	for _, it := range c.items {
		if it.component != nil {
			mended = it.component.mendFolds() || mended
		} else if !utf8.ValidString(it.property.source) {
			it.property.touch()
			mended = true
		}
	}
	for _, edge := range []*string{&c.begin, &c.end} {
		if !utf8.ValidString(*edge) {
			*edge = ""
			mended = true
		}
	}
	return mended
}
