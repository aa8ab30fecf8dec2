package letter

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
)

// header writes header fields. Values cannot inject further fields.
type header struct{ bytes.Buffer }

// write adds raw text. Writing to a buffer never fails.
func (h *header) write(text string) { _, _ = h.WriteString(text) }

// lineMost is the maximum length of a header line (RFC 5322 §2.1.1 recommends 78).
const lineMost = 76

// field writes a field of words, folded between them.
func (h *header) field(name string, words ...string) {
	at := len(name) + 1
	h.write(name + ":")
	for _, word := range words {
		word = strings.Map(plain, word)
		if at+1+len(word) > lineMost && at > len(name)+1 {
			h.write("\r\n")
			at = 0
		}
		h.write(" " + word)
		at += 1 + len(word)
	}
	h.write("\r\n")
}

// plain drops control characters, which could end the line. Non-ASCII characters remain only in addresses, for servers
// that accept them.
func plain(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

// text writes a text field.
func (h *header) text(name, text string) {
	h.field(name, encoded(oneLine(text, fieldMost))...)
}

// encoded returns the words of a text, encoded if necessary (RFC 2047). Readers drop the blank between two encoded
// words, so the whole text is encoded or none of it.
func encoded(text string) []string {
	if !strings.Contains(text, "=?") && strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0 &&
		!longWord(text) {
		return strings.Fields(text)
	}
	var words []string
	for word := (strings.Builder{}); ; {
		for text != "" && word.Len() < encodedMost {
			_, size := utf8.DecodeRuneInString(text)
			for _, c := range []byte(text[:size]) {
				word.WriteString(encodedByte(c))
			}
			text = text[size:]
		}
		words = append(words, "=?utf-8?q?"+word.String()+"?=")
		if text == "" {
			return words
		}
		word.Reset()
	}
}

// encodedMost ends an encoded word: one more character, of four bytes, still fits into a line.
const encodedMost = 40

func encodedByte(c byte) string {
	switch {
	case c == ' ':
		return "_"
	case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return string(c)
	}
	return fmt.Sprintf("=%02X", c)
}

func longWord(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(word string) bool { return len(word) > lineMost-16 })
}

// person writes a field with a name and an address.
func (h *header) person(name, display string, address calendar.MailAddress) {
	words := []string{fmt.Sprintf("<%s>", address)}
	if display = oneLine(display, nameMost); display != "" {
		words = append(quoted(display), words...)
	}
	h.field(name, words...)
}

// quoted returns a name as a phrase (RFC 5322 §3.2.5).
func quoted(name string) []string {
	words := encoded(name)
	if strings.HasPrefix(words[0], "=?") {
		return words
	}
	return strings.Fields(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.Join(words, " ")) + `"`)
}
