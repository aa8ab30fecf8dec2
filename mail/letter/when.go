package letter

import (
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/locale"
)

// when is a time to show to people.
type when struct {
	start, end time.Time // in the zone of the event; end is exclusive
	allDay     bool
	zone       string
	known      bool
	lang       *locale.Language
}

// dayTime formats a day and a time.
func dayTime(l *locale.Language, t time.Time) string {
	return l.Text("mail.day-time", "day", l.Date(t), "time", l.Time(t, ""))
}

// when returns the time of a component in its own zone, or in the local one if it names none.
func (s *source) when(c *ical.Component) (when, error) {
	name := "DTSTART"
	if c.Property(name) == nil && c.Name() == content.Todo {
		name = "DUE"
	}
	p := c.Property(name)
	if p == nil {
		return when{}, nil
	}
	t, err := p.Time()
	if err != nil {
		return when{}, err
	}
	z := s.zoneOf(t)
	w := when{allDay: t.IsDate(), zone: z.Name(), known: true, lang: s.lang}
	start, err := s.clock.At(t)
	if err != nil {
		return when{}, err
	}
	w.start = time.Unix(start, 0).In(z.Location())
	w.end = w.start
	if _, end, err := s.clock.Bounds(c); err == nil && end != content.Forever && end > start {
		w.end = time.Unix(end, 0).In(z.Location())
	} else if w.allDay {
		w.end = w.start.AddDate(0, 0, 1)
	}
	return w, nil
}

// zoneOf returns the zone to show a time in.
func (s *source) zoneOf(t ical.Time) *zone.Zone {
	if t.Form == ical.FormZoned {
		if z, err := s.clock.Zones.Zone(t.TZID); err == nil {
			return z
		}
	}
	return s.local
}

// moment formats one time, such as a RECURRENCE-ID.
func (s *source) moment(t ical.Time) string {
	at, err := s.clock.At(t)
	if err != nil {
		return ""
	}
	start := time.Unix(at, 0).In(s.zoneOf(t).Location())
	if t.IsDate() {
		return s.lang.Date(start)
	}
	return dayTime(s.lang, start)
}

// String formats the time.
func (w when) String() string {
	switch {
	case !w.known:
		return ""
	case w.allDay:
		return w.days()
	case w.end.Equal(w.start):
		return dayTime(w.lang, w.start) + w.place()
	case sameDay(w.start, w.end):
		return dayTime(w.lang, w.start) + " – " + w.lang.Time(w.end, "") + w.place()
	}
	return dayTime(w.lang, w.start) + " – " + dayTime(w.lang, w.end) + w.place()
}

// day formats the first day.
func (w when) day() string {
	if !w.known {
		return ""
	}
	return w.lang.Date(w.start)
}

func (w when) days() string {
	days := w.lang.Date(w.start)
	if last := w.end.AddDate(0, 0, -1); last.After(w.start) {
		days += " – " + w.lang.Date(last)
	}
	return days + " (" + w.lang.Text("time.all-day") + ")"
}

// place names the time zone.
func (w when) place() string {
	offset := w.start.Format("-07:00")
	if offset == "+00:00" {
		offset = ""
	}
	name := oneLine(w.zone, nameMost)
	if name == "" || name == "UTC" {
		return " (UTC" + offset + ")"
	}
	return fmt.Sprintf(" (%s, UTC%s)", strings.ReplaceAll(name, "_", " "), offset)
}

func sameDay(a, b time.Time) bool {
	ay, am, ad := a.Date()
	by, bm, bd := b.Date()
	return ay == by && am == bm && ad == bd
}
