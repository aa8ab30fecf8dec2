package ical

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Form is how a [Time] relates to the time line (RFC 5545 §3.3.4, §3.3.5).
type Form string

const (
	// FormDate is a whole day, in any zone.
	FormDate Form = "date"
	// FormFloating is the same wall-clock time in every zone.
	FormFloating Form = "floating"
	// FormUTC is an instant.
	FormUTC Form = "utc"
	// FormZoned is a wall-clock time in the zone of TZID.
	FormZoned Form = "zoned"
)

// Names of the parameters and value types used here.
const (
	paramTZID     = "TZID"
	paramValue    = "VALUE"
	valueDate     = "DATE"
	valueDateTime = "DATE-TIME"
	valuePeriod   = "PERIOD"
)

// Time is a DATE or a DATE-TIME. It is comparable.
type Time struct {
	Civil Civil
	Form  Form
	TZID  string // as it was found, only for FormZoned
}

// Date makes a Time that is a whole day.
func Date(c Civil) Time { return Time{Civil: c.Date(), Form: FormDate} }

// Floating makes a Time without a zone.
func Floating(c Civil) Time { return Time{Civil: c, Form: FormFloating} }

// UTC makes a Time that is an instant.
func UTC(c Civil) Time { return Time{Civil: c, Form: FormUTC} }

// Zoned makes a Time in a zone; without a name it is floating.
func Zoned(c Civil, tzid string) Time {
	if tzid == "" {
		return Floating(c)
	}
	return Time{Civil: c, Form: FormZoned, TZID: tzid}
}

// Instant makes the Time of an instant, in UTC and whole seconds.
func Instant(t time.Time) Time { return UTC(CivilFromSeconds(t.Unix())) }

// ParseTime parses a DATE or a DATE-TIME; tzid is the parameter's value or "". The text decides the form: clients
// forget VALUE=DATE, and they add TZID to dates and UTC times, where RFC 5545 §3.2.19 does not allow it.
func ParseTime(value, tzid string) (Time, error) {
	s := strings.TrimSpace(value)
	const date, local = len("20060102"), len("20060102T150405")
	utc := len(s) == local+1 && (s[local] == 'Z' || s[local] == 'z')
	if utc {
		s = s[:local]
	}
	c, err := parseCivil(s)
	switch {
	case err != nil:
		return Time{}, fmt.Errorf("%s %w", excerpt(value), err)
	case len(s) == date:
		return Date(c), nil
	case utc:
		return UTC(c), nil
	default:
		return Zoned(c, tzid), nil
	}
}

var (
	errTimeForm = errors.New("is no time; write a date as 20261231, a time as 20261231T235959 or, in UTC, " +
		"20261231T235959Z")
	errTimeDay = errors.New("is a time that no calendar or clock shows")
)

func parseCivil(s string) (Civil, error) {
	var c Civil
	if len(s) < 8 || !digits(s[:8]) {
		return c, errTimeForm
	}
	c = CivilDate(number(s[:4]), time.Month(number(s[4:6])), number(s[6:8]))
	if clock := s[8:]; clock != "" {
		if len(clock) != 7 || clock[0] != 'T' && clock[0] != 't' || !digits(clock[1:]) {
			return c, errTimeForm
		}
		c.Hour, c.Minute, c.Second = number(clock[1:3]), number(clock[3:5]), number(clock[5:7])
	}
	if c.Second == 60 {
		// RFC 5545 §3.3.12: without support for leap seconds, :60 is read as :59.
		c.Second = 59
	}
	if !c.Valid() {
		return c, errTimeDay
	}
	return c, nil
}

// String formats the value; [Property.SetTime] also sets the parameters.
func (t Time) String() string {
	b := make([]byte, 0, len("20060102T150405Z"))
	b = appendDigits(b, t.Civil.Year, 4)
	b = appendDigits(b, int(t.Civil.Month), 2)
	b = appendDigits(b, t.Civil.Day, 2)
	if t.Form == FormDate {
		return string(b)
	}
	b = append(b, 'T')
	b = appendDigits(b, t.Civil.Hour, 2)
	b = appendDigits(b, t.Civil.Minute, 2)
	b = appendDigits(b, t.Civil.Second, 2)
	if t.Form == FormUTC {
		b = append(b, 'Z')
	}
	return string(b)
}

// IsDate reports whether t is a whole day.
func (t Time) IsDate() bool { return t.Form == FormDate }

// IsZero reports whether t is the zero value.
func (t Time) IsZero() bool { return t == Time{} }

// Time parses the value as a DATE or DATE-TIME with the property's TZID.
func (p *Property) Time() (Time, error) {
	t, err := ParseTime(p.Value(), p.tzid())
	if err != nil {
		return Time{}, p.wrong(err)
	}
	return t, nil
}

// Times parses the value as a list of DATEs and DATE-TIMEs, as in EXDATE.
func (p *Property) Times() ([]Time, error) {
	tzid := p.tzid()
	var list []Time
	for part := range listParts(p.Value()) {
		t, err := ParseTime(part, tzid)
		if err != nil {
			return nil, p.wrong(err)
		}
		list = append(list, t)
	}
	return list, nil
}

// SetTime sets the time, and the parameters VALUE and TZID that its form needs.
func (p *Property) SetTime(t Time) { p.SetTimes(t) }

// SetTimes sets a list of times of one form and zone: the first one decides the parameters.
func (p *Property) SetTimes(times ...Time) {
	values := make([]string, len(times))
	for i, t := range times {
		values[i] = t.String()
	}
	p.SetValue(strings.Join(values, ","))
	if len(times) > 0 {
		p.setTimeParams(times[0])
	}
}

// NewTime makes a property with a time value.
func NewTime(name string, t Time) *Property {
	p := NewProperty(name, "")
	p.SetTime(t)
	return p
}

func (p *Property) setTimeParams(t Time) {
	if t.Form == FormDate {
		p.SetParam(paramValue, valueDate)
	} else if valueType := p.ValueType(); valueType != valueDateTime {
		p.RemoveParam(paramValue)
	}
	if t.Form == FormZoned {
		p.SetParam(paramTZID, t.TZID)
	} else {
		p.RemoveParam(paramTZID)
	}
}

// ValueType returns the upper-case value of the parameter VALUE, or "" for the property's default type.
func (p *Property) ValueType() string {
	value, _ := p.Param(paramValue)
	return upperName(strings.TrimSpace(value))
}

func (p *Property) tzid() string {
	tzid, _ := p.Param(paramTZID)
	return tzid
}

// number parses a few digits.
func number(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

func digits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// appendDigits writes n with leading zeros.
func appendDigits(b []byte, n, width int) []byte {
	for unit := pow10(width - 1); unit > 0; unit /= 10 {
		b = append(b, '0'+byte(n/unit%10))
	}
	return b
}

func pow10(n int) int {
	power := 1
	for range n {
		power *= 10
	}
	return power
}
