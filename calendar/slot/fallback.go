package slot

import (
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/meter"
)

// Search returns the slots when everyone is free. If there are none, it returns the reason and the next best: slots
// outside the hours of others, or slots when the fewest are busy. busy and each are the times of all people
// together and of each person, in the form that Find takes; required are the indexes of people who must be free.
func Search(
	m *meter.Meter, a Ask, busy []freebusy.Period, each [][]freebusy.Period, required ...int,
) (found []Slot, why Why, err error) {
	// Find runs at most twice.
	if err := m.Work(2 * a.Steps(1)); err != nil {
		return nil, "", err
	}
	if found = Find(a, busy); len(found) > 0 {
		return found, "", nil
	}
	why = Explain(a)
	a.Lenient = len(a.Others) > 0
	if found = Find(a, busy); len(found) > 0 || len(each) < 2 {
		return found, why, nil
	}
	if err := m.Work(a.Steps(len(each))); err != nil {
		return nil, "", err
	}
	return Compromise(a, each, required...), why, nil
}
