package caldav

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

const xmlType = "application/xml; charset=utf-8"

// namespaces are the namespaces that every response declares on its root element.
type namespaces struct {
	// declarations are their attributes, prefixes the prefix of each with its colon.
	declarations string
	prefixes     map[string]string
}

// newNamespaces returns namespaces from pairs of a prefix and a namespace.
func newNamespaces(pairs ...[2]string) *namespaces {
	n := &namespaces{prefixes: make(map[string]string, len(pairs))}
	for _, p := range pairs {
		n.declarations += " xmlns:" + p[0] + `="` + p[1] + `"`
		n.prefixes[p[1]] = p[0] + ":"
	}
	return n
}

// tag returns the name with its prefix, or "" if no prefix is declared for its namespace.
func (n *namespaces) tag(name xml.Name) string {
	if p, ok := n.prefixes[name.Space]; ok {
		return p + name.Local
	}
	return ""
}

// address is the path of a resource below the path of the service.
type address interface {
	// AppendPath appends the encoded path.
	AppendPath(dst []byte) []byte
}

// errAbsent is returned for a property that other resources of this kind have.
var errAbsent = errors.New("property absent")

// markup is a buffer for XML. The XML is written by hand, because encoding/xml takes longer for a response than the
// database takes for its rows.
type markup struct {
	names *namespaces
	// base is the encoded path of the service, without a final slash.
	base string
	buf  []byte
	// absent are the properties that the current resource lacks. When a response is nested in another resource's
	// property, the outer resource's entries come first.
	absent []xml.Name
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

func (m *markup) raw(s string) *markup {
	m.buf = append(m.buf, s...)
	return m
}

// ok is the result of a write that cannot fail.
func (*markup) ok() error { return nil }

// begin writes the XML declaration and a root element with its namespaces.
func (m *markup) begin(root string) {
	m.raw(`<?xml version="1.0" encoding="utf-8"?>` + "\n<").raw(root).raw(m.names.declarations).raw(">")
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
	if tag := m.names.tag(n); tag != "" {
		m.raw("<").raw(tag).raw("/>")
		return
	}
	if n.Space == "" {
		m.raw("<").raw(n.Local).raw("/>")
		return
	}
	m.raw("<x:").raw(n.Local).raw(` xmlns:x="`).attribute(n.Space).raw(`"/>`)
}

// href writes the address of a resource as DAV:href.
func (m *markup) href(at address) *markup {
	m.raw("<d:href>")
	start := len(m.buf)
	m.buf = at.AppendPath(append(m.buf, m.base...))
	// The ampersand is the only character of an encoded path that XML reserves.
	if bytes.IndexByte(m.buf[start:], '&') >= 0 {
		href := string(m.buf[start:])
		m.buf = m.buf[:start]
		m.text(href)
	}
	return m.raw("</d:href>")
}

// path returns the address of a resource.
func (m *markup) path(at address) string { return string(at.AppendPath([]byte(m.base))) }

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

// optional writes a text that may be unset.
func (m *markup) optional(s *string) error {
	if s == nil {
		return errAbsent
	}
	return m.text(*s).ok()
}

func (m *markup) number(n int64) error {
	m.buf = strconv.AppendInt(m.buf, n, 10)
	return nil
}

// date writes a date, or returns errAbsent for the zero time that busy times have.
func (m *markup) date(at time.Time, layout string) error {
	if at.IsZero() {
		return errAbsent
	}
	m.buf = at.UTC().AppendFormat(m.buf, layout)
	return nil
}

// propstat writes the status of some properties, without their values.
func (m *markup) propstat(names []xml.Name, f *failure) {
	m.raw("<d:propstat><d:prop>")
	for _, n := range names {
		m.empty(n)
	}
	m.raw("</d:prop>").status(f.status)
	if f.condition != "" {
		m.raw("<d:error>")
		m.condition(f)
		m.raw("</d:error>")
	}
	if f.message != "" {
		m.element("d:responsedescription", f.message)
	}
	m.raw("</d:propstat>")
}

// status writes a status line inside of a multistatus.
func (m *markup) status(status int) *markup {
	return m.raw("<d:status>HTTP/1.1 ").raw(strconv.Itoa(status)).raw(" ").raw(http.StatusText(status)).raw("</d:status>")
}
