package ical_test

import (
	"testing"

	"caldav-mcp-server/ical"
)

func TestWithoutControls(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "",
		"SUMMARY:a\tb\r\n c\n":           "SUMMARY:a\tb\r\n c\n",
		"a\x01b\x1f\x7f\x0b":             "ab",
		"\uFEFFa\uFFFEb\uFFFFc\uFFFDd":   "\uFEFFabc\uFFFDd",
		"\xc3\r\n \x84\x02 \xef\xbf":     "\xc3\r\n \x84 \xef\xbf",
		"a NUL tells of UTF-16: \x00":    "a NUL tells of UTF-16: \x00",
		"\u0085 is no control of theirs": "\u0085 is no control of theirs",
	} {
		given := []byte(text)
		if got := string(ical.WithoutControls(given)); got != want || string(given) != text {
			t.Errorf("%q: %q, want %q; what was given is %q", text, got, want, given)
		}
	}
}
