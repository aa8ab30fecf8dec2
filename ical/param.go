package ical

import (
	"iter"
	"strings"
)

// Param is a parameter with its decoded values.
type Param struct {
	Name   string
	Values []string
}

// NewParam makes a parameter.
func NewParam(name string, values ...string) Param { return Param{Name: name, Values: values} }

// String returns the parameter as written in a content line, including the ';'.
func (p Param) String() string {
	var b strings.Builder
	b.WriteString(";" + cleanName(p.Name) + "=")
	for i, value := range p.Values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(encodeParamValue(value))
	}
	return b.String()
}

// Params returns the parameters, in order, with upper-case names.
func (p *Property) Params() []Param {
	var list []Param
	for span := range p.spans() {
		list = append(list, Param{Name: span.name(p.text), Values: span.values(p.text)})
	}
	return list
}

// Param returns the value of the first parameter with the name, and whether there is one. Several values are joined
// with commas: clients forget the quotes around CN=Doe, John. [Property.Params] returns them separately.
func (p *Property) Param(name string) (string, bool) {
	span, ok := p.span(name)
	if !ok {
		return "", false
	}
	if raw := p.text[span.equals+1 : span.end]; strings.IndexByte(raw, ',') < 0 {
		return decodeParamValue(raw), true
	}
	return strings.Join(span.values(p.text), ","), true
}

// SetParam sets the values of the first parameter with the name and removes the others; if there is none, it adds one
// at the end.
func (p *Property) SetParam(name string, values ...string) {
	param := NewParam(name, values...).String()
	at := p.colon
	if span, ok := p.span(name); ok {
		at = span.start
	}
	p.RemoveParam(name)
	p.text = p.text[:at] + param + p.text[at:]
	p.colon += len(param)
	p.touch()
}

// RemoveParam removes the parameters with the name and reports whether there were any.
func (p *Property) RemoveParam(name string) bool {
	found := false
	var kept strings.Builder
	kept.WriteString(p.text[:len(p.name)])
	name = upperName(name)
	for span := range p.spans() {
		if span.name(p.text) == name {
			found = true
			continue
		}
		kept.WriteString(p.text[span.start:span.end])
	}
	if found {
		p.text, p.colon = kept.String()+p.text[p.colon:], kept.Len()
		p.touch()
	}
	return found
}

// paramSpan is the place of a parameter in a content line: ';' at start, '=' at equals, and the next delimiter at end.
type paramSpan struct{ start, equals, end int }

// spans iterates over the parameters. The line was validated when it was made.
func (p *Property) spans() iter.Seq[paramSpan] {
	text, colon := p.text, p.colon
	at := len(p.name)
	return func(yield func(paramSpan) bool) {
		for at < colon {
			end, err := lexParam(text, at+1)
			if err != nil {
				return
			}
			equals := at + strings.IndexByte(text[at:end], '=')
			if !yield(paramSpan{start: at, equals: equals, end: end}) {
				return
			}
			at = end
		}
	}
}

func (p *Property) span(name string) (paramSpan, bool) {
	name = upperName(name)
	for span := range p.spans() {
		if span.name(p.text) == name {
			return span, true
		}
	}
	return paramSpan{}, false
}

func (s paramSpan) name(text string) string { return upperName(text[s.start+1 : s.equals]) }

func (s paramSpan) values(text string) []string {
	var values []string
	for at := s.equals; at < s.end; {
		end, _ := lexParamValue(text, at+1)
		values = append(values, decodeParamValue(text[at+1:end]))
		at = end
	}
	return values
}

// decodeParamValue removes the quotes and decodes RFC 6868's carets.
func decodeParamValue(raw string) string {
	raw = strings.TrimSuffix(strings.TrimPrefix(raw, `"`), `"`)
	if strings.IndexByte(raw, '^') < 0 {
		return raw
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] == '^' && i+1 < len(raw) {
			if decoded, ok := caretDecoded(raw[i+1]); ok {
				b.WriteByte(decoded)
				i++
				continue
			}
		}
		b.WriteByte(raw[i])
	}
	return b.String()
}

// caretDecoded is the table of RFC 6868 §3.2; other carets stand for
// themselves.
func caretDecoded(c byte) (byte, bool) {
	switch c {
	case 'n':
		return '\n', true
	case '^':
		return '^', true
	case '\'':
		return '"', true
	default:
		return 0, false
	}
}

// encodeParamValue encodes carets, quotes and line breaks as in RFC 6868, and quotes a value with a delimiter.
func encodeParamValue(value string) string {
	value = strings.ToValidUTF8(value, "\uFFFD")
	if strings.IndexFunc(value, needsCaret) >= 0 {
		value = strings.NewReplacer("^", "^^", `"`, "^'", "\r\n", "^n", "\n", "^n", "\r", "^n").Replace(value)
		value = dropControls(value)
	}
	if strings.ContainsAny(value, ":;,") {
		return `"` + value + `"`
	}
	return value
}

func needsCaret(r rune) bool { return r == '^' || r == '"' || isControl(r) }
