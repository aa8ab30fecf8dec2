package calendar

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are those of sizes, the long ones first.
var units = [...]struct {
	word string
	size int64
}{{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}}

// ParseAmount reads a number, or a size with its unit. The text of its error goes on after what was read.
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
		return 0, errors.New("is not a number from 1 on, such as 100000 or 500MB")
	}
	return n * factor, nil
}

// The words for a user's bound that is no number.
const (
	boundDefault = "default"
	boundNone    = "none"
)

// ParseBound reads one bound of a user's Quota: an amount, none, or default for what the settings say.
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

// BoundText is a bound as ParseBound reads it.
func BoundText(n int64) string {
	switch {
	case n == 0:
		return boundDefault
	case n < 0:
		return boundNone
	}
	return strconv.FormatInt(n, 10)
}

// SizeText is a size as people read it.
func SizeText(n int64) string {
	text := strconv.FormatInt(n, 10) + " B"
	for _, u := range units {
		if n >= u.size {
			text = strconv.FormatFloat(float64(n)/float64(u.size), 'f', 1, 64) + " " + strings.ToUpper(u.word)
		}
	}
	return text
}

// Counted is how many of something there are, as people read it.
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
