package letter

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
)

// header writes the fields of a mail. Whatever is written into one cannot begin another.
type header struct{ bytes.Buffer }

// write adds a text as it is. A buffer takes all.
func (h *header) write(text string) { _, _ = h.WriteString(text) }

// lineMost is how long a line of a header may be (RFC 5322 §2.1.1 wants 78).
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

// plain drops what would end a line. What is not ASCII stands only in addresses, for servers that take it.
func plain(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

// text writes a field that people read.
func (h *header) text(name, text string) {
	h.field(name, encoded(oneLine(text, fieldMost))...)
}

// encoded are the words of a text: as they are where they may be, and else encoded (RFC 2047). Between two that are encoded
// readers drop the blank, so that a text is encoded as a whole.
func encoded(text string) []string {
	if !strings.Contains(text, "=?") && strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0 && !longWord(text) {
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

// encodedMost is when a word ends: one more character, of four bytes, still fits into a line.
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

// person writes a field with an address and a name.
func (h *header) person(name, display string, address calendar.MailAddress) {
	words := []string{fmt.Sprintf("<%s>", address)}
	if display = oneLine(display, nameMost); display != "" {
		words = append(quoted(display), words...)
	}
	h.field(name, words...)
}

// quoted is a name as a phrase (RFC 5322 §3.2.5).
func quoted(name string) []string {
	words := encoded(name)
	if strings.HasPrefix(words[0], "=?") {
		return words
	}
	return strings.Fields(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.Join(words, " ")) + `"`)
}
