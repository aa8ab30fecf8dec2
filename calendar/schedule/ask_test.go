package schedule_test

import (
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// bobsAnswers lists Bob's answers: that to the series, then those to overrides by their day.
func bobsAnswers(o *content.Object) string {
	var all []string
	for _, c := range o.Components() {
		said := "-"
		for _, p := range c.All("ATTENDEE") {
			if strings.Contains(p.Value(), "bob") {
				said, _ = p.Param("PARTSTAT")
			}
		}
		if id := c.Property("RECURRENCE-ID"); id != nil {
			said = id.Value()[6:8] + "=" + said
		}
		all = append(all, said)
	}
	slices.Sort(all[1:])
	return strings.Join(all, " ")
}

// TestOnlyNewAndMovedInstancesAskAgain is RFC 6638 §3.2.8: a rule in other words, or with an earlier end, asks nobody.
func TestOnlyNewAndMovedInstancesAskAgain(t *testing.T) {
	t.Parallel()
	weekly := func(rule string, more ...string) string {
		return at + "|RRULE:" + rule + strings.Join(more, "") + ann + bobYes
	}
	moved := later + ann + bobYes
	excluded := "|EXDATE:20260312T100000Z"
	for name, c := range map[string]struct {
		before, next string
		answers      string
		sequence     string
		messages     []string
		retimed      bool
	}{
		"INTERVAL=1 goes": {
			event(weekly("FREQ=DAILY;INTERVAL=1")), event(weekly("FREQ=DAILY")),
			"ACCEPTED", "",
			[]string{},
			false,
		},
		"the day of DTSTART is named": {
			event(weekly("FREQ=WEEKLY")), event(weekly("FREQ=WEEKLY;BYDAY=TU;WKST=SU")),
			"ACCEPTED", "",
			[]string{},
			false,
		},
		"a title with other words": {
			event(weekly("FREQ=WEEKLY;INTERVAL=1")),
			event(strings.Replace(weekly("FREQ=WEEKLY"), "Plans", "Ideas", 1)), "ACCEPTED", "",
			[]string{"REQUEST bob"},
			false,
		},
		"COUNT becomes UNTIL": {
			event(weekly("FREQ=DAILY;COUNT=3")),
			event(weekly("FREQ=DAILY;UNTIL=20260312T100000Z")), "ACCEPTED", "",
			[]string{},
			false,
		},
		"shorter": {
			event(weekly("FREQ=DAILY;COUNT=5")), event(weekly("FREQ=DAILY;COUNT=3")),
			"ACCEPTED", "SEQUENCE:1",
			[]string{"REQUEST bob"},
			false,
		},
		"an end": {
			event(weekly("FREQ=DAILY")), event(weekly("FREQ=DAILY;COUNT=90")), "ACCEPTED",
			"SEQUENCE:1",
			[]string{"REQUEST bob"},
			false,
		},
		"longer by two": {
			event(weekly("FREQ=DAILY;COUNT=3")), event(weekly("FREQ=DAILY;COUNT=5")),
			"ACCEPTED 13=NEEDS-ACTION 14=NEEDS-ACTION", "SEQUENCE:1",
			[]string{"REQUEST bob"},
			true,
		},
		"without an end": {
			event(weekly("FREQ=DAILY;COUNT=2")), event(weekly("FREQ=DAILY")),
			"NEEDS-ACTION 10=ACCEPTED 11=ACCEPTED", "SEQUENCE:1",
			[]string{"REQUEST bob"},
			true,
		},
		"many more of many": {
			event(weekly("FREQ=DAILY;COUNT=100")), event(weekly("FREQ=DAILY;COUNT=200")),
			"NEEDS-ACTION", "SEQUENCE:1",
			[]string{"REQUEST bob"},
			true,
		},
		"an hour later": {
			event(weekly("FREQ=DAILY;COUNT=3")),
			event(strings.NewReplacer("T100000Z", "T120000Z", "T110000Z",
				"T130000Z").Replace(weekly("FREQ=DAILY;COUNT=3"))), "NEEDS-ACTION", "SEQUENCE:1",
			[]string{"REQUEST bob"},
			true,
		},
		"an excluded day comes back": {
			event(weekly("FREQ=DAILY;COUNT=5", excluded)),
			event(weekly("FREQ=DAILY;COUNT=5")), "ACCEPTED 12=NEEDS-ACTION", "SEQUENCE:1",
			[]string{"REQUEST bob"},
			true,
		},
		"a moved day goes back": {
			event(weekly("FREQ=DAILY;COUNT=5"), moved),
			event(weekly("FREQ=DAILY;COUNT=5")), "ACCEPTED 12=NEEDS-ACTION", "SEQUENCE:1",
			[]string{"REQUEST bob"},
			true,
		},
		"a day is moved": {
			event(weekly("FREQ=DAILY;COUNT=5")),
			event(weekly("FREQ=DAILY;COUNT=5"), moved), "ACCEPTED 12=NEEDS-ACTION", "SEQUENCE:1",
			[]string{"REQUEST bob"},
			true,
		},
		"a day is like the others": {
			event(weekly("FREQ=DAILY;COUNT=5"),
				strings.Replace(thirdAt, "Plans", "Special", 1)+ann+
					"|ATTENDEE;PARTSTAT=TENTATIVE:mailto:bob@example.com"),
			event(weekly("FREQ=DAILY;COUNT=5")), "ACCEPTED 12=TENTATIVE", "",
			[]string{"REQUEST bob"},
			false,
		},
		"a single event becomes weekly": {
			event(at + ann + bobYes), event(weekly("FREQ=WEEKLY")),
			"NEEDS-ACTION 10=ACCEPTED", "SEQUENCE:1",
			[]string{"REQUEST bob"},
			true,
		},
	} {
		out, err := rules().Organize(t.Context(), read(t, c.before), read(t, c.next), self("ann@example.com"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := bobsAnswers(out.Object); got != c.answers {
			t.Errorf("%s: answers %q, want %q", name, got, c.answers)
		}
		highest := ""
		for _, o := range out.Object.Components() {
			highest = max(highest, line(ical.NewDocument(o.Clone()).String(), "SEQUENCE"))
		}
		if highest != c.sequence {
			t.Errorf("%s: %q, want %q", name, highest, c.sequence)
		}
		if !slices.Equal(told(out.Messages), c.messages) ||
			len(out.Messages) > 0 && out.Messages[0].Retimed != c.retimed {
			t.Errorf("%s: %v", name, out.Messages)
		}
	}
}

// TestSplitSeriesKeepsAnswers: the second half of a series is a new event, with the answers that its days had.
func TestSplitSeriesKeepsAnswers(t *testing.T) {
	t.Parallel()
	series := event(daily+ann+bobYes+eve, strings.ReplaceAll(thirdAt, "20260312",
		"20260313")+ann+"|ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com"+eve)
	second := func(hour string) string {
		text := strings.NewReplacer("20260310T10", "20260312T"+hour, "20260310T11", "20260312T11", "COUNT=5", "COUNT=3",
			"Plans", "Ideas").Replace(series)
		return strings.ReplaceAll(text, "UID:meeting", "UID:second")
	}
	r := rules()
	r.Origin = read(t, series)
	out, err := r.Organize(t.Context(), nil, read(t, second("10")), self("ann@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	if got := bobsAnswers(out.Object); got != "ACCEPTED 13=DECLINED" {
		t.Errorf("at the same times: %s", got)
	}
	if !slices.Equal(told(out.Messages), []string{"REQUEST bob", "REQUEST eve"}) ||
		!strings.Contains(out.Messages[0].Document.String(), "ACCEPTED:mailto:bob") {
		t.Errorf("%v", out.Messages)
	}
	out, err = r.Organize(t.Context(), nil, read(t, second("09")), self("ann@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	if got := bobsAnswers(out.Object); !strings.HasPrefix(got, "NEEDS-ACTION") {
		t.Errorf("an hour earlier: %s", got)
	}
}

// TestUndoOfAMoveBringsAnswersBack: they were given to the time that the event has again.
func TestUndoOfAMoveBringsAnswersBack(t *testing.T) {
	t.Parallel()
	moved := strings.NewReplacer("T100000Z", "T120000Z", "T110000Z",
		"T130000Z").Replace(event(daily + "|SEQUENCE:1" + ann + bob))
	r := rules()
	r.Known = true
	out, err := r.Organize(t.Context(), read(t, moved), read(t, event(daily+ann+bobYes)), self("ann@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	if got := bobsAnswers(out.Object); got != "ACCEPTED" ||
		line(out.Object.Document.String(), "SEQUENCE") != "SEQUENCE:2" {
		t.Errorf("%s\n%s", got, out.Object.Document)
	}
	if len(out.Messages) != 1 || out.Messages[0].Retimed {
		t.Errorf("%v", out.Messages)
	}
}

// TestAnswerToASeries: programs write it into the master alone. It counts for the days that were answered alike or not
// at all, and for no day that the attendee excluded.
func TestAnswerToASeries(t *testing.T) {
	t.Parallel()
	day := func(n, said string) string {
		return strings.ReplaceAll(thirdAt, "20260312",
			"202603"+n) + ann + "|ATTENDEE;PARTSTAT=" + said + ":mailto:bob@example.com"
	}
	text := func(said string) string {
		return event(daily+"|EXDATE:20260310T100000Z"+ann+"|ATTENDEE;PARTSTAT="+said+":mailto:bob@example.com",
			day("11", "TENTATIVE"), day("12", "DECLINED"), day("13", "NEEDS-ACTION"))
	}
	organized := func() *content.Object {
		return read(t, event(daily+ann+"|ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com", day("10", "DECLINED"),
			day("11", "TENTATIVE"), day("12", "DECLINED"), day("13", "NEEDS-ACTION")))
	}
	guest := schedule.Guest{Self: self("bob@example.com"), Told: organized}
	out, err := rules().Attend(t.Context(), read(t, text("DECLINED")),
		read(t, strings.Replace(text("DECLINED"), "DECLINED", "ACCEPTED", 1)), guest)
	if err != nil {
		t.Fatal(err)
	}
	if got := bobsAnswers(out.Object); got != "ACCEPTED 11=TENTATIVE 12=ACCEPTED 13=ACCEPTED" {
		t.Errorf("the attendee has %s", got)
	}
	reply, err := content.Of(out.Messages[0].Document)
	if err != nil {
		t.Fatal(err)
	}
	made, err := rules().Answer(t.Context(), organized(), reply, "mailto:bob@example.com", false)
	if err != nil {
		t.Fatal(err)
	}
	if got := bobsAnswers(made); got != "ACCEPTED 10=DECLINED 11=TENTATIVE 12=ACCEPTED 13=ACCEPTED" {
		t.Errorf("the organizer has %s", got)
	}
}

// TestADateTakenBackIsTheOrganizers: an attendee's program takes out the EXDATE alone, of a date that the organizer
// moved.
func TestADateTakenBackIsTheOrganizers(t *testing.T) {
	t.Parallel()
	told := event(daily+ann+bobYes,
		later+"|SUMMARY:Special|CATEGORIES:Mine"+ann+
			"|ATTENDEE;PARTSTAT=DECLINED;SCHEDULE-STATUS=2.0:mailto:bob@example.com")
	guest := schedule.Guest{Self: self("bob@example.com"), Told: func() *content.Object { return read(t, told) }}
	out, err := rules().Attend(t.Context(), read(t, event(daily+"|EXDATE:20260312T100000Z"+ann+bobYes)),
		read(t, event(daily+ann+bobYes)), guest)
	if err != nil {
		t.Fatal(err)
	}
	text := out.Object.Document.String()
	for _, want := range [...]string{"SUMMARY:Special", "DTSTART:20260312T140000Z", "RECURRENCE-ID:20260312T100000Z"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, lacks := range [...]string{"EXDATE", "DECLINED", "SCHEDULE-STATUS", "CATEGORIES"} {
		if strings.Contains(text, lacks) {
			t.Errorf("%s in\n%s", lacks, text)
		}
	}
	if len(out.Messages) != 1 || !strings.Contains(out.Messages[0].Document.String(), "PARTSTAT=ACCEPTED") {
		t.Errorf("%v", out.Messages)
	}
}
