package schedule_test

import (
	"errors"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
)

// message is a text with a method.
func message(method string, components ...string) string {
	return strings.Replace(event(components...), "PRODID", "METHOD:"+method+"\r\nPRODID", 1)
}

// TestWhatIsTheirsSurvives: an update leaves an attendee's alarms, transparency, categories and notes alone.
func TestWhatIsTheirsSurvives(t *testing.T) {
	t.Parallel()
	alarm := "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:mine\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\nEND:VEVENT"
	stored := strings.Replace(event(at+"|TRANSP:TRANSPARENT|CATEGORIES:mine|COMMENT:my "+
		"note|X-MY-NOTE:mine|CLASS:PRIVATE"+ann+bobYes), "END:VEVENT", alarm, 1)
	update := message("REQUEST", strings.Replace(at, "Plans", "Ideas",
		1)+"|SEQUENCE:1|TRANSP:OPAQUE|CATEGORIES:theirs"+ann+bobYes)
	done, err := rules().Invite(t.Context(), schedule.Delivery{
		Stored: read(t, stored), Message: read(t, update), Self: self("bob@example.com"),
	})
	if err != nil {
		t.Fatal(err)
	}
	text := done.Object.Document.String()
	for _, what := range []string{
		"SUMMARY:Ideas", "TRANSP:TRANSPARENT", "CATEGORIES:mine", "COMMENT:my note", "X-MY-NOTE:mine", "CLASS:PRIVATE",
		"DESCRIPTION:mine", "PARTSTAT=ACCEPTED",
	} {
		if !strings.Contains(text, what) {
			t.Errorf("%s is lost:\n%s", what, text)
		}
	}
	for _, not := range []string{"METHOD", "theirs", "OPAQUE"} {
		if strings.Contains(text, not) {
			t.Errorf("%s is there:\n%s", not, text)
		}
	}
	if !done.Consequential {
		t.Error("another title is of consequence")
	}
	// What others have answered is none.
	done, err = rules().Invite(t.Context(), schedule.Delivery{
		Stored: read(t, event(at+ann+bobYes+eve)), Message: read(t, message("REQUEST", at+ann+bobYes+eveYes)),
		Self: self("bob@example.com"),
	})
	if err != nil || done.Consequential {
		t.Errorf("%v %+v", err, done)
	}
}

