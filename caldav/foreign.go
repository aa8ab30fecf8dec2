package caldav

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
func (m *markup) foreign(e *element, around, lang string) {
	m.raw("<").raw(e.XMLName.Local)
	if e.XMLName.Space != around {
		m.raw(` xmlns="`).attribute(e.XMLName.Space).raw(`"`)
	}
	m.attributes(e.Attrs, lang)
	if len(e.content) == 0 {
		m.raw("/>")
		return
	}
	m.raw(">")
	for _, part := range e.content {
		if part.child != nil {
			m.foreign(part.child, e.XMLName.Space, "")
		} else {
			m.text(part.text)
		}
	}
	m.raw("</").raw(e.XMLName.Local).raw(">")
}

// attributes writes an element's attributes. Prefixes used only inside a value, as in XML Schema, are lost: no known
// property has any.
func (m *markup) attributes(attrs []xml.Attr, lang string) {
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
			m.raw(" xmlns:").raw(prefix).raw(`="`).attribute(a.Name.Space).raw(`"`)
			name = prefix + ":" + name
		}
		m.raw(" ").raw(name).raw(`="`).attribute(a.Value).raw(`"`)
	}
	if lang != "" {
		m.raw(` xml:lang="`).attribute(lang).raw(`"`)
	}
}

// isDressed reports whether an element has attributes that are worth storing.
func (e *element) isDressed() bool {
	var m markup
	m.attributes(e.Attrs, "")
	return len(bytes.TrimSpace(m.buf)) > 0
}
