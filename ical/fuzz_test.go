package ical_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"caldav-mcp-server/ical"
)

// seeds gives a fuzz target the clients' texts beside its corpus in testdata.
func seeds(f *testing.F, add func(text string)) {
	f.Helper()
	for _, text := range clientFiles(f) {
		add(text)
	}
	for _, line := range []string{
		"DTSTART;X=a", "X;A=", `X;A="b"c:d`, `X;A="b",c;D=^n^^^':e`, "SUMMARY:gr\xc3\r\n \xbcn", "X:a\rb\r\r\n c",
		"X\r\n :\r\n \r\n\r\n",
		"DTSTART;TZID=Local:20260101T000060", "DURATION:P9999999999W", "RDATE;VALUE=PERIOD:20260101T000000Z/PT1H",
		"TZOFFSETTO:+0100",
	} {
		add(inEvent(line))
	}
}

// FuzzParse asks that what can be read is written back as it was, and that
// reading any value of it ends in a value or a typed error.
func FuzzParse(f *testing.F) {
	seeds(f, func(text string) { f.Add([]byte(text)) })
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := ical.Parse(data, ical.DefaultLimits())
		if err != nil {
			if _ = syntaxError(t, err); len(err.Error()) > 300 {
				t.Errorf("the error repeats too much: %v", err)
			}
			return
		}
		if got := doc.String(); got != string(data) {
			t.Errorf("%q is written as %q", data, got)
		}
		for c := range doc.Components() {
			readValues(t, c)
		}
		doc.MendFolds()
		if mended := doc.String(); !utf8.ValidString(mended) {
			t.Errorf("%q is mended as %q, which is not UTF-8", data, mended)
		}
	})
}

// readValues reads every property as every type, and writes back what it got.
func readValues(t *testing.T, c *ical.Component) {
	t.Helper()
	for p := range c.Properties() {
		if at, err := p.Time(); err == nil {
			again, err := ical.ParseTime(at.String(), at.TZID)
			if err != nil || again != at {
				t.Errorf("%s: time %v is written and read as %v, %v", p, at, again, err)
			}
		}
		if d, err := p.Duration(); err == nil {
			again, err := ical.ParseDuration(d.String())
			if err != nil || again.NominalDays() != d.NominalDays() || again.ExactSeconds() != d.ExactSeconds() {
				t.Errorf("%s: duration %v is written and read as %v, %v", p, d, again, err)
			}
		}
		if o, err := p.UTCOffset(); err == nil {
			if again, err := ical.ParseUTCOffset(o.String()); err != nil || again != o {
				t.Errorf("%s: offset %v is written and read as %v, %v", p, o, again, err)
			}
		}
		for _, read := range []func() error{
			func() error { _, err := p.Times(); return err },
			func() error { _, err := p.Periods(); return err },
			func() error { _, err := p.Int(); return err },
		} {
			if err := read(); err != nil && len(syntaxError(t, err).Error()) > 300 {
				t.Errorf("the error repeats too much: %v", err)
			}
		}
	}
	for sub := range c.Components() {
		readValues(t, sub)
	}
}

// FuzzPatch asks that any text and any parameter survive being written to the
// first component of any document, and that all else stays as it was.
func FuzzPatch(f *testing.F) {
	seeds(f, func(text string) { f.Add([]byte(text), "Moved, and how", "Doe; John \"J\"\n^") })
	f.Fuzz(func(t *testing.T, data []byte, text, param string) {
		doc, err := ical.Parse(data, ical.DefaultLimits())
		if err != nil {
			return
		}
		before := outline(doc)
		patch(doc, text, param)
		again, err := ical.Parse(doc.Bytes(), ical.Limits{})
		if err != nil {
			t.Fatalf("the patched text cannot be read: %v\n%q", err, doc.String())
		}
		p := first(again).Property("X-PATCHED")
		if got := p.Text(); got != writable(text) {
			t.Errorf("text %q became %q", text, got)
		}
		if got := p.Params(); len(got) != 1 || len(got[0].Values) != 1 || got[0].Values[0] != writable(param) {
			t.Errorf("parameter %q became %q", param, got)
		}
		first(again).Remove("X-PATCHED")
		if got := outline(again); got != before {
			t.Errorf("the rest was\n%q\nand became\n%q", before, got)
		}
	})
}

// patch writes to a new property, and writes every other property of the first
// component anew without changing it.
func patch(doc *ical.Document, text, param string) {
	c := first(doc)
	c.Remove("X-PATCHED")
	for p := range c.Properties() {
		p.RemoveParam("X-PARAM")
		p.SetParam("X-PARAM", param)
		p.RemoveParam("X-PARAM")
	}
	c.SetText("X-PATCHED", text).SetParam("X-PARAM", param)
}

func first(doc *ical.Document) *ical.Component {
	for c := range doc.Components() {
		return c
	}
	return nil
}

// outline is a document's tree without the ways of writing it: folds, line
// ends, the CRs that a touched line loses, and what a patch writes itself.
func outline(doc *ical.Document) string {
	var b strings.Builder
	for c := range doc.Components() {
		outlineComponent(&b, c)
	}
	return strings.ReplaceAll(b.String(), "\r", "")
}

func outlineComponent(b *strings.Builder, c *ical.Component) {
	b.WriteString("<" + c.Name() + ">\n")
	for p := range c.Properties() {
		if p.Name() == "X-PATCHED" {
			continue
		}
		clone := p.Clone()
		clone.RemoveParam("X-PARAM")
		b.WriteString(clone.String() + "\n")
	}
	for sub := range c.Components() {
		outlineComponent(b, sub)
	}
	b.WriteString("</" + c.Name() + ">\n")
}

// writable is what a text or parameter keeps of any string: line breaks of all
// kinds become one, other controls and broken UTF-8 go.
func writable(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return s
}
