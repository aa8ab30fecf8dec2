package calendar

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are the units of sizes, from small to large.
var units = [...]struct {
	word string
	size int64
}{{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}}

// ParseAmount parses a number, or a size with its unit. Its error text continues a sentence that starts with the
// input.
func ParseAmount(text string) (int64, error) {
	digits, factor := strings.ToLower(text), int64(1)
	for _, u := range units {
		if bare, ok := strings.CutSuffix(digits, u.word); ok {
			digits, factor = bare, u.size
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/factor {
		return 0, errors.New("is not a positive number, such as 100000 or 500MB")
	}
	return n * factor, nil
}

// The words for a quota that is not a number.
const (
	boundDefault = "default"
	boundNone    = "none"
)

// ParseBound parses one limit of a user's Quota: an amount, none, or default for the server's setting.
func ParseBound(text string) (int64, error) {
	switch text {
	case boundDefault:
		return 0, nil
	case boundNone:
		return Unbounded, nil
	}
	n, err := ParseAmount(text)
	if err != nil {
		return 0, fmt.Errorf("%w, nor none or default", err)
	}
	return n, nil
}

// BoundText formats a limit so that ParseBound can read it.
func BoundText(n int64) string {
	switch {
	case n == 0:
		return boundDefault
	case n < 0:
		return boundNone
	}
	return strconv.FormatInt(n, 10)
}

// SizeText formats a size for people.
func SizeText(n int64) string {
	text := strconv.FormatInt(n, 10) + " B"
	for _, u := range units {
		if n >= u.size {
			text = strconv.FormatFloat(float64(n)/float64(u.size), 'f', 1, 64) + " " + strings.ToUpper(u.word)
		}
	}
	return text
}

// Counted formats a count with its noun.
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
