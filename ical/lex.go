package ical

import (
	"fmt"
	"strings"
)

// lexName returns the end of a content line's name. It accepts any name without a delimiter, including the dots of
// vCard groups and underscores.
func lexName(text string) (int, error) {
	for i := range len(text) {
		switch c := text[i]; {
		case c == ':' || c == ';':
			if i == 0 {
				return 0, fmt.Errorf("the line has no name before %q", c)
			}
			return i, nil
		case !isNameByte(c):
			return 0, fmt.Errorf("a name must not hold %q, and no name and colon begin this line: %s", c, excerpt(text))
		}
	}
	return 0, fmt.Errorf("the line has no colon: %s", excerpt(text))
}

// lexParams skips the parameters at text[at] and returns the position of the ':' in front of the value.
func lexParams(text string, at int) (int, error) {
	for at < len(text) && text[at] == ';' {
		end, err := lexParam(text, at+1)
		if err != nil {
			return 0, err
		}
		at = end
	}
	return at, nil
}

// lexParam returns the position of the delimiter after the parameter at text[at].
func lexParam(text string, at int) (int, error) {
	start := at
	for at < len(text) && isNameByte(text[at]) {
		at++
	}
	if at == start || at == len(text) || text[at] != '=' {
		return 0, fmt.Errorf("a parameter must be NAME=value, not %s", excerpt(text[start:]))
	}
	name := text[start:at]
	for {
		end, problem := lexParamValue(text, at+1)
		switch {
		case problem != "":
			return 0, fmt.Errorf("parameter %s %s", excerpt(name), problem)
		case end == len(text):
			return 0, fmt.Errorf("the line has no colon after parameter %s", excerpt(name))
		case text[end] != ',':
			return end, nil
		}
		at = end
	}
}

// lexParamValue returns the position of the delimiter after one value, or a problem.
func lexParamValue(text string, at int) (end int, problem string) {
	if at < len(text) && text[at] == '"' {
		closing := strings.IndexByte(text[at+1:], '"')
		if closing < 0 {
			return 0, "has a quote that is never closed"
		}
		end = at + 1 + closing + 1
		if end < len(text) && !isDelimiter(text[end]) {
			return 0, "has text behind its closing quote"
		}
		return end, ""
	}
	for end = at; end < len(text) && !isDelimiter(text[end]); end++ {
		if text[end] == '"' {
			return 0, "has a quote inside an unquoted value"
		}
	}
	return end, ""
}

func isDelimiter(c byte) bool { return c == ':' || c == ';' || c == ',' }

func isNameByte(c byte) bool {
	return c > ' ' && c != 0x7f && !isDelimiter(c) && c != '=' && c != '"'
}

// upperName returns the upper-case name, of the same length. RFC 5545 §2 compares names case-insensitively, and only
// their ASCII letters have case.
func upperName(name string) string {
	for i := range len(name) {
		if isLower(name[i]) {
			return mapASCII(name)
		}
	}
	return name
}

func mapASCII(name string) string {
	upper := []byte(name)
	for i, c := range upper {
		if isLower(c) {
			upper[i] = c - 'a' + 'A'
		}
	}
	return string(upper)
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// cleanName turns any text into a valid name.
func cleanName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && !isNameByte(byte(r)) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	if clean == "" {
		return "X-"
	}
	return clean
}

// cleanValue turns any text into a valid value: line breaks become the escape \n, so that no value can inject a line.
func cleanValue(value string) string {
	if strings.IndexFunc(value, isControl) < 0 {
		return strings.ToValidUTF8(value, "\uFFFD")
	}
	value = strings.ReplaceAll(value, "\r\n", "\n")
	value = strings.ReplaceAll(value, "\n", `\n`)
	return dropControls(strings.ToValidUTF8(value, "\uFFFD"))
}

func dropControls(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, s)
}

// isControl reports the characters that RFC 5545 §3.1 forbids in values.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
