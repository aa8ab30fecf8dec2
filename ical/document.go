package ical

import (
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"
)

// calendarName is the name of the outermost component (RFC 5545 §3.4).
const calendarName = "VCALENDAR"

// Document is a parsed text. Concurrent reads are safe; a change must not run concurrently with anything else.
type Document struct {
	lead       string // byte order mark and blank lines before the first BEGIN
	eol        string // the line end for encoded lines
	components []*Component
}

// NewDocument makes a document with CRLF line ends, as RFC 5545 requires.
func NewDocument(components ...*Component) *Document {
	return &Document{eol: "\r\n", components: components}
}

// Components iterates over the top-level components.
func (d *Document) Components() iter.Seq[*Component] { return slices.Values(d.components) }

// Add appends a top-level component.
func (d *Document) Add(c *Component) { d.components = append(d.components, c) }

// Calendar returns the document's only VCALENDAR. Several of them, and other top-level components, are errors.
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

// Bytes returns the document as text. It equals the parsed text, except for the changed lines.
func (d *Document) Bytes() []byte {
	w := writer{eol: d.eol, out: make([]byte, 0, d.size())}
	w.out = append(w.out, d.lead...)
	w.start = len(w.out)
	for _, c := range d.components {
		w.component(c)
	}
	return w.out
}

// String returns Bytes as a string.
func (d *Document) String() string { return string(d.Bytes()) }

// Clone returns a deep copy of the document.
func (d *Document) Clone() *Document {
	clone := &Document{lead: d.lead, eol: d.eol, components: make([]*Component, len(d.components))}
	for i, c := range d.components {
		clone.components[i] = c.Clone()
	}
	return clone
}

// MendFolds refolds the lines whose folds split a rune, and reports whether there were any. RFC 5545 §3.1 allows such
// folds, but the text as a whole is then not UTF-8, so XML and text columns cannot hold it.
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
