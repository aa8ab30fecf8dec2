package freebusy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/freebusy"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

var march10 = time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)

// object reads a text of components, each with its own UID put in.
func object(t testing.TB, components string) *content.Object {
	t.Helper()
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n")
	for line := range strings.SplitSeq(strings.TrimSpace(components), "\n") {
		line = strings.TrimSpace(line)
		b.WriteString(line + "\r\n")
		if strings.HasPrefix(line, "BEGIN:V") {
			b.WriteString("UID:1\r\n")
		}
	}
	b.WriteString("END:VCALENDAR\r\n")
	o, err := content.Read([]byte(b.String()), ical.DefaultLimits())
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	return o
}

func component(t testing.TB, kind string, lines ...string) *content.Object {
	t.Helper()
	return object(t, "BEGIN:"+kind+"\n"+strings.Join(lines, "\n")+"\nEND:"+kind)
}

func event(t testing.TB, lines ...string) *content.Object {
	t.Helper()
	return component(t, "VEVENT", lines...)
}

// busy lists when somebody is busy on March 10th 2026, as "10:00-11:00 BUSY".
func busy(t *testing.T, in freebusy.Context, objects ...*content.Object) string {
	t.Helper()
	return written(collected(t, in, objects...).Periods())
}

// collected are the times of March 10th 2026.
func collected(t *testing.T, in freebusy.Context, objects ...*content.Object) *freebusy.Times {
	t.Helper()
	times := freebusy.NewTimes(nil, march10, march10.AddDate(0, 0, 1))
	in.Zones = zone.NewDB()
	for _, o := range objects {
		if err := times.Add(t.Context(), o, in); err != nil {
			t.Fatal(err)
		}
	}
	return times
}

func written(periods []freebusy.Period) string {
	var list []string
	for _, p := range periods {
		list = append(list,
			fmt.Sprintf("%s-%s %s", p.Start.Format("15:04"), p.End.Format("15:04"),
				strings.TrimPrefix(p.Type.String(), "BUSY-")))
	}
	return strings.Join(list, ", ")
}

