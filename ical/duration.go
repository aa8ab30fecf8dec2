package ical

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is a DURATION (RFC 5545 §3.3.6). Weeks and days are nominal: a day ends at the same wall-clock time, however
// long it was. Seconds are exact; they include hours and minutes.
type Duration struct {
	Negative bool
	Weeks    int
	Days     int
	Seconds  int64
}

// durationMax is about the length of all years that iCalendar can represent.
const durationMax int64 = maxYear * 366 * secondsPerDay

var (
	errDurationForm = errors.New("is no duration; write it like PT1H30M, P1D or P2W")
	errDurationSize = errors.New("is a duration of more than ten thousand years")
)

// DurationOf makes an exact duration of whole seconds.
func DurationOf(d time.Duration) Duration {
	seconds := int64(d / time.Second)
	return Duration{Negative: seconds < 0, Seconds: max(seconds, -seconds)}
}

// durationUnit is the unit of a letter in a DURATION.
type durationUnit struct {
	letter  byte
	clock   bool // after the T
	seconds int64
}

// durationUnits are in the required order.
var durationUnits = [...]durationUnit{
	{'W', false, 7 * secondsPerDay},
	{'D', false, secondsPerDay},
	{'H', true, secondsPerHour},
	{'M', true, secondsPerMinute},
	{'S', true, 1},
}

// ParseDuration parses a DURATION. It also accepts forms that some clients write: weeks together with days, a gap
// between time units, and a T without a time after it (P1DT).
func ParseDuration(value string) (Duration, error) {
	s := upperName(strings.TrimSpace(value))
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	s, ok := strings.CutPrefix(s, "P")
	if !ok {
		return Duration{}, fmt.Errorf("%s %w", excerpt(value), errDurationForm)
	}
	d, err := parseDurationParts(s)
	if err != nil {
		return Duration{}, fmt.Errorf("%s %w", excerpt(value), err)
	}
	d.Negative = negative && !d.IsZero()
	return d, nil
}

func parseDurationParts(s string) (Duration, error) {
	var d Duration
	units, clock, total := durationUnits[:], false, int64(0)
	for more := true; more; more = s != "" && (clock || s != "T") {
		if strings.HasPrefix(s, "T") && !clock {
			clock, s = true, s[1:]
		}
		n, rest, err := leadingCount(s)
		if err != nil {
			return d, err
		}
		i := unitIndex(units, rest[0], clock)
		if i < 0 {
			return d, errDurationForm
		}
		if n > (durationMax-total)/units[i].seconds {
			return d, errDurationSize
		}
		total += n * units[i].seconds
		d.count(units[i], n)
		units, s = units[i+1:], rest[1:]
	}
	return d, nil
}

// leadingCount parses the digits in front of a letter.
func leadingCount(s string) (n int64, rest string, err error) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	if end == 0 || end == len(s) {
		return 0, "", errDurationForm
	}
	if n, err = strconv.ParseInt(s[:end], 10, 64); err != nil {
		return 0, "", errDurationSize
	}
	return n, s[end:], nil
}

func unitIndex(units []durationUnit, letter byte, clock bool) int {
	for i, unit := range units {
		if unit.letter == letter && unit.clock == clock {
			return i
		}
	}
	return -1
}

func (d *Duration) count(unit durationUnit, n int64) {
	switch unit.letter {
	case 'W':
		d.Weeks = int(n)
	case 'D':
		d.Days = int(n)
	default:
		d.Seconds += n * unit.seconds
	}
}

// IsZero reports whether the duration is zero.
func (d Duration) IsZero() bool { return d.Weeks == 0 && d.Days == 0 && d.Seconds == 0 }

// NominalDays returns the days, weeks included, with the sign.
func (d Duration) NominalDays() int { return d.sign() * (7*d.Weeks + d.Days) }

// ExactSeconds returns the exact part, with the sign.
func (d Duration) ExactSeconds() int64 { return int64(d.sign()) * d.Seconds }

func (d Duration) sign() int {
	if d.Negative {
		return -1
	}
	return 1
}

// String formats the value. RFC 5545 §3.3.6 does not allow weeks together with other units, so they become days then.
func (d Duration) String() string {
	var b strings.Builder
	if d.Negative {
		b.WriteByte('-')
	}
	b.WriteByte('P')
	if d.Weeks != 0 && d.Days == 0 && d.Seconds == 0 {
		b.WriteString(strconv.Itoa(d.Weeks) + "W")
		return b.String()
	}
	if days := 7*d.Weeks + d.Days; days != 0 {
		b.WriteString(strconv.Itoa(days) + "D")
	}
	if d.Seconds != 0 || d.IsZero() {
		b.WriteString(clockString(d.Seconds))
	}
	return b.String()
}

// clockString writes zero minutes between hours and seconds, as the grammar requires.
func clockString(seconds int64) string {
	h, m, s := seconds/secondsPerHour, seconds/secondsPerMinute%60, seconds%60
	text := "T"
	if h != 0 {
		text += strconv.FormatInt(h, 10) + "H"
	}
	if m != 0 || h != 0 && s != 0 {
		text += strconv.FormatInt(m, 10) + "M"
	}
	if s != 0 || seconds == 0 {
		text += strconv.FormatInt(s, 10) + "S"
	}
	return text
}

// Duration parses the value as a DURATION.
func (p *Property) Duration() (Duration, error) {
	d, err := ParseDuration(p.Value())
	if err != nil {
		return Duration{}, p.wrong(err)
	}
	return d, nil
}
