// Package bundle writes many calendar objects as one: what programs import, and people keep
// as a copy.
package bundle

import (
	"bytes"
	"fmt"
	"io"

	"caldav-mcp-server/ical"
)

// Head is what stands above the objects.
type Head struct {
	// ProductID names the program that writes (RFC 5545 §3.7.3).
	ProductID string
	// Name, Description, Color and Timezone are those of the calendar; empty ones are left out.
	Name, Description, Color, Timezone string
}

// properties are the lines that say so. RFC 7986 has names for most; what programs read
// are the older ones beside them.
func (h Head) properties() []*ical.Property {
	all := []*ical.Property{ical.NewText("VERSION", "2.0"), ical.NewText("PRODID", h.ProductID)}
	for _, p := range [...]struct{ name, text string }{
		{"NAME", h.Name},
		{"X-WR-CALNAME", h.Name},
		{"DESCRIPTION", h.Description},
		{"X-WR-CALDESC", h.Description},
		{"X-APPLE-CALENDAR-COLOR", h.Color},
		{"X-WR-TIMEZONE", h.Timezone},
	} {
		if p.text != "" {
			all = append(all, ical.NewText(p.name, p.text))
		}
	}
	return all
}

// Writer writes one VCALENDAR, object by object; it holds no more than one of them.
type Writer struct {
	out io.Writer
	// zones are the TZIDs whose VTIMEZONE has been written.
	zones map[string]bool
}

// NewWriter begins a bundle.
func NewWriter(out io.Writer, h Head) (*Writer, error) {
	root := ical.NewComponent("VCALENDAR")
	for _, p := range h.properties() {
		root.Add(p)
	}
	whole := ical.NewDocument(root).Bytes()
	_, err := out.Write(bytes.TrimSuffix(whole, []byte(end)))
	return &Writer{out, map[string]bool{}}, err
}

const end = "END:VCALENDAR\r\n"

// Add writes the components of an object as they are, but for the zones that are there
// already. Where two objects define a zone of one name in different ways, the first is kept.
func (w *Writer) Add(object []byte) error {
	doc, err := ical.Parse(object, ical.Limits{})
	if err != nil {
		return fmt.Errorf("object: %w", err)
	}
	cal, err := doc.Calendar()
	if err != nil {
		return fmt.Errorf("object: %w", err)
	}
	for c := range cal.Components() {
		if c.Name() == "VTIMEZONE" {
			if id := c.Property("TZID"); id == nil || w.zones[id.Text()] {
				continue
			} else {
				w.zones[id.Text()] = true
			}
		}
		if _, err := w.out.Write(withCRLF(ical.NewDocument(c).Bytes())); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the bundle.
func (w *Writer) Close() error {
	_, err := io.WriteString(w.out, end)
	return err
}

// withCRLF ends all lines alike, whatever the objects' writers did.
func withCRLF(text []byte) []byte {
	lines := bytes.Count(text, []byte("\n"))
	if lines == bytes.Count(text, []byte("\r\n")) {
		return text
	}
	plain := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(plain, []byte("\n"), []byte("\r\n"))
}
