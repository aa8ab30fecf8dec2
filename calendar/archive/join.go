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

// Header is what a file says of the calendar that it holds. Empty fields are left out.
type Header struct {
	Name, Description, Color, Timezone string
	// Refresh is how often to look for a newer one.
	Refresh time.Duration
	// Backup is there in files that are to become the same calendar again.
	Backup *Backup
}

// Writer writes objects into one file, each zone once. It holds only the zones in memory.
type Writer struct {
	to    io.Writer
	zones *zone.DB
	// Shape changes what is written of each object; nil writes all of it.
	Shape func(*ical.Document) error
	// written are the texts of the zones written so far, by their TZID.
	written map[string]string
	// added counts the zones that no object defined.
	added int
}

// NewWriter begins a file. The zones tell which names stand for themselves.
func NewWriter(to io.Writer, h Header, zones *zone.DB) (*Writer, error) {
	w := &Writer{to: to, zones: zones, written: make(map[string]string)}
	head := []byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:" + content.ProductID + "\r\n")
	// RFC 7986 §5 has names for these; the older ones are what most programs read.
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

// text folds a property's line.
func text(p *ical.Property) string {
	c := ical.NewComponent("X")
	c.Add(p)
	whole := ical.NewDocument(c).String()
	return whole[len("BEGIN:X\r\n") : len(whole)-len("END:X\r\n")]
}

// ErrUnreadable is what Add has against an object, and not against the file.
var ErrUnreadable = errors.New("the object cannot be read")

// Add writes the components of an object. Nothing is written of one that cannot be read.
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

// AddTree writes the components of a VCALENDAR, which it may change.
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

// zone returns what is to be written of an object's zone: nothing when it is in the file already.
// Two objects may mean different zones by one name; the second gets another name then. A name
// that every program knows means the same in both, whatever they write about it.
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

// farBack is where an added VTIMEZONE begins: objects that follow in the file may be older than the one that needs it.
var farBack = time.Date(1970, time.January, 1, 0, 0, 0, 0, time.UTC)

// zonesAdded bounds the VTIMEZONEs that are added to a file: there are fewer zones, but a hostile calendar can spell
// each in many ways.
const zonesAdded = 1000

// undefined returns VTIMEZONEs for the names of zones that an object does not define, and that are not in the file yet.
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

// rename gives a component's times the names that their zones have in the file.
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
