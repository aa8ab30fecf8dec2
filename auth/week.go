package auth

import (
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// Weekdays returns the names of the days, Monday first.
func Weekdays() []string { return []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} }

func checkWeekStart(day string) error {
	if day != "" && !slices.Contains(Weekdays(), day) {
		return invalid("%q is no weekday; they are %s", shortened(day, maxTitle), strings.Join(Weekdays(), ", "))
	}
	return nil
}

func checkWorkingDays(days string) error {
	for day := range strings.FieldsSeq(days) {
		if err := checkWeekStart(day); err != nil {
			return err
		}
	}
	return nil
}

// checkWorkingHours validates the hours of one day, such as 09:00-17:30.
func checkWorkingHours(hours string) error {
	if hours == "" {
		return nil
	}
	opens, closes, _ := strings.Cut(hours, "-")
	from, err := time.Parse("15:04", opens)
	until, errUntil := time.Parse("15:04", closes)
	if closes == "24:00" {
		until, errUntil = from.Add(time.Minute), nil
	}
	if err != nil || errUntil != nil || !from.Before(until) || len(opens) != 5 || len(closes) != 5 {
		return invalid("%q are no working hours; they look like 09:00-17:00", shortened(hours, maxTitle))
	}
	return nil
}

func checkView(v calendar.ViewSettings) error {
	if v.Clock != "" && v.Clock != "12" && v.Clock != "24" {
		return invalid("%q is no clock; it is 12 or 24", shortened(v.Clock, maxTitle))
	}
	return CheckTimezone(v.SecondZone)
}
