package ical

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	byteOrderMark = "\uFEFF"
	beginName     = "BEGIN"
	endName       = "END"
)

// Parse parses a text of one or more top-level components. It accepts the deviations of real clients (LF, a missing
// last line end, blank lines, lower-case names, a byte order mark, folds inside a rune) and keeps all of them. Errors
// are of type *[SyntaxError]. Time and memory are linear in the size of the text.
func Parse(data []byte, lim Limits) (*Document, error) {
	if err := checkSize(data, lim); err != nil {
		return nil, err
	}
	text := string(data)
	p := &parser{
		lineReader: lineReader{data: text, number: 1, limit: lim.LineBytes, verified: utf8.ValidString(text)},
		lim:        lim,
		lines:      strings.Count(text, "\n") + 1,
		open:       make([]frame, 0, openSize),
		pending:    make([]item, 0, pendingSize),
	}
	if exceeds(p.lines, lim.Lines) {
		return nil, failAt(0, KindLimit, fmt.Sprintf("the text has %d lines, %d are allowed", p.lines, lim.Lines))
	}
	if before, _, found := strings.Cut(text, "\x00"); found {
		return nil, failAt(1+strings.Count(before, "\n"), KindEncoding, "the text holds a NUL character")
	}
	return p.document()
}

func checkSize(data []byte, lim Limits) error {
	if exceeds(len(data), lim.Bytes) {
		return failAt(0, KindLimit, fmt.Sprintf("the text has %d octets, %d are allowed", len(data), lim.Bytes))
	}
	return nil
}

// parser builds the tree with an explicit stack. Nodes are allocated from slabs, because a text has so many of them.
type parser struct {
	lineReader
	lim           Limits
	lines         int // physical lines in total: an upper bound for the rest
	properties    int
	propSlab      []Property
	itemSlab      []item
	componentSlab []Component
	open          []frame
	pending       []item // the items of all open components, outermost first
}

// frame is a component whose END has not been read yet.
type frame struct {
	component *Component
	items     int // where its own items begin in parser.pending
}

// The sizes of slabs and initial stacks: enough for most objects at once, and small enough to waste.
const (
	slabSize      = 256
	componentSize = 4
	openSize      = 4
	pendingSize   = 32
)

func (p *parser) document() (*Document, error) {
	doc := &Document{eol: firstLineEnd(p.data)}
	if strings.HasPrefix(p.data, byteOrderMark) {
		p.pos = len(byteOrderMark)
	}
	p.skipBlank()
	doc.lead = p.data[:p.pos]
	for !p.done() {
		line, err := p.next()
		if err != nil {
			return nil, err
		}
		if err := p.add(doc, line); err != nil {
			return nil, locate(err, line)
		}
	}
	return doc, p.finish(doc)
}

// locate adds a line's number and name to an error that has neither.
func locate(err error, line contentLine) error {
	if located := (*SyntaxError)(nil); errors.As(err, &located) {
		return err
	}
	name := ""
	if end, err := lexName(line.text); err == nil {
		name = shortName(upperName(line.text[:end]))
	}
	return &SyntaxError{Line: line.number, Property: name, Kind: KindSyntax, Msg: err.Error()}
}

func (p *parser) finish(doc *Document) error {
	if n := len(p.open); n > 0 {
		c := p.open[n-1].component
		name := shortName(c.name)
		return failAt(c.line, KindSyntax, fmt.Sprintf("BEGIN:%s is never followed by END:%s", name, name))
	}
	if len(doc.components) == 0 {
		return failAt(0, KindSyntax, "the text holds no component; it must begin with BEGIN:VCALENDAR")
	}
	return nil
}

func (p *parser) add(doc *Document, line contentLine) error {
	nameEnd, err := lexName(line.text)
	if err != nil {
		return err
	}
	colon, err := lexParams(line.text, nameEnd)
	if err != nil {
		return err
	}
	switch name := upperName(line.text[:nameEnd]); name {
	case beginName:
		return p.begin(line, colon)
	case endName:
		return p.end(doc, line, colon)
	default:
		return p.property(line, name, colon)
	}
}

func (p *parser) property(line contentLine, name string, colon int) error {
	if len(p.open) == 0 {
		return errors.New("the line stands outside of any component; BEGIN:VCALENDAR must come first")
	}
	p.properties++
	if exceeds(p.properties, p.lim.Properties) {
		return failAt(line.number, KindLimit, fmt.Sprintf("the text has more than %d properties", p.lim.Properties))
	}
	if len(p.propSlab) == 0 {
		p.propSlab = make([]Property, min(slabSize, p.lines-line.number+1))
	}
	prop := &p.propSlab[0]
	p.propSlab = p.propSlab[1:]
	*prop = Property{
		source: line.source, blank: line.blank, text: line.text, name: name, colon: colon, line: line.number,
	}
	p.pending = append(p.pending, item{property: prop})
	return nil
}

func (p *parser) begin(line contentLine, colon int) error {
	name := strings.TrimSpace(line.text[colon+1:])
	if !isName(name) {
		return fmt.Errorf("BEGIN must name a component, not %s", excerpt(name))
	}
	if limit := p.lim.depth(); len(p.open) >= limit {
		return failAt(line.number, KindLimit, fmt.Sprintf("components are nested more than %d deep", limit))
	}
	if len(p.componentSlab) == 0 {
		p.componentSlab = make([]Component, componentSize)
	}
	c := &p.componentSlab[0]
	p.componentSlab = p.componentSlab[1:]
	*c = Component{name: upperName(name), begin: line.source + line.blank, line: line.number}
	p.open = append(p.open, frame{component: c, items: len(p.pending)})
	return nil
}

func (p *parser) end(doc *Document, line contentLine, colon int) error {
	name := upperName(strings.TrimSpace(line.text[colon+1:]))
	if len(p.open) == 0 {
		return fmt.Errorf("END names %s, but nothing was begun", excerpt(name))
	}
	top := p.open[len(p.open)-1]
	c := top.component
	if name != c.name {
		return fmt.Errorf("END names %s, but line %d began %s", excerpt(name), c.line, shortName(c.name))
	}
	c.end = line.source + line.blank
	c.items = p.keep(p.pending[top.items:])
	p.pending = p.pending[:top.items]
	p.open = p.open[:len(p.open)-1]
	if len(p.open) == 0 {
		doc.components = append(doc.components, c)
	} else {
		p.pending = append(p.pending, item{component: c})
	}
	return nil
}

// keep copies the items of a finished component from the stack.
func (p *parser) keep(items []item) []item {
	n := len(items)
	if n > len(p.itemSlab) {
		p.itemSlab = make([]item, max(n, min(slabSize, p.lines)))
	}
	kept := p.itemSlab[:n:n]
	p.itemSlab = p.itemSlab[n:]
	copy(kept, items)
	return kept
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != ""
}

// firstLineEnd returns the line end for new lines of this text.
func firstLineEnd(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] != '\r' {
		return "\n"
	}
	return "\r\n"
}
