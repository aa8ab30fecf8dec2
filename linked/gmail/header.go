package gmail

import (
	"bytes"
	"html"
	"io"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"

	"caldav-mcp-server/linked/htmltext"
)

const (
	// headerBytes limits a header before decoding; headerMost and snippetMost limit the returned text, in characters.
	headerBytes = 16 << 10
	headerMost  = 1000
	snippetMost = 300
)

var words = mime.WordDecoder{CharsetReader: func(name string, in io.Reader) (io.Reader, error) {
	return charset.Reader(name, in)
}}

// header decodes a header value (RFC 2047) to one line. An undecodable value stays as it is.
func header(value string) string {
	value = value[:min(len(value), headerBytes)]
	if decoded, err := words.DecodeHeader(value); err == nil {
		value = decoded
	}
	return line(value, headerMost)
}

// snippet decodes a snippet, which Gmail sends as HTML.
func snippet(s string) string {
	return line(html.UnescapeString(s[:min(len(s), headerBytes)]), snippetMost)
}

// line turns a text into one line without control characters, and shortens it.
func line(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if cut, left := cutTo(s, most); left > 0 {
		return cut + "…"
	}
	return s
}

// cutTo shortens a text to so many characters and returns the number of those left out.
func cutTo(s string, most int) (cut string, left int) {
	n := utf8.RuneCountInString(s)
	if n <= most {
		return s, 0
	}
	at := 0
	for range most {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at], n - most
}

// toUTF8 decodes a text. Gmail returns most texts in UTF-8, whatever charset their header names. So valid UTF-8 is left
// as it is, unless the charset is one that encodes in ASCII (ISO-2022).
func toUTF8(data []byte, name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	escapes := strings.HasPrefix(name, "iso-2022") && bytes.IndexByte(data, 0x1B) >= 0
	wide := strings.HasPrefix(name, "utf-16") && bytes.IndexByte(data, 0) >= 0
	if (name == "" || utf8.Valid(data)) && !escapes && !wide {
		return strings.ToValidUTF8(string(data), "\uFFFD")
	}
	if in, err := charset.Reader(name, bytes.NewReader(data)); err == nil {
		if text, err := io.ReadAll(io.LimitReader(in, htmltext.Most)); err == nil {
			data = text
		}
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}
