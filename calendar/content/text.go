package content

import (
	"strings"
	"unicode/utf8"

	"caldav-mcp-server/ical"
)

const (
	// maxSummary and maxSearch bound what is copied out of an object; the bytes keep it all.
	maxSummary = 1 << 10
	maxSearch  = 16 << 10
)

// Summary returns the object's title.
func (o *Object) Summary() string { return cut(TextOf(o.Main(), "SUMMARY"), maxSummary) }

// TextOf returns the decoded text of a property, or "" where there is none.
func TextOf(c *ical.Component, name string) string {
	if p := c.Property(name); p != nil {
		return p.Text()
	}
	return ""
}

// WordOf returns the value of a property whose value is one word, in upper case; "" where there is none.
func WordOf(c *ical.Component, name string) string {
	if p := c.Property(name); p != nil {
		return Word(p)
	}
	return ""
}

// Word returns a value that is one word, in upper case.
func Word(p *ical.Property) string { return strings.ToUpper(strings.TrimSpace(p.Text())) }

// cut shortens text to at most n bytes, between runes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
