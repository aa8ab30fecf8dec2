package dav

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Guard passes on the tokens of an XML document while it stays within the limits. Every decoder reads through one:
// the decoders recurse, and a stack overflow ends the process.
type Guard struct {
	limits Limits
	source *measured
	tokens *xml.Decoder
	depth  int
	// elements counts all elements but hrefs. Only hrefs come in thousands, so they have their own count.
	elements, hrefs int
	// opened is the name, as written, of a plain href that is open; repeats is the name of one that has just ended.
	opened, repeats xml.Name
	// scopes are the prefixes that the open elements declare, innermost last.
	scopes []scope
}

// scope is a prefix and the depth of the element that declares it.
type scope struct {
	prefix string
	depth  int
}

// scopesMax limits the prefixes in scope, which every name is looked up in.
const scopesMax = 256

// NewGuard returns a guard for a document.
func NewGuard(r io.Reader, l Limits) *Guard {
	in, _ := readers.Get().(*bufio.Reader)
	in.Reset(r)
	source := &measured{in: in, size: l.TokenBytes}
	return &Guard{limits: l, source: source, tokens: xml.NewDecoder(source)}
}

// readers pools the read buffers of guards.
var readers = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

// Release returns the guard's buffer to the pool. The guard cannot be used afterwards.
func (g *Guard) Release() {
	g.source.in.Reset(nil)
	readers.Put(g.source.in)
	g.source.in = nil
}

// Token returns the next token, or a failure.
func (g *Guard) Token() (xml.Token, error) {
	g.source.left = g.source.size
	t, err := g.tokens.RawToken()
	if err != nil {
		return nil, err
	}
	g.watch(t)
	switch t := t.(type) {
	case xml.Directive:
		// RFC 4918 §17.7: entities can make a small body huge, or fetch files that the client must not see.
		err = Breach("d:no-external-entities", "document types are not allowed")
	case xml.StartElement:
		err = g.enter(t)
	case xml.EndElement:
		g.leave()
	case xml.CharData:
		if g.depth == 0 && len(bytes.Trim(t, " \t\r\n\uFEFF")) > 0 {
			err = Refuse(http.StatusBadRequest, "the XML has text outside of its root element")
		}
	}
	if err != nil {
		return nil, err // xml.Decoder ignores an error that comes with a token
	}
	return t, nil
}

// watch notes the start and the end of an href without attributes. At that end tag the decoder has read no byte
// beyond it, so PlainHrefs may continue from there.
func (g *Guard) watch(t xml.Token) {
	g.repeats = xml.Name{}
	switch t := t.(type) {
	case xml.StartElement:
		g.opened = xml.Name{}
		if t.Name.Local == "href" && len(t.Attr) == 0 {
			g.opened = t.Name
		}
	case xml.EndElement:
		if g.opened == t.Name {
			g.repeats = g.opened
		}
	}
}

// PlainHrefs reads the hrefs that follow the one that has just ended, while they are written in the same way. A
// multiget consists of little else, and encoding/xml looks at each byte several times. encoding/xml reads everything
// else.
func (g *Guard) PlainHrefs(to []string) ([]string, error) {
	if g.repeats.Local == "" {
		return to, nil
	}
	tag := g.repeats.Local + ">"
	if g.repeats.Space != "" {
		tag = g.repeats.Space + ":" + tag
	}
	start, end := []byte("<"+tag), []byte("</"+tag)
	for {
		href, found := g.plainHref(start, end)
		if !found {
			return to, nil
		}
		if err := g.count(); err != nil {
			return to, err
		}
		to = append(to, href)
	}
}

// plainHref reads an href if the next one is complete in the buffer and is plain text.
func (g *Guard) plainHref(start, end []byte) (href string, found bool) {
	in := g.source.in
	if in.Buffered() == 0 {
		_, _ = in.Peek(1) // the next read returns the same error
	}
	there, _ := in.Peek(in.Buffered())
	rest, found := bytes.CutPrefix(there, start)
	text, _, closed := bytes.Cut(rest, end)
	if !found || !closed || len(text) == 0 || len(text) > g.source.size || !PlainPath(text) {
		return "", false
	}
	href = string(text)
	_, _ = in.Discard(len(start) + len(text) + len(end))
	return href, true
}

