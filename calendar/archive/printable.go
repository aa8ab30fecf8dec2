package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	"regexp"
	"strings"

	"caldav-mcp-server/ical"
)

// printable matches a line with a quoted-printable value. vCalendar 1.0 has them, and some programs also write them
// in iCalendar.
var printable = regexp.MustCompile(`(?i)^[A-Z0-9-]+;(?:[^:"]*;)?(?:ENCODING=)?"?QUOTED-PRINTABLE"?[;:]`)

// softBreaks joins the lines that continue a value after a trailing =.
func (w *rewriter) softBreaks(r row) row {
	for w.at < len(w.in) && bytes.HasSuffix(bytes.TrimRight(w.in[r.at:w.at], "\r\n"), []byte("=")) {
		if next := w.in[w.at:min(len(w.in), w.at+maxEdge)]; bytes.HasPrefix(bytes.ToUpper(next), []byte("END:")) {
			break
		}
		w.skip()
	}
	r.raw = w.in[r.at:w.at]
	return r
}

// oldLine is a line in the grammar of vCalendar 1.0, whose parameters may have no names.
type oldLine struct {
	name   string
	params []ical.Param
	value  string
	number int
}

var errNoColon = errors.New("the line has no colon")

// readOld parses a line and decodes its value.
func readOld(r row) (oldLine, error) {
	l := oldLine{number: r.number}
	colon := outsideQuotes(r.raw, ':')
	if colon < 0 {
		return l, errNoColon
	}
	head := joined(r.raw[:colon])
	encoding, charset := l.head(head)
	body := bytes.TrimRight(r.raw[colon+1:], "\r\n")
	if encoding != "QUOTED-PRINTABLE" {
		l.value = joined(body)
		return l, nil
	}
	decoded, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(foldedInside.ReplaceAll(body, []byte("$1")))))
	if err != nil {
		return l, fmt.Errorf("its quoted-printable text cannot be read: %w", err)
	}
	l.value, err = inCharset(decoded, charset)
	l.value = strings.ReplaceAll(l.value, "\r\n", "\n")
	return l, err
}

// foldedInside matches a fold that is not a soft line break of quoted-printable.
var foldedInside = regexp.MustCompile(`([^=])\r\n[ \t]`)

// head parses the name and the parameters, and returns the encoding and the charset separately.
func (l *oldLine) head(head string) (encoding, charset string) {
	for i, part := range strings.Split(head, ";") {
		name, value, named := strings.Cut(part, "=")
		name, value = strings.ToUpper(strings.TrimSpace(name)), strings.Trim(strings.TrimSpace(value), `"`)
		switch {
		case i == 0:
			l.name = name
		case !named && (name == "QUOTED-PRINTABLE" || name == "BASE64"):
			encoding = name
		case !named && name != "":
			l.params = append(l.params, ical.NewParam("TYPE", name))
		case name == "ENCODING":
			encoding = strings.ToUpper(value)
		case name == "CHARSET":
			charset = value
		case name != "":
			l.params = append(l.params, ical.NewParam(name, value))
		}
	}
	if encoding == "BASE64" {
		l.params = append(l.params, ical.NewParam("ENCODING", "BASE64"), ical.NewParam("VALUE", "BINARY"))
	}
	return encoding, charset
}

func outsideQuotes(line []byte, want byte) int {
	quoted := false
	for i, b := range line {
		switch {
		case b == '"':
			quoted = !quoted
		case b == want && !quoted:
			return i
		}
	}
	return -1
}

// mendPrintable decodes a quoted-printable value in iCalendar. The decoded text is escaped as RFC 5545 requires.
func mendPrintable(w *rewriter, r row, _ string) (next, how string) {
	if !printable.Match(r.raw[:min(len(r.raw), longestHead)]) {
		return "", ""
	}
	l, err := readOld(r)
	if err != nil {
		w.fault(r.number, err.Error())
		return "", ""
	}
	p := ical.NewProperty(l.name, l.value, l.params...)
	return text(p), fmt.Sprintf("the quoted-printable text was decoded: %s", excerpt(p))
}
