package archive

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"caldav-mcp-server/ical"
)

// rewriter reads a file once, line by line. It rewrites only lines that an RFC 5545 parser would reject or misread.
// Other lines pass unchanged, and a file without faults is not copied.
type rewriter struct {
	// in is the file with CRLF line ends; at is the offset of the next line, and number its number.
	in         []byte
	at, number int
	// out is nil until a line is rewritten. lines maps the lines of out to lines of the file.
	out   []byte
	lines []int

	// inner are the names of the enclosing components. begun is the offset of the first line in the second of them,
	// and first is its number.
	inner        []string
	begun, first int
	// recursThere caches whether the component that begins at recursAt recurs.
	recursAt    int
	recursThere bool
	// old is set within a vCalendar 1.0. kept are the lines of its current component.
	old  bool
	kept []row
	// text is the property that an unindented line may continue.
	text running
	// blank are the blank lines after it.
	blank []row

	mends, faults, wide []Mend
	more                int
}

// row is a line with its continuation lines, as in the file, and the number of its first line.
type row struct {
	raw        []byte
	at, number int
}

// running is a text that unindented lines may continue.
type running struct {
	name string
	// line is the number of its line, capital is set if its name is in capitals, first and last are the lines that
	// were added.
	line, first, last int
	capital           bool
}

func (w *rewriter) run() {
	for w.number = 1; w.at < len(w.in); {
		w.row(w.next())
	}
	w.endText()
	for _, r := range w.kept {
		w.pass(r) // the component never ends
	}
	for _, notes := range [...][]Mend{w.mends, w.faults} {
		slices.SortStableFunc(notes, func(a, b Mend) int { return cmp.Compare(a.Line, b.Line) })
	}
}

// next takes a line and the indented lines below it.
func (w *rewriter) next() row {
	r := row{at: w.at, number: w.number}
	for {
		w.skip()
		if w.at >= len(w.in) || w.in[w.at] != ' ' && w.in[w.at] != '\t' || blank(w.in[r.at:w.at]) {
			break
		}
	}
	r.raw = w.in[r.at:w.at]
	return r
}

func (w *rewriter) skip() {
	if i := bytes.IndexByte(w.in[w.at:], '\n'); i >= 0 {
		w.at += i + 1
	} else {
		w.at = len(w.in)
	}
	w.number++
}

func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// row processes a line.
func (w *rewriter) row(r row) {
	if blank(r.raw) && w.text.name != "" {
		w.blank = append(w.blank, r)
		return
	}
	name, rest := nameOf(r.raw)
	if w.continues(r, name, rest) {
		w.goOn(r)
		return
	}
	w.endText()
	if printable.Match(r.raw[:min(len(r.raw), longestHead)]) {
		r = w.softBreaks(r)
	}
	if len(w.inner) > 1 && texts[strings.ToUpper(name)] || len(w.inner) == 1 && headTexts[strings.ToUpper(name)] {
		w.text = running{name: strings.ToUpper(name), line: r.number, capital: capital(name)}
	}
	w.structure(strings.ToUpper(name), rest)
	if w.old && len(w.inner) > 1 || len(w.kept) > 0 {
		w.keep(r, strings.ToUpper(name))
		return
	}
	w.property(r, strings.ToUpper(name))
}

// longestHead limits the part of a line that is searched for its name and parameters.
const longestHead = 1 << 10

// nameOf splits a line at its first colon or semicolon, if the first part can be a name.
func nameOf(line []byte) (name string, rest []byte) {
	for i, b := range line[:min(len(line), maxEdge)] {
		switch {
		case (b == ':' || b == ';') && i > 0:
			return string(line[:i]), line[i:]
		case b != '-' && b != '.' && b != '_' && (b < '0' || b > '9') && !isLetter(b):
			return "", nil
		}
	}
	return "", nil
}

// structure updates the stack of enclosing components.
func (w *rewriter) structure(name string, rest []byte) {
	of := strings.ToUpper(string(bytes.TrimSpace(bytes.TrimPrefix(rest[:min(len(rest), maxEdge)], []byte(":")))))
	switch {
	case name == "BEGIN":
		if of == calendarName {
			w.inner, w.old = nil, false
		}
		if len(w.inner) < maxEdge {
			w.inner = append(w.inner, of)
		}
		if len(w.inner) == 2 {
			w.begun, w.first = w.at-1, w.number
		}
	case name == "END":
		if i := slices.Index(w.inner, of); i >= 0 {
			w.inner = w.inner[:i]
		}
	case name == "VERSION" && len(w.inner) == 1 && of == "1.0":
		w.old = true
	}
}

// recurs reports whether the component around the current line recurs.
func (w *rewriter) recurs() bool {
	if w.recursAt != w.begun {
		end := recurring.FindSubmatchIndex(w.in[w.begun:])
		w.recursAt, w.recursThere = w.begun, end != nil && end[2] >= 0
	}
	return w.recursThere
}

