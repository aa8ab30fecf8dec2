package ical

import (
	"fmt"
	"strconv"
	"strings"
)

// Property is one content line: a name, parameters and a value. It is its
// unfolded text; what it is asked for is cut out of that.
type Property struct {
	source string // its bytes as read; empty when it is new or was touched
	blank  string // the blank lines behind it
	text   string // the unfolded content line
	name   string // upper-case, and as long as the name in text
	colon  int    // where the ':' before the value is in text
	line   int
}

// NewProperty makes a property from a raw value, which is written as it is; see
// [NewText] for text. Bytes that no name can hold become '-'.
func NewProperty(name, value string, params ...Param) *Property {
	name = cleanName(name)
	if upper := upperName(name); upper == beginName || upper == endName {
		name = "X-" + name // a component is made by NewComponent
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

// NewText makes a property whose value is text, with what needs it escaped.
func NewText(name, text string, params ...Param) *Property {
	return NewProperty(name, EscapeText(text), params...)
}

// Name is the upper-case name.
func (p *Property) Name() string { return p.name }

// Line is the number of the first physical line, 0 in a new property.
func (p *Property) Line() int { return p.line }

// Value is the raw value, unfolded and with its escapes.
func (p *Property) Value() string { return p.text[p.colon+1:] }

// SetValue gives the property another raw value. Line breaks become \n and
// other control characters are dropped, for no value can hold them. A value
// that the property has already keeps its bytes.
func (p *Property) SetValue(value string) {
	if value == p.Value() {
		return
	}
	p.text = p.text[:p.colon+1] + cleanValue(value)
	p.touch()
}

// Text is the value as text, with its escapes decoded.
func (p *Property) Text() string { return UnescapeText(p.Value()) }

// SetText gives the property a text. One that it has already keeps its
// bytes, however the client escaped it.
func (p *Property) SetText(text string) {
	if text != p.Text() {
		p.SetValue(EscapeText(text))
	}
}

// TextList is the value as a list of texts, such as that of CATEGORIES.
func (p *Property) TextList() []string {
	var list []string
	for part := range splitEscaped(p.Value(), ',') {
		list = append(list, UnescapeText(part))
	}
	return list
}

// SetTextList gives the property a list of texts.
func (p *Property) SetTextList(list ...string) {
	escaped := make([]string, len(list))
	for i, text := range list {
		escaped[i] = EscapeText(text)
	}
	p.SetValue(strings.Join(escaped, ","))
}

// Int is the value as an integer.
func (p *Property) Int() (int, error) {
	// RFC 5545 §3.3.8: 32 bits.
	n, err := strconv.ParseInt(strings.TrimSpace(p.Value()), 10, 32)
	if err != nil {
		return 0, p.wrong(fmt.Errorf("%s is not an integer of 32 bits", excerpt(p.Value())))
	}
	return int(n), nil
}

// Clone copies the property, with the bytes of its lines.
func (p *Property) Clone() *Property {
	clone := *p
	return &clone
}

// String is the unfolded content line.
func (p *Property) String() string { return p.text }

// touch forgets the bytes that were read: the property will be encoded.
func (p *Property) touch() {
	p.source = ""
	if strings.IndexByte(p.text, '\r') < 0 {
		return
	}
	// A CR in the middle of a line is kept while nobody touches it, but a fold
	// behind it would make it part of a line end.
	head := strings.ReplaceAll(p.text[:p.colon], "\r", "")
	p.text = head + strings.ReplaceAll(p.text[p.colon:], "\r", "")
	p.colon = len(head)
}

// wrong puts the place of the property to the error of its value.
func (p *Property) wrong(err error) error {
	return &SyntaxError{Line: p.line, Property: shortName(p.name), Kind: KindValue, Msg: err.Error()}
}
