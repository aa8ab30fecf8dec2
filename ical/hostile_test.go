package ical_test

import (
	"runtime"
	"strings"
	"testing"

	"caldav-mcp-server/ical"
)

// What strangers may send to make a parser slow or fat. Each text is judged by
// what reading and writing it allocates in all: a quadratic reader fails that
// by far. Not parallel, so that nobody else's memory is counted.
func TestHostileTextsStaySmall(t *testing.T) {
	const spare = 16 << 20
	for name, text := range map[string]string{
		"parameter of 400 KB":         inEvent("X;A=" + strings.Repeat("b", 400<<10) + ":c"),
		"quoted parameter of 400 KB":  inEvent(`X;A="` + strings.Repeat("b", 400<<10) + `":c`),
		"parameter of 400 KB, folded": inEvent("X;A=" + strings.Repeat("b\r\n ", 400<<10) + ":c"),
		"a hundred thousand values":   inEvent("X;A=" + strings.Repeat("b,", 100_000) + ":c"),
		"a hundred thousand params":   inEvent("X" + strings.Repeat(";A=b", 100_000) + ":c"),
		"open quotes":                 inEvent(strings.TrimRight(strings.Repeat("X;A=\"\r\n ", 100_000), " \r\n")),
		"one long value":              inEvent("X:" + strings.Repeat("\\", 6<<20)),
		"folds only":                  inEvent("X:" + strings.Repeat("\r\n ", 240_000)),
		"blank lines only":            strings.Repeat("\n", 249_000) + inEvent("X:"),
		"short lines only":            inEvent(strings.Repeat("X:\n", 49_000)),
		"too many properties":         inEvent(strings.Repeat("X:\n", 200_000)),
		"empty components":            "BEGIN:A\n" + strings.Repeat("BEGIN:B\nEND:B\n", 120_000) + "END:A\n",
		"BEGIN and nothing else":      strings.Repeat("BEGIN:A\n", 249_000),
		"half a rune before a fold":   inEvent("X:" + strings.Repeat("\xc3\r\n \xbc", 200_000)),
		"nothing that is UTF-8":       strings.Repeat("\xff", 8<<20),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			doc, err := ical.Parse([]byte(text), ical.DefaultLimits())
			switch {
			case err != nil:
				_ = syntaxError(t, err)
			case doc.String() != text:
				t.Error("written otherwise than it was read")
			default:
				touchAll(doc)
			}
			runtime.ReadMemStats(&after)
			if used, most := after.TotalAlloc-before.TotalAlloc, uint64(12*len(text)+spare); used > most {
				t.Errorf("allocated %d bytes in all for a text of %d, at most %d are allowed", used, len(text), most)
			}
		})
	}
}

// touchAll reads and rewrites what a tool would.
func touchAll(doc *ical.Document) {
	for c := range doc.Components() {
		for sub := range c.Components() {
			if p := sub.Property("X"); p != nil {
				p.Param("A")
				p.SetText(p.Text())
			}
		}
	}
	doc.Bytes()
}
