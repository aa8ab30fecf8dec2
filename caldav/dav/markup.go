package dav

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"
)

// NS is the namespace of WebDAV.
const NS = "DAV:"

// Name returns a name of WebDAV.
func Name(local string) xml.Name { return xml.Name{Space: NS, Local: local} }

// XMLType is the media type of responses.
const XMLType = "application/xml; charset=utf-8"

// Namespaces are the namespaces that every response declares on its root element.
type Namespaces struct {
	// declarations are their attributes, prefixes the prefix of each with its colon.
	declarations string
	prefixes     map[string]string
}

// NewNamespaces returns namespaces from pairs of a prefix and a namespace.
func NewNamespaces(pairs ...[2]string) *Namespaces {
	n := &Namespaces{prefixes: make(map[string]string, len(pairs))}
	for _, p := range pairs {
		n.declarations += " xmlns:" + p[0] + `="` + p[1] + `"`
		n.prefixes[p[1]] = p[0] + ":"
	}
	return n
}

// Tag returns the name with its prefix, or "" if no prefix is declared for its namespace.
func (n *Namespaces) Tag(name xml.Name) string {
	if p, ok := n.prefixes[name.Space]; ok {
		return p + name.Local
	}
	return ""
}

// Address is the path of a resource below the path of the service.
type Address interface {
	// AppendPath appends the encoded path.
	AppendPath(dst []byte) []byte
}

// ErrAbsent is returned for a property that other resources of this kind have.
var ErrAbsent = errors.New("property absent")

// Markup is a buffer for XML. The XML is written by hand, because encoding/xml takes longer for a response than the
// database takes for its rows.
type Markup struct {
	names *Namespaces
	// base is the encoded path of the service, without a final slash.
	base string
	// Buf is what has been written.
	Buf []byte
	// absent are the properties that the current resource lacks. When a response is nested in another resource's
	// property, the outer resource's entries come first.
	absent []xml.Name
}

// KeptBytes is the size of the largest buffer that is kept for the next request.
const KeptBytes = 256 << 10

// shrink empties the buffer, and frees it if one response has made it large.
func (m *Markup) shrink() {
	m.Buf = m.Buf[:0]
	if cap(m.Buf) > KeptBytes {
		m.Buf = nil
	}
}

// Raw writes XML as it is.
func (m *Markup) Raw(s string) *Markup {
	m.Buf = append(m.Buf, s...)
	return m
}

// OK is the result of a write that cannot fail.
func (*Markup) OK() error { return nil }

// Begin writes the XML declaration and a root element with its namespaces.
func (m *Markup) Begin(root string) {
	m.Raw(`<?xml version="1.0" encoding="utf-8"?>` + "\n<").Raw(root).Raw(m.names.declarations).Raw(">")
}

// Write appends bytes; it makes markup an io.Writer for xml.EscapeText.
func (m *Markup) Write(p []byte) (int, error) {
	m.Buf = append(m.Buf, p...)
	return len(p), nil
}

// Text writes character data.
func (m *Markup) Text(s string) *Markup {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '<' || c == '>' || c == '&' {
			return m.Attribute(s)
		}
	}
	return m.Raw(s)
}

// Attribute writes an attribute's value, with quotes escaped too.
func (m *Markup) Attribute(s string) *Markup {
	// EscapeText fails only if its writer does.
	_ = xml.EscapeText(m, []byte(s))
	return m
}

// Element writes an element that contains text.
func (m *Markup) Element(tag, text string) *Markup {
	return m.Raw("<").Raw(tag).Raw(">").Text(text).Raw("</").Raw(tag).Raw(">")
}

// Empty writes an empty element of any name.
func (m *Markup) Empty(n xml.Name) {
	if tag := m.names.Tag(n); tag != "" {
		m.Raw("<").Raw(tag).Raw("/>")
		return
	}
	if n.Space == "" {
		m.Raw("<").Raw(n.Local).Raw("/>")
		return
	}
	m.Raw("<x:").Raw(n.Local).Raw(` xmlns:x="`).Attribute(n.Space).Raw(`"/>`)
}

// Href writes the address of a resource as DAV:href.
func (m *Markup) Href(at Address) *Markup {
	m.Raw("<d:href>")
	start := len(m.Buf)
	m.Buf = at.AppendPath(append(m.Buf, m.base...))
	// The ampersand is the only character of an encoded path that XML reserves.
	if bytes.IndexByte(m.Buf[start:], '&') >= 0 {
		href := string(m.Buf[start:])
		m.Buf = m.Buf[:start]
		m.Text(href)
	}
	return m.Raw("</d:href>")
}

// Path returns the address of a resource.
func (m *Markup) Path(at Address) string { return string(at.AppendPath([]byte(m.base))) }

// CDATA writes text in a section. Plain character data would have to escape every CR, which adds a quarter to the size
// for nothing: clients accept both line endings.
func (m *Markup) CDATA(data []byte) {
	if !legible(data) {
		data = bytes.Map(legibleRune, data)
	}
	m.Raw("<![CDATA[")
	for {
		// XML 1.0 §2.7: a section cannot contain its own end, so that is split over two sections.
		head, tail, found := bytes.Cut(data, []byte("]]>"))
		m.Buf = append(m.Buf, head...)
		if !found {
			m.Raw("]]>")
			return
		}
		m.Raw("]]]]><![CDATA[>")
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

// Optional writes a text that may be unset.
func (m *Markup) Optional(s *string) error {
	if s == nil {
		return ErrAbsent
	}
	return m.Text(*s).OK()
}

// Number writes a number.
func (m *Markup) Number(n int64) error {
	m.Buf = strconv.AppendInt(m.Buf, n, 10)
	return nil
}

// Date writes a date, or returns ErrAbsent for the zero time that busy times have.
func (m *Markup) Date(at time.Time, layout string) error {
	if at.IsZero() {
		return ErrAbsent
	}
	m.Buf = at.UTC().AppendFormat(m.Buf, layout)
	return nil
}

// Status writes a status line inside of a multistatus.
func (m *Markup) Status(status int) *Markup {
	m.Raw("<d:status>HTTP/1.1 ").Raw(strconv.Itoa(status)).Raw(" ")
	return m.Raw(http.StatusText(status)).Raw("</d:status>")
}
