package ical

import "unicode/utf8"

// foldWidth is RFC 5545 §3.1: lines should not be longer than 75 octets,
// excluding the line break.
const foldWidth = 75

// writer appends the lines of a tree.
type writer struct {
	out   []byte
	start int // where the first line begins, after a byte order mark
	eol   string
}

func (w *writer) component(c *Component) {
	w.edge(c.begin, beginName, c.name)
	for _, it := range c.items {
		if it.component != nil {
			w.component(it.component)
			continue
		}
		w.line(it.property.source, it.property.text)
		w.raw(it.property.blank)
	}
	w.edge(c.end, endName, c.name)
}

func (w *writer) edge(source, keyword, name string) {
	if source == "" {
		w.line("", keyword+":"+name)
		return
	}
	w.raw(source)
}

// line writes the original bytes or, if there are none, folds the text.
func (w *writer) line(source, text string) {
	if source == "" {
		w.endLine()
		w.fold(text)
		w.out = append(w.out, w.eol...)
		return
	}
	w.raw(source)
}

func (w *writer) raw(lines string) {
	if lines != "" {
		w.endLine()
		w.out = append(w.out, lines...)
	}
}

// endLine adds the line end if the last line has none.
func (w *writer) endLine() {
	if n := len(w.out); n > w.start && w.out[n-1] != '\n' {
		w.out = append(w.out, w.eol...)
	}
}

func (w *writer) fold(text string) {
	width := foldWidth
	for len(text) > width {
		cut := width
		for cut > width-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		w.out = append(w.out, text[:cut]...)
		w.out = append(w.out, w.eol...)
		w.out = append(w.out, ' ')
		text = text[cut:]
		width = foldWidth - 1
	}
	w.out = append(w.out, text...)
}

// size estimates the length of Bytes.
func (d *Document) size() int {
	n := len(d.lead)
	for _, c := range d.components {
		n += c.Size()
	}
	return n
}

// Size estimates the length of the component as text; it is never too small.
func (c *Component) Size() int {
	const names = len(beginName+":") + len(endName+":") + 2*len("\r\n")
	n := max(len(c.begin)+len(c.end), 2*len(c.name)+names)
	for _, it := range c.items {
		if it.component != nil {
			n += it.component.Size()
			continue
		}
		p := it.property
		n += max(len(p.source), len(p.text)+len("\r\n")*(1+len(p.text)/(foldWidth-1))) + len(p.blank)
	}
	return n
}
