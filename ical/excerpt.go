package ical

import (
	"strings"
	"unicode/utf8"
)

// Excerpt copies a component's properties: at most each per name, and at most most bytes per line. The copies share no
// memory with the source text, so keeping them costs only their own size. A line with longer parameters loses them.
// Sub-components are left out.
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
