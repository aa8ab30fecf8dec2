package schedule_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar/schedule"
)

// task is an event as a task that is due.
func task(lines string) string {
	return strings.ReplaceAll(strings.Replace(event(lines), "DTEND:", "DUE:", 1), "VEVENT", "VTODO")
}

// TestTasksAreAnswered is RFC 5546 §3.4.3 and §4.5: a guest is at work on a task and done with it, says how far, and
// the organizer reads that beside them; the organizer's own changes do not take it back.
func TestTasksAreAnswered(t *testing.T) {
	t.Parallel()
	bobs := schedule.Guest{Self: self("bob@example.com")}
	asked := task(at + ann + bob + eve)
	atWork := task(at + "|STATUS:IN-PROCESS|PERCENT-COMPLETE:40" + ann + bob + eve)
	out, err := rules().Attend(t.Context(), read(t, asked), read(t, atWork), bobs)
	if err != nil || len(out.Messages) != 1 {
		t.Fatalf("%v %+v", err, out.Messages)
	}
	reply := out.Messages[0].Document.String()
	if out.Messages[0].Answered != schedule.InProcess || !strings.Contains(reply, "PERCENT-COMPLETE:40") {
		t.Errorf("the answer is %s\n%s", out.Messages[0].Answered, reply)
	}
	made, err := rules().Answer(t.Context(), read(t, asked), read(t, reply), "mailto:bob@example.com", true)
	if err != nil {
		t.Fatal(err)
	}
	kept := made.Document.String()
	if said := line(kept, "ATTENDEE"); !strings.Contains(said, "PARTSTAT=IN-PROCESS") ||
		!strings.Contains(said, "X-PERCENT-COMPLETE=40") {
		t.Errorf("the organizer has %s", said)
	}
	if strings.Contains(kept, "\nPERCENT-COMPLETE") || strings.Contains(kept, "STATUS:IN-PROCESS") {
		t.Errorf("the whole task says what is bob's part:\n%s", kept)
	}
	// More of it is done, with the same answer.
	more := strings.Replace(out.Object.Document.String(), "COMPLETE:40", "COMPLETE:80", 1)
	next, err := rules().Attend(t.Context(), read(t, out.Object.Document.String()), read(t, more), bobs)
	if err != nil || len(next.Messages) != 1 || !strings.Contains(next.Messages[0].Document.String(),
		"PERCENT-COMPLETE:80") {
		t.Errorf("80 of 100: %v %+v", err, next.Messages)
	}
	done := strings.Replace(more, "STATUS:IN-PROCESS", "STATUS:COMPLETED", 1)
	next, err = rules().Attend(t.Context(), read(t, more), read(t, done), bobs)
	if err != nil || len(next.Messages) != 1 || next.Messages[0].Answered != schedule.Completed {
		t.Fatalf("done: %v %+v", err, next.Messages)
	}
	// The organizer writes the title anew: the answer stays at both ends, and so does how far bob is.
	titled, err := rules().Organize(t.Context(), made, read(t, strings.Replace(asked, "Plans", "New plans", 1)),
		self("ann@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	if said := line(titled.Object.Document.String(), "ATTENDEE"); !strings.Contains(said, "PARTSTAT=IN-PROCESS") ||
		!strings.Contains(said, "X-PERCENT-COMPLETE=40") {
		t.Errorf("after a new title the organizer has %s", said)
	}
	told := titled.Messages[0].Document.String()
	if strings.Contains(told, "X-PERCENT") {
		t.Errorf("guests are told what is the organizer's:\n%s", told)
	}
	delivered, err := rules().Invite(t.Context(), schedule.Delivery{
		Stored: next.Object, Message: read(t, told), Self: self("bob@example.com"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"New plans", "STATUS:COMPLETED", "PERCENT-COMPLETE:80"} {
		if !strings.Contains(delivered.Object.Document.String(), want) {
			t.Errorf("bob has lost %s:\n%s", want, delivered.Object.Document)
		}
	}
	// To cancel a task is the organizer's.
	out, err = rules().Attend(t.Context(), read(t, asked), read(t, task(at+"|STATUS:CANCELLED"+ann+bob+eve)), bobs)
	if err != nil || strings.Contains(out.Object.Document.String(), "CANCELLED") {
		t.Errorf("a guest cancels a task: %v %v", err, out.Object)
	}
}

// TestPercentageOfTheOrganizer: how far the whole task is, as the organizer wrote it, is no answer of a guest's, and
// part of none.
func TestPercentageOfTheOrganizer(t *testing.T) {
	t.Parallel()
	bobs := schedule.Guest{Self: self("bob@example.com")}
	asked := task(at + "|PERCENT-COMPLETE:30" + ann + bob + eve)
	out, err := rules().Attend(t.Context(), nil, read(t, asked), bobs)
	if err != nil || len(out.Messages) > 0 {
		t.Errorf("bob stores what came by mail: %v %v", err, told(out.Messages))
	}
	for name, c := range map[string]struct {
		before, next string
		percent      bool
	}{
		"he accepts what he has": {
			asked,
			strings.Replace(asked, "ATTENDEE:mailto:bob", "ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob", 1), false,
		},
		"he accepts what came by mail": {"", strings.Replace(asked, "ATTENDEE:mailto:bob",
			"ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob", 1), false},
		"he is at work on it": {
			asked,
			strings.Replace(asked, "ATTENDEE:mailto:bob", "ATTENDEE;PARTSTAT=IN-PROCESS:mailto:bob", 1), true,
		},
		"he is at work on what came so": {"", strings.Replace(asked, "ATTENDEE:mailto:bob",
			"ATTENDEE;PARTSTAT=IN-PROCESS:mailto:bob", 1), true},
		"he says how far, and nothing else": {asked, strings.Replace(asked, "COMPLETE:30", "COMPLETE:60", 1), true},
	} {
		out, err := rules().Attend(t.Context(), read(t, c.before), read(t, c.next), bobs)
		if err != nil || len(out.Messages) != 1 {
			t.Errorf("%s: %v %v", name, err, told(out.Messages))
			continue
		}
		if reply := out.Messages[0].Document.String(); strings.Contains(reply, "PERCENT-COMPLETE") != c.percent {
			t.Errorf("%s:\n%s", name, reply)
		}
		if !strings.Contains(out.Object.Document.String(), "PERCENT-COMPLETE") {
			t.Errorf("%s: his own copy has lost it", name)
		}
	}
	// An instance apart is as the series is.
	repeated := strings.Replace(asked, "SUMMARY", "RRULE:FREQ=DAILY;COUNT=5\r\nSUMMARY", 1)
	apart := strings.TrimPrefix(task(thirdAt+"|PERCENT-COMPLETE:30"+ann+bobYes+eve),
		"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n")
	next := strings.TrimSuffix(repeated, "END:VCALENDAR\r\n") + apart
	out, err = rules().Attend(t.Context(), read(t, repeated), read(t, next), bobs)
	if err != nil || len(out.Messages) != 1 || strings.Contains(out.Messages[0].Document.String(), "PERCENT-COMPLETE") {
		t.Errorf("one instance is accepted: %v %v", err, out.Messages)
	}
}

// TestTasksKeepTheirPeople: Apple's Reminders loses ORGANIZER and ATTENDEE where it completes a task.
func TestTasksKeepTheirPeople(t *testing.T) {
	t.Parallel()
	asked, bare := task(at+ann+bob), task(at+"|COMPLETED:20260310T120000Z")
	// The organizer may stand in an override alone.
	next := read(t, bare)
	schedule.KeepParties(next, read(t, strings.Replace(task(daily)+task(later+ann+bob),
		"END:VCALENDAR\r\nBEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n", "", 1)), self("ann@example.com"))
	if got := next.Document.String(); !strings.Contains(got, "ORGANIZER:mailto:ann") {
		t.Errorf("from an override:\n%s", got)
	}
	// without a completion, to take all people off is meant
	for text, kept := range map[string]bool{bare: true, task(at): false} {
		next := read(t, text)
		schedule.KeepParties(next, read(t, asked), self("ann@example.com"))
		if got := next.Document.String(); strings.Contains(got, "ORGANIZER:mailto:ann") != kept ||
			strings.Contains(got, "mailto:bob") != kept {
			t.Errorf("kept %t:\n%s", kept, got)
		}
	}
	out, err := rules().Attend(t.Context(), read(t, asked), read(t, bare),
		schedule.Guest{Self: self("bob@example.com")})
	if err != nil || len(out.Messages) != 1 || out.Messages[0].Answered != schedule.Completed {
		t.Fatalf("the attendee: %v %+v", err, out.Messages)
	}
	if said := line(out.Object.Document.String(), "ATTENDEE"); !strings.Contains(said, "PARTSTAT=COMPLETED") {
		t.Errorf("the attendee has %s", said)
	}
}