// TestMailMeets is what messages from outside make of what somebody has: the traps that other servers fell into.
func TestMailMeets(t *testing.T) {
	t.Parallel()
	moved := strings.Replace(at, "T100000Z", "T120000Z", 1)
	moved = strings.Replace(moved, "T110000Z", "T130000Z", 1)
	for name, c := range map[string]struct {
		stored, message string
		err             error
		has, lacks      string
	}{
		"a new invitation": {
			"", message("REQUEST", at+ann+bob), nil, "SUMMARY:Plans",
			"METHOD",
		},
		"one that accepts for somebody": {
			"", message("REQUEST", at+ann+bobYes), nil, "NEEDS-ACTION",
			"ACCEPTED",
		},
		"one with alarms": {
			"",
			strings.Replace(message("REQUEST", at+ann+bob), "END:VEVENT",
				"BEGIN:VALARM\r\nACTION:AUDIO\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\nEND:VEVENT", 1), nil, "SUMMARY",
			"VALARM",
		},
		"the same twice": {
			event(at + ann + bob), message("REQUEST", at+ann+bob),
			schedule.ErrSame, "", "",
		},
		"a lower SEQUENCE": {
			event(at + "|SEQUENCE:2" + ann + bob),
			message("REQUEST", moved+"|SEQUENCE:1"+ann+bob), schedule.ErrStale, "", "",
		},
		"an older DTSTAMP": {
			event(at + ann + bob),
			message("REQUEST", strings.Replace(moved, "DTSTAMP:2026", "DTSTAMP:2025", 1)+ann+bob), schedule.ErrStale,
			"", "",
		},
		"another organizer": {
			event(at + ann + bob),
			message("REQUEST", moved+"|SEQUENCE:9|ORGANIZER:mailto:eve@example.com"+bob), schedule.ErrForeign, "", "",
		},
		"an organizer who calls off another's": {
			event(at + ann + bob),
			message("CANCEL", at+"|SEQUENCE:9|ORGANIZER:mailto:eve@example.com"+bob), schedule.ErrForeign, "", "",
		},
		"an exception, with all others": {
			event(daily + ann + bobYes),
			message("REQUEST", later+"|SEQUENCE:1"+ann+bob), nil, "RRULE:FREQ=DAILY", "METHOD",
		},
		"an exception that moves": {
			event(daily + ann + bobYes),
			message("REQUEST", later+"|SEQUENCE:1"+ann+bob), nil, "DTSTART:20260312T140000Z", "METHOD",
		},
		"an update keeps the answer": {
			event(at + ann + bobYes),
			message("REQUEST", strings.Replace(at, "Plans", "Ideas", 1)+"|SEQUENCE:1"+ann+bob), nil,
			"PARTSTAT=ACCEPTED", "Plans",
		},
		"another time does not": {
			event(at + ann + bobYes),
			message("REQUEST", moved+"|SEQUENCE:1"+ann+bobYes), nil, "NEEDS-ACTION", "ACCEPTED",
		},
		"called off, without a word of them": {
			event(at + ann + bob),
			message("CANCEL", at+"|SEQUENCE:1"+ann+eve), nil, "STATUS:CANCELLED", "METHOD",
		},
		"called off twice": {
			event(at + "|STATUS:CANCELLED|SEQUENCE:1" + ann + bob),
			message("CANCEL", at+"|SEQUENCE:1"+ann+bob), schedule.ErrSame, "", "",
		},
		"an instance called off": {
			event(daily + ann + bob),
			message("CANCEL", thirdAt+"|SEQUENCE:1"+ann+bob), nil, "EXDATE:20260312T100000Z", "CANCELLED",
		},
		"what is not there called off": {"", message("CANCEL", at+ann+bob), schedule.ErrSame, "", ""},
		"what their program sees to": {
			event(at + "|ORGANIZER;SCHEDULE-AGENT=CLIENT:mailto:ann@example.com" + bob),
			message("REQUEST", moved+"|SEQUENCE:1"+ann+bob), schedule.ErrSame, "", "",
		},
		"the only instance called off": {
			event(thirdAt + ann + bob),
			message("CANCEL", thirdAt+"|SEQUENCE:1"+ann+bob), nil, "STATUS:CANCELLED", "EXDATE",
		},
		"an organizer written in other words is known": {
			event(at + ann + bob),
			message("REQUEST", moved+"|SEQUENCE:1|ORGANIZER:MAILTO:Ann%40example.com"+bob), nil, "T120000Z",
			"T100000Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := read(t, c.message)
			d := schedule.Delivery{
				Stored: read(t, c.stored), Message: text, Self: self("bob@example.com"), Outside: true,
			}
			apply := rules().Invite
			if content.WordOf(text.Calendar, "METHOD") == "CANCEL" {
				apply = rules().CallOff
			}
			done, err := apply(t.Context(), d)
			if !errors.Is(err, c.err) || err != nil && c.err == nil {
				t.Fatalf("%v, want %v", err, c.err)
			}
			if err != nil {
				return
			}
			if got := done.Object.Document.String(); !strings.Contains(got, c.has) || strings.Contains(got, c.lacks) {
				t.Errorf("it has no %q, or has %q:\n%s", c.has, c.lacks, got)
			}
		})
	}
}