func (g *Guard) enter(e xml.StartElement) error {
	if g.depth == 0 && g.elements+g.hrefs > 0 {
		return Refuse(http.StatusBadRequest, "the XML has more than one root element")
	}
	g.depth++
	if e.Name.Local == "href" {
		if err := g.count(); err != nil {
			return err
		}
	} else {
		g.elements++
	}
	switch {
	case g.depth > g.limits.Depth:
		return Refuse(http.StatusBadRequest, "the XML nests deeper than %d elements", g.limits.Depth)
	case g.elements > g.limits.Elements:
		return Refuse(http.StatusRequestEntityTooLarge, "the XML has more than %d elements", g.limits.Elements)
	case len(e.Attr) > g.limits.Attributes:
		return Refuse(http.StatusBadRequest, "an element has more than %d attributes", g.limits.Attributes)
	}
	if err := g.declare(e.Attr); err != nil {
		return err
	}
	return g.resolve(e)
}

// count counts an href.
func (g *Guard) count() error {
	if g.hrefs++; g.hrefs > g.limits.Hrefs {
		return Breach("d:number-of-matches-within-limits", "a request may name at most %d addresses", g.limits.Hrefs)
	}
	return nil
}

// declare records the prefixes that an element declares.
func (g *Guard) declare(attrs []xml.Attr) error {
	for _, a := range attrs {
		if (a.Name.Space == "xmlns" || a.Name.Local == "xmlns") && len(a.Value) > NameMax {
			return Refuse(http.StatusBadRequest, "a namespace has more than %d bytes", NameMax)
		}
		if a.Name.Space != "xmlns" {
			continue
		}
		// Namespaces in XML §2.2: a prefix cannot be undeclared.
		if a.Value == "" {
			return Refuse(http.StatusBadRequest, "the prefix %q has an empty namespace", a.Name.Local)
		}
		g.scopes = append(g.scopes, scope{a.Name.Local, g.depth})
	}
	if len(g.scopes) > scopesMax {
		return Refuse(http.StatusBadRequest, "the XML declares more than %d prefixes", scopesMax)
	}
	return nil
}

// resolve checks the names of an element and its attributes.
func (g *Guard) resolve(e xml.StartElement) error {
	if len(e.Name.Local) > NameMax {
		return Refuse(http.StatusBadRequest, "the name of an element has more than %d bytes", NameMax)
	}
	if err := g.knows(e.Name); err != nil {
		return err
	}
	for _, a := range e.Attr {
		if err := g.knows(a.Name); err != nil {
			return err
		}
	}
	return nil
}

// knows requires that a name's prefix is declared and its local part can be a name on its own: properties are sent
// and stored by name. encoding/xml would take an unknown prefix for a namespace, and ":" or "x:1" for a name
// (Namespaces in XML §3).
func (g *Guard) knows(n xml.Name) error {
	if !g.declared(n.Space) {
		return undeclared(n.Space)
	}
	first, _ := utf8.DecodeRuneInString(n.Local)
	if first != '_' && !unicode.In(first, unicode.L, unicode.Nl) || strings.Contains(n.Local, ":") {
		return Refuse(http.StatusBadRequest, "%q is not a valid name of an element or attribute",
			strings.ToValidUTF8(n.Local, ""))
	}
	return nil
}

func (g *Guard) declared(prefix string) bool {
	if prefix == "" || prefix == "xml" || prefix == "xmlns" {
		return true
	}
	return slices.ContainsFunc(g.scopes, func(s scope) bool { return s.prefix == prefix })
}

func undeclared(prefix string) error {
	return Refuse(http.StatusBadRequest, "the prefix %q is not declared", strings.ToValidUTF8(prefix, ""))
}

func (g *Guard) leave() {
	for n := len(g.scopes); n > 0 && g.scopes[n-1].depth == g.depth; n-- {
		g.scopes = g.scopes[:n-1]
	}
	g.depth--
}

// measured limits the bytes per token, so that a single tag with a million attributes is refused before they are all
// in memory.
type measured struct {
	in         *bufio.Reader
	size, left int
}

// ReadByte is the method that xml.Decoder uses; it never reads past a token.
func (m *measured) ReadByte() (byte, error) {
	if m.left--; m.left < 0 {
		return 0, Refuse(http.StatusRequestEntityTooLarge, "a tag or text of the XML has more than %d bytes", m.size)
	}
	return m.in.ReadByte()
}

// Read makes measured an io.Reader, as xml.NewDecoder requires. It is never called.
func (m *measured) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c, err := m.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = c
	return 1, nil
}
