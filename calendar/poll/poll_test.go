package poll_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/poll"
)

// at returns a time of an hour, at an hour of a day in May.
func at(day, hour int) poll.Time {
	start := time.Date(2026, 5, day, hour, 0, 0, 0, time.UTC)
	return poll.Time{Start: start, End: start.Add(time.Hour)}
}

// Times keep their ids when others come and go, and no id is used again.
func TestOffer(t *testing.T) {
	t.Parallel()
	var s poll.Settings
	ids := func(times ...poll.Time) string {
		s.Offer(times)
		var list []string
		for _, one := range s.Times {
			list = append(list, fmt.Sprintf("%d=%d", one.Start.Day(), one.ID))
		}
		return strings.Join(list, " ")
	}
	for _, c := range []struct {
		times []poll.Time
		want  string
	}{
		{[]poll.Time{at(3, 9), at(1, 9)}, "1=1 3=2"},
		{[]poll.Time{at(3, 9), at(2, 9)}, "2=3 3=2"},
		{[]poll.Time{at(3, 10), at(1, 9)}, "1=4 3=5"},
		{[]poll.Time{at(1, 9), at(3, 9)}, "1=4 3=6"},
	} {
		if got := ids(c.times...); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// Times that are near each other are one stretch, whatever their number. Times that are years apart are not.
func TestStretches(t *testing.T) {
	t.Parallel()
	var near []poll.Time
	for i := range poll.MostTimes {
		near = append(near, at(1+i, 9))
	}
	apart := append(slices.Clone(near[:3]), at(100, 9), at(365*80, 9))
	for name, c := range map[string]struct {
		times []poll.Time
		want  string
	}{
		"none": {nil, "[]"}, "near": {near, "[20]"}, "years apart": {apart, "[3 1 1]"},
	} {
		sizes := []int{}
		for _, some := range poll.Stretches(c.times) {
			sizes = append(sizes, len(some))
		}
		if got := fmt.Sprint(sizes); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Whole days begin at the midnight of each zone, also of a day of 23 hours.
func TestWithin(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)
	start, end := poll.Time{Start: day, End: day.AddDate(0, 0, 1), AllDay: true}.Within(berlin)
	if got := start.Format(time.RFC3339) + " " + end.Format(time.RFC3339); got !=
		"2026-03-29T00:00:00+01:00 2026-03-30T00:00:00+02:00" {
		t.Errorf("the day is %s", got)
	}
	if start, _ = at(1, 9).Within(berlin); start.Format(time.TimeOnly) != "11:00:00" {
		t.Errorf("9:00 in UTC is %s", start)
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	times := []poll.Time{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}}
	people := []poll.Answers{
		{1: poll.Yes, 2: poll.IfNeeded, 3: poll.Yes, 9: poll.Yes},
		{1: poll.No, 2: poll.Yes, 3: poll.IfNeeded},
		nil,
	}
	var got []string
	for _, one := range poll.Count(times, people) {
		got = append(got, fmt.Sprint(one.Yes, one.IfNeeded, one.No, one.Best))
	}
	want := []string{"[0] [] [1] false", "[1] [0] [] true", "[0] [1] [] true", "[] [] [] false"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if none := poll.Count(times, nil); none[0].Best {
		t.Error("a time without answers suits most people")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	good := poll.Settings{
		Title: "Walk", Calendar: "c", Zone: "UTC", Shown: poll.Counts, Times: []poll.Time{at(1, 9), at(1, 10)},
	}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	data, err := good.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := poll.Decode(data); err != nil || fmt.Sprint(again) != fmt.Sprint(good) {
		t.Errorf("%+v, %v", again, err)
	}
	for what, c := range map[string]struct {
		field string
		spoil func(*poll.Settings)
	}{
		"no title":       {"title", func(s *poll.Settings) { s.Title = "" }},
		"a long title":   {"title", func(s *poll.Settings) { s.Title = strings.Repeat("é", 101) }},
		"a long text":    {"text", func(s *poll.Settings) { s.Text = strings.Repeat("é", 2001) }},
		"a long place":   {"location", func(s *poll.Settings) { s.Location = strings.Repeat("é", 201) }},
		"no times":       {"times", func(s *poll.Settings) { s.Times = nil }},
		"too many times": {"times", func(s *poll.Settings) { s.Times = make([]poll.Time, 21) }},
		"a time twice":   {"times", func(s *poll.Settings) { s.Times = []poll.Time{at(1, 9), at(1, 9)} }},
		"no length":      {"times", func(s *poll.Settings) { s.Times = []poll.Time{{Start: good.Times[0].Start}} }},
		"a long time": {"times", func(s *poll.Settings) {
			s.Times = []poll.Time{{Start: at(1, 9).Start, End: at(1, 9).Start.AddDate(0, 2, 0)}}
		}},
		"no visibility": {"shown", func(s *poll.Settings) { s.Shown = "" }},
	} {
		bad := good
		c.spoil(&bad)
		if err, ok := errors.AsType[*poll.Error](bad.Check()); !ok || err.Field != c.field {
			t.Errorf("%s: %v", what, err)
		}
	}
}