// TestEvents: what an event is for the person whose time it is.
func TestEvents(t *testing.T) {
	t.Parallel()
	const me = "ATTENDEE;PARTSTAT="
	at := []string{"DTSTART:20260310T100000Z", "DTEND:20260310T110000Z"}
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"plain", nil, "10:00-11:00 BUSY"},
		{"opaque", []string{"TRANSP:OPAQUE", "STATUS:CONFIRMED"}, "10:00-11:00 BUSY"},
		{"transparent", []string{"TRANSP:transparent"}, ""},
		{"cancelled", []string{"STATUS:CANCELLED"}, ""},
		{"tentative", []string{"STATUS:TENTATIVE"}, "10:00-11:00 TENTATIVE"},
		{"accepted", []string{me + "ACCEPTED:mailto:Me@Example.com"}, "10:00-11:00 BUSY"},
		{"declined", []string{me + "DECLINED:mailto:me@example.com"}, ""},
		{"declined in another spelling", []string{me + "declined:MAILTO:ME@example.com"}, ""},
		{"declined what is tentative", []string{"STATUS:TENTATIVE", me + "DECLINED:mailto:me@example.com"}, ""},
		{
			"accepted what is tentative",
			[]string{"STATUS:TENTATIVE", me + "ACCEPTED:mailto:me@example.com"},
			"10:00-11:00 TENTATIVE",
		},
		{"delegated", []string{me + "DELEGATED:mailto:me@example.com"}, ""},
		{"perhaps", []string{me + "TENTATIVE:mailto:me@example.com"}, "10:00-11:00 TENTATIVE"},
		{"not answered", []string{me + "NEEDS-ACTION:mailto:me@example.com"}, "10:00-11:00 TENTATIVE"},
		{
			"not answered, in no words",
			[]string{"ATTENDEE:mailto:me@example.com", "ORGANIZER:mailto:you@example.com"},
			"10:00-11:00 TENTATIVE",
		},
		{
			"my own, in no words",
			[]string{"ATTENDEE:mailto:me@example.com", "ORGANIZER:mailto:me@example.com"},
			"10:00-11:00 BUSY",
		},
		{
			"Outlook: out of office",
			[]string{"TRANSP:OPAQUE", "X-MICROSOFT-CDO-BUSYSTATUS:OOF"},
			"10:00-11:00 UNAVAILABLE",
		},
		{
			"Outlook: tentative",
			[]string{"TRANSP:OPAQUE", "X-MICROSOFT-CDO-BUSYSTATUS:TENTATIVE"},
			"10:00-11:00 TENTATIVE",
		},
		{
			"Outlook: out of office, perhaps",
			[]string{"STATUS:TENTATIVE", "X-MICROSOFT-CDO-BUSYSTATUS:OOF"},
			"10:00-11:00 TENTATIVE",
		},
		{"Outlook: free", []string{"X-MICROSOFT-CDO-BUSYSTATUS:free"}, ""},
		{
			"Outlook: free until another program made it busy",
			[]string{"TRANSP:OPAQUE", "X-MICROSOFT-CDO-BUSYSTATUS:FREE"},
			"10:00-11:00 BUSY",
		},
		{
			"Outlook: busy until another program made it free",
			[]string{"TRANSP:TRANSPARENT", "X-MICROSOFT-CDO-BUSYSTATUS:OOF"},
			"",
		},
		{
			"Outlook: a word that nobody knows",
			[]string{"X-MICROSOFT-CDO-BUSYSTATUS:WORKINGELSEWHERE"},
			"10:00-11:00 BUSY",
		},
		{
			"Outlook: as sent, accepted",
			[]string{"X-MICROSOFT-CDO-BUSYSTATUS:TENTATIVE", me + "ACCEPTED:mailto:me@example.com"},
			"10:00-11:00 BUSY",
		},
		{
			"Outlook: not answered",
			[]string{"X-MICROSOFT-CDO-BUSYSTATUS:FREE", me + "NEEDS-ACTION:mailto:me@example.com"},
			"10:00-11:00 TENTATIVE",
		},
		{
			"Outlook: the organizer is away",
			[]string{
				"X-MICROSOFT-CDO-BUSYSTATUS:OOF", "ORGANIZER:mailto:me@example.com", "ATTENDEE:mailto:me@example.com",
			},
			"10:00-11:00 UNAVAILABLE",
		},
		{
			"declined by another",
			[]string{me + "DECLINED:mailto:you@example.com", me + "ACCEPTED:mailto:me@example.com"},
			"10:00-11:00 BUSY",
		},
	} {
		o := event(t, append(c.lines, at...)...)
		if got := busy(t, freebusy.Context{Own: []string{"me@example.com"}}, o); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	declined := event(t, append(at, me+"DECLINED:mailto:me@example.com")...)
	if got := busy(t, freebusy.Context{}, declined); got != "10:00-11:00 BUSY" {
		t.Errorf("declined by somebody else: %q", got)
	}
}

