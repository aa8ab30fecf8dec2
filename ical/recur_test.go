package ical_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/ical"
)

func TestParseRecur(t *testing.T) {
	t.Parallel()
	base := func(change func(*ical.Recur)) ical.Recur {
		r := ical.Recur{Freq: ical.Weekly, Interval: 1, WeekStart: time.Monday}
		change(&r)
		return r
	}
	tests := []struct {
		value string
		want  ical.Recur
		text  string // when it isn't written as it was read
	}{
		{value: "FREQ=WEEKLY", want: base(func(*ical.Recur) {})},
		{value: "freq=weekly;byday=mo;wkst=su", text: "FREQ=WEEKLY;BYDAY=MO;WKST=SU", want: base(func(r *ical.Recur) {
			r.ByDay, r.WeekStart = []ical.WeekdayNum{{Weekday: time.Monday}}, time.Sunday
		})},
		{value: ";FREQ=WEEKLY;;INTERVAL=1;", text: "FREQ=WEEKLY", want: base(func(*ical.Recur) {})},
		{value: "COUNT=3;FREQ=WEEKLY;INTERVAL=2", text: "FREQ=WEEKLY;COUNT=3;INTERVAL=2", want: base(
			func(r *ical.Recur) { r.Count, r.Interval = 3, 2 },
		)},
		{value: "FREQ=WEEKLY;UNTIL=20260803T180000Z", want: base(func(r *ical.Recur) {
			r.Until = ical.UTC(ical.Civil{Year: 2026, Month: time.August, Day: 3, Hour: 18})
		})},
		{value: "FREQ=WEEKLY;UNTIL=20260803", want: base(func(r *ical.Recur) {
			r.Until = ical.Date(ical.CivilDate(2026, time.August, 3))
		})},
		{value: "FREQ=WEEKLY;BYHOUR=9,9, 8,9", text: "FREQ=WEEKLY;BYHOUR=9,8", want: base(func(r *ical.Recur) {
			r.ByHour = []int{9, 8}
		})},
		{
			value: "FREQ=WEEKLY;X-NAME=a=b;x-other=c",
			text:  "FREQ=WEEKLY;X-NAME=a=b;X-OTHER=c", want: base(func(r *ical.Recur) {
				r.Extra = []ical.RecurPart{{Name: "X-NAME", Value: "a=b"}, {Name: "X-OTHER", Value: "c"}}
			}),
		},
		{
			value: "FREQ=MONTHLY;BYDAY=-1FR,+2MO;BYMONTHDAY=+1,-1",
			text:  "FREQ=MONTHLY;BYDAY=-1FR,2MO;BYMONTHDAY=1,-1", want: base(func(r *ical.Recur) {
				r.Freq, r.ByMonthDay = ical.Monthly, []int{1, -1}
				r.ByDay = []ical.WeekdayNum{{Weekday: time.Friday, N: -1}, {Weekday: time.Monday, N: 2}}
			}),
		},
		{
			value: "FREQ=YEARLY;BYMONTH=5L,6;SKIP=forward;RSCALE=chinese",
			text:  "RSCALE=CHINESE;FREQ=YEARLY;BYMONTH=6,5L;SKIP=FORWARD", want: base(func(r *ical.Recur) {
				r.Freq, r.RScale, r.Skip = ical.Yearly, "CHINESE", "FORWARD"
				r.ByMonth, r.LeapMonths = []int{6}, []int{5}
			}),
		},
		{
			value: "FREQ=YEARLY;BYSECOND=60;BYMINUTE=59;BYHOUR=23;BYYEARDAY=-366;BYWEEKNO=-53,53;BYSETPOS=366",
			want: base(func(r *ical.Recur) {
				r.Freq, r.BySecond, r.ByMinute, r.ByHour = ical.Yearly, []int{60}, []int{59}, []int{23}
				r.ByYearDay, r.ByWeekNo, r.BySetPos = []int{-366}, []int{-53, 53}, []int{366}
			}),
		},
	}
	for _, test := range tests {
		t.Run(test.value, func(t *testing.T) {
			t.Parallel()
			got, err := ical.ParseRecur(test.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if test.text == "" {
				test.text = test.value
			}
			if got.String() != test.text {
				t.Errorf("written as %s, want %s", got, test.text)
			}
		})
	}
}

func TestRefusedRecur(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, says string }{
		{"", "no FREQ"},
		{"INTERVAL=2", "no FREQ"},
		{"FREQ=FORTNIGHTLY", "no frequency"},
		{"FREQ=DAILY;FREQ=DAILY", "twice"},
		{"FREQ=DAILY;COUNT", "NAME=value"},
		{"FREQ=DAILY;COUNT=0", "between 1"},
		{"FREQ=DAILY;COUNT=-1", "between 1"},
		{"FREQ=DAILY;INTERVAL=0", "between 1"},
		{"FREQ=DAILY;INTERVAL=+2", "between 1"},
		{"FREQ=DAILY;INTERVAL=99999999999999999999", "between 1"},
		{"FREQ=DAILY;COUNT=2;UNTIL=20260101", "COUNT and UNTIL"},
		{"FREQ=DAILY;UNTIL=tomorrow", "UNTIL"},
		{"FREQ=DAILY;BYHOUR=24", "0 to 23"},
		{"FREQ=DAILY;BYMINUTE=-1", "0 to 59"},
		{"FREQ=DAILY;BYSECOND=61", "0 to 60"},
		{"FREQ=DAILY;BYMONTHDAY=0", "-31 to 31"},
		{"FREQ=DAILY;BYMONTHDAY=", "-31 to 31"},
		{"FREQ=DAILY;BYMONTH=13", "1 to 12"},
		{"FREQ=DAILY;BYMONTH=5L", "RSCALE"},
		{"FREQ=MONTHLY;BYDAY=0MO", "-53 to 53"},
		{"FREQ=MONTHLY;BYDAY=54MO", "-53 to 53"},
		{"FREQ=MONTHLY;BYDAY=XX", "SU, MO"},
		{"FREQ=MONTHLY;BYDAY=M", "SU, MO"},
		{"FREQ=MONTHLY;BYDAY=UM", "SU, MO"},
		{"FREQ=WEEKLY;BYDAY=1MO", "MONTHLY or YEARLY"},
		{"FREQ=YEARLY;BYDAY=1MO;BYWEEKNO=3", "BYWEEKNO"},
		{"FREQ=WEEKLY;BYMONTHDAY=1", "WEEKLY"},
		{"FREQ=MONTHLY;BYYEARDAY=1", "BYYEARDAY"},
		{"FREQ=DAILY;BYWEEKNO=1", "YEARLY"},
		{"FREQ=SECONDLY;BYSETPOS=2", "BYSETPOS"},
		{"FREQ=DAILY;WKST=1MO", "WKST"},
		{"FREQ=DAILY;BYEASTER=1000", "no part of a rule"},
		{"FREQ=DAILY;SKIP=FORWARD", "RSCALE"},
		{"RSCALE=GREGORIAN;FREQ=DAILY;SKIP=SIDEWAYS", "OMIT"},
		{"RSCALE=;FREQ=DAILY", "no name of a calendar"},
		{"FREQ=DAILY;BYHOUR=" + strings.Repeat("9", 1<<20), "0 to 23"},
		{"FREQ=DAILY" + strings.Repeat(";X-A", 100), "NAME=value"},
	}
	for _, test := range tests {
		t.Run(test.value[:min(len(test.value), 40)], func(t *testing.T) {
			t.Parallel()
			_, err := ical.ParseRecur(test.value)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v, want something about %q", err, test.says)
			}
			if len(err.Error()) > 200 {
				t.Errorf("the error repeats too much: %d bytes", len(err.Error()))
			}
		})
	}
}

