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

// piece is a component directly within a VCALENDAR, as in the file.
type piece struct {
	name string
	text []byte
	// line is the number of its first line, lines is its number of lines.
	line, lines int
	// broken says why it is invalid: it never ends, or is in the wrong place.
	broken string
	// in is the enclosing VCALENDAR; nil if there is none.
	in *wrapper
	// tzids are the zones that it names, version is its revision within the series.
	tzids   []string
	version version
	// edits are the changes to its text in order, mends are the ones to report, rows are its lines.
	edits []edit
	mends []Mend
	rows  [][]byte
}

// wrapper holds the lines of a VCALENDAR that each object's VCALENDAR copies, and its zone.
type wrapper struct{ version, product, scale, zone []byte }

// scanner finds the pieces of a file by their BEGIN and END lines alone, so that a fault in one piece does not
// affect the others.
type scanner struct {
	data []byte
	// at is the offset of the current line, number its number.
	at, number int
	in         *wrapper
	// open are the unfinished components of the piece, starting with the piece itself.
	open []string
	// foreign is set if calendars do not accept this kind of component.
	foreign bool
	begun   int
	first   int
	pieces  []piece
	// keep receives the continuation lines of the last VCALENDAR property.
	keep *[]byte
}

// scan returns the pieces of a file. The file must have CRLF line ends.
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

// maxEdge is longer than any valid BEGIN or END line.
const maxEdge = 100

func (s *scanner) begin(name string) {
	if name == calendarName {
		s.giveUp()
		s.in = &wrapper{}
		return
	}
	// None of these can be inside another, so the previous one has lost its END line. Components inside a foreign
	// component belong to it, such as the options of a VPOLL.
	if len(s.open) > 0 && !s.foreign && (name == zoneName || slices.Contains(content.Kinds(), name)) {
		s.giveUp()
	}
	if len(s.open) == 0 {
		s.begun, s.first = s.at, s.number
		s.foreign = name != zoneName && !slices.Contains(content.Kinds(), name) && s.ends(name)
	}
	s.open = append(s.open, name)
}

// farthest limits the search for the end of a component.
const farthest = 1 << 20

// ends reports whether the component that begins here ends within its VCALENDAR. If not, the components after it
// are treated as independent.
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
		return // the parser reports it in its piece
	}
	if s.open = s.open[:i]; i == 0 {
		s.add(name, end, "")
	}
}

// giveUp closes an unfinished piece as broken.
func (s *scanner) giveUp() {
	if len(s.open) > 0 {
		s.add(s.open[0], s.at, "it never ends")
		s.open = nil
	}
}

func (s *scanner) add(name string, end int, broken string) {
	text := s.data[s.begun:end]
	if s.in == nil {
		broken = "it is outside of any VCALENDAR"
	}
	s.pieces = append(s.pieces, piece{
		name: name, text: text, line: s.first, lines: bytes.Count(text, []byte("\n")), broken: broken, in: s.in,
	})
}

// property stores a VCALENDAR line that objects copy. METHOD is not copied: it turns a file into a message, and
// messages are not stored (RFC 4791 §4.1).
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
