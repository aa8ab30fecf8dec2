package calendar

import (
	"strconv"
	"strings"
)

// ParseOrder reads a calendar's place among the others of a list.
func ParseOrder(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, Errorf(Invalid, "", "%q is no place in a list: write a whole number", text)
	}
	return n, nil
}
