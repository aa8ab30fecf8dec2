package console

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// SpanForm matches a span such as 12h, 90d or 12w.
var SpanForm = regexp.MustCompile(`^([0-9]{1,5})([hdw])$`)

// ParseExpiry parses a span from now or a day, which counts to its end. An empty word means never.
func ParseExpiry(word string, now time.Time) (time.Time, error) {
	if word == "" {
		return time.Time{}, nil
	}
	if m := SpanForm.FindStringSubmatch(word); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return time.Time{}, fmt.Errorf("%q: %w", word, err)
		}
		if n == 0 {
			return time.Time{}, fmt.Errorf("%q would end at once", word)
		}
		if m[2] == "h" {
			return now.Add(time.Duration(n) * time.Hour), nil
		}
		return now.AddDate(0, 0, n*map[string]int{"d": 1, "w": 7}[m[2]]), nil
	}
	day, err := time.Parse(time.DateOnly, word)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is neither a span (12h, 90d, 12w) nor a date (2027-01-31)", word)
	}
	return day.AddDate(0, 0, 1), nil
}
