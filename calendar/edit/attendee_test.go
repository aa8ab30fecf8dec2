package edit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/ical"
)

// meeting is a series with Ann, who organizes it, Bob and Cid. On the 3rd, which Bob has declined, Dan comes as well;
// on the 4th it is longer, and the override leaves its guests to the series; the 5th is without Cid.
func meeting() string {
	const ann, bob, cid = "ORGANIZER:mailto:ann@example.com",
		"ATTENDEE;PARTSTAT=ACCEPTED;SCHEDULE-STATUS=2.0;X-A=1:mailto:Bob@example.com",
		"ATTENDEE;PARTSTAT=TENTATIVE:mailto:cid@example.com"
	return calendarOf(
		eventOf("DTSTART:20260302T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=5", ann, bob, cid),
		eventOf("RECURRENCE-ID:20260303T090000Z", "DTSTART:20260303T090000Z", "DURATION:PT1H", ann,
			"ATTENDEE;PARTSTAT=DECLINED;SCHEDULE-STATUS=2.0:MAILTO:bob@example.com", cid,
			"ATTENDEE;RSVP=TRUE:mailto:dan@example.com"),
		eventOf("RECURRENCE-ID:20260304T090000Z", "DTSTART:20260304T090000Z", "DURATION:PT2H"),
		eventOf("RECURRENCE-ID:20260305T090000Z", "DTSTART:20260305T090000Z", "DURATION:PT1H", ann, bob),
	)
}

// guestsOf lists the attendees of each component of a document: their lines without names.
func guestsOf(t *testing.T, doc *ical.Document) []string {
	t.Helper()
	var all []string
	for _, c := range valid(t, doc).Components() {
		var lines []string
		for _, p := range c.All("ATTENDEE") {
			_, params, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(p.String()), "\r\n ", ""), "ATTENDEE")
			lines = append(lines, strings.TrimPrefix(params, ";"))
		}
		all = append(all, strings.Join(lines, "\n"))
	}
	return all
}

