package ical_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

func TestPropertyText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		raw, text string
		back      string // the raw value that writes the text; "" for raw itself
	}{
		{raw: "", text: ""},
		{raw: "Lunch", text: "Lunch"},
		{raw: `a\nb\Nc`, text: "a\nb\nc", back: `a\nb\nc`},
		{raw: `a\, b\; c\\ d`, text: `a, b; c\ d`},
		{raw: `\\n`, text: `\n`},
		// What clients send in violation of the letter.
		{raw: "Lunch, with Bob", text: "Lunch, with Bob", back: `Lunch\, with Bob`},
		{raw: `10\:30 \"sharp\"`, text: `10:30 "sharp"`, back: `10:30 "sharp"`},
		{raw: `trailing\`, text: `trailing\`, back: `trailing\\`},
		{raw: `C:\temp`, text: "C:temp", back: "C:temp"},
		{raw: `\ü`, text: "ü", back: "ü"},
	} {
		p := property(t, "SUMMARY:"+tt.raw)
		if diff := cmp.Diff(tt.text, p.Text()); diff != "" {
			t.Errorf("%q read (-want +got):\n%s", tt.raw, diff)
		}
		want := tt.raw
		if tt.back != "" {
			want = tt.back
		}
		p.SetText(tt.text)
		if diff := cmp.Diff(tt.raw, p.Value()); diff != "" {
			t.Errorf("%q written over itself (-want +got):\n%s", tt.text, diff)
		}
		p.SetText("something else")
		p.SetText(tt.text)
		if diff := cmp.Diff(want, p.Value()); diff != "" {
			t.Errorf("%q written (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestEscapeTextMakesOneOfAllLineBreaks(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(`a\nb\nc\nd\n\n`, ical.EscapeText("a\r\nb\nc\rd\r\r")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPropertyTextList(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]string{
		"":               {""},
		"a":              {"a"},
		"a,b":            {"a", "b"},
		`a\,b,c\\,d\;\n`: {"a,b", `c\`, "d;\n"},
		"a,,":            {"a", "", ""},
		`a\`:             {`a\`},
	} {
		got := property(t, "CATEGORIES:"+raw).TextList()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q read (-want +got):\n%s", raw, diff)
		}
		p := ical.NewProperty("CATEGORIES", "")
		p.SetTextList(want...)
		if diff := cmp.Diff(want, p.TextList()); diff != "" {
			t.Errorf("%q written and read (-want +got):\n%s", raw, diff)
		}
	}
}

func TestPropertyValueIsMadeHarmless(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"a\r\nEND:VEVENT":   `X:a\nEND:VEVENT`,
		"a\nb\rc":           `X:a\nbc`,
		"a\x00b\x07\x7f\tc": "X:ab\tc",
		"a\xffb":            "X:a\uFFFDb",
		"a\xff\x00b":        "X:a\uFFFDb",
		"日本":                "X:日本",
	} {
		if got := ical.NewProperty("X", value).String(); got != want {
			t.Errorf("%q is written as %q, want %q", value, got, want)
		}
	}
}

// A CR that was kept in a line must not end up before a line end.
func TestPropertyTouchedLosesCR(t *testing.T) {
	t.Parallel()
	p := property(t, "X;A=1\r2:b\rc")
	p.SetParam("B", "3")
	if diff := cmp.Diff("X;A=12;B=3:bc", p.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("bc", p.Value()); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

func TestPropertyIsFoldedAt75Octets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("x", 66), strings.Repeat("x", 67), strings.Repeat("x", 500),
		strings.Repeat("ü", 300), "a" + strings.Repeat("ü", 300),
		strings.Repeat("語", 300), "a" + strings.Repeat("語", 300),
		strings.Repeat("🎂", 300), "abc" + strings.Repeat("🎂", 300),
		strings.Repeat(" ", 300), strings.Repeat("a, ", 100),
	} {
		calendar := ical.NewComponent("VCALENDAR")
		made := ical.NewComponent("VEVENT")
		calendar.AddComponent(made)
		made.SetText("SUMMARY", text)
		out := ical.NewDocument(calendar).String()
		physical := strings.Split(strings.TrimSuffix(out, "\r\n"), "\r\n")
		for i, line := range physical {
			if len(line) > 75 || !utf8.ValidString(line) {
				t.Errorf("line of %d octets, UTF-8 %t: %q", len(line), utf8.ValidString(line), line)
			}
			// No line is folded before it has to be: a whole rune more is too much.
			if i+1 < len(physical) && strings.HasPrefix(physical[i+1], " ") {
				_, size := utf8.DecodeRuneInString(physical[i+1][1:])
				if len(line)+size <= 75 {
					t.Errorf("folded after %d octets, the next rune has %d", len(line), size)
				}
			}
		}
		if diff := cmp.Diff(text, event(t, out).Property("SUMMARY").Text()); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	}
}

func TestPropertyInt(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{"0": 0, "-7": -7, "+5": 5, " 3 ": 3, "2147483647": 1<<31 - 1} {
		if got, err := property(t, "SEQUENCE:"+value).Int(); err != nil || got != want {
			t.Errorf("%q = %d, %v; want %d", value, got, err, want)
		}
	}
	for _, value := range []string{"", "x", "1.5", "2147483648", "99999999999999999999"} {
		_, err := property(t, "SEQUENCE:"+value).Int()
		if got := syntaxError(t, err); got.Line != 3 || got.Property != "SEQUENCE" || got.Kind != ical.KindValue {
			t.Errorf("%q: %#v", value, got)
		}
	}
}

func TestSyntaxErrorSaysWhere(t *testing.T) {
	t.Parallel()
	_, err := property(t, "SEQUENCE:many").Int()
	if diff := cmp.Diff(`line 3: SEQUENCE: "many" is not an integer of 32 bits`, err.Error()); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	_, err = ical.NewProperty("SEQUENCE", "many").Int()
	if diff := cmp.Diff(`SEQUENCE: "many" is not an integer of 32 bits`, err.Error()); diff != "" {
		t.Errorf("new (-want +got):\n%s", diff)
	}
}
