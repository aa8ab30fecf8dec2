package letter_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mail/letter"
)

// TestTimesOfAForm: a guest finds the times of the event as its clock has them, also where the night between is an hour
// shorter and where it has no end of its own, and proposes others that last as long.
func TestTimesOfAForm(t *testing.T) {
	t.Parallel()
	const berlin, york = ";TZID=Europe/Berlin:", ";TZID=America/New_York:"
	for name, test := range map[string]struct {
		event, start, end string
		days              bool
		// wants is what is proposed, says the times of the message.
		wants [2]string
		says  []string
	}{
		"over the change of the clock": {
			"DTSTART" + berlin + "20270328T000000\r\nDTEND" + berlin + "20270328T040000", "2027-03-28T00:00",
			"2027-03-28T04:00", false,
			[2]string{"2027-03-29T00:00", "2027-03-29T04:00"},
			[]string{"DTSTART" + berlin + "20270329T000000", "DTEND" + berlin + "20270329T040000"},
		},
		"from zone to zone": {
			"DTSTART" + berlin + "20270602T100000\r\nDTEND" + york + "20270602T120000", "2027-06-02T10:00",
			"2027-06-02T18:00", false,
			[2]string{"2027-06-03T10:00", "2027-06-03T18:00"},
			[]string{"DTSTART" + berlin + "20270603T100000", "DTEND" + berlin + "20270603T180000"},
		},
		"a day without an end": {
			"DTSTART;VALUE=DATE:20270602", "2027-06-02", "2027-06-02", true,
			[2]string{"2027-06-03", "2027-06-03"},
			[]string{"DTSTART;VALUE=DATE:20270603", "DTEND;VALUE=DATE:20270604"},
		},
		"some days": {
			"DTSTART;VALUE=DATE:20270327\r\nDTEND;VALUE=DATE:20270329", "2027-03-27", "2027-03-28", true,
			[2]string{"2027-03-28", "2027-03-29"},
			[]string{"DTSTART;VALUE=DATE:20270328", "DTEND;VALUE=DATE:20270330"},
		},
		"a time without an end": {
			"DTSTART:20270602T100000Z", "2027-06-02T10:00", "2027-06-02T10:00", false,
			[2]string{"2027-06-02T11:00", "2027-06-02T11:00"},
			[]string{"DTSTART:20270602T110000Z"},
		},
		"a length": {
			"DTSTART:20270602T100000\r\nDURATION:PT90M", "2027-06-02T10:00", "2027-06-02T11:30", false,
			[2]string{"2027-06-02T12:00", "2027-06-02T13:30"},
			[]string{"DTSTART:20270602T120000", "DTEND:20270602T133000"},
		},
	} {
		l := calendar.Letter{
			To: "bob@example.org", From: "ann@example.org",
			Method: "REQUEST", Data: []byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n" +
				"METHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\n" + test.event +
				"\r\nORGANIZER:mailto:ann@example.org\r\nATTENDEE:mailto:bob@example.org\r\nEND:VEVENT\r\n" +
				"END:VCALENDAR\r\n"),
		}
		at, err := letter.TimesOf(l)
		if err != nil || at.Start != test.start || at.End != test.end || at.Days != test.days {
			t.Errorf("%s: %+v, %v", name, at, err)
		}
		said, err := letter.Counter(l, letter.Times{Start: test.wants[0], End: test.wants[1]}, "", time.Unix(0, 0))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var times []string
		for line := range strings.SplitSeq(string(said), "\r\n") {
			if strings.HasPrefix(line, "DTSTART") || strings.HasPrefix(line, "DTEND") ||
				strings.HasPrefix(line, "DURATION") {
				times = append(times, line)
			}
		}
		if got, want := strings.Join(times, " "), strings.Join(test.says, " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if _, err := letter.Counter(l, at, "", time.Unix(0, 0)); err == nil {
			t.Errorf("%s: what is so already was proposed", name)
		}
	}
}