// FuzzRecur writes what it can read, and reads that again.
func FuzzRecur(f *testing.F) {
	for _, seed := range []string{
		"FREQ=DAILY", "freq=yearly;bymonth=1;byday=-1su,2MO;until=20300101T000000Z",
		"RSCALE=CHINESE;FREQ=MONTHLY;BYMONTH=5L;SKIP=OMIT",
		"FREQ=WEEKLY;;COUNT=9;X-A=b;WKST=SU;BYSETPOS=-1;BYHOUR=1,2", "FREQ=SECONDLY;BYSECOND=60;BYYEARDAY=366",
		"INTERVAL=0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		r, err := ical.ParseRecur(value)
		if err != nil {
			return
		}
		again, err := ical.ParseRecur(r.String())
		if err != nil {
			t.Fatalf("%q was written as %q: %v", value, r, err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Fatalf("%q (-read +read again)\n%s", value, diff)
		}
	})
}

func TestPropertyRecur(t *testing.T) {
	t.Parallel()
	p := ical.NewProperty("RRULE", "FREQ=DAILY;COUNT=2")
	r, err := p.Recur()
	if err != nil || r.Count != 2 || r.Endless() {
		t.Fatalf("got %+v, %v", r, err)
	}
	r.Count = 0
	p.SetRecur(r)
	if p.String() != "RRULE:FREQ=DAILY" || !r.Endless() {
		t.Errorf("got %s", p)
	}
	if _, err := ical.NewProperty("RRULE", "FREQ=NEVER").Recur(); err == nil ||
		!strings.HasPrefix(err.Error(), "RRULE: ") {
		t.Errorf("got %v", err)
	}
}