// TestAnswersMeet is what answers make of an organizer's event.
func TestAnswersMeet(t *testing.T) {
	t.Parallel()
	no := strings.Replace(bobYes, "ACCEPTED", "DECLINED", 1)
	for name, c := range map[string]struct {
		stored, reply string
		from          string
		err           error
		has, lacks    string
	}{
		"yes": {
			event(at + ann + bob), message("REPLY", at+ann+bobYes), "bob", nil,
			"PARTSTAT=ACCEPTED;SCHEDULE-STATUS=2.0", "NEEDS",
		},
		"yes without an organizer": {
			event(at + ann + bob), message("REPLY", at+bobYes), "bob", nil,
			"ACCEPTED", "NEEDS",
		},
		"the same twice": {
			event(at + ann +
				"|ATTENDEE;PARTSTAT=ACCEPTED;SCHEDULE-STATUS=2.0;X-REPLIED=20260301T080000Z:mailto:bob@example.com"),
			message("REPLY", at+ann+bobYes), "bob", schedule.ErrSame, "", "",
		},
		"of a party crasher": {
			event(at + ann + bob),
			message("REPLY", at+ann+"|ATTENDEE;PARTSTAT=ACCEPTED:mailto:zoe@example.com"), "zoe", schedule.ErrUninvited,
			"", "",
		},
		"for somebody else": {
			event(at + ann + bob + eve), message("REPLY", at+ann+bobYes+eveYes),
			"bob", nil, "ATTENDEE:mailto:eve@example.com", "nothing",
		},
		"for one instance": {
			event(daily + ann + bobYes), message("REPLY", thirdAt+ann+no), "bob",
			nil, "RECURRENCE-ID:20260312T100000Z", "METHOD",
		},
		"for an instance that is not": {
			event(daily + ann + bob),
			message("REPLY", strings.ReplaceAll(thirdAt, "20260312", "20260320")+ann+no), "bob", schedule.ErrStale, "",
			"",
		},
		"to what it was before": {event(strings.Replace(at, "20260310T1", "20260311T1",
			2) + "|SEQUENCE:1" + ann + bob), message("REPLY", at+ann+bobYes), "bob", schedule.ErrStale, "", ""},
		"to the same time, counted differently": {
			event(at + "|SEQUENCE:5" + ann + bob),
			message("REPLY", at+ann+bobYes), "bob", nil, "ACCEPTED", "NEEDS",
		},
		"overtaken by a later one": {
			event(at + ann +
				"|ATTENDEE;PARTSTAT=DECLINED;X-REPLIED=20260302T000000Z:mailto:bob@example.com"),
			message("REPLY", at+ann+bobYes), "bob", schedule.ErrStale, "", "",
		},
		"that changes the event": {
			event(at + ann + bob),
			message("REPLY", strings.Replace(at, "Plans", "Mine now", 1)+"|LOCATION:my house"+ann+bobYes), "bob", nil,
			"SUMMARY:Plans", "my house",
		},
		"that sends somebody": {
			event(at + ann + bob),
			message("REPLY",
				at+ann+"|ATTENDEE;PARTSTAT=DELEGATED;DELEGATED-TO=\"mailto:zoe@example.com\":mailto:bob@example.com"+
					"|ATTENDEE;DELEGATED-FROM=\"mailto:bob@example.com\":mailto:zoe@example.com"),
			"bob", nil, "mailto:zoe@example.com", "METHOD",
		},
		"that brings friends": {
			event(at + ann + bob),
			message("REPLY", at+ann+bobYes+"|ATTENDEE:mailto:zoe@example.com"), "bob", nil, "ACCEPTED", "zoe",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := schedule.AddressOf("mailto:" + c.from + "@example.com")
			made, err := rules().Answer(t.Context(), read(t, c.stored), read(t, c.reply), from, true)
			if !errors.Is(err, c.err) || err != nil && c.err == nil {
				t.Fatalf("%v, want %v", err, c.err)
			}
			if err != nil {
				return
			}
			if got := strings.ReplaceAll(made.Document.String(), "\r\n ", ""); !strings.Contains(got, c.has) ||
				strings.Contains(got, c.lacks) {
				t.Errorf("it has no %q, or has %q:\n%s", c.has, c.lacks, got)
			}
		})
	}
}

