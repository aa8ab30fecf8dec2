package schedule_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

func rules() schedule.Rules {
	return schedule.Rules{Zones: zone.NewDB(), Now: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
}

// event is the text of some components, each of which has lines apart by blanks in the place of commas and semicolons
// being what they are: "SUMMARY:x | RRULE:…".
func event(components ...string) string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n")
	for _, c := range components {
		b.WriteString("BEGIN:VEVENT\r\nUID:meeting\r\n")
		for line := range strings.SplitSeq(c, "|") {
			if line = strings.TrimSpace(line); line != "" {
				b.WriteString(line + "\r\n")
			}
		}
		b.WriteString("END:VEVENT\r\n")
	}
	return b.String() + "END:VCALENDAR\r\n"
}

// The lines of most events. Ann organizes, Bob and Eve are invited.
const (
	at      = "DTSTAMP:20260301T080000Z|DTSTART:20260310T100000Z|DTEND:20260310T110000Z|SUMMARY:Plans"
	daily   = at + "|RRULE:FREQ=DAILY;COUNT=5"
	ann     = "|ORGANIZER:mailto:ann@example.com"
	annToo  = ann + "|ATTENDEE;PARTSTAT=ACCEPTED:mailto:ann@example.com"
	bob     = "|ATTENDEE:mailto:bob@example.com"
	bobYes  = "|ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.com"
	eve     = "|ATTENDEE:mailto:eve@example.com"
	eveYes  = "|ATTENDEE;PARTSTAT=ACCEPTED:mailto:eve@example.com"
	third   = "RECURRENCE-ID:20260312T100000Z|DTSTAMP:20260301T080000Z|SUMMARY:Plans"
	thirdAt = third + "|DTSTART:20260312T100000Z|DTEND:20260312T110000Z"
	later   = third + "|DTSTART:20260312T140000Z|DTEND:20260312T150000Z"
)

