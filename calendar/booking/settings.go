package booking

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"caldav-mcp-server/calendar/slot"
)

// Access says who may open a page.
type Access string

// The kinds of access.
const (
	// Public pages have an address that their owner chose.
	Public Access = "public"
	// Secret pages have an address that cannot be guessed.
	Secret Access = "secret"
	// Users limits a page to visitors who are signed in to this server.
	Users Access = "users"
)

// Accesses lists the kinds of access.
var Accesses = []Access{Public, Secret, Users}

// Together says how the people of a page meet a visitor.
type Together string

// The ways to meet.
const (
	// Alone is a page of its owner alone.
	Alone Together = ""
	// AnyOfUs gives the booking to one person who is free.
	AnyOfUs Together = "any"
	// AllOfUs invites everyone, when all are free.
	AllOfUs Together = "all"
)

// MostPeople is the maximum number of people of a page in addition to its owner.
const MostPeople = 10

// Settings are the settings of a page, as they are stored. The JSON names must not change.
type Settings struct {
	Title    string `json:"title"`
	Text     string `json:"text,omitempty"`
	Access   Access `json:"access"`
	Location string `json:"location,omitempty"`
	// Language is for visitors whose browser asks for no language of this server.
	Language string `json:"language,omitempty"`
	// Minutes are the lengths that visitors choose from.
	Minutes []int `json:"minutes"`
	// Hours has the hours of each weekday by its word, such as mon, in the form of working hours. Nil means the
	// owner's working hours.
	Hours map[string]string `json:"hours,omitempty"`
	// Dates has the hours of single dates, such as 2026-12-24, in the same form. They replace the weekday's.
	Dates map[string]string `json:"dates,omitempty"`
	// Before and After are minutes that stay free around a booking.
	Before int `json:"before,omitempty"`
	After  int `json:"after,omitempty"`
	// NoticeHours is the minimum time until a booking, HorizonDays the maximum. PerDay is the maximum number of
	// bookings of a day; 0 is no limit.
	NoticeHours int `json:"notice"`
	HorizonDays int `json:"horizon"`
	PerDay      int `json:"per_day,omitempty"`
	// Calendar is the id of the calendar that gets the bookings.
	Calendar string `json:"calendar"`
	// Busy are the ids of the calendars that count as busy, in addition to Calendar. Nil means all that count for
	// their owner.
	Busy []string `json:"busy,omitempty"`
	// Together says how the owner and the page's people meet a visitor.
	Together Together `json:"together,omitempty"`
	// Room is the id of the room that is invited; "" for none.
	Room string `json:"room,omitempty"`
	// Questions are for the visitor.
	Questions []Question `json:"questions,omitempty"`
}

// Question is a question for the visitor.
type Question struct {
	Text     string `json:"text"`
	Required bool   `json:"required,omitempty"`
}

// The limits of a page.
const (
	mostMinutes, mostQuestions = 6, 5
	shortest, longest          = 5, 8 * 60
	longestBuffer              = 240
	longestNotice              = 30 * 24
	longestHorizon             = 365
	mostPerDay                 = 50
	mostBusy                   = 100
	mostDates                  = 60
)

// The settings of a new page.
const (
	DefaultNotice  = 24
	DefaultHorizon = 60
)

// The longest texts, in characters.
const (
	LongestTitle    = 100
	LongestText     = 2000
	LongestQuestion = 200
	LongestAnswer   = 500
)

