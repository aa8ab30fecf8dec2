package ical_test

import (
	"errors"
	"strings"
	"testing"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

// parse reads a text that must be readable.
func parse(t *testing.T, text string) *ical.Document {
	t.Helper()
	doc, err := ical.Parse([]byte(text), ical.DefaultLimits())
	if err != nil {
		t.Fatalf("Parse: %v\nof %q", err, text)
	}
	return doc
}

// event reads a text that must hold one calendar with one event.
func event(t *testing.T, text string) *ical.Component {
	t.Helper()
	calendar, err := parse(t, text).Calendar()
	if err != nil {
		t.Fatalf("Calendar: %v", err)
	}
	events := calendar.AllComponents("VEVENT")
	if len(events) != 1 {
		t.Fatalf("%d events in %q, want one", len(events), text)
	}
	return events[0]
}

// property reads a content line that must be readable.
func property(t *testing.T, line string) *ical.Property {
	t.Helper()
	for p := range event(t, inEvent(line)).Properties() {
		return p
	}
	t.Fatalf("no property in %q", line)
	return nil
}

// inEvent puts lines into an event; the first of them is the third line.
func inEvent(lines ...string) string {
	return "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + strings.Join(lines, "\r\n") + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
}

// syntaxError asserts the type of an error.
func syntaxError(t *testing.T, err error) *ical.SyntaxError {
	t.Helper()
	var syntax *ical.SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("error %v (%T), want a *SyntaxError", err, err)
	}
	return syntax
}

