package slot

import "time"

// Why is what leaves no slot.
type Why string

// The reasons, each of which would not be one were those before it.
const (
	// Busy: the people in question are busy at all times that would do.
	Busy Why = "busy"
	// Elsewhere: the hours of others never meet those of the search.
	Elsewhere Why = "hours_elsewhere"
	// Days: none of the wanted weekdays is in the time.
	Days Why = "days"
	// Opening: nothing that is long enough is left of the working hours in the time.
	Opening Why = "hours"
)

// Explain says why Find finds nothing.
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
