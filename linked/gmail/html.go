package gmail

import (
	"html"
	"regexp"
	"strings"
)

// HTML mails are converted to text: the visible text, with the targets of links. Nothing is fetched, and no formatting
// is kept. This is a scanner without a tree, so its work is linear in the length of the text.

// linkMost limits the length of a link's address; longer ones are usually for tracking.
const linkMost = 300

// unseen are the elements with invisible content.
var unseen = map[string]bool{
	"script": true, "style": true, "head": true, "title": true, "template": true, "noscript": true, "svg": true, "math": true, "iframe": true,
	"object": true, "select": true, "audio": true, "video": true, "canvas": true,
}

// raw are the elements whose content is not HTML and ends only at their end tag.
var raw = map[string]bool{"script": true, "style": true, "title": true, "iframe": true, "noscript": true}

// breaks are the elements that start a new line.
var breaks = map[string]bool{
	"p": true, "div": true, "br": true, "tr": true, "li": true, "ul": true, "ol": true, "table": true, "h1": true, "h2": true, "h3": true, "h4": true,
	"h5": true, "h6": true, "blockquote": true, "pre": true, "hr": true, "section": true, "article": true, "header": true, "footer": true, "dt": true, "dd": true,
}

// void are the elements without content or end tag.
var void = map[string]bool{
	"br": true, "hr": true, "img": true, "input": true, "meta": true, "link": true, "area": true, "base": true, "col": true, "embed": true,
	"source": true, "track": true, "wbr": true, "param": true,
}

// foreign are the elements that "/>" closes. In other elements HTML ignores the slash, and the element stays open.
var foreign = map[string]bool{"svg": true, "math": true}

// hiding are the style declarations that hide an element. Zero sizes are not among them: the size of a container says
// nothing about its content.
var hiding = map[string]bool{
	"display:none": true, "visibility:hidden": true, "visibility:collapse": true, "opacity:0": true, "opacity:0.0": true, "opacity:0%": true,
}

// reading is the state of a conversion.
type reading struct {
	out strings.Builder
	// hidden is the name of the open hidden element; deep counts the open elements of this name inside and including
	// it.
	hidden string
	deep   int
	// link is the target of the open link, from is where its text begins.
	link string
	from int
}

// textOfHTML returns the visible text of an HTML mail.
func textOfHTML(s string) string {
	var r reading
	for s != "" && r.out.Len() < textMost {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			r.words(s)
			break
		}
		r.words(s[:open])
		s = r.markup(s[open:])
	}
	return r.out.String()
}

// words writes the text between tags, with white space collapsed.
func (r *reading) words(s string) {
	if r.deep != 0 || s == "" {
		return
	}
	s = html.UnescapeString(s)
	blank := r.out.Len() == 0 || strings.HasSuffix(r.out.String()[max(0, r.out.Len()-1):], "\n") || strings.HasSuffix(r.out.String()[max(0, r.out.Len()-1):], " ")
	for _, c := range s {
		if c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\u00a0' {
			if !blank {
				r.out.WriteByte(' ')
			}
			blank = true
			continue
		}
		r.out.WriteRune(c)
		blank = false
	}
}

// markup processes the markup at the start of s and returns the rest.
func (r *reading) markup(s string) string {
	switch {
	case strings.HasPrefix(s, "<!--"):
		_, rest, _ := strings.Cut(s[4:], "-->")
		return rest
	case len(s) < 2 || !isLetter(s[1]) && s[1] != '/' && s[1] != '!' && s[1] != '?':
		r.words("<")
		return s[1:]
	}
	tag, rest := cutTag(s)
	name, attributes := nameOf(tag)
	if strings.HasPrefix(tag, "/") {
		r.end(name)
		return rest
	}
	r.begin(name, attributes, foreign[name] && strings.HasSuffix(tag, "/"))
	if raw[name] {
		return behind(rest, name)
	}
	return rest
}

// cutTag cuts a tag off a text; a ">" in quotation marks does not end it.
func cutTag(s string) (tag, rest string) {
	quote := byte(0)
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			if i > 0 && s[i-1] == '=' || strings.HasSuffix(strings.TrimRight(s[max(0, i-4):i], " "), "=") {
				quote = c
			}
		case c == '>':
			return s[1:i], s[i+1:]
		}
	}
	return s[1:], ""
}

