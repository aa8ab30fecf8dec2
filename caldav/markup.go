package caldav

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
)

const xmlType = "application/xml; charset=utf-8"

// The namespaces that every response declares on its root element.
const (
	davNS      = "DAV:"
	caldavNS   = "urn:ietf:params:xml:ns:caldav"
	serverNS   = "http://calendarserver.org/ns/"
	appleNS    = "http://apple.com/ns/ical/"
	owncloudNS = "http://owncloud.org/ns"
	namespaces = ` xmlns:d="` + davNS + `" xmlns:c="` + caldavNS + `" xmlns:cs="` + serverNS + `" xmlns:a="` + appleNS + `" xmlns:oc="` + owncloudNS + `">`
)

// prefixes are the namespace prefixes used in responses.
var prefixes = map[string]string{davNS: "d:", caldavNS: "c:", serverNS: "cs:", appleNS: "a:", owncloudNS: "oc:"}

// tagOf returns the name with its prefix, or "" if no prefix is declared for its namespace.
func tagOf(n xml.Name) string {
	if p, ok := prefixes[n.Space]; ok {
		return p + n.Local
	}
	return ""
}

// markup is a buffer for XML. The XML is written by hand, because encoding/xml takes longer for a response than the
// database takes for its rows.
type markup struct {
	addresses
	buf []byte
	// absent are the properties that the current resource lacks. When a response is nested in another resource's
	// property, the outer resource's entries come first.
	absent []xml.Name
}

// markup takes a buffer from the pool; release returns it.
func (x *exchange) markup() *markup {
	m, _ := x.buffers.Get().(*markup)
	m.buf, m.absent = m.buf[:0], m.absent[:0]
	return m
}

// keptBytes is the size of the largest buffer that is kept for the next request.
const keptBytes = 256 << 10

// shrink empties the buffer, and frees it if one response has made it large.
func (m *markup) shrink() {
	m.buf = m.buf[:0]
	if cap(m.buf) > keptBytes {
		m.buf = nil
	}
}

func (x *exchange) release(m *markup) {
	if cap(m.buf) <= keptBytes {
		x.buffers.Put(m)
	}
}

func (m *markup) raw(s string) *markup {
	m.buf = append(m.buf, s...)
	return m
}

// ok is the result of a write that cannot fail.
func (*markup) ok() error { return nil }

// begin writes the XML declaration and a root element with its namespaces.
func (m *markup) begin(root string) {
	m.raw(`<?xml version="1.0" encoding="utf-8"?>` + "\n<").raw(root).raw(namespaces)
}

// Write appends bytes; it makes markup an io.Writer for xml.EscapeText.
func (m *markup) Write(p []byte) (int, error) {
	m.buf = append(m.buf, p...)
	return len(p), nil
}

// text writes character data.
func (m *markup) text(s string) *markup {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '<' || c == '>' || c == '&' {
			return m.attribute(s)
		}
	}
	return m.raw(s)
}

// attribute writes an attribute's value, with quotes escaped too.
func (m *markup) attribute(s string) *markup {
	// EscapeText fails only if its writer does.
	_ = xml.EscapeText(m, []byte(s))
	return m
}

// element writes an element that contains text.
func (m *markup) element(tag, text string) *markup {
	return m.raw("<").raw(tag).raw(">").text(text).raw("</").raw(tag).raw(">")
}

// empty writes an empty element of any name.
func (m *markup) empty(n xml.Name) {
	if tag := tagOf(n); tag != "" {
		m.raw("<").raw(tag).raw("/>")
		return
	}
	if n.Space == "" {
		m.raw("<").raw(n.Local).raw("/>")
		return
	}
	m.raw("<x:").raw(n.Local).raw(` xmlns:x="`).attribute(n.Space).raw(`"/>`)
}

// address writes the href of a place as text.
func (m *markup) address(p place) *markup {
	start := len(m.buf)
	m.buf = m.append(m.buf, p)
	// The ampersand is the only character of an encoded path that XML reserves.
	if bytes.IndexByte(m.buf[start:], '&') >= 0 {
		href := string(m.buf[start:])
		m.buf = m.buf[:start]
		m.text(href)
	}
	return m
}

func (m *markup) hrefElement(p place) *markup {
	return m.raw("<d:href>").address(p).raw("</d:href>")
}

// cdata writes calendar data. Plain character data would have to escape every CR, which adds a quarter to the size
// for nothing: clients accept both line endings.
func (m *markup) cdata(data []byte) {
	if !legible(data) {
		data = bytes.Map(legibleRune, data)
	}
	m.raw("<![CDATA[")
	for {
		// XML 1.0 §2.7: a section cannot contain its own end, so that is split over two sections.
		head, tail, found := bytes.Cut(data, []byte("]]>"))
		m.buf = append(m.buf, head...)
		if !found {
			m.raw("]]>")
			return
		}
		m.raw("]]]]><![CDATA[>")
		data = tail
	}
}

// legible reports whether XML can represent the data (XML 1.0 §2.2). One object with a control character must not
// make a whole response unreadable.
func legible(data []byte) bool {
	for i := 0; i < len(data); {
		// Eight bytes at a time: nearly all data is plain text.
		if i+8 <= len(data) && printable(binary.LittleEndian.Uint64(data[i:])) {
			i += 8
			continue
		}
		for end := min(i+8, len(data)); i < end; i++ {
			if c := data[i]; c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0xEF {
				return bytes.IndexFunc(data, func(r rune) bool { return legibleRune(r) != r }) < 0
			}
		}
	}
	return true
}

// printable reports whether eight bytes are all ASCII without control characters, except tabs and line ends.
func printable(eight uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	if eight&high != 0 {
		return false
	}
	// The high bit of each byte is the result; no carry crosses from one byte to the next.
	control := ^((eight | high) - ' '*ones) & high
	tabs, feeds, returns := eight^'\t'*ones, eight^'\n'*ones, eight^'\r'*ones
	others := (tabs + 0x7F*ones) & (feeds + 0x7F*ones) & (returns + 0x7F*ones)
	return control&others == 0
}

func legibleRune(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
		return -1
	}
	return r
}

// kindElement writes a component kind as CALDAV:comp (RFC 4791 §9.6.1).
func (m *markup) kindElement(k calendar.Kind) {
	m.raw(`<c:comp name="`).attribute(string(k)).raw(`"/>`)
}
