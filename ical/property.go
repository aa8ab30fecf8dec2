package ical

import (
	"fmt"
	"strconv"
	"strings"
)

// Property is one content line: a name, parameters and a value. It stores the unfolded line, and accessors parse it.
type Property struct {
	source string // its original bytes; empty if it is new or changed
	blank  string // the blank lines after it
	text   string // the unfolded content line
	name   string // upper-case, and as long as the name in text
	colon  int    // the position in text of the ':' in front of the value
	line   int
}

// NewProperty makes a property from a raw value, which is written unchanged; see [NewText] for text. Bytes that are
// invalid in a name become '-'.
func NewProperty(name, value string, params ...Param) *Property {
	name = cleanName(name)
	if upper := upperName(name); upper == beginName || upper == endName {
		name = "X-" + name // components are made by NewComponent
	}
	var head strings.Builder
	head.WriteString(name)
	for _, param := range params {
		head.WriteString(param.String())
	}
	head.WriteByte(':')
	p := &Property{text: head.String(), name: upperName(name), colon: head.Len() - 1}
	p.SetValue(value)
	return p
}

// NewText makes a property from a text and escapes it.
func NewText(name, text string, params ...Param) *Property {
	return NewProperty(name, EscapeText(text), params...)
}

// Name returns the upper-case name.
func (p *Property) Name() string { return p.name }

// Line returns the number of the first physical line, or 0 in a new property.
func (p *Property) Line() int { return p.line }

// Value returns the raw value, unfolded but still escaped.
func (p *Property) Value() string { return p.text[p.colon+1:] }

// SetValue sets the raw value. Line breaks become \n, and other control characters are removed, since a value cannot
// contain them. Setting the present value keeps the original bytes.
func (p *Property) SetValue(value string) {
	if value == p.Value() {
		return
	}
	p.text = p.text[:p.colon+1] + cleanValue(value)
	p.touch()
}

// Text returns the value as unescaped text.
func (p *Property) Text() string { return UnescapeText(p.Value()) }

// SetText sets the text. Setting the present text keeps the original bytes, however the client escaped them.
func (p *Property) SetText(text string) {
	if text != p.Text() {
		p.SetValue(EscapeText(text))
	}
}

// TextList returns the value as a list of texts, as in CATEGORIES.
func (p *Property) TextList() []string {
	var list []string
	for part := range splitEscaped(p.Value(), ',') {
		list = append(list, UnescapeText(part))
	}
	return list
}

// SetTextList sets a list of texts.
func (p *Property) SetTextList(list ...string) {
	escaped := make([]string, len(list))
	for i, text := range list {
		escaped[i] = EscapeText(text)
	}
	p.SetValue(strings.Join(escaped, ","))
}

// Int parses the value as an integer.
func (p *Property) Int() (int, error) {
	// RFC 5545 §3.3.8: 32 bits.
	n, err := strconv.ParseInt(strings.TrimSpace(p.Value()), 10, 32)
	if err != nil {
		return 0, p.wrong(fmt.Errorf("%s is not an integer of 32 bits", excerpt(p.Value())))
	}
	return int(n), nil
}

// Clone returns a copy with the original bytes.
func (p *Property) Clone() *Property {
	clone := *p
	return &clone
}

// String returns the unfolded content line.
func (p *Property) String() string { return p.text }

// touch drops the original bytes, so that the property will be encoded.
func (p *Property) touch() {
	p.source = ""
	if strings.IndexByte(p.text, '\r') < 0 {
		return
	}
	// A CR inside a line stays while the line is unchanged, but a fold after it would turn it into part of a line end.
	head := strings.ReplaceAll(p.text[:p.colon], "\r", "")
	p.text = head + strings.ReplaceAll(p.text[p.colon:], "\r", "")
	p.colon = len(head)
}

// wrong adds the property's place to an error about its value.
func (p *Property) wrong(err error) error {
	return &SyntaxError{Line: p.line, Property: shortName(p.name), Kind: KindValue, Msg: err.Error()}
}
