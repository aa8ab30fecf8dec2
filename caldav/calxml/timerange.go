package calxml

import (
	"errors"
	"time"

	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/ical"
)

// TimeRange holds the attributes that all elements with a time range share (§9.9).
type TimeRange struct {
	Start string `xml:"start,attr"`
	End   string `xml:"end,attr"`
}

// Whole reads a time range that needs both ends.
func (t *TimeRange) Whole() (filter.TimeRange, error) {
	if t.Start == "" || t.End == "" {
		return filter.TimeRange{}, errors.New("needs a start and an end")
	}
	return t.read()
}

// read reads a time range that may lack one end.
func (t *TimeRange) read() (r filter.TimeRange, err error) {
	if t.Start == "" && t.End == "" {
		return r, errors.New("needs a start or an end")
	}
	if r.Start, err = instant(t.Start); err != nil {
		return r, err
	}
	if r.End, err = instant(t.End); err != nil {
		return r, err
	}
	if t.Start != "" && t.End != "" && !r.Start.Before(r.End) {
		return r, errors.New("ends before it begins")
	}
	return r, nil
}

// optional reads an optional time-range.
func (t *TimeRange) optional() (*filter.TimeRange, error) {
	if t == nil {
		return nil, nil
	}
	r, err := t.read()
	if err != nil {
		return nil, invalidFilter("its time-range %s", err)
	}
	return &r, nil
}

// instant reads a DATE-TIME in UTC, the only form that RFC 4791 §9.9 allows. "" gives the zero Time.
func instant(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := ical.ParseTime(text, "")
	if err != nil || t.Form != ical.FormUTC {
		return time.Time{}, errors.New("must be in UTC, like 20261120T100000Z")
	}
	return time.Unix(t.Civil.Seconds(), 0).UTC(), nil
}
