package archive

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Part is one object of a file, or a component that could not be imported.
type Part struct {
	Kind, UID string
	// Data is the object's text; nil if Err is set.
	Data []byte
	Err  error
	// Line is the object's first line in the file.
	Line int
	// Mends are the corrections to the object.
	Mends []Mend
	// Replaced are the corrections among them that left an older version of a component out.
	Replaced []Mend
	// from maps the object's lines to lines of the file.
	from []stretch
	file *File
}

// stretch is a run of lines of an object that are consecutive in the file.
type stretch struct{ object, file, lines int }

// SourceLine returns the line of the file for a line of the object; 0 for an added line.
func (p Part) SourceLine(n int) int {
	for _, s := range p.from {
		if n >= s.object && n < s.object+s.lines {
			return p.file.source(s.file + n - s.object)
		}
	}
	return 0
}

// Split yields the objects of a file in order of first appearance. An object has all components of one kind and
// UID, with the zones that they name. A component without a UID gets one derived from its content, so that it is
// the same in the next import. A fault in one part does not affect the others. The file may hold several
// VCALENDARs. Known faults of programs are corrected and reported in the part. fallback returns the zone for
// undefined zones in objects of a kind, if the file does not name one; it may be nil.
func Split(file []byte, fallback func(kind string) Zone) iter.Seq[Part] {
	return (&File{text: clean(file)}).split(fallback)
}

func (f *File) split(fallback func(kind string) Zone) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		s := &splitter{
			file: f, zones: make(map[string]piece), groups: make(map[groupKey]*group), names: zone.NewDB(),
			fallback: fallback,
		}
		for _, p := range scan(f.text) {
			s.take(p)
		}
		for _, g := range s.order {
			if !yield(s.part(g)) {
				return
			}
		}
	}
}

