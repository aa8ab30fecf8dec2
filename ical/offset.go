package ical

import (
	"fmt"
	"strings"
)

// UTCOffset is a UTC-OFFSET (RFC 5545 §3.3.14), in seconds east of Greenwich.
type UTCOffset int

// ParseUTCOffset parses a UTC-OFFSET. It accepts a colon, as in ISO 8601, and -0000, which RFC 5545 forbids.
func ParseUTCOffset(value string) (UTCOffset, error) {
	s := strings.ReplaceAll(strings.TrimSpace(value), ":", "")
	if len(s) != len("+0100") && len(s) != len("+010000") || s[0] != '+' && s[0] != '-' || !digits(s[1:]) {
		return 0, fmt.Errorf("%s is no offset from UTC; write it like +0100 or -0530", excerpt(value))
	}
	hours, minutes, seconds := number(s[1:3]), number(s[3:5]), 0
	if len(s) > len("+0100") {
		seconds = number(s[5:])
	}
	if hours > 23 || minutes > 59 || seconds > 59 {
		return 0, fmt.Errorf("%s is an offset of a day or more, or has no minute or second like that", excerpt(value))
	}
	offset := hours*secondsPerHour + minutes*secondsPerMinute + seconds
	if s[0] == '-' {
		offset = -offset
	}
	return UTCOffset(offset), nil
}

// String formats the value, with seconds only if they are not zero.
func (o UTCOffset) String() string {
	sign, n := byte('+'), int(o)
	if n < 0 {
		sign, n = '-', -n
	}
	b := appendDigits([]byte{sign}, n/secondsPerHour, 2)
	b = appendDigits(b, n/secondsPerMinute%60, 2)
	if n%60 != 0 {
		b = appendDigits(b, n%60, 2)
	}
	return string(b)
}

// UTCOffset parses the value as a UTC-OFFSET.
func (p *Property) UTCOffset() (UTCOffset, error) {
	offset, err := ParseUTCOffset(p.Value())
	if err != nil {
		return 0, p.wrong(err)
	}
	return offset, nil
}