// Every reading here is one that some client needs, and all come back as they
// were.
func TestParseIsLenient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       string // the value of SUMMARY
	}{
		{"as the RFC has it", inEvent("SUMMARY:a"), "a"},
		{"LF", strings.ReplaceAll(inEvent("SUMMARY:a", " b"), "\r", ""), "ab"},
		{"a mix of line ends", "BEGIN:VCALENDAR\nBEGIN:VEVENT\r\nSUMMARY:a\n b\r\n c\nEND:VEVENT\r\n" +
			"END:VCALENDAR\n", "abc"},
		{"doubled CR", strings.ReplaceAll(inEvent("SUMMARY:a", " b"), "\r", "\r\r"), "ab"},
		{"byte order mark", "\uFEFF" + inEvent("SUMMARY:a"), "a"},
		{"blank lines first", "\r\n \r\n\t\n" + inEvent("SUMMARY:a"), "a"},
		{"byte order mark and blank line", "\uFEFF\n" + inEvent("SUMMARY:a"), "a"},
		{"blank lines between", inEvent("SUMMARY:a", "", "", "UID:1", ""), "a"},
		{"blank lines last", inEvent("SUMMARY:a") + "\r\n\r\n   ", "a"},
		{"line of spaces behind a value", inEvent("SUMMARY:a", "   ", "UID:1"), "a  "},
		{"no last line end", strings.TrimRight(inEvent("SUMMARY:a"), "\r\n"), "a"},
		{"CR for the last line end", strings.TrimRight(inEvent("SUMMARY:a"), "\n"), "a"},
		{"lower case", strings.ToLower(inEvent("SUMMARY:a")), "a"},
		{"space behind a component's name", "BEGIN:VCALENDAR \r\nBEGIN:VEVENT\t\r\nSUMMARY:a\r\nEND: VEVENT\r\n" +
			"END:VCALENDAR\r\n", "a"},
		{"fold with a tab", inEvent("SUMMARY:a", "\tb"), "ab"},
		{"fold before a space", inEvent("SUMMARY:a", "  b"), "a b"},
		{"fold in the name", inEvent("SUMM", " ARY:a"), "a"},
		{"fold in a parameter", inEvent("SUMMARY;LANGUAGE=", " en;X=\"1", " :2\":a"), "a"},
		{"fold before the colon", inEvent("SUMMARY", " :a"), "a"},
		{"folds without text", inEvent("SUMMARY:a", " ", " ", " b"), "ab"},
		{"fold in the last line", strings.TrimSuffix(inEvent("SUMMARY:a"), "AR\r\n") + "\n AR", "a"},
		{"fold inside a rune", inEvent("SUMMARY:gr\xc3", " \xbc\xc3\x9fe"), "grüße"},
		{"no value", inEvent("SUMMARY:"), ""},
		{"colons and quotes in the value", inEvent(`SUMMARY:a:b;c="d`), `a:b;c="d`},
		{"empty parameter value", inEvent("SUMMARY;X=:a"), "a"},
		{"empty quoted parameter value", inEvent(`SUMMARY;X="":a`), "a"},
		{"trailing comma in a parameter", inEvent("SUMMARY;X=1,:a"), "a"},
		{"CR inside a value", inEvent("SUMMARY:a\rb"), "a\rb"},
		{"control character inside a value", inEvent("SUMMARY:a\x01b\x7f"), "a\x01b\x7f"},
		{"unknown component and property", inEvent("X-Ünknown_1.a:x", "SUMMARY:a", "BEGIN:X-B", "END:X-B"), "a"},
		{"parameter on BEGIN", strings.Replace(inEvent("SUMMARY:a"), "BEGIN:VEVENT", "BEGIN;X=1:VEVENT", 1), "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := event(t, tt.text).Property("SUMMARY").Value()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("SUMMARY (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.text, parse(t, tt.text).String()); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       ical.SyntaxError
	}{
		{"nothing", "", ical.SyntaxError{
			Kind: ical.KindSyntax, Msg: "the text holds no component; it must begin with BEGIN:VCALENDAR",
		}},
		{"blank lines alone", "\r\n  \r\n", ical.SyntaxError{
			Kind: ical.KindSyntax, Msg: "the text holds no component; it must begin with BEGIN:VCALENDAR",
		}},
		{"byte order mark alone", "\uFEFF", ical.SyntaxError{
			Kind: ical.KindSyntax, Msg: "the text holds no component; it must begin with BEGIN:VCALENDAR",
		}},
		{"HTML", "<!DOCTYPE html>\n", ical.SyntaxError{
			Line: 1, Kind: ical.KindSyntax,
			Msg: `a name must not hold ' ', and no name and colon begin this line: "<!DOCTYPE html>"`,
		}},
		{"property outside", "VERSION:2.0\r\n", ical.SyntaxError{
			Line: 1, Property: "VERSION", Kind: ical.KindSyntax,
			Msg: "the line stands outside of any component; BEGIN:VCALENDAR must come first",
		}},
		{"property behind the end", inEvent() + "UID:1", ical.SyntaxError{
			Line: 6, Property: "UID", Kind: ical.KindSyntax,
			Msg: "the line stands outside of any component; BEGIN:VCALENDAR must come first",
		}},
		{"fold without a line", " SUMMARY:a\r\n", ical.SyntaxError{
			Line: 1, Kind: ical.KindSyntax,
			Msg: "the line begins with a space, but there is no line before it to continue",
		}},
		{"fold behind a blank line", inEvent("SUMMARY:a", "", " b"), ical.SyntaxError{
			Line: 5, Kind: ical.KindSyntax,
			Msg: "the line begins with a space, but there is no line before it to continue",
		}},
		{"never ended", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n", ical.SyntaxError{
			Line: 2, Kind: ical.KindSyntax, Msg: "BEGIN:VEVENT is never followed by END:VEVENT",
		}},
		{"ended crosswise", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nEND:VCALENDAR\r\nEND:VEVENT\r\n", ical.SyntaxError{
			Line: 3, Property: "END", Kind: ical.KindSyntax, Msg: `END names "VCALENDAR", but line 2 began VEVENT`,
		}},
		{"ended twice", inEvent() + "END:VCALENDAR\r\n", ical.SyntaxError{
			Line: 6, Property: "END", Kind: ical.KindSyntax, Msg: `END names "VCALENDAR", but nothing was begun`,
		}},
		{"nameless component", "BEGIN:\r\n", ical.SyntaxError{
			Line: 1, Property: "BEGIN", Kind: ical.KindSyntax, Msg: `BEGIN must name a component, not ""`,
		}},
		{"component with a bad name", "BEGIN:V EVENT\r\n", ical.SyntaxError{
			Line: 1, Property: "BEGIN", Kind: ical.KindSyntax, Msg: `BEGIN must name a component, not "V EVENT"`,
		}},
		{"no colon", inEvent("SUMMARY"), ical.SyntaxError{
			Line: 3, Kind: ical.KindSyntax, Msg: `the line has no colon: "SUMMARY"`,
		}},
		{"no name", inEvent(":a"), ical.SyntaxError{
			Line: 3, Kind: ical.KindSyntax, Msg: `the line has no name before ':'`,
		}},
		{"no name before parameters", inEvent(";X=1:a"), ical.SyntaxError{
			Line: 3, Kind: ical.KindSyntax, Msg: `the line has no name before ';'`,
		}},
		{"a folded line's number", inEvent("SUMMARY:a", " b", " c", "bad"), ical.SyntaxError{
			Line: 6, Kind: ical.KindSyntax, Msg: `the line has no colon: "bad"`,
		}},
		{"numbers count blank lines", inEvent("SUMMARY:a", "", "", "bad"), ical.SyntaxError{
			Line: 6, Kind: ical.KindSyntax, Msg: `the line has no colon: "bad"`,
		}},
		// The three lines that are known to bring down another Go parser.
		{"go-ical panics, 1", inEvent("DTSTART;X=a"), ical.SyntaxError{
			Line: 3, Property: "DTSTART", Kind: ical.KindSyntax, Msg: `the line has no colon after parameter "X"`,
		}},
		{"go-ical panics, 2", inEvent("X;A="), ical.SyntaxError{
			Line: 3, Property: "X", Kind: ical.KindSyntax, Msg: `the line has no colon after parameter "A"`,
		}},
		{"go-ical panics, 3", inEvent(`X;A="b"c:d`), ical.SyntaxError{
			Line: 3, Property: "X", Kind: ical.KindSyntax, Msg: `parameter "A" has text behind its closing quote`,
		}},
		{"ends behind a quote", inEvent(`X;A="b"`), ical.SyntaxError{
			Line: 3, Property: "X", Kind: ical.KindSyntax, Msg: `the line has no colon after parameter "A"`,
		}},
		{"ends behind a comma", inEvent(`X;A=b,`), ical.SyntaxError{
			Line: 3, Property: "X", Kind: ical.KindSyntax, Msg: `the line has no colon after parameter "A"`,
		}},
		{"open quote", inEvent(`X;A="b:c`), ical.SyntaxError{
			Line: 3, Property: "X", Kind: ical.KindSyntax, Msg: `parameter "A" has a quote that is never closed`,
		}},
		{"stray quote", inEvent(`X;A=b"c":d`), ical.SyntaxError{
			Line: 3, Property: "X", Kind: ical.KindSyntax, Msg: `parameter "A" has a quote inside an unquoted value`,
		}},
		{"parameter without value", inEvent("X;A:b"), ical.SyntaxError{
			Line: 3, Property: "X", Kind: ical.KindSyntax, Msg: `a parameter must be NAME=value, not "A:b"`,
		}},
		{"parameter without name", inEvent("X;=b:c"), ical.SyntaxError{
			Line: 3, Property: "X", Kind: ical.KindSyntax, Msg: `a parameter must be NAME=value, not "=b:c"`,
		}},
		{"no parameter behind the semicolon", inEvent("X;:c"), ical.SyntaxError{
			Line: 3, Property: "X", Kind: ical.KindSyntax, Msg: `a parameter must be NAME=value, not ":c"`,
		}},
		{"nothing behind the semicolon", inEvent("X;"), ical.SyntaxError{
			Line: 3, Property: "X", Kind: ical.KindSyntax, Msg: `a parameter must be NAME=value, not ""`,
		}},
		{"not UTF-8", inEvent("UID:1", "SUMMARY:gr\xfc\xdfe"), ical.SyntaxError{
			Line: 4, Kind: ical.KindEncoding, Msg: "the text is not UTF-8; save the file as UTF-8 and try again",
		}},
		{"UTF-16", "\xff\xfeB\x00E\x00G\x00", ical.SyntaxError{
			Line: 1, Kind: ical.KindEncoding, Msg: "the text holds a NUL character",
		}},
		{"NUL", inEvent("UID:1", "SUMMARY:a\x00b"), ical.SyntaxError{
			Line: 4, Kind: ical.KindEncoding, Msg: "the text holds a NUL character",
		}},
		{"a long name is not repeated", "BEGIN:" + strings.Repeat("A", 1000) + "\n", ical.SyntaxError{
			Line: 1, Kind: ical.KindSyntax, Msg: "BEGIN:" + strings.Repeat("A", 40) + "… is never followed by END:" +
				strings.Repeat("A", 40) + "…",
		}},
		{"a long property's name is not repeated", strings.Repeat("A", 1000) + ":b\n", ical.SyntaxError{
			Line: 1, Property: strings.Repeat("A", 40) + "…", Kind: ical.KindSyntax,
			Msg: "the line stands outside of any component; BEGIN:VCALENDAR must come first",
		}},
		{"a long line is not repeated", inEvent(strings.Repeat("ü", 1000)), ical.SyntaxError{
			Line: 3, Kind: ical.KindSyntax, Msg: `the line has no colon: "` + strings.Repeat("ü", 20) + `"…`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ical.Parse([]byte(tt.text), ical.DefaultLimits())
			if diff := cmp.Diff(tt.want, *syntaxError(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseKeepsWithinLimits(t *testing.T) {
	t.Parallel()
	text := inEvent("SUMMARY:"+strings.Repeat("x", 60), " "+strings.Repeat("y", 32), "UID:1", "BEGIN:VALARM",
		"ACTION:AUDIO", "END:VALARM")
	for _, tt := range []struct {
		name  string
		set   func(lim *ical.Limits, n int)
		needs int
		want  ical.SyntaxError
	}{
		{
			"bytes", func(l *ical.Limits, n int) { l.Bytes = n }, len(text),
			ical.SyntaxError{Msg: "the text has 210 octets, 209 are allowed"},
		},
		{
			"octets of a line", func(l *ical.Limits, n int) { l.LineBytes = n }, 100,
			ical.SyntaxError{Line: 3, Msg: "the line has 100 octets, 99 are allowed"},
		},
		{
			"lines", func(l *ical.Limits, n int) { l.Lines = n }, 11,
			ical.SyntaxError{Msg: "the text has 11 lines, 10 are allowed"},
		},
		{
			"depth", func(l *ical.Limits, n int) { l.Depth = n }, 3,
			ical.SyntaxError{Line: 6, Msg: "components are nested more than 2 deep"},
		},
		{
			"properties", func(l *ical.Limits, n int) { l.Properties = n }, 3,
			ical.SyntaxError{Line: 7, Msg: "the text has more than 2 properties"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var lim ical.Limits
			tt.set(&lim, tt.needs)
			if _, err := ical.Parse([]byte(text), lim); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			tt.set(&lim, tt.needs-1)
			_, err := ical.Parse([]byte(text), lim)
			tt.want.Kind = ical.KindLimit
			if diff := cmp.Diff(tt.want, *syntaxError(t, err)); diff != "" {
				t.Errorf("above it (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNeverNestsWithoutBound(t *testing.T) {
	t.Parallel()
	const deep = 1000
	nested := func(n int) []byte {
		return []byte(strings.Repeat("BEGIN:A\n", n) + strings.Repeat("END:A\n", n))
	}
	doc, err := ical.Parse(nested(deep), ical.Limits{})
	if err != nil {
		t.Fatalf("%d deep: %v", deep, err)
	}
	if got := doc.Clone().String(); got != string(nested(deep)) {
		t.Error("the copy of a deep tree is written otherwise than it was read")
	}
	_, err = ical.Parse(nested(deep+1), ical.Limits{})
	if got := syntaxError(t, err); got.Kind != ical.KindLimit || got.Line != deep+1 {
		t.Errorf("%d deep: %v (%s)", deep+1, got, got.Kind)
	}
}

func TestParseDoesNotKeepTheCallersBytes(t *testing.T) {
	t.Parallel()
	data := []byte(inEvent("SUMMARY:a"))
	doc, err := ical.Parse(data, ical.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	if diff := cmp.Diff(inEvent("SUMMARY:a"), doc.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
