package bench

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/ical"

	goical "github.com/emersion/go-ical"
)

// icalObjects is how many objects the parsers read in one pass.
const icalObjects = 20_000

// icalTexts makes objects of about 1 KB in the shape that clients send: a zone,
// parameters, a folded description, an alarm. No two are the same.
func icalTexts() [][]byte {
	const text = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Example Corp.//Calendar 1.0//EN
CALSCALE:GREGORIAN
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:DAYLIGHT
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
TZNAME:CEST
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
END:DAYLIGHT
END:VTIMEZONE
BEGIN:VEVENT
UID:%08d-8b86-4d01-b42d-00cf4fc964ff
DTSTAMP:20260118T142536Z
CREATED:20260118T142500Z
LAST-MODIFIED:20260118T142536Z
DTSTART;TZID=Europe/Berlin:202601%02dT%02d3000
DTEND;TZID=Europe/Berlin:202601%02dT%02d4500
SUMMARY:Planning of week %d\, second round
LOCATION:Room Elbe\, house 2
DESCRIPTION:What moved\, what is stuck\, and who can help with it until the
  next time we meet.\n\nNotes are kept in the folder of the team.
ORGANIZER;CN=Morgan Lee:mailto:morgan@example.com
ATTENDEE;CUTYPE=INDIVIDUAL;PARTSTAT=ACCEPTED;CN="Lee, Morgan":mailto:morgan
 @example.com
SEQUENCE:%d
STATUS:CONFIRMED
TRANSP:OPAQUE
BEGIN:VALARM
ACTION:DISPLAY
DESCRIPTION:Reminder
TRIGGER:-PT15M
END:VALARM
END:VEVENT
END:VCALENDAR
`
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	list := make([][]byte, icalObjects)
	for i := range list {
		day, hour := 1+i%28, i%23
		list[i] = fmt.Appendf(nil, crlf, i, day, hour, day, hour, i%53, i%10)
	}
	return list
}

// icalPass measures one pass over all objects and reports the cost of one.
func icalPass(b *testing.B, read func(data []byte) error) {
	texts := icalTexts()
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			if err := read(text); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*icalObjects), "ns/object")
}

// BenchmarkICalParse reads 20,000 objects of 1 KB with our parser and with
// go-ical. Ours must be twice as fast at least, with fewer allocations.
func BenchmarkICalParse(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		icalPass(b, func(data []byte) error {
			_, err := ical.Parse(data, ical.DefaultLimits())
			return err
		})
	})
	b.Run("go-ical", func(b *testing.B) {
		icalPass(b, func(data []byte) error {
			_, err := goical.NewDecoder(bytes.NewReader(data)).Decode()
			return err
		})
	})
}

// BenchmarkICalRead is what deciding about an object costs: parse it, find its
// event, and read the three values that every time-range asks for.
func BenchmarkICalRead(b *testing.B) {
	b.Run("ours", func(b *testing.B) { icalPass(b, icalReadOurs) })
	b.Run("go-ical", func(b *testing.B) { icalPass(b, icalReadTheirs) })
}

func icalReadOurs(data []byte) error {
	doc, err := ical.Parse(data, ical.DefaultLimits())
	if err != nil {
		return err
	}
	calendar, err := doc.Calendar()
	if err != nil {
		return err
	}
	for c := range calendar.Components() {
		if c.Name() != "VEVENT" {
			continue
		}
		for _, name := range [...]string{"DTSTAMP", "DTSTART", "DTEND"} {
			if _, err := c.Property(name).Time(); err != nil {
				return err
			}
		}
	}
	return nil
}

func icalReadTheirs(data []byte) error {
	calendar, err := goical.NewDecoder(bytes.NewReader(data)).Decode()
	if err != nil {
		return err
	}
	for _, event := range calendar.Events() {
		for _, name := range [...]string{"DTSTAMP", "DTSTART", "DTEND"} {
			if _, err := event.Props.DateTime(name, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// BenchmarkICalPatch is an edit by a tool: parse, give the event another
// SUMMARY, write. go-ical writes the whole object anew for it.
func BenchmarkICalPatch(b *testing.B) {
	b.Run("ours", func(b *testing.B) { icalPass(b, icalPatchOurs) })
	b.Run("go-ical", func(b *testing.B) { icalPass(b, icalPatchTheirs) })
}

func icalPatchOurs(data []byte) error {
	doc, err := ical.Parse(data, ical.DefaultLimits())
	if err != nil {
		return err
	}
	calendar, err := doc.Calendar()
	if err != nil {
		return err
	}
	calendar.AllComponents("VEVENT")[0].SetText("SUMMARY", "Moved, and shorter")
	if out := doc.Bytes(); len(out) >= len(data) {
		return fmt.Errorf("%d octets became %d", len(data), len(out))
	}
	return nil
}

func icalPatchTheirs(data []byte) error {
	calendar, err := goical.NewDecoder(bytes.NewReader(data)).Decode()
	if err != nil {
		return err
	}
	calendar.Events()[0].Props.SetText("SUMMARY", "Moved, and shorter")
	var out bytes.Buffer
	return goical.NewEncoder(&out).Encode(calendar)
}