// TestTimes: which times of events count.
func TestTimes(t *testing.T) {
	t.Parallel()
	berlin, err := zone.Lookup("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const outlookDay = "X-MICROSOFT-CDO-ALLDAYEVENT:TRUE\n"
	for _, c := range []struct {
		name, text, want string
		floating         *zone.Zone
	}{
		{"from the day before", "DTSTART:20260309T230000Z\nDTEND:20260310T010000Z", "00:00-01:00 BUSY", nil},
		{"into the day after", "DTSTART:20260310T230000Z\nDTEND:20260311T010000Z", "23:00-00:00 BUSY", nil},
		{"around it", "DTSTART:20260301T000000Z\nDTEND:20260401T000000Z", "00:00-00:00 BUSY", nil},
		{"of no duration", "DTSTART:20260310T100000Z", "", nil},
		{"the whole day", "DTSTART;VALUE=DATE:20260310", "00:00-00:00 BUSY", nil},
		{"the whole day in Berlin", "DTSTART;VALUE=DATE:20260310", "00:00-23:00 BUSY", berlin},
		{
			"Outlook: the whole day of another zone",
			outlookDay + "DTSTART;TZID=America/New_York:20260310T000000\nDTEND;TZID=America/New_York:20260311T000000",
			"00:00-23:00 BUSY", berlin,
		},
		{
			"Outlook: the whole day of this zone",
			outlookDay + "DTSTART;TZID=Europe/Berlin:20260310T000000\nDTEND;TZID=Europe/Berlin:20260311T000000",
			"00:00-23:00 BUSY", berlin,
		},
		{"Outlook: days, one of which was moved to noon", outlookDay + `DTSTART;TZID=America/New_York:20260309T000000
			DTEND;TZID=America/New_York:20260310T000000
			RRULE:FREQ=DAILY;COUNT=2
			END:VEVENT
			BEGIN:VEVENT
			` + outlookDay + `RECURRENCE-ID;TZID=America/New_York:20260310T000000
			DTSTART;TZID=America/New_York:20260310T120000
			DTEND;TZID=America/New_York:20260310T130000`, "16:00-17:00 BUSY", nil},
		{
			"Outlook: no whole day",
			outlookDay + "DTSTART;TZID=America/New_York:20260310T000000\nDTEND;TZID=America/New_York:20260310T120000",
			"04:00-16:00 BUSY", berlin,
		},
		{"floating in Berlin", "DTSTART:20260310T100000\nDURATION:PT1H", "09:00-10:00 BUSY", berlin},
		{
			"a rule", "DTSTART:20200101T090000Z\nDURATION:PT30M\nRRULE:FREQ=HOURLY;INTERVAL=8",
			"01:00-01:30 BUSY, 09:00-09:30 BUSY, 17:00-17:30 BUSY", nil,
		},
		{"one of a series moved here, one cancelled", `DTSTART:20260308T090000Z
			DURATION:PT1H
			RRULE:FREQ=DAILY
			END:VEVENT
			BEGIN:VEVENT
			RECURRENCE-ID:20260310T090000Z
			DTSTART:20260310T090000Z
			STATUS:CANCELLED
			END:VEVENT
			BEGIN:VEVENT
			RECURRENCE-ID:20260311T090000Z
			DTSTART:20260310T160000Z
			DTEND:20260310T163000Z`, "16:00-16:30 BUSY", nil},
		{"transparent but for one", `DTSTART:20260309T090000Z
			DURATION:PT1H
			RRULE:FREQ=DAILY
			TRANSP:TRANSPARENT
			END:VEVENT
			BEGIN:VEVENT
			RECURRENCE-ID:20260310T090000Z
			DTSTART:20260310T090000Z
			DURATION:PT1H`, "09:00-10:00 BUSY", nil},
	} {
		if got := busy(t, freebusy.Context{Floating: c.floating}, event(t, c.text)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, kind := range []string{"VTODO", "VJOURNAL"} {
		if got := busy(t, freebusy.Context{}, component(t, kind, "DTSTART:20260310T100000Z", "SUMMARY:x")); got != "" {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

// TestMerge: the stronger type wins, or each is told by itself; neighbours of one type become one.
func TestMerge(t *testing.T) {
	t.Parallel()
	at := func(from, until string, lines ...string) *content.Object {
		return event(t, append(lines, "DTSTART:20260310T"+from+"00Z", "DTEND:20260310T"+until+"00Z")...)
	}
	published := func(kind, period string) *content.Object {
		return component(t, "VFREEBUSY", "FREEBUSY;FBTYPE="+kind+":"+period)
	}
	const tentative = "STATUS:TENTATIVE"
	for _, c := range []struct {
		name    string
		objects []*content.Object
		want    string
		// byType is what is told by type, if that is something else.
		byType string
	}{
		{"nothing", nil, "", ""},
		{"neighbours", []*content.Object{at("1100", "1200"), at("1000", "1100")}, "10:00-12:00 BUSY", ""},
		{"one in another", []*content.Object{at("1000", "1300"), at("1100", "1200")}, "10:00-13:00 BUSY", ""},
		{"apart", []*content.Object{at("1000", "1100"), at("1101", "1200")}, "10:00-11:00 BUSY, 11:01-12:00 BUSY", ""},
		{
			"busy within tentative",
			[]*content.Object{at("1000", "1300", tentative), at("1100", "1200")},
			"10:00-11:00 TENTATIVE, 11:00-12:00 BUSY, 12:00-13:00 TENTATIVE",
			"10:00-13:00 TENTATIVE, 11:00-12:00 BUSY",
		},
		{
			"tentative within busy",
			[]*content.Object{at("1100", "1200", tentative), at("1000", "1300")},
			"10:00-13:00 BUSY", "10:00-13:00 BUSY, 11:00-12:00 TENTATIVE",
		},
		{
			"tentative neighbours, one of them within busy",
			[]*content.Object{at("1100", "1200", tentative), at("1000", "1100", tentative), at("1000", "1100")},
			"10:00-11:00 BUSY, 11:00-12:00 TENTATIVE", "10:00-11:00 BUSY, 10:00-12:00 TENTATIVE",
		},
		{
			"away over tentative",
			[]*content.Object{at("1000", "1200", tentative), published("BUSY-UNAVAILABLE", "20260310T110000Z/PT2H")},
			"10:00-11:00 TENTATIVE, 11:00-13:00 UNAVAILABLE", "10:00-12:00 TENTATIVE, 11:00-13:00 UNAVAILABLE",
		},
		{"published", []*content.Object{component(t, "VFREEBUSY",
			"FREEBUSY:20260310T080000Z/PT1H,20260310T090000Z/20260310T093000Z",
			"FREEBUSY;FBTYPE=FREE:20260310T083000Z/PT5H",
			"FREEBUSY;FBTYPE=X-AWAY:20260310T200000Z/PT1H")}, "08:00-09:30 BUSY, 20:00-21:00 BUSY", ""},
		{
			"within office hours and without",
			[]*content.Object{
				object(t, office), at("0730", "0830", tentative), at("0700", "0800"),
			},
			"00:00-07:00 UNAVAILABLE, 07:00-08:00 BUSY, 08:00-08:30 TENTATIVE, 11:00-12:00 UNAVAILABLE, 16:00-00:00 " +
				"UNAVAILABLE",
			"00:00-07:00 UNAVAILABLE, 07:00-08:00 BUSY, 07:30-08:30 TENTATIVE, 11:00-12:00 UNAVAILABLE, 16:00-00:00 " +
				"UNAVAILABLE",
		},
	} {
		times := collected(t, freebusy.Context{}, c.objects...)
		if got := written(times.Periods()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.byType == "" {
			c.byType = c.want
		}
		if got := written(times.ByType()); got != c.byType {
			t.Errorf("%s, by type: %q, want %q", c.name, got, c.byType)
		}
	}
}

// office are availabilities with two AVAILABLE times on work days, and one for Saturday.
const office = `
	BEGIN:VAVAILABILITY
	DTSTART;TZID=Europe/Berlin:20260101T000000
	BEGIN:AVAILABLE
	UID:morning
	DTSTART;TZID=Europe/Berlin:20260101T090000
	DTEND;TZID=Europe/Berlin:20260101T120000
	RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR
	END:AVAILABLE
	BEGIN:AVAILABLE
	UID:afternoon
	DTSTART;TZID=Europe/Berlin:20260101T130000
	DTEND;TZID=Europe/Berlin:20260101T170000
	RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR
	END:AVAILABLE
	BEGIN:AVAILABLE
	UID:weekend
	DTSTART;TZID=Europe/Berlin:20260103T100000
	DTEND;TZID=Europe/Berlin:20260103T110000
	RRULE:FREQ=WEEKLY
	END:AVAILABLE
	END:VAVAILABILITY`

// TestAvailability is RFC 7953: somebody is away but when they say to be there.
func TestAvailability(t *testing.T) {
	t.Parallel()
	layer := func(priority, kind, from, until string, available ...string) *content.Object {
		text := "BEGIN:VAVAILABILITY\nPRIORITY:" + priority + "\nBUSYTYPE:" + kind + "\nDTSTART:20260310T" + from +
			"0000Z\nDTEND:20260310T" + until + "0000Z\n"
		for i := 0; i+1 < len(available); i += 2 {
			text += "BEGIN:AVAILABLE\nDTSTART:20260310T" + available[i] + "0000Z\nDTEND:20260310T" + available[i+1] +
				"0000Z\nEND:AVAILABLE\n"
		}
		return object(t, text+"END:VAVAILABILITY")
	}
	for _, c := range []struct {
		name    string
		objects []*content.Object
		want    string
	}{
		{
			"office hours",
			[]*content.Object{object(t, office)},
			"00:00-08:00 UNAVAILABLE, 11:00-12:00 UNAVAILABLE, 16:00-00:00 UNAVAILABLE",
		},
		{"a morning off", []*content.Object{object(t, strings.Replace(office, "END:VAVAILABILITY", `BEGIN:AVAILABLE
			UID:morning
			RECURRENCE-ID;TZID=Europe/Berlin:20260310T090000
			DTSTART;TZID=Europe/Berlin:20260310T110000
			DTEND;TZID=Europe/Berlin:20260310T120000
			END:AVAILABLE
			END:VAVAILABILITY`, 1))}, "00:00-10:00 UNAVAILABLE, 11:00-12:00 UNAVAILABLE, 16:00-00:00 UNAVAILABLE"},
		{"an appointment within and one without", []*content.Object{
			object(t, office), event(t, "DTSTART:20260310T073000Z", "DTEND:20260310T083000Z"),
		}, "00:00-07:30 UNAVAILABLE, 07:30-08:30 BUSY, 11:00-12:00 UNAVAILABLE, 16:00-00:00 UNAVAILABLE"},
		{"free time within", []*content.Object{
			object(t, office), event(t, "DTSTART:20260310T170000Z", "DTEND:20260310T180000Z", "TRANSP:TRANSPARENT"),
			component(t, "VFREEBUSY", "FREEBUSY;FBTYPE=FREE:20260310T180000Z/PT1H"),
		}, "00:00-08:00 UNAVAILABLE, 11:00-12:00 UNAVAILABLE, 16:00-00:00 UNAVAILABLE"},
		{
			"never there",
			[]*content.Object{object(t, "BEGIN:VAVAILABILITY\nBUSYTYPE:BUSY\nEND:VAVAILABILITY")},
			"00:00-00:00 BUSY",
		},
		{"a higher priority is over a lower", []*content.Object{
			layer("5", "BUSY", "08", "20", "12", "13"), layer("1", "BUSY-TENTATIVE", "10", "16", "14", "15"),
		}, "08:00-10:00 BUSY, 10:00-14:00 TENTATIVE, 15:00-16:00 TENTATIVE, 16:00-20:00 BUSY"},
		{
			"any priority is over none",
			[]*content.Object{layer("9", "BUSY-TENTATIVE", "10", "12"), layer("0", "BUSY", "09", "13")},
			"09:00-10:00 BUSY, 10:00-12:00 TENTATIVE, 12:00-13:00 BUSY",
		},
		{
			"at one priority both are kept",
			[]*content.Object{layer("1", "BUSY", "08", "12", "09", "11"), layer("1", "BUSY-TENTATIVE", "10", "14")},
			"08:00-09:00 BUSY, 10:00-11:00 TENTATIVE, 11:00-12:00 BUSY, 12:00-14:00 TENTATIVE",
		},
		{
			"times there that overlap and reach out",
			[]*content.Object{layer("1", "BUSY", "08", "12", "11", "13", "07", "10", "08", "09")},
			"10:00-11:00 BUSY",
		},
	} {
		if got := busy(t, freebusy.Context{}, c.objects...); got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
	}
}

// TestTooMuch: what is found before the budget ends is kept, and an answer has its bounds.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	in := freebusy.Context{Zones: zone.NewDB(), Budget: recur.Budget{Steps: 1000, Instances: 3}}
	o := event(t, "DTSTART:20260310T000000Z", "DURATION:PT30M", "RRULE:FREQ=HOURLY")
	times := freebusy.NewTimes(nil, march10, march10.AddDate(0, 0, 1))
	if err := times.Add(t.Context(), o, in); !errors.Is(err, recur.ErrBudget) {
		t.Error(err)
	}
	if got := written(times.Periods()); got != "00:00-00:30 BUSY, 01:00-01:30 BUSY, 02:00-02:30 BUSY" {
		t.Errorf("%q", got)
	}
	in.Budget = recur.Budget{Steps: 10_000_000, Instances: 1_000_000}
	all := freebusy.NewTimes(nil, march10, march10.AddDate(0, 0, 4))
	if err := all.Add(t.Context(), event(t, "DTSTART:20260310T000000Z", "DURATION:PT1S", "RRULE:FREQ=SECONDLY"),
		in); !errors.Is(err, freebusy.ErrTooMany) {
		t.Error(err)
	}
	const often = "BEGIN:AVAILABLE\nDTSTART:20260310T000000Z\nRRULE:FREQ=SECONDLY\nEND:AVAILABLE\n"
	if err := times.Add(t.Context(), object(t, "BEGIN:VAVAILABILITY\n"+strings.Repeat(often, 201)+"END:VAVAILABILITY"),
		in); !errors.Is(err, recur.ErrBudget) {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := times.Add(gone, o, in); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestComponent(t *testing.T) {
	t.Parallel()
	answer := freebusy.Answer{From: march10, Until: march10.AddDate(0, 0, 1), Stamp: march10, UID: "1"}
	c := answer.Component([]freebusy.Period{
		{Start: march10.Add(time.Hour), End: march10.Add(2 * time.Hour), Type: freebusy.Busy},
		{Start: march10.Add(3 * time.Hour), End: march10.Add(4 * time.Hour), Type: freebusy.Tentative},
	})
	want := strings.Join([]string{
		"BEGIN:VFREEBUSY", "UID:1", "DTSTAMP:20260310T000000Z", "DTSTART:20260310T000000Z", "DTEND:20260311T000000Z",
		"FREEBUSY;FBTYPE=BUSY:20260310T010000Z/20260310T020000Z",
		"FREEBUSY;FBTYPE=BUSY-TENTATIVE:20260310T030000Z/20260310T040000Z", "END:VFREEBUSY", "",
	}, "\r\n")
	if diff := cmp.Diff(want, ical.NewDocument(c).String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestJoinedTimes: the times of several people are those of any of them, whatever one's availability says of the
// other's.
func TestJoinedTimes(t *testing.T) {
	t.Parallel()
	inOffice := component(t, "VAVAILABILITY", "PRIORITY:1", "BEGIN:AVAILABLE", "UID:2", "DTSTART:20260310T090000Z",
		"DTEND:20260310T170000Z", "END:AVAILABLE")
	mornings := component(t, "VAVAILABILITY", "BUSYTYPE:BUSY-TENTATIVE", "DTSTART:20260310T120000Z",
		"DTEND:20260310T180000Z")
	all := freebusy.NewTimes(nil, march10, march10.AddDate(0, 0, 1))
	for _, one := range []*freebusy.Times{
		collected(t, freebusy.Context{}, inOffice, event(t, "DTSTART:20260310T100000Z", "DURATION:PT1H")),
		collected(t, freebusy.Context{}, mornings),
	} {
		if err := all.Join(one); err != nil {
			t.Fatal(err)
		}
	}
	want := "00:00-09:00 UNAVAILABLE, 10:00-11:00 BUSY, 12:00-17:00 TENTATIVE, 17:00-00:00 UNAVAILABLE"
	if got := written(all.Periods()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want = "00:00-09:00 UNAVAILABLE, 10:00-11:00 BUSY, 12:00-18:00 TENTATIVE, 17:00-00:00 UNAVAILABLE"
	if got := written(all.ByType()); got != want {
		t.Errorf("by type %s, want %s", got, want)
	}
}