// recurring finds the first line that ends a component or makes it recur.
var recurring = regexp.MustCompile(`(?i)\n(?:(RRULE|RDATE)[;:]|END:V(?:EVENT|TODO|JOURNAL))`)

// property writes a line outside of vCalendar components, corrected if needed.
func (w *rewriter) property(r row, name string) {
	if name == "VERSION" && w.old {
		w.wide = append(w.wide, Mend{
			r.number,
			"this is a vCalendar 1.0, and was read as such: its encoded texts are decoded, and times without Z are " +
				"local times",
		})
		w.write(r.number, "VERSION:2.0\r\n")
		return
	}
	for _, m := range lineMenders {
		if next, how := m(w, r, name); how != "" {
			w.mend(r.number, how)
			w.write(r.number, next)
			return
		}
	}
	w.pass(r)
}

// lineMenders each rewrite a line and say how, or return an empty how.
var lineMenders = [...]func(w *rewriter, r row, name string) (next, how string){mendUnquoted, mendTimes, mendPrintable}

// unquoted finds a Microsoft zone whose name has a colon and no quotes.
var unquoted = regexp.MustCompile(`(?i);TZID=(tzone://Microsoft/([A-Z]+))([;:])`)

// mendUnquoted corrects lines that Exchange wrote: DTSTART;TZID=tzone://Microsoft/Utc:20270114T060000.
func mendUnquoted(_ *rewriter, r row, name string) (next, how string) {
	if _, is := timed[name]; !is {
		return "", ""
	}
	line := joined(r.raw)
	at := unquoted.FindStringSubmatchIndex(line)
	if at == nil {
		return "", ""
	}
	quoted := line[:at[2]] + `"` + line[at[2]:at[3]] + `"` + line[at[6]:]
	p := parseLine(quoted)
	if p == nil {
		return "", ""
	}
	if times, err := p.Times(); err == nil && strings.EqualFold(line[at[4]:at[5]], "utc") {
		for i, t := range times {
			if !t.IsDate() {
				times[i] = ical.UTC(t.Civil)
			}
		}
		p.SetTimes(times...)
	}
	return text(p), fmt.Sprintf("%.200s was read as %s", line, excerpt(p))
}

// mendTimes rewrites times in the format of RFC 5545.
func mendTimes(w *rewriter, r row, name string) (next, how string) {
	if _, is := timed[name]; !is {
		return "", ""
	}
	p := parseLine(joined(r.raw))
	if p == nil || p.ValueType() == "PERIOD" {
		return "", ""
	}
	if _, err := p.Times(); err == nil {
		return "", ""
	}
	times, other := readTimes(p, w.recurs())
	if !other {
		return "", ""
	}
	was := excerpt(p)
	p.SetTimes(times...)
	return text(p), fmt.Sprintf("%s was read as %s", was, excerpt(p))
}

// parseLine parses one line; nil if it is not a property.
func parseLine(line string) *ical.Property {
	doc, err := ical.Parse([]byte("BEGIN:X\r\n"+line+"\r\nEND:X\r\n"), ical.DefaultLimits())
	if err != nil {
		return nil
	}
	for c := range doc.Components() {
		for p := range c.Properties() {
			return p
		}
	}
	return nil
}

// joined returns a line without its folds.
func joined(raw []byte) string {
	line := strings.TrimRight(string(raw), "\r\n")
	if !strings.Contains(line, "\n") {
		return line
	}
	return strings.NewReplacer("\r\n ", "", "\r\n\t", "").Replace(line)
}

// mend records a correction to a line.
func (w *rewriter) mend(line int, how string) {
	if len(w.mends) == mendsMost {
		w.more++
		return
	}
	w.mends = append(w.mends, Mend{line, how})
}

// fault records that a line is unclear. Only the first fault of a component is kept; the component is refused for
// it.
func (w *rewriter) fault(line int, why string) {
	if n := len(w.faults); n > 0 && w.faults[n-1].Line >= w.first {
		return
	}
	w.faults = append(w.faults, Mend{line, why})
}

// pass writes a line unchanged.
func (w *rewriter) pass(r row) {
	if w.out == nil {
		return
	}
	w.out = append(w.out, r.raw...)
	for i := range bytes.Count(r.raw, []byte("\n")) {
		w.lines = append(w.lines, r.number+i)
	}
}

// write writes lines in place of one line.
func (w *rewriter) write(number int, lines string) {
	w.copy(number)
	w.out = append(w.out, lines...)
	for range strings.Count(lines, "\n") {
		w.lines = append(w.lines, number)
	}
}

// copy starts the output with the lines before the given one.
func (w *rewriter) copy(number int) {
	if w.out != nil {
		return
	}
	before := 0
	for range number - 1 {
		before += bytes.IndexByte(w.in[before:], '\n') + 1
	}
	w.out = append(make([]byte, 0, len(w.in)+len(w.in)/8), w.in[:before]...)
	w.lines = make([]int, 0, bytes.Count(w.in, []byte("\n"))+1)
	for i := range number - 1 {
		w.lines = append(w.lines, i+1)
	}
}
