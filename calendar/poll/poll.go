// Package poll defines and checks the settings of polls about times, and counts their answers. It knows no users and no
// storage.
package poll

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Visibility says how much of others' answers people see.
type Visibility string

// The kinds of visibility.
const (
	// Counts shows how many people gave each answer, Names also who did. Nothing shows neither.
	Counts  Visibility = "counts"
	Names   Visibility = "names"
	Nothing Visibility = "nothing"
)

// Visibilities lists the kinds of visibility, the default first.
var Visibilities = []Visibility{Counts, Names, Nothing}

// Settings are the settings of a poll, as they are stored. The JSON names must not change.
type Settings struct {
	Title    string `json:"title"`
	Text     string `json:"text,omitempty"`
	Location string `json:"location,omitempty"`
	// Calendar is the id of the calendar that gets the event.
	Calendar string `json:"calendar"`
	// Language is for mails, and for people whose browser asks for no language of this server.
	Language string `json:"language,omitempty"`
	// Zone is the time zone of the owner's form.
	Zone string `json:"zone"`
	// Times are in order of their start. NextTime is the id of the last new one, so that no id names another time
	// later.
	Times    []Time `json:"times"`
	NextTime int64  `json:"next_time"`
	// Open is set if anybody with the link for everyone may answer.
	Open bool `json:"open,omitempty"`
	// Shown is what people see of others' answers.
	Shown Visibility `json:"shown"`
}

// Time is a time that a poll offers.
type Time struct {
	ID    int64     `json:"id"`
	Start time.Time `json:"start"`
	// End of whole days is the day after the last. Their Start and End are midnight in UTC, but dates in every zone.
	End    time.Time `json:"end"`
	AllDay bool      `json:"all_day,omitempty"`
}

// Same reports whether two times are the same, whatever their ids.
func (t Time) Same(other Time) bool {
	return t.AllDay == other.AllDay && t.Start.Equal(other.Start) && t.End.Equal(other.End)
}

// longestStretch is the time between the starts of times that are read at once.
const longestStretch = 62 * 24 * time.Hour

// Stretches divides times, which are in order, into runs of times that are near each other.
func Stretches(times []Time) (list [][]Time) {
	for len(times) > 0 {
		n := slices.IndexFunc(times, func(t Time) bool { return t.Start.Sub(times[0].Start) > longestStretch })
		if n < 0 {
			n = len(times)
		}
		list, times = append(list, times[:n]), times[n:]
	}
	return list
}

// Within returns the moments of a time in a zone. Whole days begin at its midnight.
func (t Time) Within(in *time.Location) (start, end time.Time) {
	if !t.AllDay {
		return t.Start.In(in), t.End.In(in)
	}
	midnight := func(day time.Time) time.Time {
		return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, in)
	}
	return midnight(t.Start.UTC()), midnight(t.End.UTC())
}

// The limits of a poll.
const (
	MostTimes = 20
	// longestTime is the longest time that can be offered.
	longestTime = 31 * 24 * time.Hour
	// MostDays is how long a poll may be open.
	MostDays = 180
)

// The longest texts, in characters.
const (
	LongestTitle    = 100
	LongestText     = 2000
	LongestLocation = 200
	LongestName     = 100
)

