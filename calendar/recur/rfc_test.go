package recur_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// example is one of RFC 5545 §3.8.5.3, all of which are in New York.
type example struct {
	start string // the date, or the date and time when it isn't 9:00
	lines string // the rest of the event
	// days is what must come: "199709 2-11; 199710 2,4". It ends with "..." when
	// the series goes on. Every one is at 9:00.
	days string
	// times are the local times of the first days instead.
	times []string
}

func examples() []example {
	const (
		tuesdays = "199709 2,9,16,23,30; 199710 7,14,21,28; 199711 4"
		january  = "199801 1-31; 199901 1-31; 200001 1-31"
		busyDay  = "9:00 9:20 9:40 10:00 10:20 10:40 11:00 11:20 11:40 12:00 12:20 12:40 13:00 13:20 13:40 " +
			"14:00 14:20 14:40 15:00 15:20 15:40 16:00 16:20 16:40 +9:00 +9:20 ..."
	)
	return []example{
		{start: "19970902", lines: "RRULE:FREQ=DAILY;COUNT=10", days: "199709 2-11"},
		{
			start: "19970902", lines: "RRULE:FREQ=DAILY;UNTIL=19971224T000000Z",
			days: "199709 2-30; 199710 1-31; 199711 1-30; 199712 1-23",
		},
		{
			start: "19970902", lines: "RRULE:FREQ=DAILY;INTERVAL=2",
			days: "199709 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30; 199710 2,4,6 ...",
		},
		{start: "19970902", lines: "RRULE:FREQ=DAILY;INTERVAL=10;COUNT=5", days: "199709 2,12,22; 199710 2,12"},
		{
			start: "19980101", lines: "RRULE:FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA",
			days: january,
		},
		{start: "19980101", lines: "RRULE:FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", days: january},
		{start: "19970902", lines: "RRULE:FREQ=WEEKLY;COUNT=10", days: tuesdays},
		{
			start: "19970902", lines: "RRULE:FREQ=WEEKLY;UNTIL=19971224T000000Z",
			days: tuesdays + ",11,18,25; 199712 2,9,16,23",
		},
		{
			start: "19970902", lines: "RRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU",
			days: "199709 2,16,30; 199710 14,28; 199711 11,25; 199712 9,23; 199801 6,20; 199802 3 ...",
		},
		{
			start: "19970902", lines: "RRULE:FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH",
			days: "199709 2,4,9,11,16,18,23,25,30; 199710 2",
		},
		{
			start: "19970902", lines: "RRULE:FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH",
			days: "199709 2,4,9,11,16,18,23,25,30; 199710 2",
		},
		{
			start: "19970901", lines: "RRULE:FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR",
			days: "199709 1,3,5,15,17,19,29; 199710 1,3,13,15,17,27,29,31; 199711 10,12,14,24,26,28; 199712 8,10,12,22",
		},
		{
			start: "19970902", lines: "RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
			days: "199709 2,4,16,18,30; 199710 2,14,16",
		},
		{
			start: "19970905", lines: "RRULE:FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
			days: "199709 5; 199710 3; 199711 7; 199712 5; 199801 2; 199802 6; 199803 6; 199804 3; 199805 1; 199806 5",
		},
		{
			start: "19970905", lines: "RRULE:FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR",
			days: "199709 5; 199710 3; 199711 7; 199712 5",
		},
		{
			start: "19970907", lines: "RRULE:FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
			days: "199709 7,28; 199711 2,30; 199801 4,25; 199803 1,29; 199805 3,31",
		},
		{
			start: "19970922", lines: "RRULE:FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
			days: "199709 22; 199710 20; 199711 17; 199712 22; 199801 19; 199802 16",
		},
		{
			start: "19970928", lines: "RRULE:FREQ=MONTHLY;BYMONTHDAY=-3",
			days: "199709 28; 199710 29; 199711 28; 199712 29; 199801 29; 199802 26 ...",
		},
		{
			start: "19970902", lines: "RRULE:FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15",
			days: "199709 2,15; 199710 2,15; 199711 2,15; 199712 2,15; 199801 2,15",
		},
		{
			start: "19970930", lines: "RRULE:FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
			days: "199709 30; 199710 1,31; 199711 1,30; 199712 1,31; 199801 1,31; 199802 1",
		},
		{
			start: "19970910", lines: "RRULE:FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
			days: "199709 10-15; 199903 10-13",
		},
		{
			start: "19970902", lines: "RRULE:FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
			days: "199709 2,9,16,23,30; 199711 4,11,18,25; 199801 6,13,20,27; 199803 3,10,17,24,31 ...",
		},
		{
			start: "19970610", lines: "RRULE:FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
			days: "199706 10; 199707 10; 199806 10; 199807 10; 199906 10; 199907 10; 200006 10; 200007 10; 200106 " +
				"10; 200107 10",
		},
		{
			start: "19970310", lines: "RRULE:FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
			days: "199703 10; 199901 10; 199902 10; 199903 10; 200101 10; 200102 10; 200103 10; 200301 10; 200302 " +
				"10; 200303 10",
		},
		{
			start: "19970101", lines: "RRULE:FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
			days: "199701 1; 199704 10; 199707 19; 200001 1; 200004 9; 200007 18; 200301 1; 200304 10; 200307 19; " +
				"200601 1",
		},
		{start: "19970519", lines: "RRULE:FREQ=YEARLY;BYDAY=20MO", days: "199705 19; 199805 18; 199905 17 ..."},
		{
			start: "19970512", lines: "RRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO",
			days: "199705 12; 199805 11; 199905 17 ...",
		},
		{
			start: "19970313", lines: "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=TH",
			days: "199703 13,20,27; 199803 5,12,19,26; 199903 4,11,18,25 ...",
		},
		{
			start: "19970605", lines: "RRULE:FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8",
			days: "199706 5,12,19,26; 199707 3,10,17,24,31; 199708 7,14,21,28; 199806 4,11,18,25; 199807 " +
				"2,9,16,23,30; " +
				"199808 6,13,20,27; 199906 3,10,17,24; 199907 1,8,15,22,29; 199908 5,12,19,26 ...",
		},
		{
			start: "19970902",
			lines: "EXDATE;TZID=America/New_York:19970902T090000\nRRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
			days:  "199802 13; 199803 13; 199811 13; 199908 13; 200010 13 ...",
		},
		{
			start: "19970913", lines: "RRULE:FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
			days: "199709 13; 199710 11; 199711 8; 199712 13; 199801 10; 199802 7; 199803 7; 199804 11; 199805 9; " +
				"199806 13 ...",
		},
		{
			start: "19961105", lines: "RRULE:FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
			days: "199611 5; 200011 7; 200411 2 ...",
		},
		{
			start: "19970904", lines: "RRULE:FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3",
			days: "199709 4; 199710 7; 199711 6",
		},
		{
			start: "19970929", lines: "RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
			days: "199709 29; 199710 30; 199711 27; 199712 30; 199801 29; 199802 26; 199803 30 ...",
		},
		// The RFC lists 15:00 too, which is after its UNTIL: 17:00 UTC was 13:00 in
		// New York (a known erratum).
		{
			start: "19970902", lines: "RRULE:FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z",
			times: strings.Fields("9:00 12:00"),
		},
		{
			start: "19970902", lines: "RRULE:FREQ=MINUTELY;INTERVAL=15;COUNT=6",
			times: strings.Fields("9:00 9:15 9:30 9:45 10:00 10:15"),
		},
		{
			start: "19970902", lines: "RRULE:FREQ=MINUTELY;INTERVAL=90;COUNT=4",
			times: strings.Fields("9:00 10:30 12:00 13:30"),
		},
		{
			start: "19970902", lines: "RRULE:FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40",
			times: strings.Fields(busyDay),
		},
		{
			start: "19970902", lines: "RRULE:FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16",
			times: strings.Fields(busyDay),
		},
		{
			start: "19970805", lines: "RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
			days: "199708 5,10,19,24",
		},
		{
			start: "19970805", lines: "RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
			days: "199708 5,17,19,31",
		},
		{
			start: "20070115", lines: "RRULE:FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5",
			days: "200701 15,30; 200702 15; 200703 15,30",
		},
	}
}

