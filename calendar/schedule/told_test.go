package schedule_test

import (
	"errors"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
)

// mailbox is what somebody has of an event whose organizer is elsewhere, and what they were told of it.
type mailbox struct {
	*testing.T
	has, told *content.Object
}

func (m *mailbox) get(method string, components ...string) error {
	m.Helper()
	d := schedule.Delivery{
		Stored: m.has, Told: m.told, Message: read(m, message(method, components...)), Self: self("bob@example.com"),
		Outside: true,
	}
	apply := rules().Invite
	if method == "CANCEL" {
		apply = rules().CallOff
	}
	done, err := apply(m.Context(), d)
	if done.Told != nil {
		m.told = done.Told
	}
	if err == nil {
		m.has = done.Object
	}
	return err
}

// edit is a change of the copy by one of their programs.
func (m *mailbox) edit(old, with string) {
	m.Helper()
	guest := schedule.Guest{Self: self("bob@example.com"), Away: true, Told: func() *content.Object { return m.told }}
	next := read(m, strings.Replace(m.has.Document.String(), old, with, 1))
	out, err := rules().Attend(m.Context(), m.has, next, guest)
	if err != nil {
		m.Fatal(err)
	}
	m.has = out.Object
}

func (m *mailbox) want(what string, has ...string) {
	m.Helper()
	text := m.has.Document.String()
	for _, h := range has {
		if strings.Contains(text, strings.TrimPrefix(h, "!")) == strings.HasPrefix(h, "!") {
			m.Errorf("%s: want %s in\n%s", what, h, text)
		}
	}
}

// TestAttendeesHearTheOrganizer: an attendee who deletes days, or whose program counts its own edits, goes on hearing
// an organizer elsewhere, and their answers and deleted days survive.
func TestAttendeesHearTheOrganizer(t *testing.T) {
	t.Parallel()
	m := &mailbox{T: t}
	stamped := func(hour string) string { return strings.Replace(daily, "T080000Z", "T"+hour+"0000Z", 1) }
	if err := m.get("REQUEST", stamped("08")+"|SEQUENCE:0"+ann+bob); err != nil {
		t.Fatal(err)
	}
	m.edit("PARTSTAT=NEEDS-ACTION", "PARTSTAT=ACCEPTED")
	m.edit("SEQUENCE:0", "SEQUENCE:5\r\nEXDATE:20260312T100000Z")
	m.want("a counter of their own", "SEQUENCE:0", "EXDATE:20260312T100000Z")
	if err := m.get("REQUEST", stamped("09")+"|SEQUENCE:0|LOCATION:Attic"+ann+bob); err != nil {
		t.Fatalf("another room: %v", err)
	}
	m.want("another room", "Attic", "EXDATE:20260312T100000Z", "ACCEPTED:mailto:bob", "!NEEDS-ACTION")
	if err := m.get("REQUEST", stamped("08")+"|SEQUENCE:0|LOCATION:Old"+ann+bob); !errors.Is(err, schedule.ErrStale) {
		t.Errorf("an older message: %v", err)
	}
	moved := strings.NewReplacer("T100000Z", "T120000Z", "T110000Z", "T130000Z").Replace(stamped("10"))
	if err := m.get("REQUEST", moved+"|SEQUENCE:1"+ann+bob); err != nil {
		t.Fatalf("another time: %v", err)
	}
	m.want("another time", "DTSTART:20260310T120000Z", "!EXDATE", "NEEDS-ACTION:mailto:bob")
	if err := m.get("CANCEL", moved+"|SEQUENCE:1"+ann+bob); err != nil {
		t.Fatalf("cancelled: %v", err)
	}
	m.want("cancelled", "STATUS:CANCELLED")
}

// TestOrganizersExceptionsStay: exceptions from earlier messages survive a new master that says nothing of them, and do
// not survive one with a higher SEQUENCE.
func TestOrganizersExceptionsStay(t *testing.T) {
	t.Parallel()
	fourth := strings.ReplaceAll(thirdAt, "20260312", "20260313")
	m := &mailbox{T: t}
	for _, step := range []struct{ method, text string }{
		{"REQUEST", daily + "|SEQUENCE:0" + ann + bob},
		{"REQUEST", later + "|SEQUENCE:1" + ann + bob},
		{"CANCEL", fourth + "|SEQUENCE:1" + ann + bob},
		{"REQUEST", strings.Replace(daily, "Plans", "Ideas", 1) + "|SEQUENCE:0" + ann + bob},
	} {
		if err := m.get(step.method, step.text); err != nil {
			t.Fatal(err)
		}
	}
	m.want("a new title", "Ideas", "DTSTART:20260312T140000Z", "EXDATE:20260313T100000Z")
	m.edit("BEGIN:VEVENT", "BEGIN:VEVENT\r\nCATEGORIES:mine")
	if err := m.get("REQUEST", fourth+"|SEQUENCE:2"+ann+bob); err != nil {
		t.Fatal(err)
	}
	m.want("the cancelled day again", "!EXDATE", "RECURRENCE-ID:20260313T100000Z")
	if err := m.get("REQUEST", strings.Replace(daily, "Plans", "News", 1)+"|SEQUENCE:3"+ann+bob); err != nil {
		t.Fatal(err)
	}
	m.want("a higher SEQUENCE", "News", "!T140000Z", "CATEGORIES:mine")
}

// TestCancelOfTheFuture is RFC 5546 §3.2.5: RANGE=THISANDFUTURE cancels the instance and all after it.
func TestCancelOfTheFuture(t *testing.T) {
	t.Parallel()
	m := &mailbox{T: t}
	if err := m.get("REQUEST", daily+"|SEQUENCE:0"+ann+bob); err != nil {
		t.Fatal(err)
	}
	future := strings.Replace(thirdAt, "RECURRENCE-ID:", "RECURRENCE-ID;RANGE=THISANDFUTURE:", 1)
	if err := m.get("CANCEL", future+"|SEQUENCE:1"+ann+bob); err != nil {
		t.Fatal(err)
	}
	m.want("from the third day on", "COUNT=2", "SEQUENCE:0", "!STATUS:CANCELLED")
	if err := m.get("REQUEST", daily+"|SEQUENCE:0"+ann+bob); !errors.Is(err, schedule.ErrStale) {
		t.Errorf("an older message: %v", err)
	}
	first := strings.NewReplacer("RECURRENCE-ID:20260312", "RECURRENCE-ID;RANGE=THISANDFUTURE:20260310", "20260312",
		"20260310").Replace(thirdAt)
	if err := m.get("CANCEL", first+"|SEQUENCE:2"+ann+bob); err != nil {
		t.Fatal(err)
	}
	m.want("from the first day on", "STATUS:CANCELLED")
}

// TestNewDaysAskAgain: new days of a series ask, also if its organizer has not got the attendee's answer to the others
// yet.
func TestNewDaysAskAgain(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"ACCEPTED", "DECLINED"} {
		m := &mailbox{T: t}
		if err := m.get("REQUEST", daily+"|SEQUENCE:0"+ann+bob); err != nil {
			t.Fatal(err)
		}
		m.edit("PARTSTAT=NEEDS-ACTION", "PARTSTAT="+answer)
		if err := m.get("REQUEST", strings.Replace(daily, "COUNT=5", "COUNT=6", 1)+"|SEQUENCE:1"+ann+bob); err != nil {
			t.Fatal(err)
		}
		m.want("a sixth day", "COUNT=6", "PARTSTAT="+answer+":mailto:bob", "RECURRENCE-ID:20260315T100000Z",
			"PARTSTAT=NEEDS-ACTION:mailto:bob")
	}
}