func read(t testing.TB, text string) *content.Object {
	t.Helper()
	if text == "" {
		return nil
	}
	o, err := content.Read([]byte(text), ical.Limits{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return o
}

func self(address string) schedule.Self {
	return func(a schedule.Address) bool { return a == schedule.AddressOf("mailto:"+address) }
}

// sorted is the text of an object with its lines in order.
func sorted(o *content.Object) string {
	var all []string
	for _, c := range o.Components() {
		all = append(all, slices.Sorted(strings.SplitSeq(ical.NewDocument(c.Clone()).String(), "\r\n"))...)
	}
	return strings.Join(all, "\n")
}

// told lists messages as "METHOD who", with the instance that each is about.
func told(all []schedule.Message) []string {
	list := []string{}
	for _, m := range all {
		if m.Refresh {
			continue
		}
		line := string(m.Method) + " " + strings.TrimSuffix(m.To.Mail(), "@example.com")
		if m.Recurrence != "" {
			line += " " + m.Recurrence
		}
		list = append(list, line)
	}
	slices.Sort(list)
	return list
}

func TestOrganizerTells(t *testing.T) {
	t.Parallel()
	long := "|LOCATION:Room 7"
	for name, c := range map[string]struct {
		before, next string
		want         []string
	}{
		"a new event": {"", event(at + annToo + bob + eve), []string{"REQUEST bob", "REQUEST eve"}},
		"nobody else": {"", event(at + annToo), nil},
		"another time": {
			event(at + ann + bob + eve),
			event(strings.Replace(at, "T110000Z", "T113000Z", 1) + ann + bob + eve),
			[]string{"REQUEST bob", "REQUEST eve"},
		},
		"another place": {event(at + ann + bob), event(at + long + ann + bob), []string{"REQUEST bob"}},
		"another colour": {
			event(at + ann + bob),
			event(at + "|COLOR:red|TRANSP:TRANSPARENT|CATEGORIES:x|X-NOTE:y" + ann + bob), nil,
		},
		"nothing but book-keeping": {
			event(at + ann + bob),
			event(strings.Replace(at, "DTSTAMP:2026", "DTSTAMP:2027",
				1) + "|SEQUENCE:4|LAST-MODIFIED:20260303T000000Z" + ann + bob), nil,
		},
		"one more guest": {event(at + ann + bob), event(at + ann + bob + eve), []string{"REQUEST eve"}},
		"one guest less": {event(at + ann + bob + eve), event(at + ann + bob), []string{"CANCEL eve"}},
		"called off":     {event(at + ann + bob + eve), "", []string{"CANCEL bob", "CANCEL eve"}},
		"called off by its status": {
			event(at + ann + bob), event(at + "|STATUS:CANCELLED" + ann + bob),
			[]string{"CANCEL bob"},
		},
		"an instance left out": {
			event(daily + ann + bob),
			event(daily + "|EXDATE:20260312T100000Z" + ann + bob),
			[]string{"CANCEL bob 20260312T100000Z"},
		},
		"an instance moved": {
			event(daily + ann + bob), event(daily+ann+bob, later+ann+bob),
			[]string{"REQUEST bob"},
		},
		"a component that says nothing": {
			event(daily + ann + bob + eve),
			event(daily+ann+bob+eve, thirdAt+ann+bobYes+eve), nil,
		},
		"an instance without somebody": {
			event(daily + ann + bob + eve), event(daily+ann+bob+eve, thirdAt+ann+bob),
			[]string{"CANCEL eve 20260312T100000Z"},
		},
		"an instance with somebody": {
			event(daily + ann + bob), event(daily+ann+bob, thirdAt+ann+bob+eve),
			[]string{"REQUEST eve 20260312T100000Z"},
		},
		"what others see to": {
			"",
			event(at + ann + "|ATTENDEE;SCHEDULE-AGENT=CLIENT:mailto:bob@example.com" +
				"|ATTENDEE;SCHEDULE-AGENT=NONE:mailto:eve@example.com"), nil,
		},
		"what others see to from now": {
			event(at + ann + bob),
			event(at + ann + "|ATTENDEE;SCHEDULE-AGENT=CLIENT:mailto:bob@example.com"),
			[]string{"CANCEL bob"},
		},
		"who is to be told again": {
			event(at + ann + bob + eve),
			event(at + ann + "|ATTENDEE;SCHEDULE-FORCE-SEND=REQUEST:mailto:bob@example.com" + eve),
			[]string{"REQUEST bob"},
		},
		"an address in other words": {
			event(at + ann + bob), event(at + ann + "|ATTENDEE:MAILTO:Bob@Example.COM"),
			nil,
		},
		"an address twice": {
			event(at + ann + bob),
			event(at + ann + bob + "|ATTENDEE:mailto:BOB@example.com"), nil,
		},
		"overrides of their series": {
			event(daily + ann + bob), event(daily+ann+bob, later),
			[]string{"REQUEST bob"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := rules().Organize(t.Context(), read(t, c.before), read(t, c.next), self("ann@example.com"))
			if err != nil {
				t.Fatal(err)
			}
			if c.want == nil {
				c.want = []string{}
			}
			if diff := cmp.Diff(c.want, told(out.Messages)); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

// line is the first line of a text that begins so, without folds.
func line(text, begin string) string {
	for l := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n ", ""), "\r\n") {
		if strings.HasPrefix(l, begin) {
			return l
		}
	}
	return ""
}

// TestAnswersAreTheServers: an organizer's program that does not know the latest answers does not lose them, and a new
// time asks everybody anew.
func TestAnswersAreTheServers(t *testing.T) {
	t.Parallel()
	stored := event(at + "|SEQUENCE:3" + ann + "|ATTENDEE;PARTSTAT=DECLINED;SCHEDULE-STATUS=2.0:mailto:bob@example.com")
	for name, c := range map[string]struct{ next, attendee, sequence string }{
		"another title": {
			event(strings.Replace(at, "Plans", "Ideas", 1) + "|SEQUENCE:3" + ann + bob),
			"ATTENDEE;PARTSTAT=DECLINED;SCHEDULE-STATUS=2.0:mailto:bob@example.com", "SEQUENCE:3",
		},
		"another time": {
			event(strings.Replace(at, "T110000Z", "T120000Z", 1) + "|SEQUENCE:3" + ann + bobYes),
			"ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;SCHEDULE-STATUS=2.0:mailto:bob@example.com", "SEQUENCE:4",
		},
		"counted already": {
			event(strings.Replace(at, "T110000Z", "T120000Z", 1) + "|SEQUENCE:9" + ann + bob),
			"ATTENDEE;RSVP=TRUE;SCHEDULE-STATUS=2.0:mailto:bob@example.com", "SEQUENCE:9",
		},
		"counted backward": {
			event(at + "|SEQUENCE:1|LOCATION:x" + ann + bob),
			"ATTENDEE;PARTSTAT=DECLINED;SCHEDULE-STATUS=2.0:mailto:bob@example.com", "SEQUENCE:3",
		},
		"called off": {
			event(at + "|SEQUENCE:3|STATUS:CANCELLED" + ann + bob),
			"ATTENDEE;PARTSTAT=DECLINED;SCHEDULE-STATUS=2.0:mailto:bob@example.com", "SEQUENCE:4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := rules().Organize(t.Context(), read(t, stored), read(t, c.next), self("ann@example.com"))
			if err != nil {
				t.Fatal(err)
			}
			text := out.Object.Document.String()
			if got := line(text, "ATTENDEE"); got != c.attendee {
				t.Errorf("%s, want %s", got, c.attendee)
			}
			if got := line(text, "SEQUENCE"); got != c.sequence {
				t.Errorf("%s, want %s", got, c.sequence)
			}
		})
	}
	// An instance called off leaves the answers to the series alone.
	out, err := rules().Organize(t.Context(), read(t, event(daily+ann+bobYes)),
		read(t, event(daily+"|EXDATE:20260312T100000Z"+ann+bob)), self("ann@example.com"))
	if err != nil || !strings.Contains(line(out.Object.Document.String(), "ATTENDEE"), "ACCEPTED") {
		t.Errorf("%v %s", err, line(out.Object.Document.String(), "ATTENDEE"))
	}
	// So does an answer for one instance, which the organizer's program did not know of.
	out, err = rules().Organize(t.Context(), read(t, event(daily+ann+bob,
		thirdAt+ann+"|ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com")), read(t, event(daily+"|LOCATION:x"+ann+bob)),
		self("ann@example.com"))
	if err != nil || len(out.Object.Overrides) != 1 || !strings.Contains(out.Object.Document.String(), "DECLINED") {
		t.Errorf("%v %s", err, out.Object.Document)
	}
}

// TestZoneOfASeriesIsTold: a series that begins at the same instant by other clocks is at another time, in summer. What
// takes place once is not, nor is a series whose zone has only another name: that is told, and asks nobody anew.
func TestZoneOfASeriesIsTold(t *testing.T) {
	t.Parallel()
	in := func(zone, rule string) string {
		return "DTSTAMP:20260301T080000Z|DTSTART;TZID=" + zone + ":20260310T100000|DURATION:PT1H|SUMMARY:Plans" +
			rule + ann + bobYes
	}
	own := func(summer string) string {
		zone := "BEGIN:VTIMEZONE\r\nTZID:ours\r\nBEGIN:STANDARD\r\nDTSTART:20001029T030000\r\n" +
			"RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\nTZOFFSETFROM:" + summer +
			"\r\nTZOFFSETTO:+0100\r\nEND:STANDARD\r\nBEGIN:DAYLIGHT\r\nDTSTART:20000326T020000\r\n" +
			"RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:" +
			summer + "\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT"
		return strings.Replace(event(in("ours", "|RRULE:FREQ=WEEKLY")), "BEGIN:VEVENT", zone, 1)
	}
	weekly := "|RRULE:FREQ=WEEKLY"
	for name, c := range map[string]struct {
		before, next, sequence string
		messages               []string
		asked                  bool
	}{
		"other clocks": {
			event(in("Europe/Berlin", weekly)), event(in("Africa/Lagos", weekly)),
			"SEQUENCE:1",
			[]string{"REQUEST bob"},
			true,
		},
		"other clocks, the same dates": {
			event(in("Europe/Berlin", "|RDATE:20260710T080000Z")),
			event(in("Africa/Lagos", "|RDATE:20260710T080000Z")), "",
			[]string{"REQUEST bob"},
			false,
		},
		"another name": {
			event(in("Europe/Berlin", weekly)), event(in("Europe/Vienna", weekly)), "",
			[]string{"REQUEST bob"},
			false,
		},
		"the name that Windows has": {
			event(in("Europe/Berlin", weekly)),
			event(in("W. Europe Standard Time", weekly)), "",
			[]string{},
			false,
		},
		"what takes place once": {
			event(in("Europe/Berlin", "")), event(in("Africa/Lagos", "")), "",
			[]string{},
			false,
		},
		"a zone of its own making": {own("+0200"), own("+0300"), "SEQUENCE:1", []string{"REQUEST bob"}, true},
		"the same of its own making": {
			own("+0200"),
			strings.Replace(own("+0200"), "TZID:ours", "TZID:ours\r\nCOMMENT:x", 1), "",
			[]string{},
			false,
		},
	} {
		out, err := rules().Organize(t.Context(), read(t, c.before), read(t, c.next), self("ann@example.com"))
		if err != nil {
			t.Fatal(err)
		}
		text := out.Object.Document.String()
		if got := line(text, "SEQUENCE"); got != c.sequence || strings.Contains(text, "NEEDS-ACTION") != c.asked ||
			!slices.Equal(told(out.Messages), c.messages) {
			t.Errorf("%s: %v %s", name, told(out.Messages), text)
		}
	}
}

// TestNewGuestsHaveNotAnswered: anyone who calls a meeting does not accept for others.
func TestNewGuestsHaveNotAnswered(t *testing.T) {
	t.Parallel()
	out, err := rules().Organize(t.Context(), nil, read(t, event(at+annToo+bobYes)), self("ann@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{out.Object.Document.String(), out.Messages[0].Document.String()} {
		if !strings.Contains(text, "PARTSTAT=NEEDS-ACTION:mailto:bob") ||
			!strings.Contains(text, "PARTSTAT=ACCEPTED:mailto:ann") {
			t.Error(text)
		}
	}
}

// TestNothingPrivateIsSent: of what a program or a person wrote down, guests see what they need, and the sender's own
// stays with the sender, also in what is called off. A comment is sent in an answer alone.
func TestNothingPrivateIsSent(t *testing.T) {
	t.Parallel()
	own := "|X-APPLE-TRAVEL-START;X-TITLE=Home:geo:1.0\\,2.0|X-MY-PRIVATE-NOTE:secret" +
		"|CATEGORIES:secret|COMMENT:secret|COLOR:red"
	kept := "|X-ALT-DESC;FMTTYPE=text/html:<p>x</p>|X-GOOGLE-CONFERENCE:https://meet.example" +
		"|X-MICROSOFT-CDO-ALLDAYEVENT:FALSE|X-APPLE-STRUCTURED-LOCATION:geo:1"
	stored := strings.Replace(event(at+own+kept+ann+bob), "END:VEVENT",
		"BEGIN:X-NOTES\r\nX-N:secret\r\nEND:X-NOTES\r\nEND:VEVENT", 1)
	for name, pair := range map[string][2]string{"asked": {"", stored}, "called off": {stored, ""}} {
		out, err := rules().Organize(t.Context(), read(t, pair[0]), read(t, pair[1]), self("ann@example.com"))
		if err != nil {
			t.Fatal(name, err)
		}
		sent := out.Messages[0].Document.String()
		for _, not := range []string{"TRAVEL", "secret", "CATEGORIES", "COMMENT", "COLOR", "X-NOTES"} {
			if strings.Contains(sent, not) {
				t.Errorf("%s: %s is sent:\n%s", name, not, sent)
			}
		}
		for _, what := range strings.Split(kept, "|")[1:] {
			if !strings.Contains(sent, what) {
				t.Errorf("%s: %s is not sent:\n%s", name, what, sent)
			}
		}
	}
	answer, err := rules().Attend(t.Context(), read(t, event(at+ann+bob)),
		read(t, event(at+"|COMMENT:I am late|X-MY-NOTE:secret"+ann+bobYes)),
		schedule.Guest{Self: self("bob@example.com")})
	if err != nil {
		t.Fatal(err)
	}
	if sent := answer.Messages[0].Document.String(); !strings.Contains(sent, "COMMENT:I am late") ||
		strings.Contains(sent, "secret") {
		t.Error(sent)
	}
}

// TestMessagesAreFitToBeSeen: what is the sender's own, or the server's, is not sent.
func TestMessagesAreFitToBeSeen(t *testing.T) {
	t.Parallel()
	text := strings.Replace(event(at+"|X-MOZ-LASTACK:x|X-CALENDARSERVER-ATTENDEE-COMMENT:secret"+
		"|X-APPLE-STRUCTURED-LOCATION:kept"+ann+
		"|ATTENDEE;SCHEDULE-FORCE-SEND=REQUEST;SCHEDULE-STATUS=1.2:mailto:bob@example.com"),
		"END:VEVENT",
		"BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:secret\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\nEND:VEVENT", 1)
	out, err := rules().Organize(t.Context(), nil, read(t, text), self("ann@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	sent := out.Messages[0].Document.String()
	for _, not := range []string{"VALARM", "secret", "X-MOZ", "SCHEDULE-"} {
		if strings.Contains(sent, not) {
			t.Errorf("%s is sent:\n%s", not, sent)
		}
	}
	for _, what := range []string{
		"METHOD:REQUEST\r\n", "X-APPLE-STRUCTURED-LOCATION:kept", "DTSTAMP:20260301T080000Z",
	} {
		if !strings.Contains(sent, what) {
			t.Errorf("%s is not sent:\n%s", what, sent)
		}
	}
	if stored := out.Object.Document.String(); strings.Contains(stored, "FORCE-SEND") ||
		!strings.Contains(stored, "VALARM") {
		t.Error(stored)
	}
	// What is called off says when it was to be.
	out, _ = rules().Organize(t.Context(), read(t, event(daily+ann+bob)), nil, self("ann@example.com"))
	sent = out.Messages[0].Document.String()
	for _, what := range []string{
		"METHOD:CANCEL", "DTSTART:20260310T100000Z", "DTEND:20260310T110000Z", "STATUS:CANCELLED", "SEQUENCE:1",
		"SUMMARY:Plans",
	} {
		if !strings.Contains(sent, what) {
			t.Errorf("%s is not sent:\n%s", what, sent)
		}
	}
}

// TestGuestsOfInstances: anyone who is invited to some instances sees those alone, and anyone who is left out of one
// sees the others.
func TestGuestsOfInstances(t *testing.T) {
	t.Parallel()
	out, err := rules().Organize(t.Context(), nil, read(t, event(daily+ann+bob, later+ann+eve)),
		self("ann@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Messages {
		text := m.Document.String()
		if m.To.Mail() == "eve@example.com" && (strings.Contains(text, "RRULE") || m.Recurrence != "20260312T100000Z") {
			t.Errorf("eve gets %s", text)
		}
		if m.To.Mail() == "bob@example.com" && (!strings.Contains(text, "EXDATE:20260312T100000Z") ||
			strings.Contains(text, "T140000Z")) {
			t.Errorf("bob gets %s", text)
		}
	}
}

func TestOrganizerMayNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, next string
		rule         schedule.Rule
	}{
		"give it to somebody else": {
			event(at + ann + bob), event(at + "|ORGANIZER:mailto:bob@example.com" + bob),
			schedule.OrganizerMayChange,
		},
		"have two organizers": {
			"", event(daily+ann+bob, later+"|ORGANIZER:mailto:bob@example.com"+bob),
			schedule.SameOrganizer,
		},
	} {
		_, err := rules().Organize(t.Context(), read(t, c.before), read(t, c.next), self("ann@example.com"))
		refused, ok := errors.AsType[*schedule.RefusalError](err)
		if !ok || refused.Rule != c.rule {
			t.Errorf("%s: %v, want %s", name, err, c.rule)
		}
	}
}

func TestAttendeeAnswers(t *testing.T) {
	t.Parallel()
	declined := strings.Replace(bobYes, "ACCEPTED", "DECLINED", 1)
	for name, c := range map[string]struct {
		before, next string
		// says is the answers in what the organizer is told, or nothing.
		says string
	}{
		"yes":            {event(at + ann + bob + eve), event(at + ann + bobYes + eve), "ACCEPTED"},
		"the same again": {event(at + ann + bobYes), event(at + ann + bobYes), ""},
		"an alarm": {
			event(at + ann + bobYes),
			strings.Replace(event(at+ann+bobYes), "END:VEVENT",
				"BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nDESCRIPTION:x\r\nEND:VALARM\r\nEND:VEVENT", 1), "",
		},
		"what is their own": {
			event(at + ann + bob),
			event(at + "|TRANSP:TRANSPARENT|CATEGORIES:x|COMMENT:y|X-NOTE:z|COLOR:red|CLASS:PRIVATE" + ann + bob), "",
		},
		"thrown away":                  {event(at + ann + bobYes), "", "DECLINED"},
		"thrown away, declined before": {event(at + ann + declined), "", ""},
		"thrown away when called off":  {event(at + "|STATUS:CANCELLED" + ann + bobYes), "", ""},
		"one instance": {
			event(daily + ann + bobYes), event(daily+ann+bobYes, thirdAt+ann+declined),
			"DECLINED@20260312T100000Z",
		},
		"one instance left out": {
			event(daily + ann + bobYes),
			event(daily + "|EXDATE:20260312T100000Z" + ann + bobYes), "DECLINED@20260312T100000Z",
		},
		"all, with one apart": {
			event(daily+ann+bob, later+ann+bob),
			event(daily+ann+bobYes, later+ann+declined), "ACCEPTED DECLINED@20260312T100000Z",
		},
		"a program that sees to it": {
			event(at + "|ORGANIZER;SCHEDULE-AGENT=CLIENT:mailto:ann@example.com" + bob),
			event(at + "|ORGANIZER;SCHEDULE-AGENT=CLIENT:mailto:ann@example.com" + bobYes), "",
		},
		"told again": {
			event(at + ann + bobYes),
			event(at + "|ORGANIZER;SCHEDULE-FORCE-SEND=REPLY:mailto:ann@example.com" + bobYes), "ACCEPTED",
		},
		"an event that came by mail": {"", event(at + ann + bobYes), "ACCEPTED"},
		"one that is not answered":   {"", event(at + ann + bob), ""},
		"others' answers are older":  {event(at + ann + bob + eveYes), event(at + ann + bobYes + eve), "ACCEPTED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := rules().Attend(t.Context(), read(t, c.before), read(t, c.next),
				schedule.Guest{Self: self("bob@example.com")})
			if err != nil {
				t.Fatal(err)
			}
			says := ""
			for _, m := range out.Messages {
				if m.Method != schedule.Reply || m.To.Mail() != "ann@example.com" ||
					m.From.Mail() != "bob@example.com" {
					t.Errorf("%+v", m)
				}
				text, err := content.Of(m.Document)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range text.Components() {
					if len(r.All("ATTENDEE")) != 1 || r.Property("ORGANIZER") == nil || r.Property("DTSTART") == nil {
						t.Errorf("the answer is %s", m.Document)
					}
					said, _ := r.Property("ATTENDEE").Param("PARTSTAT")
					if p := r.Property("RECURRENCE-ID"); p != nil {
						said += "@" + p.Value()
					}
					says = strings.TrimSpace(says + " " + said)
				}
			}
			if says != c.says {
				t.Errorf("the organizer hears %q, want %q", says, c.says)
			}
			if c.next != "" && strings.Contains(c.before, "ACCEPTED:mailto:eve") &&
				!strings.Contains(out.Object.Document.String(), "ACCEPTED:mailto:eve") {
				t.Errorf("eve's answer is lost: %s", out.Object.Document)
			}
		})
	}
}

// TestWhatAGuestsProgramDropsComesBack: what the organizer tells of one instance is not lost where a program stores the
// series alone, and to leave an instance out is to decline it.
func TestWhatAGuestsProgramDropsComesBack(t *testing.T) {
	t.Parallel()
	before := event(daily+ann+bob+eve, thirdAt+"|CONFERENCE;VALUE=URI:https://meet.example/42"+ann+bob+eve)
	out, err := rules().Attend(t.Context(), read(t, before), read(t, event(daily+ann+bobYes+eve)),
		schedule.Guest{Self: self("bob@example.com")})
	if err != nil || !strings.Contains(out.Object.Document.String(), "https://meet.example/42") ||
		strings.Count(out.Object.Document.String(), "PARTSTAT=ACCEPTED:mailto:bob") != 2 {
		t.Fatalf("%v\n%v", err, out.Object)
	}
	left := strings.Replace(event(daily+ann+bob+eve), "SUMMARY", "EXDATE:20260312T100000Z\r\nSUMMARY", 1)
	out, err = rules().Attend(t.Context(), read(t, before), read(t, left),
		schedule.Guest{Self: self("bob@example.com")})
	if err != nil || strings.Contains(out.Object.Document.String(), "RECURRENCE-ID") || len(out.Messages) != 1 ||
		out.Messages[0].Answered != "DECLINED" || out.Messages[0].Recurrence != "20260312T100000Z" {
		t.Fatalf("%v\n%v %+v", err, out.Object.Document, out.Messages)
	}
}

// TestWhatComesBackHasOneOrder: the same PUT has the same bytes as its result, and so the same ETag, however many
// instances come back with it: those with an answer of their own, and those of which the organizer tells something.
func TestWhatComesBackHasOneOrder(t *testing.T) {
	t.Parallel()
	parts := []string{daily + ann + bob + eve}
	for day, lines := range map[string]string{
		"11": ann + bob + eveYes, "12": ann + bob + eveYes,
		"13": "|CONFERENCE:https://meet.example/3" + ann + bob + eve,
		"14": "|CONFERENCE:https://meet.example/4" + ann + bob + eve,
	} {
		parts = append(parts, strings.ReplaceAll(thirdAt, "20260312", "202603"+day)+lines)
	}
	before, next := event(parts...), event(daily+ann+bobYes+eve)
	for range 20 {
		out, err := rules().Attend(t.Context(), read(t, before), read(t, next),
			schedule.Guest{Self: self("bob@example.com")})
		if err != nil {
			t.Fatal(err)
		}
		var days []string
		for _, c := range out.Object.Overrides {
			days = append(days, c.Property("RECURRENCE-ID").Value()[6:8])
		}
		if got := strings.Join(days, " "); got != "11 12 13 14" {
			t.Fatalf("they come back as %s", got)
		}
	}
}

// TestAttendeeMayChange is RFC 6638 §3.2.2.1: other instances and other times are refused. The rest of the organizer's
// part is put back where a program writes it otherwise, and refused where the change was made to the stored text.
func TestAttendeeMayChange(t *testing.T) {
	t.Parallel()
	before := event(daily+ann+bob+eve, later+ann+bob)
	refusal := func(next string, exact bool) error {
		out, err := rules().Attend(t.Context(), read(t, before), read(t, next),
			schedule.Guest{Self: self("bob@example.com"), Exact: exact})
		if refused, ok := errors.AsType[*schedule.RefusalError](err); ok && refused.Rule == schedule.AttendeeMayChange {
			return err
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sorted(out.Object), sorted(read(t, before)); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		return nil
	}
	for name, next := range map[string]string{
		"the time": event(strings.Replace(daily, "T110000Z", "T113000Z", 1)+ann+bob+eve, later+ann+bob),
		"the rule": event(strings.Replace(daily, "COUNT=5", "COUNT=9", 1)+ann+bob+eve, later+ann+bob),
		"the organizer": event(daily+"|ORGANIZER:mailto:eve@example.com"+bob+eve,
			later+"|ORGANIZER:mailto:eve@example.com"+bob),
		"when an instance is": event(daily+ann+bob+eve, thirdAt+ann+bob),
		"instances that are not": event(daily+ann+bob+eve, later+ann+bob,
			strings.ReplaceAll(thirdAt, "20260312", "20260320")+ann+bob),
		"what is no answer": event(daily+ann+"|ATTENDEE;PARTSTAT=MAYBE:mailto:bob@example.com"+eve, later+ann+bob),
	} {
		if refusal(next, false) == nil || refusal(next, true) == nil {
			t.Errorf("%s can be changed", name)
		}
	}
	for name, next := range map[string]string{
		"the title":         event(strings.Replace(daily, "Plans", "Fun", 1)+ann+bob+eve, later+ann+bob),
		"the place":         event(daily+"|LOCATION:elsewhere"+ann+bob+eve, later+ann+bob),
		"the status":        event(daily+"|STATUS:CANCELLED"+ann+bob+eve, later+ann+bob),
		"who comes":         event(daily+ann+bob+eve+"|ATTENDEE:mailto:zoe@example.com", later+ann+bob),
		"who does not come": event(daily+ann+bob, later+ann+bob),
	} {
		if err := refusal(next, false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if refusal(next, true) == nil {
			t.Errorf("%s can be changed", name)
		}
	}
	for name, next := range map[string]string{
		"the same rule in other words": event(strings.Replace(daily, "FREQ=DAILY;COUNT=5",
			"COUNT=5;INTERVAL=1;FREQ=DAILY;WKST=SU", 1)+ann+bob+eve, later+ann+bob),
		"the same set by its end": event(strings.Replace(daily, "COUNT=5", "UNTIL=20260314T100000Z",
			1)+ann+bob+eve, later+ann+bob),
		"a counter of their own": event(daily+"|SEQUENCE:7"+ann+bob+eve, later+"|SEQUENCE:7"+ann+bob),
		"an instance left out":   event(daily + ann + bob + eve),
		"no organizer":           event(daily+bob+eve, later+bob),
		"nobody":                 event(daily, later),
	} {
		if err := refusal(next, false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A program that ends the series is refused. An edit that ends it declines the later dates.
	shorter := event(strings.Replace(daily, "COUNT=5", "COUNT=3", 1)+ann+bob+eve, later+ann+bob)
	if refusal(shorter, false) == nil {
		t.Error("the end of the series can be changed")
	}
	ended, err := rules().Attend(t.Context(), read(t, before), read(t, shorter),
		schedule.Guest{Self: self("bob@example.com"), Exact: true, Away: true})
	if err != nil || len(ended.Messages) != 1 || strings.Count(ended.Messages[0].Document.String(),
		"PARTSTAT=DECLINED") != 2 ||
		!strings.Contains(ended.Object.Document.String(), "COUNT=5") ||
		strings.Count(ended.Object.Document.String(), "EXDATE:2026031") != 2 {
		t.Errorf("%v %v\n%v", err, ended.Messages, ended.Object)
	}
	// Where the organizer is not of this server, a program stores what came by mail.
	next := event(strings.Replace(daily, "T110000Z", "T113000Z", 1) + "|SEQUENCE:1" + ann + bob + eve)
	if _, err := rules().Attend(t.Context(), read(t, before), read(t, next),
		schedule.Guest{Self: self("bob@example.com"), Away: true}); err != nil {
		t.Error(err)
	}
	// Somebody may be sent in one's place.
	next = event(at + ann +
		"|ATTENDEE;PARTSTAT=DELEGATED;DELEGATED-TO=\"mailto:zoe@example.com\":mailto:bob@example.com" +
		"|ATTENDEE;DELEGATED-FROM=\"mailto:bob@example.com\":mailto:zoe@example.com")
	out, err := rules().Attend(t.Context(), read(t, event(at+ann+bob)), read(t, next),
		schedule.Guest{Self: self("bob@example.com")})
	if err != nil || len(out.Messages) != 1 || !strings.Contains(out.Messages[0].Document.String(), "zoe") {
		t.Errorf("%v %v", err, out.Messages)
	}
}
