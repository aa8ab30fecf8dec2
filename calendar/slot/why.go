package slot

import "time"

// Why is the reason for an empty result.
type Why string

// The reasons. Each one applies only if the earlier ones do not.
const (
	// Busy: the attendees are busy at all suitable times.
	Busy Why = "busy"
	// Elsewhere: the hours of others never overlap the hours of the search.
	Elsewhere Why = "hours_elsewhere"
	// Days: the search contains none of the requested weekdays.
	Days Why = "days"
	// Opening: the working hours in the search contain no period that is long enough.
	Opening Why = "hours"
)

// Explain returns the reason why Find finds nothing.
func Explain(a Ask) Why {
	a.Limit = 1
	if len(Find(a, nil)) > 0 {
		return Busy
	}
	a.Others = nil
	if len(Find(a, nil)) > 0 {
		return Elsewhere
	}
	a.Hours.Days = map[time.Weekday]bool{}
	for day := time.Sunday; day <= time.Saturday; day++ {
		a.Hours.Days[day] = true
	}
	if len(Find(a, nil)) > 0 {
		return Days
	}
	return Opening
}