// clean brings a file into the form of RFC 5545 §3.1: no byte order mark, and CRLF line ends.
func clean(file []byte) []byte {
	file = bytes.TrimPrefix(file, []byte("\uFEFF"))
	if bytes.Count(file, []byte("\n")) != bytes.Count(file, []byte("\r\n")) {
		file = bytes.ReplaceAll(bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	}
	if len(file) > 0 && file[len(file)-1] != '\n' {
		file = append(slices.Clone(file), "\r\n"...)
	}
	return file
}

type groupKey struct{ kind, uid string }

// group holds the components of one object.
type group struct {
	groupKey
	pieces []piece
	err    error
}

type splitter struct {
	file   *File
	zones  map[string]piece
	groups map[groupKey]*group
	order  []*group
	names  *zone.DB
	// fallback returns the zone for undefined zones; it may be nil.
	fallback func(kind string) Zone
}

// take adds a piece to its group, or to the zones.
func (s *splitter) take(p piece) {
	c, err := s.read(p)
	switch {
	case p.name == zoneName:
		// Skip an unreadable zone; an object that names it is reported.
		if err == nil && c.Property("TZID") != nil {
			if id := c.Property("TZID").Value(); s.zones[id].text == nil {
				s.zones[id] = p
			}
		}
	case err != nil:
		s.order = append(s.order, &group{groupKey: groupKey{kind: p.name}, pieces: []piece{p}, err: err})
	default:
		s.group(p, c)
	}
}

// read parses a piece, unless a line in it is unclear.
func (s *splitter) read(p piece) (*ical.Component, error) {
	if faults := s.file.within(s.file.faults, p); len(faults) > 0 {
		return nil, fmt.Errorf("line %d: %s", faults[0].Line, faults[0].How)
	}
	c, err := p.parse()
	if syntax, is := errors.AsType[*ical.SyntaxError](err); is {
		syntax.Line = s.file.source(syntax.Line)
	}
	return c, err
}

// parse parses a piece on its own.
func (p piece) parse() (*ical.Component, error) {
	if p.broken != "" {
		return nil, fmt.Errorf("the %s cannot be read: %s", p.name, p.broken)
	}
	if p.name != zoneName && !slices.Contains(content.Kinds(), p.name) {
		return nil, fmt.Errorf("no calendar accepts a %s", p.name)
	}
	doc, err := ical.Parse(p.text, ical.DefaultLimits())
	var syntax *ical.SyntaxError
	if errors.As(err, &syntax) && syntax.Line > 0 {
		here := *syntax
		here.Line += p.line - 1
		return nil, &here
	}
	if err != nil {
		return nil, err
	}
	for c := range doc.Components() {
		return c, nil
	}
	return nil, errors.New("there is nothing in it")
}

func (s *splitter) group(p piece, c *ical.Component) {
	key := groupKey{p.name, content.TextOf(c, "UID")}
	made := key.uid == ""
	if made {
		key.uid = contentUID(c)
		p.change(edit{line: 1, text: "UID:" + key.uid + "\r\n"}, "")
	}
	g := s.groups[key]
	if g == nil {
		g = &group{groupKey: key}
		s.groups[key] = g
		s.order = append(s.order, g)
	}
	// A concatenation of files may contain the same component twice.
	if slices.ContainsFunc(g.pieces, func(q piece) bool { return bytes.Equal(p.text, q.text) || made }) {
		return
	}
	p.mend(c)
	p.tzids, p.version = appendZones(nil, c), versionOf(c)
	g.pieces = append(g.pieces, p)
}

// appendZones adds the zones that a component names and that are not in the list yet.
func appendZones(ids []string, c *ical.Component) []string {
	for p := range c.Properties() {
		if id, given := p.Param("TZID"); given && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for sub := range c.Components() {
		ids = appendZones(ids, sub)
	}
	return ids
}

// contentUID derives a UID from a component's content. It ignores properties that change with every export, such as
// DTSTAMP and SEQUENCE.
func contentUID(c *ical.Component) string {
	h := sha256.New()
	var write func(c *ical.Component)
	write = func(c *ical.Component) {
		_, _ = fmt.Fprintf(h, "BEGIN:%s\n", c.Name()) // a hash never fails
		for p := range c.Properties() {
			if !slices.Contains([]string{"UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE"}, p.Name()) {
				_, _ = fmt.Fprintf(h, "%s\n", p)
			}
		}
		for sub := range c.Components() {
			write(sub)
		}
	}
	write(c)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// part assembles the object of a group.
func (s *splitter) part(g *group) Part {
	if g.err != nil {
		return Part{Kind: g.kind, UID: g.uid, Line: s.file.source(g.pieces[0].line), Err: g.err}
	}
	mends := g.newest(s.file.source, s.file.lastCounts)
	s.mendZones(g)
	p := Part{Kind: g.kind, UID: g.uid, Line: s.file.source(g.pieces[0].line), file: s.file}
	for _, m := range mends {
		p.Replaced = append(p.Replaced, Mend{s.file.source(m.Line), m.How})
	}
	p.Mends = append(p.Mends, p.Replaced...)
	w := assembler{part: &p, line: 1}
	in := g.pieces[0].in
	w.text("BEGIN:VCALENDAR\r\n")
	w.either(in.version, "VERSION:2.0\r\n")
	w.either(in.product, "PRODID:"+content.ProductID+"\r\n")
	w.either(in.scale, "")
	named := make(map[string]bool)
	for _, c := range g.pieces {
		for _, id := range c.tzids {
			if z, known := s.zones[id]; known && !named[id] {
				named[id] = true
				w.piece(z)
			}
		}
	}
	for _, c := range g.pieces {
		w.piece(c)
		p.Mends = append(p.Mends, s.file.within(s.file.mends, c)...)
		for _, m := range c.mends {
			p.Mends = append(p.Mends, Mend{s.file.source(m.Line), m.How})
		}
	}
	w.text("END:VCALENDAR\r\n")
	slices.SortStableFunc(p.Mends, func(a, b Mend) int { return cmp.Compare(a.Line, b.Line) })
	return p
}

// assembler writes an object's text and records the origin of its lines.
type assembler struct {
	part *Part
	line int
}

func (w *assembler) text(s string) {
	w.part.Data = append(w.part.Data, s...)
	w.line += bytes.Count([]byte(s), []byte("\n"))
}

func (w *assembler) either(line []byte, otherwise string) {
	if line != nil {
		otherwise = string(line)
	}
	w.text(otherwise)
}

// piece writes a component with its edits.
func (w *assembler) piece(p piece) {
	rest, at := p.text, 0
	for _, e := range p.edits {
		for ; at < e.line; at++ {
			rest = w.row(rest, p.line+at)
		}
		if e.text != "" && e.lines > 0 {
			w.from(p.line+at, 1)
		}
		w.text(e.text)
		for ; at < e.line+e.lines; at++ {
			_, rest, _ = bytes.Cut(rest, []byte("\n"))
		}
	}
	w.from(p.line+at, p.lines-at)
	w.text(string(rest))
}

// row writes the first line of a text, and returns the rest.
func (w *assembler) row(text []byte, line int) []byte {
	end := bytes.IndexByte(text, '\n') + 1
	w.from(line, 1)
	w.text(string(text[:end]))
	return text[end:]
}

func (w *assembler) from(file, lines int) {
	if n := len(w.part.from); n > 0 {
		if last := &w.part.from[n-1]; last.object+last.lines == w.line && last.file+last.lines == file {
			last.lines += lines
			return
		}
	}
	w.part.from = append(w.part.from, stretch{object: w.line, file: file, lines: lines})
}
