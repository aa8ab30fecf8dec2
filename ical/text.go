package ical

import (
	"iter"
	"strings"
)

// EscapeText encodes a TEXT value (RFC 5545 §3.3.11). Every kind of line break
// becomes \n.
func EscapeText(text string) string {
	if !strings.ContainsAny(text, "\\;,\r\n") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for i := range len(text) {
		switch c := text[i]; c {
		case '\\', ';', ',':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\r':
			if !strings.HasPrefix(text[i+1:], "\n") {
				b.WriteString(`\n`)
			}
		case '\n':
			b.WriteString(`\n`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// UnescapeText decodes a TEXT value. Clients escape more than RFC 5545 requires (\: and \" are common), so any
// character after a backslash stands for itself; a backslash at the very end is kept.
func UnescapeText(value string) string {
	if strings.IndexByte(value, '\\') < 0 {
		return value
	}
	var b strings.Builder
	b.Grow(len(value))
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c == '\\' && i+1 < len(value) {
			i++
			c = unescaped(value[i])
		}
		b.WriteByte(c)
	}
	return b.String()
}

func unescaped(c byte) byte {
	if c == 'n' || c == 'N' {
		return '\n'
	}
	return c
}

// splitEscaped splits a value at the unescaped separators.
func splitEscaped(value string, separator byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i < len(value); i++ {
			switch value[i] {
			case '\\':
				i++
			case separator:
				if !yield(value[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(value[start:])
	}
}
