package content

import (
	"strings"
	"unicode/utf8"

	"caldav-mcp-server/ical"
)

const (
	// maxSummary and maxSearch limit the indexed copies of an object's text, in bytes.
	maxSummary = 1 << 10
	maxSearch  = 16 << 10
)

// Summary returns the object's title.
func (o *Object) Summary() string { return cut(TextOf(o.Main(), "SUMMARY"), maxSummary) }

// TextOf returns the decoded text of a property, or "" if it is missing.
func TextOf(c *ical.Component, name string) string {
	if p := c.Property(name); p != nil {
		return p.Text()
	}
	return ""
}

// WordOf returns a one-word property value in upper case; "" if it is missing.
func WordOf(c *ical.Component, name string) string {
	if p := c.Property(name); p != nil {
		return Word(p)
	}
	return ""
}

// Word returns a one-word value in upper case.
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

// KeepOf keeps some of a property's values, and removes the property if none is left. If all are kept, the property
// keeps its bytes.
func KeepOf[T any](c *ical.Component, p *ical.Property, all []T, set func(...T), keep func(T) (bool, error)) error {
	var kept []T
	for _, one := range all {
		stays, err := keep(one)
		if err != nil {
			return err
		}
		if stays {
			kept = append(kept, one)
		}
	}
	switch len(kept) {
	case len(all):
	case 0:
		c.RemoveProperty(p)
	default:
		set(kept...)
	}
	return nil
}
