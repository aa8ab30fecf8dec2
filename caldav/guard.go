package caldav

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"slices"
	"strings"
)

// guard hands on the tokens of an XML document, as long as it keeps the limits. It stands
// before every decoder: what decodes recurses, and a stack that overflows ends the process.
type guard struct {
	limits Limits
	source *measured
	tokens *xml.Decoder
	depth  int
	// elements counts what is not an href, hrefs those: they alone come in thousands.
	elements, hrefs int
	// scopes are the prefixes declared by the open elements, innermost last.
	scopes []scope
}

// scope is a prefix and the depth of the element that declares it.
type scope struct {
	prefix string
	depth  int
}

// scopesMax bounds the prefixes in scope, which every name is looked up in.
const scopesMax = 256

func newGuard(r io.Reader, l Limits) *guard {
	source := &measured{in: bufio.NewReader(r), size: l.TokenBytes}
	return &guard{limits: l, source: source, tokens: xml.NewDecoder(source)}
}

// Token returns the next token, or a failure.
func (g *guard) Token() (xml.Token, error) {
	g.source.left = g.source.size
	t, err := g.tokens.RawToken()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case xml.Directive:
		// RFC 4918 §17.7: entities can make a small body huge, or fetch what is not the client's.
		err = breach("d:no-external-entities", "a document type is not taken")
	case xml.StartElement:
		err = g.enter(t)
	case xml.EndElement:
		g.leave()
	case xml.CharData:
		if g.depth == 0 && len(bytes.Trim(t, " \t\r\n\uFEFF")) > 0 {
			err = refuseWith(http.StatusBadRequest, "the XML has text outside of its root element")
		}
	}
	if err != nil {
		return nil, err // xml.Decoder looks at no error that comes with a token
	}
	return t, nil
}

func (g *guard) enter(e xml.StartElement) error {
	if g.depth == 0 && g.elements+g.hrefs > 0 {
		return refuseWith(http.StatusBadRequest, "the XML has more than one root element")
	}
	g.depth++
	if e.Name.Local == "href" {
		g.hrefs++
	} else {
		g.elements++
	}
	switch {
	case g.depth > g.limits.Depth:
		return refuseWith(http.StatusBadRequest, "the XML nests deeper than %d elements", g.limits.Depth)
	case g.elements > g.limits.Elements:
		return refuseWith(http.StatusRequestEntityTooLarge, "the XML has more than %d elements", g.limits.Elements)
	case g.hrefs > g.limits.Hrefs:
		return breach("d:number-of-matches-within-limits", "a request may name %d addresses", g.limits.Hrefs)
	case len(e.Attr) > g.limits.Attributes:
		return refuseWith(http.StatusBadRequest, "an element has more than %d attributes", g.limits.Attributes)
	}
	if err := g.declare(e.Attr); err != nil {
		return err
	}
	return g.resolve(e)
}

// declare notes the prefixes that an element declares.
func (g *guard) declare(attrs []xml.Attr) error {
	for _, a := range attrs {
		if a.Name.Space != "xmlns" {
			continue
		}
		// Namespaces in XML §2.2: a prefix cannot be undeclared.
		if a.Value == "" {
			return refuseWith(http.StatusBadRequest, "the prefix %q has an empty namespace", a.Name.Local)
		}
		g.scopes = append(g.scopes, scope{a.Name.Local, g.depth})
	}
	if len(g.scopes) > scopesMax {
		return refuseWith(http.StatusBadRequest, "the XML declares more than %d prefixes", scopesMax)
	}
	return nil
}

// resolve sees that the prefixes of an element mean something. encoding/xml would take an
// unknown one for a namespace.
func (g *guard) resolve(e xml.StartElement) error {
	if !g.declared(e.Name.Space) {
		return undeclared(e.Name.Space)
	}
	for _, a := range e.Attr {
		if !g.declared(a.Name.Space) {
			return undeclared(a.Name.Space)
		}
	}
	return nil
}

func (g *guard) declared(prefix string) bool {
	if prefix == "" || prefix == "xml" || prefix == "xmlns" {
		return true
	}
	return slices.ContainsFunc(g.scopes, func(s scope) bool { return s.prefix == prefix })
}

func undeclared(prefix string) error {
	return refuseWith(http.StatusBadRequest, "the prefix %q is not declared", strings.ToValidUTF8(prefix, ""))
}

func (g *guard) leave() {
	for n := len(g.scopes); n > 0 && g.scopes[n-1].depth == g.depth; n-- {
		g.scopes = g.scopes[:n-1]
	}
	g.depth--
}

// measured gives out a bounded number of bytes per token, so that a single tag with a
// million attributes is refused before they are all in memory.
type measured struct {
	in         *bufio.Reader
	size, left int
}

// ReadByte is what xml.Decoder reads with: it never reads past a token.
func (m *measured) ReadByte() (byte, error) {
	if m.left--; m.left < 0 {
		return 0, refuseWith(http.StatusRequestEntityTooLarge, "a tag or text of the XML has more than %d bytes", m.size)
	}
	return m.in.ReadByte()
}

// Read makes measured an io.Reader, as xml.NewDecoder wants; it is not called.
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
