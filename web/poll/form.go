package poll

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/poll"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Form holds the fields of the form for a poll, as typed.
type Form struct {
	Title, Text, Location, Calendar, Language, Shown string
	Open                                             bool
	// Closes is the last day for answers.
	Closes  string
	Rows    []Row
	People  string
	Version int64
}

// Row is a time of a form. Without times of day, it offers whole days.
type Row struct{ Start, StartTime, End, EndTime string }

// The number of empty rows in a form, and the forms of its days and times.
const (
	spareRows = 5
	clockForm = "15:04"
)

// ReadForm reads a form.
func ReadForm(v url.Values) (f Form) {
	text := func(name string) string { return strings.TrimSpace(v.Get(name)) }
	f = Form{
		Title: text("title"), Text: v.Get("text"), Location: text("location"), Calendar: text("calendar"),
		Language: text("language"), Shown: text("shown"), Open: text("open") != "", Closes: text("closes"),
		People: v.Get("people"),
	}
	f.Version, _ = strconv.ParseInt(text("version"), 10, 64) // without a number it is no version of a poll
	for n := range rules.MostTimes {
		at := "-" + strconv.Itoa(n)
		row := Row{text("start" + at), text("start-time" + at), text("end" + at), text("end-time" + at)}
		if row != (Row{}) {
			f.Rows = append(f.Rows, row)
		}
	}
	return f
}

// FormOf returns the form of a poll.
func FormOf(v View) Form {
	f := Form{
		Title: v.Title, Text: v.Text, Location: v.Location, Calendar: v.Settings.Calendar,
		Language: v.Language, Shown: string(v.Shown), Open: v.Open, Version: v.Version,
	}
	in := v.Zone.Location()
	if !v.Closes.IsZero() {
		f.Closes = v.Closes.In(in).Add(-time.Second).Format(time.DateOnly)
	}
	for _, t := range v.Times {
		start, end := t.Within(in)
		if t.AllDay {
			end = end.AddDate(0, 0, -1)
			f.Rows = append(f.Rows, Row{Start: start.Format(time.DateOnly), End: end.Format(time.DateOnly)})
			continue
		}
		f.Rows = append(f.Rows, RowOf(start, end, v.Zone))
	}
	return f
}

// RowOf returns the row of a time that does not last whole days.
func RowOf(start, end time.Time, z *zone.Zone) Row {
	start, end = start.In(z.Location()), end.In(z.Location())
	return Row{
		start.Format(time.DateOnly), start.Format(clockForm), end.Format(time.DateOnly), end.Format(clockForm),
	}
}

// Sample returns a row with the length of further times, and the day to look for them: the one after the last row. The
// times of an empty form last an hour.
func (f Form) Sample(now time.Time) (like Row, day string) {
	day = now.AddDate(0, 0, 1).Format(time.DateOnly)
	like = Row{Start: day, StartTime: "09:00", End: day, EndTime: "10:00"}
	found := false
	for _, row := range f.Rows {
		t, ok := row.Time(zone.UTC())
		if !ok {
			continue
		}
		if !found && !t.AllDay {
			like, found = row, true
			like.End, like.EndTime = t.End.Format(time.DateOnly), t.End.Format(clockForm)
		}
		day = max(day, t.Start.AddDate(0, 0, 1).Format(time.DateOnly))
	}
	return like, day
}

// Add adds rows, as far as there is space.
func (f *Form) Add(rows []Row) {
	f.Rows = append(f.Rows, rows[:min(len(rows), rules.MostTimes-len(f.Rows))]...)
}

// Spare returns the form with empty rows for more times.
func (f Form) Spare() Form {
	f.Rows = append(slices.Clip(f.Rows), make([]Row, min(spareRows, rules.MostTimes-len(f.Rows)))...)
	return f
}

// Apply returns a poll with the values of the form. The error is a [*rules.Error].
func (f Form) Apply(v View) (View, error) {
	v.Title, v.Text, v.Location, v.Settings.Calendar = f.Title, f.Text, f.Location, f.Calendar
	v.Language, v.Shown, v.Open, v.Version = f.Language, rules.Visibility(f.Shown), f.Open, f.Version
	day, err := time.ParseInLocation(time.DateOnly, f.Closes, v.Zone.Location())
	if err != nil {
		return v, &rules.Error{Field: "closes", Least: 1, Most: rules.MostDays}
	}
	v.Closes, v.Times = day.AddDate(0, 0, 1).UTC(), nil
	for n, row := range f.Rows {
		t, ok := row.Time(v.Zone)
		if !ok {
			return v, &rules.Error{Field: "time", Value: strconv.Itoa(n + 1)}
		}
		v.Times = append(v.Times, t)
	}
	return v, nil
}

// Time returns the time of a row; false if it is none.
func (r Row) Time(z *zone.Zone) (t rules.Time, ok bool) {
	first, err := time.Parse(time.DateOnly, r.Start)
	last := first
	if r.End != "" && err == nil {
		last, err = time.Parse(time.DateOnly, r.End)
	}
	if err != nil || last.Before(first) || first.Year() < 1900 || last.Year() > 9000 {
		return t, false
	}
	if r.StartTime == "" {
		return rules.Time{Start: first, End: last.AddDate(0, 0, 1), AllDay: true}, r.EndTime == ""
	}
	if t.Start, ok = moment(first, r.StartTime, z); !ok {
		return t, false
	}
	if r.EndTime == "" {
		t.End = t.Start.Add(time.Hour)
		return t, r.End == ""
	}
	if t.End, ok = moment(last, r.EndTime, z); ok && r.End == "" && !t.End.After(t.Start) {
		t.End, ok = moment(last.AddDate(0, 0, 1), r.EndTime, z) // it ends after midnight
	}
	return t, ok && t.End.After(t.Start)
}

// moment returns the instant of a time of day; false if the clock skips it. If it shows the time twice, it is the
// first.
func moment(day time.Time, clock string, z *zone.Zone) (time.Time, bool) {
	at, err := time.Parse(clockForm, clock)
	if err != nil {
		return at, false
	}
	civil := ical.CivilDate(day.Date()).AddSeconds(int64(at.Hour()*3600 + at.Minute()*60))
	moment, fit := z.Resolve(civil)
	return moment.UTC(), fit != zone.Gap
}

// ReadAnswers reads the answers of a form. Unknown answers count as none.
func ReadAnswers(v url.Values, times []rules.Time) rules.Answers {
	given := rules.Answers{}
	for _, t := range times {
		for _, choice := range rules.Choices {
			if v.Get(FieldOf(t.ID)) == string(choice) {
				given[t.ID] = choice
			}
		}
	}
	return given
}

// FieldOf returns the name of the field for the answer about a time.
func FieldOf(id int64) string { return "time-" + strconv.FormatInt(id, 10) }

// IsOpen reports whether the owner can still pick a time.
func (v View) IsOpen() bool { return v.State == calendar.PollOpen }