// TestGuestsOfASeries: a list of attendees for all of a series is a difference, which each override takes that does not
// leave its guests to the series. The lines of those who stay are left alone.
func TestGuestsOfASeries(t *testing.T) {
	t.Parallel()
	const (
		bob, no = "PARTSTAT=ACCEPTED;SCHEDULE-STATUS=2.0;X-A=1:mailto:Bob@example.com\n",
			"PARTSTAT=DECLINED;SCHEDULE-STATUS=2.0:MAILTO:bob@example.com\n"
		cid    = "PARTSTAT=TENTATIVE:mailto:cid@example.com\n"
		dan    = "RSVP=TRUE:mailto:dan@example.com\n"
		eve    = "ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:eve@example.com\n"
		newDan = "ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:dan@example.com\n"
	)
	list := func(names ...string) edit.Fields {
		var all []edit.Attendee
		for _, name := range names {
			all = append(all, edit.Attendee{Address: name + "@example.com"})
		}
		return edit.Fields{Attendees: edit.To(all)}
	}
	for _, tt := range []struct {
		name, instance string
		scope          edit.Scope
		fields         edit.Fields
		want           []string
	}{
		{
			"one more", "", edit.All, list("bob", "cid", "eve"),
			[]string{bob + cid + eve, no + cid + dan + eve, "", bob + eve},
		},
		{"one less", "", edit.All, list("cid"), []string{cid, cid + dan, "", ""}},
		{"nobody", "", edit.All, list(), []string{"", dan, "", ""}},
		{
			"one more than on the day that was named", "20260303T090000Z", edit.All, list("bob", "cid", "dan", "eve"),
			[]string{bob + cid + eve, no + cid + dan + eve, "", bob + eve},
		},
		{
			"one less than on the day that was named", "20260303T090000Z", edit.All, list("bob", "cid"),
			[]string{bob + cid, no + cid, "", bob},
		},
		{
			"the day that was named leaves it to the series", "20260304T090000Z", edit.All, list("bob", "eve"),
			[]string{bob + eve, no + dan + eve, "", bob + eve},
		},
		{
			"added by name", "", edit.All,
			edit.Fields{Invite: []edit.Attendee{{Address: "DAN@example.com"}}},
			[]string{
				bob + cid + strings.ReplaceAll(newDan, "dan", "DAN"), no + cid + dan, "",
				bob + strings.ReplaceAll(newDan, "dan", "DAN"),
			},
		},
		{
			"on one day that left it to the series", "20260304T090000Z", edit.This,
			edit.Fields{Invite: []edit.Attendee{{Address: "eve@example.com"}}},
			[]string{bob + cid, no + cid + dan, bob + cid + eve, bob},
		},
		{"on one day", "20260303T090000Z", edit.This, list("bob", "dan"), []string{bob + cid, no + dan, "", bob}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := editor().Change(t.Context(), read(t, meeting()),
				edit.Change{Target: edit.Target{Instance: at(t, tt.instance), Scope: tt.scope}, Fields: tt.fields})
			if err != nil {
				t.Fatal(err)
			}
			for i := range tt.want {
				tt.want[i] = strings.TrimSuffix(tt.want[i], "\n")
			}
			if diff := cmp.Diff(tt.want, guestsOf(t, got.Document)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestGuestsOfWhatFollows: the first half of a series that is divided keeps its guests.
func TestGuestsOfWhatFollows(t *testing.T) {
	t.Parallel()
	got, err := editor().Change(t.Context(), read(t, meeting()), edit.Change{
		Target: edit.Target{Instance: at(t, "20260304T090000Z"), Scope: edit.Following},
		Fields: edit.Fields{
			Attendees: edit.To([]edit.Attendee{{Address: "bob@example.com"}, {Address: "eve@example.com"}}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	had := guestsOf(t, read(t, meeting()).Document)
	if diff := cmp.Diff(had[:2], guestsOf(t, got.Document)); diff != "" {
		t.Errorf("the first half (-want +got):\n%s", diff)
	}
	const eve = "\nROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:eve@example.com"
	if diff := cmp.Diff([]string{had[3] + eve, "", had[3] + eve}, guestsOf(t, got.Split)); diff != "" {
		t.Errorf("the second half (-want +got):\n%s", diff)
	}
}

// TestFirstGuestsOfASeries: overrides of a series without guests get the first ones too, since the organizer that the
// server adds to each of them says that nobody else is invited there.
func TestFirstGuestsOfASeries(t *testing.T) {
	t.Parallel()
	text := calendarOf(eventOf("DTSTART:20260302T090000Z", "RRULE:FREQ=DAILY;COUNT=5"),
		eventOf("RECURRENCE-ID:20260303T090000Z", "DTSTART:20260303T100000Z"))
	got, err := editor().Change(t.Context(), read(t, text),
		edit.Change{Fields: edit.Fields{Attendees: edit.To([]edit.Attendee{{Address: "eve@example.com"}})}})
	if err != nil {
		t.Fatal(err)
	}
	if all := guestsOf(t, got.Document); len(slices.Compact(all)) != 1 || !strings.Contains(all[0], "eve") {
		t.Errorf("%q", all)
	}
}

// TestWhoIsAskedForAnAnswer: RSVP is for attendees who have not answered, and not for the organizer.
func TestWhoIsAskedForAnAnswer(t *testing.T) {
	t.Parallel()
	text := calendarOf(eventOf("DTSTART:20260302T090000Z", "ORGANIZER:mailto:ann@example.com"))
	got, err := editor().Change(t.Context(), read(t, text),
		edit.Change{Fields: edit.Fields{Attendees: edit.To([]edit.Attendee{
			{Address: "ANN@example.com"},
			{Address: "bob@example.com", Status: "accepted"},
			{Address: "room@example.com"},
		})}})
	if err != nil {
		t.Fatal(err)
	}
	want := "ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED:mailto:ANN@example.com\n" +
		"ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED:mailto:bob@example.com\n" +
		"ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:room@example.com"
	if diff := cmp.Diff([]string{want}, guestsOf(t, got.Document)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