// nameOf returns the name of a tag's element, and its attributes.
func nameOf(tag string) (name, attributes string) {
	tag = strings.TrimPrefix(tag, "/")
	end := strings.IndexFunc(tag, func(c rune) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '/' })
	if end < 0 {
		end = len(tag)
	}
	return strings.ToLower(tag[:end]), tag[end:]
}

// behind returns the text after the end tag of a raw element.
func behind(s, name string) string {
	for at := 0; at < len(s); {
		i := strings.Index(s[at:], "</")
		if i < 0 {
			return ""
		}
		at += i
		if len(s) >= at+2+len(name) && strings.EqualFold(s[at+2:at+2+len(name)], name) {
			return s[at:]
		}
		at += 2
	}
	return ""
}

func (r *reading) begin(name, attributes string, closed bool) {
	if r.deep == 0 && (unseen[name] || isHidden(attributes)) {
		r.hidden = name
	}
	if r.deep != 0 || r.hidden != "" {
		if name == r.hidden && !void[name] && !closed {
			r.deep++
		}
		if r.deep == 0 {
			r.hidden = ""
		}
		return
	}
	switch {
	case breaks[name]:
		r.newLine()
		if name == "li" {
			r.out.WriteString("- ")
		}
	case name == "td" || name == "th":
		r.words(" ")
	case name == "img":
		r.words(" " + attribute(attributes, "alt") + " ")
	case name == "a":
		r.link, r.from = attribute(attributes, "href"), r.out.Len()
	}
}

func (r *reading) end(name string) {
	if r.deep != 0 {
		if name != r.hidden {
			return
		}
		if r.deep--; r.deep == 0 {
			r.hidden = ""
		}
		return
	}
	switch {
	case name == "a":
		r.endLink()
	case breaks[name]:
		r.newLine()
	}
}

// endLink writes the target of a link, unless its text contains it.
func (r *reading) endLink() {
	said := r.out.String()[min(r.from, r.out.Len()):]
	at := strings.TrimSpace(r.link)
	r.link = ""
	if len(at) > linkMost || !strings.HasPrefix(at, "https://") && !strings.HasPrefix(at, "http://") || strings.Contains(said, at) {
		return
	}
	r.out.WriteString(" (" + strings.Join(strings.Fields(at), "") + ")")
}

func (r *reading) newLine() {
	if r.out.Len() > 0 {
		r.out.WriteByte('\n')
	}
}

// attribute returns the value of an attribute, or "".
func attribute(attributes, name string) string {
	value, _ := attributeOf(attributes, name)
	return value
}

// attributeOf returns the value of an attribute, and whether the tag has it. The first one of that name counts.
func attributeOf(attributes, name string) (value string, has bool) {
	for rest := strings.TrimLeft(attributes, between); rest != ""; rest = strings.TrimLeft(rest, between) {
		at := ""
		at, value, rest = cutAttribute(rest)
		if strings.EqualFold(at, name) {
			return html.UnescapeString(value), true
		}
	}
	return "", false
}

// blanks separate the words of a tag, between its attributes.
const (
	blanks  = " \t\r\n\f"
	between = blanks + "/"
)

// cutAttribute cuts the first attribute off. The value is empty if it has none.
func cutAttribute(s string) (name, value, rest string) {
	end := strings.IndexAny(s, "="+between)
	if end < 0 {
		return s, "", ""
	}
	name, rest = s[:end], strings.TrimLeft(s[end:], blanks)
	if !strings.HasPrefix(rest, "=") {
		return name, "", rest
	}
	value, rest = cutValue(strings.TrimLeft(rest[1:], blanks))
	return name, value, rest
}

func cutValue(s string) (value, rest string) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		value, rest, _ = strings.Cut(s[1:], s[:1])
		return value, rest
	}
	end := strings.IndexAny(s, blanks)
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}

// isHidden reports whether an element is invisible: such text is meant for machines, and may be meant to mislead them.
func isHidden(attributes string) bool {
	if attributes == "" {
		return false
	}
	if _, has := attributeOf(attributes, "hidden"); has {
		return true // with any value
	}
	style := strings.ToLower(remark.ReplaceAllString(attribute(attributes, "style"), ""))
	for one := range strings.SplitSeq(strings.Join(strings.Fields(style), ""), ";") {
		if hiding[strings.TrimSuffix(one, "!important")] {
			return true
		}
	}
	return false
}

// remark is a comment in a style.
var remark = regexp.MustCompile(`(?s)/\*.*?\*/`)

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
