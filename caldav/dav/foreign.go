package dav

import (
	"bytes"
	"encoding/xml"
	"strings"
)

// xmlNS is the namespace of xml:lang, whose prefix needs no declaration.
const xmlNS = "http://www.w3.org/XML/1998/namespace"

// foreign writes an element of any namespace so that it keeps its meaning in every document: it declares the
// namespaces that it uses. around is the surrounding default namespace. lang is the inherited language (RFC 4918
// §4.3), or "".
func (m *Markup) foreign(e *Element, around, lang string) {
	m.Raw("<").Raw(e.XMLName.Local)
	if e.XMLName.Space != around {
		m.Raw(` xmlns="`).Attribute(e.XMLName.Space).Raw(`"`)
	}
	m.attributes(e.Attrs, lang)
	if len(e.content) == 0 {
		m.Raw("/>")
		return
	}
	m.Raw(">")
	for _, part := range e.content {
		if part.child != nil {
			m.foreign(part.child, e.XMLName.Space, "")
		} else {
			m.Text(part.text)
		}
	}
	m.Raw("</").Raw(e.XMLName.Local).Raw(">")
}

// attributes writes an element's attributes. Prefixes used only inside a value, as in XML Schema, are lost: no known
// property has any.
func (m *Markup) attributes(attrs []xml.Attr, lang string) {
	spaces := 0
	for _, a := range attrs {
		name := a.Name.Local
		switch a.Name.Space {
		case "":
			if name == "xmlns" {
				continue
			}
		case "xmlns":
			continue
		case xmlNS:
			name = "xml:" + name
			if a.Name.Local == "lang" {
				lang = ""
			}
		default:
			prefix := "n" + string(rune('a'+spaces%26)) + strings.Repeat("n", spaces/26)
			spaces++
			m.Raw(" xmlns:").Raw(prefix).Raw(`="`).Attribute(a.Name.Space).Raw(`"`)
			name = prefix + ":" + name
		}
		m.Raw(" ").Raw(name).Raw(`="`).Attribute(a.Value).Raw(`"`)
	}
	if lang != "" {
		m.Raw(` xml:lang="`).Attribute(lang).Raw(`"`)
	}
}

// IsDressed reports whether an element has attributes that are worth storing.
func (e *Element) IsDressed() bool {
	var m Markup
	m.attributes(e.Attrs, "")
	return len(bytes.TrimSpace(m.Buf)) > 0
}
