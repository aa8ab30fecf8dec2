package gmail

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// HTML mails are converted to text: the visible text, with the targets of links. Nothing is fetched, and no formatting
// is kept. The tokenizer reads a mail as browsers do, and no tree is built. So the work is linear in the length of the
// mail, and nesting costs no memory.

// linkMost limits the length of a link's address; longer ones are usually for tracking.
const linkMost = 300

var (
	// unseen are the elements with invisible content.
	unseen = set("script style head title template noscript svg math iframe object select audio video canvas " +
		"noembed noframes")
	// breaks are the elements that start a new line.
	breaks = set("p div br tr li ul ol table h1 h2 h3 h4 h5 h6 blockquote pre hr section article header footer dt dd")
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
}

// textOfHTML returns the visible text of an HTML mail.
func textOfHTML(s string) string {
	z := html.NewTokenizer(strings.NewReader(s))
	z.SetMaxBuf(textMost) // a larger tag ends the text
	var r reading
	for len(r.out) < textMost && z.Next() != html.ErrorToken {
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
		if !strings.ContainsRune(" \t\n\r\f\u00a0", c) {
			r.out = utf8.AppendRune(r.out, c)
		} else if n := len(r.out); n > 0 && r.out[n-1] != ' ' && r.out[n-1] != '\n' {
			r.out = append(r.out, ' ')
		}
	}
}

func (r *reading) newLine() {
	if len(r.out) > 0 {
		r.out = append(r.out, '\n')
	}
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
	case breaks[name]:
		r.newLine()
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
	case breaks[name]:
		r.newLine()
	}
}

// endLink writes the target of a link, unless its text contains it.
func (r *reading) endLink() {
	at := r.link
	r.link = ""
	if len(at) > linkMost || !strings.HasPrefix(at, "https://") && !strings.HasPrefix(at, "http://") ||
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
