package poll

import (
	"strings"
	"time"

	rules "caldav-mcp-server/calendar/poll"
	"caldav-mcp-server/locale"
)

// Line is a time of a poll in words.
type Line struct {
	ID int64
	// Field is the name of the field for the answer.
	Field, Words string
	// Given is the visitor's answer.
	Given rules.Answer
	// Counts has the number of each answer, in the order of rules.Choices.
	Counts []Count
	// Best is set if no time suits more people, Busy if the owner is busy, Picked if the owner picked the time.
	Best, Busy, Picked bool
}

// Count is the number of people who gave an answer, in words, and their names.
type Count struct{ Words, Names string }

// countTexts are the ids of the words for numbers of answers.
var countTexts = [...]string{"poll.count-yes", "poll.count-maybe", "poll.count-no"}

// Lines describes the times of a poll in a zone. Without a function for names, it only counts.
func (v View) Lines(l *locale.Language, in *time.Location, cycle string, name func(Person) string) []Line {
	var list []Line
	for i, t := range v.Times {
		line := Line{
			ID: t.ID, Field: FieldOf(t.ID), Words: Words(l, t, in, cycle), Best: v.Tallies[i].Best,
			Picked: t.ID == v.Poll.Picked,
		}
		for n, who := range [...][]int{v.Tallies[i].Yes, v.Tallies[i].IfNeeded, v.Tallies[i].No} {
			var names []string
			for _, index := range who {
				if name != nil {
					names = append(names, name(v.People[index]))
				}
			}
			line.Counts = append(line.Counts, Count{
				l.Text(countTexts[n], "number", len(who)), strings.Join(names, ", "),
			})
		}
		list = append(list, line)
	}
	return list
}

// Words formats a time of a poll: the day with its times, or its days.
func Words(l *locale.Language, t rules.Time, in *time.Location, cycle string) string {
	start, end := t.Within(in)
	if t.AllDay {
		last := end.AddDate(0, 0, -1)
		if !last.After(start) {
			return l.Date(start)
		}
		return l.Text("planner.range", "first", l.Date(start), "last", l.Date(last))
	}
	until := l.Time(end, cycle)
	if end.YearDay() != start.YearDay() || end.Year() != start.Year() {
		until = l.Text("mail.day-time", "day", l.Date(end), "time", until)
	}
	from := l.Text("mail.day-time", "day", l.Date(start), "time", l.Time(start, cycle))
	return l.Text("planner.range", "first", from, "last", until)
}
