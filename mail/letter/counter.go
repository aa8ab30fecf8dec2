package letter

import (
	"errors"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Errors of a proposal.
var (
	ErrTimes  = errors.New("the times cannot be read")
	ErrOrder  = errors.New("it would end before it begins")
	ErrNoNews = errors.New("that is when the event takes place")
	ErrTask   = errors.New("another time is proposed for an event")
)

// Times are the start and the end of an event as form values: local times in the event's zone, or days. For days, End
// is the last day.
type Times struct {
	Start, End string
	// Zone is the zone's name; it is empty for days and for floating times.
	Zone string
	Days bool
}

// The formats of the fields.
const (
	fieldDay    = time.DateOnly
	fieldMinute = "2006-01-02T15:04"
)

// TimesOf returns the times of the event of a letter; a task has none.
func TimesOf(l calendar.Letter) (Times, error) {
	s, err := read(l.Data, nil, nil)
	if err != nil {
		return Times{}, err
	}
	return s.times()
}

func (s *source) times() (Times, error) {
	c := s.main()
	begin := c.Property("DTSTART")
	if c.Name() != content.Event || begin == nil {
		return Times{}, nil
	}
	at, err := begin.Time()
	if err != nil {
		return Times{}, err
	}
	// Both are wall-clock times: the clock may have changed in between.
	w, err := s.when(c)
	if err != nil {
		return Times{}, err
	}
	t := Times{Days: at.IsDate()}
	form, last := fieldMinute, w.end
	switch {
	case t.Days:
		form, last = fieldDay, w.end.AddDate(0, 0, -1)
	case at.Form == ical.FormUTC:
		t.Zone = "UTC"
	default:
		t.Zone, _ = begin.Param("TZID")
	}
	t.Start, t.End = w.start.Format(form), last.Format(form)
	return t, nil
}

// Counter makes the recipient's proposal of another time for a letter's event. It uses the same form of time as the
// event.
func Counter(to calendar.Letter, wanted Times, comment string, now time.Time) ([]byte, error) {
	s, err := read(to.Data, nil, nil)
	if err != nil {
		return nil, err
	}
	is, err := s.times()
	if err != nil || is.Start == "" {
		return nil, errors.Join(ErrTask, err)
	}
	if wanted.Start == is.Start && wanted.End == is.End {
		return nil, ErrNoNews
	}
	form, last := fieldMinute, time.Duration(0)
	if is.Days {
		form, last = fieldDay, 24*time.Hour // DTEND is exclusive
	}
	start, err := time.Parse(form, wanted.Start)
	end, err2 := time.Parse(form, wanted.End)
	switch {
	case errors.Join(err, err2) != nil:
		return nil, ErrTimes
	case end.Before(start):
		return nil, ErrOrder
	}
	return s.answer(to, "COUNTER", comment, now, func(c *ical.Component, _ *ical.Property) {
		c.Remove("DURATION")
		begin := c.Property("DTSTART")
		at, _ := begin.Time() // times has parsed it before
		put := func(name string, t time.Time) {
			p := ical.NewProperty(name, "", begin.Params()...)
			at.Civil = ical.CivilFromSeconds(t.Unix())
			p.SetValue(at.String())
			c.Set(p)
		}
		if c.Remove("DTEND"); is.Start != is.End || end.After(start) || is.Days {
			put("DTEND", end.Add(last))
		}
		put("DTSTART", start)
	})
}
