package ical

import (
	"fmt"
	"iter"
	"strings"
)

// Period is a PERIOD (RFC 5545 §3.3.9): a start with either an end or a duration. The field that was not written is
// zero.
type Period struct {
	Start    Time
	End      Time
	Duration Duration
}

// ParsePeriod parses a PERIOD; tzid is the parameter's value or "".
func ParsePeriod(value, tzid string) (Period, error) {
	from, to, ok := strings.Cut(strings.TrimSpace(value), "/")
	if !ok {
		return Period{}, fmt.Errorf("%s is no period; write it as start/end or start/duration", excerpt(value))
	}
	start, err := ParseTime(from, tzid)
	if err != nil {
		return Period{}, err
	}
	period := Period{Start: start}
	if strings.ContainsAny(to, "Pp") {
		period.Duration, err = ParseDuration(to)
	} else {
		period.End, err = ParseTime(to, tzid)
	}
	if err != nil {
		return Period{}, err
	}
	return period, period.check(value)
}

// check compares start and end where that is possible without zones.
func (p Period) check(value string) error {
	switch {
	case p.Start.IsDate() || p.End.IsDate():
		return fmt.Errorf("%s is no period of times; dates have no place in it", excerpt(value))
	case p.Duration.Negative:
		return fmt.Errorf("%s is a period of negative duration", excerpt(value))
	case p.HasEnd() && p.Start.Form == p.End.Form && p.End.Civil.Before(p.Start.Civil):
		return fmt.Errorf("%s is a period that ends before it starts", excerpt(value))
	default:
		return nil
	}
}

// HasEnd reports whether the period has an end rather than a duration.
func (p Period) HasEnd() bool { return !p.End.IsZero() }

// String formats the value.
func (p Period) String() string {
	if p.HasEnd() {
		return p.Start.String() + "/" + p.End.String()
	}
	return p.Start.String() + "/" + p.Duration.String()
}

// Periods parses the value as a list of PERIODs, as in FREEBUSY.
func (p *Property) Periods() ([]Period, error) {
	tzid := p.tzid()
	var list []Period
	for part := range listParts(p.Value()) {
		period, err := ParsePeriod(part, tzid)
		if err != nil {
			return nil, p.wrong(err)
		}
		list = append(list, period)
	}
	return list, nil
}

// IsPeriods reports whether the value is a list of PERIODs. Clients forget VALUE=PERIOD on RDATE, and only a PERIOD
// contains a slash.
func (p *Property) IsPeriods() bool {
	return p.ValueType() == valuePeriod || strings.Contains(p.Value(), "/")
}

// SetPeriods sets a list of periods. The caller sets VALUE=PERIOD and TZID if needed; FREEBUSY needs neither.
func (p *Property) SetPeriods(periods ...Period) {
	values := make([]string, len(periods))
	for i, period := range periods {
		values[i] = period.String()
	}
	p.SetValue(strings.Join(values, ","))
}

// listParts splits a list at its commas and skips empty parts: in some clients, an EXDATE whose last date was deleted
// ends with a comma or is empty.
func listParts(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(value, ",") {
			if strings.TrimSpace(part) != "" && !yield(part) {
				return
			}
		}
	}
}
