package vevent

import (
	"html"
	"regexp"
	"strings"

	"caldav-mcp-server/ical"
)

var (
	markup = regexp.MustCompile(`(?i)</?[a-z][a-z0-9]*(\s[^<>]*)?/?>|&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});`)
	unseen = regexp.MustCompile(`(?is)<(style|script|head|title)\b[^>]*>.*?</(style|script|head|title)\s*>|<!--.*?-->|<![^>]*>`)
	breaks = regexp.MustCompile(`(?i)<br\s*/?>|</(p|div|li|tr|h[1-6]|ul|ol|table|blockquote)\s*>`)
	bullet = regexp.MustCompile(`(?i)<li\b[^>]*>`)
	tag    = regexp.MustCompile(`(?s)</?[a-zA-Z][^<>]*>`)
	spaces = regexp.MustCompile(`[ \t]+\n`)
	blanks = regexp.MustCompile(`\n{3,}`)
)

// Marked reports whether a text contains HTML tags or character references.
func Marked(text string) bool { return markup.MatchString(text) }

// Plain converts HTML to plain text.
func Plain(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = unseen.ReplaceAllString(text, "")
	text = breaks.ReplaceAllString(text, "\n")
	text = bullet.ReplaceAllString(text, "- ")
	text = html.UnescapeString(tag.ReplaceAllString(text, ""))
	text = strings.ReplaceAll(text, "\u00a0", " ")
	text = blanks.ReplaceAllString(spaces.ReplaceAllString(text, "\n"), "\n\n")
	return strings.TrimSpace(text)
}

// Markup converts plain text to HTML.
func Markup(text string) string { return strings.ReplaceAll(html.EscapeString(text), "\n", "<br>") }

const formatted = "X-ALT-DESC"

// Describe sets a component's description and, if the text is HTML, keeps the HTML in addition to the plain text.
func Describe(c *ical.Component, text string, isHTML bool) {
	if text == "" {
		return
	}
	if !isHTML {
		c.Add(ical.NewText("DESCRIPTION", text))
		return
	}
	if plain := Plain(text); plain != "" {
		c.Add(ical.NewText("DESCRIPTION", plain))
	}
	c.Add(ical.NewText(formatted, text, ical.NewParam("FMTTYPE", "text/html")))
}

// Description returns a component's description. It returns the stored HTML if the plain text has not changed since.
func Description(c *ical.Component) (text string, isHTML bool) {
	if p := c.Property("DESCRIPTION"); p != nil {
		text = p.Text()
	}
	p := c.Property(formatted)
	if p == nil {
		return text, false
	}
	if kind, given := p.Param("FMTTYPE"); given && !strings.EqualFold(kind, "text/html") {
		return text, false
	}
	if full := p.Text(); Plain(full) == strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) {
		return full, true
	}
	return text, false
}
