package intake

import (
	"slices"
	"strings"
	"unicode"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/calendar/zone"
)

// CalendarOf returns the calendar that a file describes. A file from another program has no address and no kinds.
func CalendarOf(h archive.Header) (n calendar.NewCalendar, named bool) {
	if h.Backup == nil && h.Name == "" {
		return n, false
	}
	n.Properties = calendar.Properties{Name: h.Name, Kinds: calendar.Kinds{calendar.Event, calendar.Todo}}
	n.Segment = SafeSegment(strings.ToLower(h.Name))
	if h.Description != "" {
		n.Description = &h.Description
	}
	if color, err := calendar.ParseColor(h.Color); err == nil {
		n.Color = &color
	}
	if z, err := zone.Lookup(h.Timezone); err == nil && h.Timezone != "" {
		n.Timezone = z.Name()
	}
	if b := h.Backup; b != nil {
		n.Segment, n.Order, n.Transparent, n.Hidden, n.Kinds = SafeSegment(b.Address), b.Order, b.Transparent, b.Hidden,
			nil
		for _, word := range b.Kinds {
			n.Kinds = append(n.Kinds, calendar.Kind(word))
		}
	}
	return n, true
}

// SafeSegment returns the address of a calendar from elsewhere, or a fixed one if that would be no address here.
func SafeSegment(segment string) calendar.Segment {
	if reserved := []string{"", ".", "..", "/", "inbox", "outbox"}; slices.Contains(reserved, segment) ||
		strings.Contains(segment, "/") || len(segment) > 200 ||
		strings.ContainsFunc(segment, unprintable) {
		return "imported"
	}
	return calendar.Segment(segment)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }

// OfObject reports whether an error concerns a single object, so that the import can continue.
func OfObject(err error) bool {
	switch calendar.ReasonOf(err) {
	case calendar.Invalid, calendar.Forbidden, calendar.Exists, calendar.TooLarge, calendar.Unsupported, calendar.Stale:
		return true
	case calendar.Internal, calendar.NotFound, calendar.Unavailable:
	}
	return false
}