// Error is a setting that is not accepted.
type Error struct {
	// Field names the setting. Text is the wrong part of it, if it has several.
	Field, Text string
	// Least and Most are the bounds of a number or a length.
	Least, Most int
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %d to %d", e.Field, e.Least, e.Most) }

// Check returns an [*Error] for the first setting that is not accepted.
func (s Settings) Check() error {
	for _, n := range []struct {
		field              string
		value, least, most int
	}{
		{"title", length(s.Title), 1, LongestTitle},
		{"text", length(s.Text), 0, LongestText},
		{"location", length(s.Location), 0, LongestQuestion},
		{"minutes", len(s.Minutes), 1, mostMinutes},
		{"before", s.Before, 0, longestBuffer},
		{"after", s.After, 0, longestBuffer},
		{"notice", s.NoticeHours, 0, longestNotice},
		{"horizon", s.HorizonDays, 1, longestHorizon},
		{"per-day", s.PerDay, 0, mostPerDay},
		{"busy", len(s.Busy), 0, mostBusy},
		{"dates", len(s.Dates), 0, mostDates},
		{"questions", len(s.Questions), 0, mostQuestions},
	} {
		if n.value < n.least || n.value > n.most {
			return &Error{Field: n.field, Least: n.least, Most: n.most}
		}
	}
	for _, m := range s.Minutes {
		if m < shortest || m > longest {
			return &Error{Field: "minutes", Least: shortest, Most: longest}
		}
	}
	for _, q := range s.Questions {
		if n := length(q.Text); n < 1 || n > LongestQuestion {
			return &Error{Field: "questions", Least: 1, Most: LongestQuestion}
		}
	}
	if !slices.Contains(Accesses, s.Access) {
		return &Error{Field: "access"}
	}
	if !slices.Contains([]Together{Alone, AnyOfUs, AllOfUs}, s.Together) {
		return &Error{Field: "together"}
	}
	if _, err := readWeek(s.Hours); err != nil {
		return err
	}
	_, err := readDates(s.Dates)
	return err
}

func length(text string) int { return utf8.RuneCountInString(text) }

// Encode returns the settings as they are stored.
func (s Settings) Encode() ([]byte, error) { return json.Marshal(s) }

// Decode reads stored settings.
func Decode(data []byte) (s Settings, err error) { return s, json.Unmarshal(data, &s) }

// Week returns the hours of a page: its own, or the owner's working hours.
func (s Settings) Week(working string, days []string) (Week, error) {
	if s.Hours != nil {
		return readWeek(s.Hours)
	}
	hours := map[string]string{}
	for _, day := range days {
		hours[day] = working
	}
	return readWeek(hours)
}

// readWeek reads the hours of each weekday.
func readWeek(hours map[string]string) (week Week, err error) {
	for day, text := range hours {
		i := slices.Index(slot.Weekdays[:], day)
		if i < 0 {
			return week, &Error{Field: "hours"}
		}
		if week[i], err = parts(text); err != nil {
			return week, &Error{Field: "hours"}
		}
	}
	return week, nil
}

// readDates reads the hours of single dates.
func readDates(dates map[string]string) (map[string][]slot.Break, error) {
	all := map[string][]slot.Break{}
	for date, text := range dates {
		list, err := parts(text)
		if day, bad := time.Parse(time.DateOnly, date); err != nil || bad != nil || day.Year() < 1 {
			return nil, &Error{Field: "dates", Text: strings.TrimSpace(date + " " + text)}
		}
		all[date] = list
	}
	return all, nil
}

// ReadDates reads the form's text: a date and its hours in each line. A date without hours, or with a hyphen in their
// place, is closed.
func ReadDates(text string) (map[string]string, error) {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" {
			continue
		}
		date, hours, _ := strings.Cut(line, " ")
		date = strings.TrimSuffix(date, ":")
		if hours == "-" || hours == "–" {
			hours = ""
		}
		if _, twice := all[date]; twice {
			return nil, &Error{Field: "dates", Text: line}
		}
		if _, err := readDates(map[string]string{date: hours}); err != nil {
			return nil, &Error{Field: "dates", Text: line}
		}
		all[date] = hours
	}
	return all, nil
}

// DatesText writes the dates as [ReadDates] reads them, in order.
func (s Settings) DatesText() string {
	var b strings.Builder
	for _, date := range slices.Sorted(maps.Keys(s.Dates)) {
		b.WriteString(date + " " + cmp.Or(s.Dates[date], "-") + "\n")
	}
	return b.String()
}

// parts reads the hours of a day; none if the text is empty. Hours that touch become one part.
func parts(text string) (list []slot.Break, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	h, err := slot.ReadHours(time.UTC, text, nil)
	if err != nil {
		return nil, err
	}
	from := h.Opens
	for _, b := range h.Breaks {
		list = append(list, slot.Break{From: from, Until: b.From})
		from = b.Until
	}
	return append(list, slot.Break{From: from, Until: h.Closes}), nil
}

// Offer returns the rule for one length, as it is at a moment.
func (s Settings) Offer(week Week, zone *time.Location, minutes int, now time.Time) Offer {
	dates, _ := readDates(s.Dates) // they were checked when they were stored
	return Offer{
		Week: week, Dates: dates, Zone: zone, Length: time.Duration(minutes) * time.Minute,
		Before: time.Duration(s.Before) * time.Minute, After: time.Duration(s.After) * time.Minute,
		Earliest: now.Add(time.Duration(s.NoticeHours) * time.Hour), Latest: now.AddDate(0, 0, s.HorizonDays),
		PerDay: s.PerDay, Any: s.Together == AnyOfUs,
	}
}