func TestRFC5545Examples(t *testing.T) {
	t.Parallel()
	for _, e := range examples() {
		t.Run(e.lines, func(t *testing.T) {
			t.Parallel()
			set := parseSet(t, event("DTSTART;TZID=America/New_York:"+e.start+"T090000", e.lines))
			want, open := e.expected(t)
			most := len(want) + 1
			if open {
				most = len(want)
			}
			if diff := cmp.Diff(want, localTimes(t, starts(t, set, time.Time{}, most))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func localTimes(t *testing.T, shown []string) []string {
	t.Helper()
	var local []string
	for _, s := range shown {
		local = append(local, strings.TrimSuffix(strings.TrimSuffix(s, " EDT"), " EST"))
	}
	return local
}

// expected writes out what the example says in short.
func (e example) expected(t *testing.T) (want []string, open bool) {
	t.Helper()
	start, err := time.Parse("20060102", e.start)
	if err != nil {
		t.Fatal(err)
	}
	for _, clock := range e.times {
		if clock == "..." {
			return want, true
		}
		next, later := strings.CutPrefix(clock, "+")
		day := start
		if later {
			day = start.AddDate(0, 0, 1)
		}
		want = append(want, day.Format("2006-01-02 ")+fmt.Sprintf("%05s", next))
	}
	days, open := strings.CutSuffix(e.days, " ...")
	for month := range strings.SplitSeq(days, "; ") {
		name, list, _ := strings.Cut(month, " ")
		for days := range strings.SplitSeq(list, ",") {
			if days == "" {
				continue
			}
			from, to, ranged := strings.Cut(days, "-")
			if !ranged {
				to = from
			}
			for day := number(t, from); day <= number(t, to); day++ {
				want = append(want, fmt.Sprintf("%s-%s-%02d 09:00", name[:4], name[4:], day))
			}
		}
	}
	return want, open
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
