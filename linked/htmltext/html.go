// Package htmltext converts HTML from mails and descriptions to plain text.
//
// The result is the visible text. Nothing is fetched, and no formatting is kept. The tokenizer reads HTML as browsers
// do, and no tree is built. So the work is linear in the length of the HTML, and nesting costs no memory.
package htmltext

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Most limits the bytes of the text.
const Most = 1 << 20

// linkMost limits the length of a link's address; longer ones are usually for tracking.
const linkMost = 300

var (
	// unseen are the elements with invisible content.
	unseen = set("script style head title template noscript svg math iframe object select audio video canvas " +
		"noembed noframes")
	// breaks are the elements that start a new line.
	breaks = set("div tr li ul ol table h1 h2 h3 h4 h5 h6 blockquote pre hr section article header footer dt dd")
	// spaced are the elements that leave an empty line if two of their breaks meet.
	spaced = set("p br")
	// void are the elements without content or end tag.
	void = set("br hr img input meta link area base col embed source track wbr param")
	// foreign are the elements that "/>" closes. In other elements HTML ignores the slash, and the element stays open.
	foreign = set("svg math")
	// hiding are the style declarations that hide an element. Zero sizes are not among them: the size of a container
	// says nothing about its content.
	hiding = set("display:none visibility:hidden visibility:collapse opacity:0 opacity:0.0 opacity:0%")
)

func set(names string) map[string]bool {
	in := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		in[name] = true
	}
	return in
}

// remark is a comment in a style.
var remark = regexp.MustCompile(`(?s)/\*.*?\*/`)

// reading is the state of a conversion.
type reading struct {
	out []byte
	// hidden is the name of the open hidden element; deep counts the open elements of this name inside and including
	// it.
	hidden string
	deep   int
	// link is the target of the open link, from is where its text begins.
	link string
	from int
	// lines keeps the line breaks of the source; bare leaves out the targets of links.
	lines, bare bool
}

// Text returns the visible text of HTML. The target of a link follows the link's text in parentheses.
func Text(s string) string { return (&reading{}).read(s) }

// Lines is like [Text], but keeps the line breaks of the source, for text with some markup in it.
func Lines(s string) string { return (&reading{lines: true}).read(s) }

// Words is like [Text], but without the targets of links.
func Words(s string) string { return (&reading{bare: true}).read(s) }

func (r *reading) read(s string) string {
	z := html.NewTokenizer(strings.NewReader(s))
	z.SetMaxBuf(Most) // a larger tag ends the text
	for len(r.out) < Most && z.Next() != html.ErrorToken {
		switch t := z.Token(); t.Type {
		case html.StartTagToken, html.SelfClosingTagToken:
			r.begin(t)
		case html.EndTagToken:
			r.end(t.Data)
		case html.TextToken:
			if r.deep == 0 {
				r.words(t.Data)
			}
		default: // comments and the like are invisible
		}
	}
	return string(r.out)
}

// words writes a text with white space collapsed.
func (r *reading) words(s string) {
	for _, c := range s {
		if r.lines && c == '\n' {
			r.out = append(r.out, '\n')
		} else if !strings.ContainsRune(" \t\n\r\f\u00a0", c) {
			r.out = utf8.AppendRune(r.out, c)
		} else if n := len(r.out); n > 0 && r.out[n-1] != ' ' && r.out[n-1] != '\n' {
			r.out = append(r.out, ' ')
		}
	}
}

// breakLine starts a new line where an element begins or ends, and reports whether that element does so.
func (r *reading) breakLine(name string) bool {
	if !breaks[name] && !spaced[name] {
		return false
	}
	if n := len(r.out); n > 0 && (spaced[name] || r.out[n-1] != '\n') {
		r.out = append(r.out, '\n')
	}
	return true
}

func (r *reading) begin(t html.Token) {
	name := t.Data
	empty := void[name] || foreign[name] && t.Type == html.SelfClosingTagToken
	switch {
	case r.deep > 0:
		if name == r.hidden && !empty {
			r.deep++
		}
	case unseen[name] || slices.ContainsFunc(t.Attr, hides):
		if !empty {
			r.hidden, r.deep = name, 1
		}
	case r.breakLine(name):
		if name == "li" {
			r.out = append(r.out, "- "...)
		}
	case name == "td" || name == "th":
		r.words(" ")
	case name == "img":
		r.words(" " + attribute(t, "alt") + " ")
	case name == "a":
		r.link, r.from = strings.TrimSpace(attribute(t, "href")), len(r.out)
	}
}

func (r *reading) end(name string) {
	switch {
	case r.deep > 0:
		if name == r.hidden {
			r.deep--
		}
	case name == "a":
		r.endLink()
	default:
		r.breakLine(name)
	}
}

// endLink writes the target of a link, unless its text contains it.
func (r *reading) endLink() {
	at := r.link
	r.link = ""
	if r.bare || len(at) > linkMost || !strings.HasPrefix(at, "https://") && !strings.HasPrefix(at, "http://") ||
		strings.Contains(string(r.out[r.from:]), at) {
		return
	}
	r.out = append(r.out, " ("+strings.Join(strings.Fields(at), "")+")"...)
}

// attribute returns the value of an attribute, or "".
func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// hides reports whether an attribute makes its element invisible: such text is meant for machines, and may be meant to
// mislead them.
func hides(a html.Attribute) bool {
	if a.Key != "style" {
		return a.Key == "hidden" // with any value
	}
	style := strings.ToLower(remark.ReplaceAllString(a.Val, ""))
	for one := range strings.SplitSeq(strings.Join(strings.Fields(style), ""), ";") {
		if hiding[strings.TrimSuffix(one, "!important")] {
			return true
		}
	}
	return false
}

// Tidy removes trailing blanks, repeated empty lines and control characters.
func Tidy(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var b strings.Builder
	empty := 0
	for l := range strings.Lines(s) {
		l = strings.TrimRightFunc(strings.Map(plain, l), unicode.IsSpace)
		if l == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n"[:min(empty, 1)+1])
		}
		b.WriteString(l)
		empty = 0
	}
	return b.String()
}

func plain(r rune) rune {
	if unicode.IsControl(r) && r != '\t' && r != '\n' {
		return -1
	}
	return r
}
