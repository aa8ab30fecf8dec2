package archive

import (
	"bytes"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// File is an imported file. It is corrected to RFC 5545 as far as its meaning is clear; see
// docs/decisions/0094-imported-files.md. Unclear parts stay unchanged and are refused later, with their line.
type File struct {
	text []byte
	// lines maps each line of the text to its line in the file; nil if they are the same.
	lines []int
	// mends and faults are sorted by their line in the file.
	mends, faults []Mend
	// wide are the corrections that concern the whole file.
	wide []Mend
	// lastCounts is set if the last of several equal revisions counts.
	lastCounts bool
}

// mendsMost limits the reported corrections, because a hostile file can need one in every line.
const mendsMost = 20_000

// Open reads a file. It returns an error if nothing in the file can be used.
func Open(data []byte) (*File, error) {
	text, how, err := decode(data)
	if err != nil {
		return nil, err
	}
	w := rewriter{in: clean(text)}
	w.run()
	f := &File{text: w.in, lines: w.lines, mends: w.mends, faults: w.faults}
	if w.out != nil {
		f.text = w.out
	}
	if how != nil {
		f.wide = append(f.wide, *how)
	}
	f.wide = append(f.wide, w.wide...)
	if w.more > 0 {
		f.wide = append(f.wide, Mend{1, fmt.Sprintf("%d more lines were corrected", w.more)})
	}
	return f, nil
}

// OpenFeed reads a published calendar in the charset that the server declares; "" if it declares none. Of several
// components with one UID and no sign of their order, the last one counts, because a feed cannot be corrected.
func OpenFeed(data []byte, charset string) (*File, error) {
	if c := charsets[strings.ToUpper(charset)]; c != nil && !utf8.Valid(data) {
		decoded, err := c.NewDecoder().Bytes(data)
		if err != nil {
			return nil, fmt.Errorf("reading the charset %.40q: %w", charset, err)
		}
		data = decoded
	}
	f, err := Open(data)
	if err == nil {
		f.lastCounts = true
	}
	return f, err
}

// Text returns the text of the file in UTF-8.
func (f *File) Text() []byte { return f.text }

// Mends returns the corrections to the file as a whole.
func (f *File) Mends() []Mend { return f.wide }

// IsCalendar reports whether the file contains a calendar, even an empty one.
func (f *File) IsCalendar() bool {
	return bytes.Contains(bytes.ToUpper(f.text), []byte("BEGIN:VCALENDAR"))
}

// Header returns the calendar's name, color and description from the file.
func (f *File) Header() Header { return ReadHeader(f.text) }

// Parts yields the objects of the file, as [Split] does.
func (f *File) Parts(fallback func(kind string) Zone) iter.Seq[Part] { return f.split(fallback) }

// source returns the line of the file that a line of the text comes from.
func (f *File) source(line int) int {
	if f == nil || line < 1 || line > len(f.lines) {
		return line
	}
	return f.lines[line-1]
}

// within returns the notes on a piece.
func (f *File) within(notes []Mend, p piece) []Mend {
	first, last := f.source(p.line), f.source(p.line+p.lines-1)
	from := sort.Search(len(notes), func(i int) bool { return notes[i].Line >= first })
	until := sort.Search(len(notes), func(i int) bool { return notes[i].Line > last })
	return slices.Clone(notes[from:max(from, until)])
}

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// InFile replaces line numbers of the object in an error text with line numbers of the file.
func (p Part) InFile(reason string) string {
	return lineNumber.ReplaceAllStringFunc(reason, func(found string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(found, "line "))
		if err != nil {
			return found
		}
		line := p.SourceLine(n)
		if line == 0 {
			line = p.Line
		}
		return fmt.Sprintf("line %d", line)
	})
}

var placed = regexp.MustCompile(`(?s)^line (\d{1,9}): (.*)$`)

// Refusal returns the line of the file and the reason of an error about the object: the line that the error names, or
// the first line of the object.
func (p Part) Refusal(err error) (line int, reason string) {
	line, reason = p.Line, err.Error()
	if p.Err == nil {
		reason = p.InFile(reason)
	}
	if found := placed.FindStringSubmatch(reason); found != nil {
		line, _ = strconv.Atoi(found[1])
		reason = found[2]
	}
	return line, reason
}
