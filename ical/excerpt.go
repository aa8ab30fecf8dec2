package ical

import (
	"strings"
	"unicode/utf8"
)

// Excerpt copies the properties of a component, of each name no more than a number, of each line no more than
// so many bytes, and nothing of the text that they were read from: to hold on to it costs no more than it shows. A line whose
// parameters are longer loses them. Components within are left out.
func (c *Component) Excerpt(each, most int) *Component {
	e := &Component{name: strings.Clone(c.name), line: c.line}
	had := make(map[string]int)
	for p := range c.Properties() {
		if had[p.name]++; had[p.name] <= each {
			e.items = append(e.items, item{property: p.excerpt(most)})
		}
	}
	return e
}

func (p *Property) excerpt(most int) *Property {
	name, rest := p.text[:len(p.name)], p.text[len(p.name):]
	colon := p.colon
	if colon > most {
		rest, colon = p.text[colon:], len(name)
	}
	if n := most - len(name); len(rest) > n {
		for n = max(n, 1); n > 1 && !utf8.RuneStart(rest[n]); {
			n--
		}
		rest = rest[:n]
	}
	return &Property{text: name + rest, name: strings.Clone(p.name), colon: colon, line: p.line}
}
