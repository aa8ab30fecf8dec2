package publish_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/publish"
	"caldav-mcp-server/ical"
)

func TestMeetingLink(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"none": {[]string{"LOCATION:Hall 3", "URL:https://club.example/meeting/2"}, ""},
		"the property made for it, of any service": {[]string{
			"DESCRIPTION:https://zoom.us/j/1", "CONFERENCE;VALUE=URI:https://calls.example/room",
		}, "https://calls.example/room"},
		"not a telephone": {[]string{
			"CONFERENCE;VALUE=URI:tel:+49301", "X-GOOGLE-CONFERENCE:https://meet.google.com/abc",
		}, "https://meet.google.com/abc"},
		"Microsoft's property": {
			[]string{"X-MICROSOFT-SKYPETEAMSMEETINGURL:https://teams.microsoft.com/l/1"},
			"https://teams.microsoft.com/l/1",
		},
		"the place before the description": {[]string{
			"DESCRIPTION:https://zoom.us/j/1", "LOCATION:Hall 3 or https://us02web.zoom.us/j/9?pwd=x",
		}, "https://us02web.zoom.us/j/9?pwd=x"},
		"the first call of a text": {[]string{
			`DESCRIPTION:Agenda https://club.example/agenda\nJoin (https://meet.jit.si/Room)\, or zoom.us/j/1`,
		}, "https://meet.jit.si/Room"},
		"markup": {
			[]string{`DESCRIPTION:<a href="HTTPS://zoom.us/j/1">Join</a>`}, "HTTPS://zoom.us/j/1",
		},
		"a label before it":     {[]string{"DESCRIPTION:Zoom:https://zoom.us/j/1."}, "https://zoom.us/j/1"},
		"without a scheme":      {[]string{"LOCATION:zoom.us/j/1"}, "https://zoom.us/j/1"},
		"an address is no link": {[]string{"LOCATION:sip:8123@zoomcrc.com", "DESCRIPTION:8123@zoomcrc.com"}, ""},
	} {
		lines := append([]string{"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z"}, c.lines...)
		doc, err := ical.Parse([]byte(strings.Join(append(lines, "END:VEVENT"), "\n")+"\n"), ical.DefaultLimits())
		if err != nil {
			t.Fatal(name, err)
		}
		for event := range doc.Components() {
			if got := publish.MeetingLink(event); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	}
}

// TestObjectOfLongTexts has the texts that took regular expressions the longest: 0.1 to 1 s. They take some
// milliseconds now; the limit leaves room for a busy machine.
func TestObjectOfLongTexts(t *testing.T) {
	t.Parallel()
	const size = 52000
	for _, text := range []string{
		"The meeting of the members is at ten. ", "m", "meeting", "a.", "/", "1\\,", "%2f", "@/", "pin ", "É",
		"https://club.example/a ", "https://zoom.us/j/1\\n", "a ( ) https://zoom.us/j/1 ",
	} {
		lines := []string{
			"BEGIN:VEVENT", "UID:a", "DTSTART:20260301T100000Z", "CONFERENCE;VALUE=URI:https://zoom.us/j/1",
			"DESCRIPTION:" + strings.Repeat(text, size/len(text)), "END:VEVENT",
		}
		fastest := time.Hour
		for range 10 {
			start := time.Now()
			published(t, lines...)
			fastest = min(fastest, time.Since(start))
		}
		if fastest > 50*time.Millisecond {
			t.Errorf("%d bytes of %q take %v", size, text, fastest)
		}
	}
}
