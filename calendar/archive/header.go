package archive

import (
	"bytes"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Backup holds the calendar properties that have no common property name.
type Backup struct {
	// Address is the calendar's last path segment.
	Address string
	Kinds   []string
	// Order is its position in the list of calendars; nil if not set.
	Order               *int64
	Transparent, Hidden bool
}

const (
	addressLine     = "X-CALDAV-MCP-ADDRESS"
	kindsLine       = "X-CALDAV-MCP-KINDS"
	orderLine       = "X-CALDAV-MCP-ORDER"
	transparentLine = "X-CALDAV-MCP-TRANSPARENT"
	hiddenLine      = "X-CALDAV-MCP-HIDDEN"
	yes             = "TRUE"
)

// properties returns the property lines of the backup; none for nil.
func (b *Backup) properties() []*ical.Property {
	if b == nil {
		return nil
	}
	all := []*ical.Property{
		ical.NewText(addressLine, b.Address), ical.NewProperty(kindsLine, strings.Join(b.Kinds, ",")),
	}
	if b.Order != nil {
		all = append(all, ical.NewProperty(orderLine, strconv.FormatInt(*b.Order, 10)))
	}
	if b.Transparent {
		all = append(all, ical.NewProperty(transparentLine, yes))
	}
	if b.Hidden {
		all = append(all, ical.NewProperty(hiddenLine, yes))
	}
	return all
}

// ReadHeader reads the calendar's properties from a file of this program or another. Missing ones are empty.
func ReadHeader(file []byte) Header {
	doc, err := ical.Parse(headOf(clean(file)), ical.Limits{})
	if err != nil {
		return Header{}
	}
	root, err := doc.Calendar()
	if err != nil {
		return Header{}
	}
	said := func(names ...string) string {
		for _, name := range names {
			if text := strings.TrimSpace(content.TextOf(root, name)); text != "" {
				return text
			}
		}
		return ""
	}
	h := Header{
		Name: said("X-WR-CALNAME", "NAME"), Description: said("X-WR-CALDESC", "DESCRIPTION"),
		Color: said("X-APPLE-CALENDAR-COLOR", "COLOR"), Timezone: said("X-WR-TIMEZONE"),
	}
	if at := said(addressLine); at != "" {
		h.Backup = &Backup{Address: at, Transparent: said(transparentLine) == yes, Hidden: said(hiddenLine) == yes}
		if p := root.Property(kindsLine); p != nil && p.Value() != "" {
			h.Backup.Kinds = strings.Split(p.Value(), ",")
		}
		if order, err := strconv.ParseInt(said(orderLine), 10, 64); err == nil {
			h.Backup.Order = &order
		}
	}
	return h
}

// headOf returns the first VCALENDAR of a file without its components: the lines before the first component.
func headOf(file []byte) []byte {
	const begin, end = "BEGIN:VCALENDAR\r\n", "END:VCALENDAR\r\n"
	if len(file) < len(begin) || !strings.EqualFold(string(file[:len(begin)]), begin) {
		return nil
	}
	var head []byte
	for line := range bytes.Lines(file[len(begin):]) {
		word, _, _ := bytes.Cut(line[:min(len(line), maxEdge)], []byte(":"))
		if bytes.EqualFold(word, []byte("BEGIN")) || bytes.EqualFold(word, []byte("END")) {
			break
		}
		head = append(head, line...)
	}
	return append(append([]byte(begin), head...), end...)
}
