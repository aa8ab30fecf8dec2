package bench

import (
	"context"
	"testing"
	"time"

	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"

	"github.com/teambition/rrule-go"
)

// recurWindow is the week that is asked for.
func recurWindow() (from, to time.Time) {
	from = time.Date(2026, time.August, 3, 0, 0, 0, 0, time.UTC)
	return from, from.AddDate(0, 0, 7)
}

// recurStarts are those of the same series: a month and ten years before the
// window, and longer ago than any calendar.
func recurStarts() map[string]string {
	return map[string]string{
		"a month ago": "20260703T090000", "ten years ago": "20160803T090000", "in 1600": "16000803T090000",
	}
}

func recurSet(b *testing.B, lines string) *recur.Set {
	b.Helper()
	text := "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + lines + "\r\nDURATION:PT1H\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	document, err := ical.Parse([]byte(text), ical.DefaultLimits())
	if err != nil {
		b.Fatal(err)
	}
	calendar, err := document.Calendar()
	if err != nil {
		b.Fatal(err)
	}
	event := calendar.AllComponents("VEVENT")[0]
	set, err := recur.FromComponents(event, nil, zone.NewDB().FromDocument(calendar), time.UTC)
	if err != nil {
		b.Fatal(err)
	}
	return set
}

// BenchmarkRecurWeek expands one week of an endless rule: what it costs must not
// depend on when the series began.
func BenchmarkRecurWeek(b *testing.B) {
	rules := map[string]string{
		"daily": "FREQ=DAILY", "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
		"third Tuesday": "FREQ=MONTHLY;BYDAY=3TU",
		"every 10 minutes in office hours": "FREQ=MINUTELY;INTERVAL=10;BYHOUR=9,10,11,12,13,14,15,16;BYDAY=MO,TU,WE," +
			"TH,FR",
	}
	from, to := recurWindow()
	for name, rule := range rules {
		for began, start := range recurStarts() {
			b.Run(name+"/"+began, func(b *testing.B) {
				set := recurSet(b, "DTSTART;TZID=Europe/Berlin:"+start+"\r\nRRULE:"+rule)
				b.ReportAllocs()
				for b.Loop() {
					for _, err := range set.Between(context.Background(), from, to, recur.DefaultBudget()) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// BenchmarkRecurWeekRRuleGo is the daily rule with the library that most Go
// programs use. It ends 292 years after the start, so that there is no 1600.
func BenchmarkRecurWeekRRuleGo(b *testing.B) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	from, to := recurWindow()
	for began, start := range recurStarts() {
		if began == "in 1600" {
			continue
		}
		b.Run("daily/"+began, func(b *testing.B) {
			at, err := time.ParseInLocation("20060102T150405", start, berlin)
			if err != nil {
				b.Fatal(err)
			}
			rule, err := rrule.NewRRule(rrule.ROption{Freq: rrule.DAILY, Dtstart: at})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if n := len(rule.Between(from, to, true)); n != 7 {
					b.Fatal(n)
				}
			}
		})
	}
}

// BenchmarkRecurSet reads a component and finds out where it lies, as every
// save does.
func BenchmarkRecurSet(b *testing.B) {
	text := "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;TZID=Europe/Berlin:20260803T090000\r\nDURATION:PT1H\r\n" +
		"RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20301231T000000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	document, err := ical.Parse([]byte(text), ical.DefaultLimits())
	if err != nil {
		b.Fatal(err)
	}
	calendar, err := document.Calendar()
	if err != nil {
		b.Fatal(err)
	}
	event := calendar.AllComponents("VEVENT")[0]
	db := zone.NewDB()
	b.ReportAllocs()
	for b.Loop() {
		set, err := recur.FromComponents(event, nil, db.FromDocument(calendar), time.UTC)
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := set.Span(2000); !ok {
			b.Fatal("no span")
		}
	}
}
