package archive

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Header holds the properties of the calendar in a file. Empty fields are not written.
type Header struct {
	Name, Description, Color, Timezone string
	// Refresh is the suggested interval for fetching the file again.
	Refresh time.Duration
	// Backup is set in files that can be restored to the same calendar.
	Backup *Backup
}

// Writer writes objects into one file, each zone once. It keeps only the zones in memory.
type Writer struct {
	to    io.Writer
	zones *zone.DB
	// Shape changes each object before it is written; nil leaves it unchanged.
	Shape func(*ical.Document) error
	// written holds the texts of the zones written so far, by TZID.
	written map[string]string
	// added counts the zones that no object defined.
	added int
}

// NewWriter begins a file. zones knows the TZIDs that need no definition of their own.
func NewWriter(to io.Writer, h Header, zones *zone.DB) (*Writer, error) {
	w := &Writer{to: to, zones: zones, written: make(map[string]string)}
	head := []byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:" + content.ProductID + "\r\n")
	// RFC 7986 §5 defines NAME and DESCRIPTION; most programs read the older names.
	for _, line := range [...]struct{ name, text string }{
		{"NAME", h.Name},
		{"X-WR-CALNAME", h.Name},
		{"DESCRIPTION", h.Description},
		{"X-WR-CALDESC", h.Description},
		{"X-APPLE-CALENDAR-COLOR", h.Color},
		{"X-WR-TIMEZONE", h.Timezone},
	} {
		if line.text != "" {
			head = append(head, text(ical.NewText(line.name, line.text))...)
		}
	}
	if h.Refresh > 0 {
		every := ical.DurationOf(h.Refresh).String()
		head = append(head, text(ical.NewProperty("REFRESH-INTERVAL", every, ical.NewParam("VALUE", "DURATION")))...)
		head = append(head, text(ical.NewProperty("X-PUBLISHED-TTL", every))...) // Outlook's name for it
	}
	for _, p := range h.Backup.properties() {
		head = append(head, text(p)...)
	}
	_, err := to.Write(head)
	return w, err
}

// text returns the folded line of a property.
func text(p *ical.Property) string {
	c := ical.NewComponent("X")
	c.Add(p)
	whole := ical.NewDocument(c).String()
	return whole[len("BEGIN:X\r\n") : len(whole)-len("END:X\r\n")]
}

// ErrUnreadable means that Add could not parse an object. The file can still be written.
var ErrUnreadable = errors.New("the object cannot be read")

// Add writes the components of an object. It writes nothing if the object cannot be parsed.
func (w *Writer) Add(object []byte) error {
	doc, err := ical.Parse(clean(object), ical.Limits{})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if w.Shape != nil {
		err = w.Shape(doc)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	root, err := doc.Calendar()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return w.AddTree(root)
}

// AddTree writes the components of a VCALENDAR, and may modify it.
func (w *Writer) AddTree(root *ical.Component) error {
	renamed := make(map[string]string)
	var out []byte
	for _, z := range root.AllComponents(zoneName) {
		out = append(out, w.zone(z, renamed)...)
	}
	out = append(out, w.undefined(root)...)
	for c := range root.Components() {
		if c.Name() == zoneName {
			continue
		}
		if len(renamed) > 0 {
			rename(c, renamed)
		}
		out = append(out, ical.NewDocument(c).Bytes()...)
	}
	_, err := w.to.Write(out)
	return err
}

// zone returns the text of an object's zone, or nothing if the file already has it. If two objects use one TZID for
// different zones, the second zone is renamed. A TZID that the zone database knows means the same in all objects,
// whatever their definitions.
func (w *Writer) zone(z *ical.Component, renamed map[string]string) []byte {
	p := z.Property("TZID")
	if p == nil {
		return nil
	}
	id := p.Value()
	lines := ical.NewDocument(z).Bytes()
	if _, err := w.zones.Lookup(id); err == nil && w.written[id] != "" {
		return nil
	}
	for n, name := 2, id; ; n++ {
		before, taken := w.written[name]
		if taken && before == string(lines) || !taken {
			w.written[name] = string(lines)
			if name != id {
				renamed[id] = name
				z = z.Clone()
				z.Property("TZID").SetValue(name)
			}
			if taken {
				return nil
			}
			return ical.NewDocument(z).Bytes()
		}
		name = fmt.Sprintf("%s (%d)", id, n)
	}
}

// farBack is the start of an added VTIMEZONE: later objects in the file may be older than the one that needs it.
var farBack = time.Date(1970, time.January, 1, 0, 0, 0, 0, time.UTC)

// zonesAdded limits the VTIMEZONEs that are added to a file. Fewer zones exist, but a hostile calendar can spell
// each in many ways.
const zonesAdded = 1000

// undefined returns VTIMEZONEs for zone names that the object does not define and the file does not have yet.
func (w *Writer) undefined(root *ical.Component) []byte {
	var out []byte
	for _, id := range content.Undefined(root, slices.Collect(root.Components())...) {
		if w.written[id] != "" || w.added == zonesAdded {
			continue
		}
		if c := content.ZoneNamed(id, w.zones, farBack, time.Time{}); c != nil {
			w.added++
			out = append(out, w.zone(c, nil)...)
		}
	}
	return out
}

// rename replaces the TZIDs in a component with the names in the file.
func rename(c *ical.Component, names map[string]string) {
	for p := range c.Properties() {
		if id, given := p.Param("TZID"); given && names[id] != "" {
			p.SetParam("TZID", names[id])
		}
	}
	for _, sub := range slices.Collect(c.Components()) {
		rename(sub, names)
	}
}

// Close ends the file.
func (w *Writer) Close() error {
	_, err := io.WriteString(w.to, "END:VCALENDAR\r\n")
	return err
}
