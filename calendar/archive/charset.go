package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

var (
	errHalfCharacter = errors.New("the file is UTF-16, but a character in it is cut in two; export it again, or save " +
		"it as UTF-8")
	errUTF32 = errors.New("the file is UTF-32, which no calendar program writes; save it as UTF-8")
)

// decode converts a file to UTF-8. It detects UTF-16 by the byte order mark or by the bytes of BEGIN. A file that
// is not UTF-8 is read as Windows-1252, a superset of Latin-1, if it looks like a Western European text. Otherwise
// it is returned unchanged, and the parser rejects its lines.
func decode(file []byte) (text []byte, how *Mend, err error) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(file, []byte("\x00\x00\xfe\xff")):
		return nil, nil, errUTF32
	case bytes.HasPrefix(file, []byte("\xff\xfe")), bytes.HasPrefix(file, []byte("B\x00E\x00")):
		order = binary.LittleEndian
	case bytes.HasPrefix(file, []byte("\xfe\xff")), bytes.HasPrefix(file, []byte("\x00B\x00E")):
		order = binary.BigEndian
	}
	if order != nil {
		text, err = fromUTF16(file, order)
		return text, &Mend{1, "the file is UTF-16: it was read as such"}, err
	}
	if text, line := fromWindows(file); text != nil {
		return text, &Mend{
			line, "the file is not UTF-8: it was read as Windows-1252; check the letters in this line and others",
		}, nil
	}
	return file, nil, nil
}

func fromUTF16(file []byte, order binary.ByteOrder) ([]byte, error) {
	text := make([]byte, 0, len(file)/2+len(file)/8)
	for at := 0; at < len(file); at += 2 {
		if at+2 > len(file) {
			return nil, errHalfCharacter
		}
		r := rune(order.Uint16(file[at:]))
		if utf16.IsSurrogate(r) {
			if at += 2; at+2 > len(file) {
				return nil, errHalfCharacter
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(file[at:]))); r == utf8.RuneError {
				return nil, errHalfCharacter
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return text, nil
}

// fromWindows reads a file as Windows-1252 and returns its text and the first line that is not ASCII. The text is
// nil if the file is UTF-8 or may have another charset.
func fromWindows(file []byte) (text []byte, line int) {
	if utf8.Valid(file) || !western(unfolded(file)) {
		return nil, 0
	}
	first := bytes.IndexFunc(file, func(r rune) bool { return r >= utf8.RuneSelf })
	text = make([]byte, 0, len(file)+len(file)/8)
	for _, b := range file {
		text = utf8.AppendRune(text, charmap.Windows1252.DecodeByte(b))
	}
	return text, 1 + bytes.Count(file[:first], []byte("\n"))
}

// unfolded joins folded lines: RFC 5545 §3.1 lets a fold split a character.
func unfolded(file []byte) []byte {
	file = bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(bytes.ReplaceAll(file, []byte("\n "), nil), []byte("\n\t"), nil)
}

const (
	// foreignLetters are letters that only Icelandic uses in Windows-1252. Other charsets have letters of more
	// common languages there.
	foreignLetters = "ÐðÞþÝý"
	// longestRun is the longest run of non-ASCII letters in Western European languages, as in "créée". Greek,
	// Cyrillic or East Asian words have longer ones.
	longestRun = 2
)

// declared finds the charsets that vCalendar lines declare.
var declared = regexp.MustCompile(`(?i);CHARSET="?([A-Z0-9_-]+)`)

// western reports whether a text that is not UTF-8 can only be Windows-1252.
func western(text []byte) bool {
	for _, name := range declared.FindAllSubmatch(text, -1) {
		if c, known := charsets[strings.ToUpper(string(name[1]))]; !known || c != charmap.Windows1252 && c != nil {
			return false
		}
	}
	run, high := 0, false
	for i, b := range text {
		if b < utf8.RuneSelf {
			run = 0
			continue
		}
		high = true
		if run++; run > longestRun || !westernByte(text, i) {
			return false
		}
	}
	return high
}

func westernByte(text []byte, i int) bool {
	if r, size := utf8.DecodeRune(text[i:]); r != utf8.RuneError || size > 1 {
		return false // part of the file is UTF-8
	}
	r := charmap.Windows1252.DecodeByte(text[i])
	if r == utf8.RuneError || r < 0xa0 || strings.ContainsRune(foreignLetters, r) {
		return false
	}
	// In other charsets these bytes are letters. A symbol inside a word suggests such a charset.
	sign := text[i] > 0xa0 && text[i] < 0xc0 && r != '·'
	return !sign || i == 0 || i+1 == len(text) || !isLetter(text[i-1]) || !isLetter(text[i+1])
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// charsets are the charsets that a vCalendar may declare; nil is UTF-8, which includes ASCII.
var charsets = map[string]*charmap.Charmap{
	"UTF-8": nil, "UTF8": nil, "US-ASCII": nil, "ASCII": nil,
	"ISO-8859-1": charmap.Windows1252, "WINDOWS-1252": charmap.Windows1252, "LATIN1": charmap.Windows1252,
	"ISO-8859-2": charmap.ISO8859_2, "ISO-8859-5": charmap.ISO8859_5, "ISO-8859-7": charmap.ISO8859_7,
	"ISO-8859-9":  charmap.ISO8859_9,
	"ISO-8859-15": charmap.ISO8859_15, "KOI8-R": charmap.KOI8R,
	"WINDOWS-1250": charmap.Windows1250, "WINDOWS-1251": charmap.Windows1251, "WINDOWS-1253": charmap.Windows1253,
	"WINDOWS-1254": charmap.Windows1254,
}

// inCharset decodes a value in a charset.
func inCharset(value []byte, name string) (string, error) {
	c, known := charsets[strings.ToUpper(name)]
	switch {
	case name != "" && !known:
		return "", fmt.Errorf("it is in the charset %.40q, which is not known here", name)
	case c == nil && !utf8.Valid(value):
		return "", errors.New("its bytes are not valid in its charset")
	case c == nil:
		return string(value), nil
	}
	var text strings.Builder
	for _, b := range value {
		text.WriteRune(c.DecodeByte(b))
	}
	return text.String(), nil
}
