package views

import (
	"strings"
	"time"
)

// Slot is a time to meet.
type Slot struct {
	Start, End time.Time
	Tentative  bool
	// Elsewhere are other people with other time zones. Outside are those whose working hours it exceeds, Busy those
	// who are not free.
	Elsewhere     []Person
	Outside, Busy []string
}

// Person is a guest with a time zone.
type Person struct {
	Name string
	Zone *time.Location
}

// Booking is a call that books a slot: the view adds title, start and end.
type Booking struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	// Note names the people who are invited.
	Note string `json:"note,omitempty"`
}

// Book returns a call of a tool that invites people. It is nil if the caller may not call the tool.
func (m Maker) Book(tool string, arguments map[string]any, guests []string) *Booking {
	b := &Booking{Tool: tool, Arguments: arguments}
	if len(guests) > 0 {
		b.Note = m.Text("conversation.guests", "people", strings.Join(guests, ", "))
	}
	return b
}

type timesData struct {
	common
	Slots []slotShown `json:"slots"`
	Book  *Booking    `json:"book,omitempty"`
}

type slotShown struct {
	Day   string   `json:"day"`
	Time  string   `json:"time"`
	Notes []string `json:"notes"`
	Start string   `json:"start"`
	End   string   `json:"end"`
}

// Times returns the data for times to meet. Without a booking, they can only be read.
func (m Maker) Times(slots []Slot, book *Booking) any {
	d := timesData{
		common: m.common(m.Text("planner.free-times"), "conversation.book", "conversation.booked",
			"conversation.no-slot", "conversation.suggested", "page.cancel", "planner.part.title"),
		Slots: []slotShown{}, Book: book,
	}
	d.Zone = m.inZone()
	for _, s := range slots {
		one := slotShown{
			Day: m.words.Date(s.Start.In(m.zone)), Time: m.times(s.Start, s.End), Notes: []string{},
			Start: s.Start.In(m.zone).Format(time.RFC3339), End: s.End.In(m.zone).Format(time.RFC3339),
		}
		for _, p := range s.Elsewhere {
			there := m.In(p.Zone)
			one.Notes = append(one.Notes, p.Name+": "+there.words.ShortWeekday(s.Start.In(p.Zone).Weekday())+" "+
				there.times(s.Start, s.End)+" ("+p.Zone.String()+")")
		}
		if len(s.Outside) > 0 {
			one.Notes = append(one.Notes, m.Text("planner.slot-outside", "names", strings.Join(s.Outside, ", ")))
		}
		if len(s.Busy) > 0 {
			one.Notes = append(one.Notes, m.Text("planner.slot-busy", "names", strings.Join(s.Busy, ", ")))
		}
		if s.Tentative {
			one.Notes = append(one.Notes, m.Text("planner.slot-tentative"))
		}
		d.Slots = append(d.Slots, one)
	}
	return d
}
