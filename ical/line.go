package ical

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// contentLine is one logical line as it was read.
type contentLine struct {
	source string // its bytes, with folds and line end
	blank  string // the blank lines that follow it
	text   string // unfolded, without line end
	number int    // of its first physical line
}

// lineReader splits a text into content lines. It reads each byte a constant number of times and copies only folded
// lines.
type lineReader struct {
	data     string
	pos      int
	number   int  // of the physical line at pos
	limit    int  // octets of an unfolded line
	verified bool // the text as a whole is UTF-8, so its lines are
	unfolded strings.Builder
}

// unfoldChunk is the allocation unit for unfolded text.
const unfoldChunk = 4 << 10

func (r *lineReader) done() bool { return r.pos >= len(r.data) }

// next reads one content line and the blank lines after it.
func (r *lineReader) next() (contentLine, error) {
	line := contentLine{number: r.number}
	start := r.pos
	if isBlankByte(r.data[start]) {
		return line,
			failAt(line.number, KindSyntax, "the line begins with a space, but there is no line before it to continue")
	}
	r.skipLine()
	first := r.pos
	for !r.done() && isBlankByte(r.data[r.pos]) {
		r.skipLine()
	}
	line.source = r.data[start:r.pos]
	if r.pos > first {
		line.text = r.unfold(line.source)
	} else {
		line.text = trimLineEnd(line.source)
	}
	line.blank = r.skipBlank()
	return line, r.check(line)
}

// skipLine moves past the next line end.
func (r *lineReader) skipLine() {
	if i := strings.IndexByte(r.data[r.pos:], '\n'); i >= 0 {
		r.pos += i + 1
	} else {
		r.pos = len(r.data)
	}
	r.number++
}

// skipBlank moves past lines that contain only white space. RFC 5545 does not allow such lines, but editors and mail
// gateways produce them.
func (r *lineReader) skipBlank() string {
	start := r.pos
	for !r.done() && strings.IndexByte(" \t\r\n", r.data[r.pos]) >= 0 {
		before, number := r.pos, r.number
		r.skipLine()
		if strings.Trim(r.data[before:r.pos], " \t\r\n") != "" {
			r.pos, r.number = before, number
			break
		}
	}
	return r.data[start:r.pos]
}

// unfold joins the physical lines of one content line. Many lines share the builder; text that was handed out is never
// overwritten.
func (r *lineReader) unfold(source string) string {
	if r.unfolded.Cap()-r.unfolded.Len() < len(source) {
		r.unfolded = strings.Builder{}
		r.unfolded.Grow(max(len(source), min(unfoldChunk, len(r.data)-r.pos+len(source))))
	}
	start := r.unfolded.Len()
	for rest := source; rest != ""; {
		end := strings.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		r.unfolded.WriteString(trimLineEnd(rest[:end]))
		rest = rest[end:]
		if rest != "" {
			rest = rest[1:] // RFC 5545 §3.1: the one white space that marks a fold
		}
	}
	return r.unfolded.String()[start:]
}

func (r *lineReader) check(line contentLine) error {
	if exceeds(len(line.text), r.limit) {
		return failAt(line.number, KindLimit,
			fmt.Sprintf("the line has %d octets, %d are allowed", len(line.text), r.limit))
	}
	// A fold may split a rune, so UTF-8 is checked after unfolding.
	if !r.verified && !utf8.ValidString(line.text) {
		return failAt(line.number, KindEncoding, "the text is not UTF-8; save the file as UTF-8 and try again")
	}
	return nil
}

// trimLineEnd also removes the doubled CR of text-mode copies on Windows.
func trimLineEnd(s string) string {
	return strings.TrimRight(strings.TrimSuffix(s, "\n"), "\r")
}

func isBlankByte(b byte) bool { return b == ' ' || b == '\t' }