// TestAnswersToTheSeries: an answer to all of a series, without a word of the instances that are apart, is one to those
// as well, unless they were answered by themselves. One with sixteen of them changes the sender's line in each, and no
// more.
func TestAnswersToTheSeries(t *testing.T) {
	t.Parallel()
	from := schedule.AddressOf("mailto:bob@example.com")
	made, err := rules().Answer(t.Context(), read(t, event(daily+ann+bob, later+ann+bob)),
		read(t, message("REPLY", daily+ann+bobYes)), from, true)
	if err != nil || strings.Count(made.Document.String(), "ACCEPTED") != 2 {
		t.Errorf("%v %s", err, made.Document)
	}
	no := strings.Replace(bobYes, "ACCEPTED", "DECLINED", 1)
	made, err = rules().Answer(t.Context(), read(t, event(daily+ann+bob, later+ann+no)),
		read(t, message("REPLY", daily+ann+bobYes)), from, true)
	if err != nil || strings.Count(made.Document.String(), "ACCEPTED") != 1 ||
		strings.Count(made.Document.String(), "DECLINED") != 1 {
		t.Errorf("%v %s", err, made.Document)
	}
}

// TestAnAnswerLeavesWhatIsCalledOff: a date that the organizer keeps as cancelled asks for no answer, and gets none.
func TestAnAnswerLeavesWhatIsCalledOff(t *testing.T) {
	t.Parallel()
	reply := read(t, message("REPLY", daily+ann+bobYes))
	made, err := rules().Answer(t.Context(), read(t, event(daily+ann+bob, thirdAt+ann+bob+"|STATUS:CANCELLED")), reply,
		schedule.AddressOf("bob@example.com"), false)
	if err != nil || strings.Count(made.Document.String(), "ACCEPTED") != 1 {
		t.Errorf("%v %s", err, made.Document)
	}
}

// TestNoAnswerIsNotGiven: an instance that others' answers told apart is sent along unanswered by a program that
// answers the series, and follows it.
func TestNoAnswerIsNotGiven(t *testing.T) {
	t.Parallel()
	reply := message("REPLY", daily+ann+bobYes, thirdAt+ann+bob)
	made, err := rules().Answer(t.Context(), read(t, event(daily+ann+bob+eve, thirdAt+ann+bob+eveYes)), read(t, reply),
		schedule.AddressOf("bob@example.com"), true)
	if err != nil || strings.Count(made.Document.String(), "ACCEPTED") != 3 {
		t.Errorf("%v %s", err, made.Document)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]schedule.Address{
		"mailto:ann@example.com": "mailto:ann@example.com", "MAILTO:Ann@Example.com": "mailto:ann@example.com",
		" ann@example.com ":                         "mailto:ann@example.com",
		"mailto:ann%40example.com":                  "mailto:ann@example.com",
		"mailto:Ann%20Lee%20%3Cann@example.com%3E":  "mailto:ann@example.com",
		"mailto:ann@example.com?subject=x":          "mailto:ann@example.com",
		"/dav/principals/ann/":                      "/dav/principals/ann",
		"https://c.example.com/dav/principals/ann/": "https://c.example.com/dav/principals/ann",
		"urn:uuid:1":                                "urn:uuid:1",
	} {
		if got := schedule.AddressOf(value); got != want {
			t.Errorf("%q is %q, want %q", value, got, want)
		}
	}
	for address, want := range map[schedule.Address]string{
		"mailto:ann@example.com": "ann@example.com", "mailto:ann": "", "mailto:@x": "", "mailto:a b@x": "",
		"urn:uuid:1": "", "mailto:a@b@c": "",
	} {
		if got := address.Mail(); got != want {
			t.Errorf("%q is mailed at %q, want %q", address, got, want)
		}
	}
	for value, want := range map[string]string{
		"/dav/principals/ann/": "ann", "https://c.example.com/dav/principals/ann": "ann",
		"https://C.example.com/dav/principals/ann/": "ann", "https://elsewhere.example/dav/principals/ann": "",
		"https://c.example.com.evil.example/principals/ann": "", "//elsewhere.example/principals/ann": "",
		"mailto:x/principals/ann@example.com": "", "urn:x/principals/ann": "",
	} {
		if got := schedule.AddressOf(value).Principal("https://c.example.com/calendar"); got != want {
			t.Errorf("%q is the principal %q, want %q", value, got, want)
		}
	}
}