// Error is a setting that is not accepted.
type Error struct {
	// Field names the setting.
	Field string
	// Least and Most are the bounds of a number or a length.
	Least, Most int
	// Value is the text that is wrong, if the setting has several.
	Value string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %d to %d", e.Field, e.Least, e.Most) }

// Check returns an [*Error] for the first setting that is not accepted.
func (s Settings) Check() error {
	for _, n := range []struct {
		field              string
		value, least, most int
	}{
		{"title", utf8.RuneCountInString(s.Title), 1, LongestTitle},
		{"text", utf8.RuneCountInString(s.Text), 0, LongestText},
		{"location", utf8.RuneCountInString(s.Location), 0, LongestLocation},
		{"times", len(s.Times), 1, MostTimes},
	} {
		if n.value < n.least || n.value > n.most {
			return &Error{Field: n.field, Least: n.least, Most: n.most}
		}
	}
	if !slices.Contains(Visibilities, s.Shown) {
		return &Error{Field: "shown"}
	}
	for i, t := range s.Times {
		twice := slices.ContainsFunc(s.Times[:i], t.Same)
		if twice || !t.End.After(t.Start) || t.End.Sub(t.Start) > longestTime {
			return &Error{Field: "times", Least: 1, Most: MostTimes}
		}
	}
	return nil
}

// Offer replaces the times of a poll. A time that it offers already keeps its id, and so its answers.
func (s *Settings) Offer(times []Time) {
	list := slices.Clone(times)
	slices.SortStableFunc(list, func(a, b Time) int {
		return cmp.Or(a.Start.Compare(b.Start), a.End.Compare(b.End))
	})
	for i := range list {
		if was := slices.IndexFunc(s.Times, list[i].Same); was >= 0 {
			list[i].ID = s.Times[was].ID
			continue
		}
		s.NextTime++
		list[i].ID = s.NextTime
	}
	s.Times = list
}

// Time returns one of the times by its id.
func (s Settings) Time(id int64) (Time, bool) {
	i := slices.IndexFunc(s.Times, func(t Time) bool { return t.ID == id })
	if i < 0 {
		return Time{}, false
	}
	return s.Times[i], true
}

// Last returns the end of the last time.
func (s Settings) Last() (last time.Time) {
	for _, t := range s.Times {
		if t.End.After(last) {
			last = t.End
		}
	}
	return last
}

// Encode returns the settings as they are stored.
func (s Settings) Encode() ([]byte, error) { return json.Marshal(s) }

// Decode reads stored settings.
func Decode(data []byte) (s Settings, err error) { return s, json.Unmarshal(data, &s) }

// Answer is a person's answer about one time.
type Answer string

// The answers. A time without one has not been answered.
const (
	Yes      Answer = "yes"
	IfNeeded Answer = "maybe"
	No       Answer = "no"
)

// Choices lists the answers.
var Choices = []Answer{Yes, IfNeeded, No}

// Answers are a person's answers, by the ids of times.
type Answers map[int64]Answer

// Encode returns the answers as they are stored.
func (a Answers) Encode() ([]byte, error) { return json.Marshal(a) }

// ReadAnswers reads stored answers.
func ReadAnswers(data []byte) (a Answers, err error) { return a, json.Unmarshal(data, &a) }

// Tally counts the answers about one time. It lists the indexes of the people who gave each.
type Tally struct {
	Yes, IfNeeded, No []int
	// Best is set if no other time suits more people: first all who can come, then the ones who said yes.
	Best bool
}

// Count counts the answers of people about times.
func Count(times []Time, people []Answers) []Tally {
	list := make([]Tally, len(times))
	best := 0
	for i, t := range times {
		for n, answers := range people {
			switch answers[t.ID] {
			case Yes:
				list[i].Yes = append(list[i].Yes, n)
			case IfNeeded:
				list[i].IfNeeded = append(list[i].IfNeeded, n)
			case No:
				list[i].No = append(list[i].No, n)
			}
		}
		if list[i].compare(list[best]) > 0 {
			best = i
		}
	}
	for i := range list {
		list[i].Best = len(list[i].Yes)+len(list[i].IfNeeded) > 0 && list[i].compare(list[best]) == 0
	}
	return list
}

// compare returns a positive number if a time suits people better than another one.
func (t Tally) compare(other Tally) int {
	return cmp.Or(
		cmp.Compare(len(t.Yes)+len(t.IfNeeded), len(other.Yes)+len(other.IfNeeded)),
		cmp.Compare(len(t.Yes), len(other.Yes)),
	)
}
