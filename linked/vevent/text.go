package vevent

import (
	"html"
	"regexp"
	"strings"

	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/htmltext"
)

// markup matches a tag or a character reference.
var markup = regexp.MustCompile(`(?i)</?[a-z][a-z0-9]*(\s[^<>]*)?/?>|&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});`)

// Marked reports whether a text contains HTML tags or character references.
func Marked(text string) bool { return markup.MatchString(text) }

// Plain converts HTML to plain text.
func Plain(text string) string { return strings.TrimSpace(htmltext.Tidy(htmltext.Lines(text))) }

// SameText reports whether a plain text is what an app shows of HTML: with or without the targets of links (version
// 0.1.0 had none), in lines of any length.
func SameText(formatted, text string) bool {
	text = Spaced(text)
	return text == Spaced(htmltext.Lines(formatted)) || text == Spaced(htmltext.Words(formatted))
}

// Spaced returns a text with one space instead of each run of white space.
func Spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

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

// Description returns a component's description: the stored HTML if the plain text is still the text of it.
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
	if full := p.Text(); SameText(full, text) {
		return full, true
	}
	return text, false
}
