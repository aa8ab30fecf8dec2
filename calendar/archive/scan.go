package archive

import (
	"bytes"
	"slices"
	"strings"

	"caldav-mcp-server/calendar/content"
)

const (
	calendarName = "VCALENDAR"
	zoneName     = "VTIMEZONE"
)

// piece is a component directly within a VCALENDAR, as the file has it.
type piece struct {
	name string
	text []byte
	// line is the number of its first line, lines how many it has.
	line, lines int
	// broken says why it is none: it never ends, or stands where it must not.
	broken string
	// in is the VCALENDAR around it; nil outside of any.
	in *wrapper
	// tzids are the zones that it names, version which of several of its kind it is.
	tzids   []string
	version version
	// edits are what is changed in its text, in its order, mends those that its reader is told of, rows its lines.
	edits []edit
	mends []Mend
	rows  [][]byte
}

// wrapper is what a VCALENDAR says of itself: the lines that an object's own VCALENDAR takes over, and its zone.
type wrapper struct{ version, product, scale, zone []byte }

// scanner finds the pieces of a file only by its BEGIN and END lines: a fault in one must not
// cost the others.
type scanner struct {
	data []byte
	// at is the offset of the line being read, number its number.
	at, number int
	in         *wrapper
	// open are the components within the piece that have not ended, its own name first.
	open []string
	// foreign tells that the piece is of a kind that nobody takes, with all that is in it.
	foreign bool
	begun   int
	first   int
	pieces  []piece
	// keep is where the continuations of the last line of the VCALENDAR go.
	keep *[]byte
}

// scan returns the pieces of a file. Its lines end with CRLF.
func scan(data []byte) []piece {
	s := scanner{data: data}
	for s.at < len(data) {
		end := len(data)
		if i := bytes.IndexByte(data[s.at:], '\n'); i >= 0 {
			end = s.at + i + 1
		}
		s.number++
		s.line(data[s.at:end], end)
		s.at = end
	}
	s.giveUp()
	return s.pieces
}

func (s *scanner) line(line []byte, end int) {
	if line[0] == ' ' || line[0] == '\t' {
		if s.keep != nil {
			*s.keep = append(*s.keep, line...)
		}
		return
	}
	s.keep = nil
	word, name, _ := strings.Cut(strings.ToUpper(string(line[:min(len(line), maxEdge)])), ":")
	name = strings.TrimSpace(name)
	switch {
	case word == "BEGIN":
		s.begin(name)
	case word == "END":
		s.end(name, end)
	case s.in != nil && len(s.open) == 0:
		s.property(word, line)
	}
}

// maxEdge is longer than any BEGIN or END line that means something.
const maxEdge = 100

func (s *scanner) begin(name string) {
	if name == calendarName {
		s.giveUp()
		s.in = &wrapper{}
		return
	}
	// None of these stands in another of ours: the one before it has lost its end. What stands in a component
	// that nobody takes belongs to that, as the options of a VPOLL do.
	if len(s.open) > 0 && !s.foreign && (name == zoneName || slices.Contains(content.Kinds(), name)) {
		s.giveUp()
	}
	if len(s.open) == 0 {
		s.begun, s.first = s.at, s.number
		s.foreign = name != zoneName && !slices.Contains(content.Kinds(), name) && s.ends(name)
	}
	s.open = append(s.open, name)
}

// farthest is how far the end of a component is looked for.
const farthest = 1 << 20

// ends tells whether a component that begins here comes to its end within its VCALENDAR. Where it does not,
// what follows it stands by itself.
func (s *scanner) ends(name string) bool {
	rest := s.data[s.at:min(len(s.data), s.at+farthest)]
	for i, line := range bytes.SplitAfter(rest, []byte("\n")) {
		word, of, _ := strings.Cut(strings.ToUpper(string(line[:min(len(line), maxEdge)])), ":")
		switch of = strings.TrimSpace(of); {
		case word == "END" && of == name:
			return true
		case word == "END" && of == calendarName, word == "BEGIN" && of == name && i > 0:
			return false
		}
	}
	return false
}

func (s *scanner) end(name string, end int) {
	if name == calendarName {
		s.giveUp()
		s.in = nil
		return
	}
	i := slices.Index(s.open, name)
	if i < 0 {
		return // the parser says so, in its piece
	}
	if s.open = s.open[:i]; i == 0 {
		s.add(name, end, "")
	}
}

// giveUp ends a piece that has not come to its end.
func (s *scanner) giveUp() {
	if len(s.open) > 0 {
		s.add(s.open[0], s.at, "it never ends")
		s.open = nil
	}
}

func (s *scanner) add(name string, end int, broken string) {
	text := s.data[s.begun:end]
	if s.in == nil {
		broken = "it stands outside of any VCALENDAR"
	}
	s.pieces = append(s.pieces, piece{
		name: name, text: text, line: s.first, lines: bytes.Count(text, []byte("\n")), broken: broken, in: s.in,
	})
}

// property keeps what an object's VCALENDAR takes over. A METHOD is none of it: it makes a
// message of a file, and messages are not stored (RFC 4791 §4.1).
func (s *scanner) property(word string, line []byte) {
	name, _, _ := strings.Cut(word, ";")
	kept := map[string]*[]byte{
		"VERSION": &s.in.version, "PRODID": &s.in.product, "CALSCALE": &s.in.scale, "X-WR-TIMEZONE": &s.in.zone,
	}[name]
	if kept != nil && *kept == nil {
		*kept = slices.Clone(line)
		s.keep = kept
	}
}
