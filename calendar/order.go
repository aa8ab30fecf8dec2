package calendar

import (
	"strconv"
	"strings"
)

// ParseOrder parses a calendar's position in a list.
func ParseOrder(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, Errorf(Invalid, "", "%q is not a position in a list: write a whole number", text)
	}
	return n, nil
}
