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

// WordOf returns the value of a property whose value is one word, in upper case.
func WordOf(c *ical.Component, name string) string {
	return strings.ToUpper(strings.TrimSpace(TextOf(c, name)))
}

// SearchText returns, folded, all that a person would look for: titles, places, texts and
// people of the master and its overrides.
func (o *Object) SearchText() string {
	var b strings.Builder
	seen := map[string]bool{}
	add := func(s string) {
		if s = Fold(s); s != "" && !seen[s] && b.Len() < maxSearch {
			seen[s] = true
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
	for _, c := range o.Components() {
		for p := range c.Properties() {
			switch p.Name() {
			case "SUMMARY", "LOCATION", "DESCRIPTION", "COMMENT", "CATEGORIES", "CONTACT":
				add(p.Text())
			case "ORGANIZER", "ATTENDEE":
				name, _ := p.Param("CN")
				add(name)
				add(strings.TrimPrefix(strings.ToLower(p.Value()), "mailto:"))
			}
		}
	}
	return cut(b.String(), maxSearch)
}

// Fold brings text and search words to the one form in which they are compared: lower
// case, white space as single spaces.
func Fold(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

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
