package ical_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

func TestDocumentHoldsAStreamOfCalendars(t *testing.T) {
	t.Parallel()
	text := "BEGIN:VCALENDAR\nEND:VCALENDAR\n\nBEGIN:VCALENDAR\nEND:VCALENDAR"
	doc := parse(t, text)
	if n := len(slices.Collect(doc.Components())); n != 2 {
		t.Errorf("%d components, want 2", n)
	}
	_, err := doc.Calendar()
	want := ical.SyntaxError{Kind: ical.KindSyntax, Msg: "the text holds 2 components at its top, not one VCALENDAR"}
	if diff := cmp.Diff(want, *syntaxError(t, err)); diff != "" {
		t.Errorf("Calendar (-want +got):\n%s", diff)
	}
	doc.Add(ical.NewComponent("VCALENDAR"))
	want2 := text + "\nBEGIN:VCALENDAR\nEND:VCALENDAR\n"
	if diff := cmp.Diff(want2, doc.String()); diff != "" {
		t.Errorf("with a third one (-want +got):\n%s", diff)
	}
}

func TestDocumentIsNoCalendar(t *testing.T) {
	t.Parallel()
	_, err := parse(t, "\nBEGIN:VCARD\nEND:VCARD\n").Calendar()
	want := ical.SyntaxError{Line: 2, Kind: ical.KindSyntax, Msg: "the text is a VCARD, not a VCALENDAR"}
	if diff := cmp.Diff(want, *syntaxError(t, err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNewDocument(t *testing.T) {
	t.Parallel()
	alarm := ical.NewComponent("valarm")
	alarm.Add(ical.NewProperty("trigger", "-PT5M"))
	made := ical.NewComponent("vevent")
	made.AddComponent(alarm)
	made.Add(ical.NewText("Summary", "Tea, or\r\ncoffee; \\o/", ical.NewParam("LANGUAGE", "en")))
	made.Add(ical.NewTime("DTSTART", ical.Zoned(ical.CivilDate(2026, 3, 4), "Europe/Berlin")))
	calendar := ical.NewComponent("VCALENDAR")
	calendar.Add(ical.NewProperty("VERSION", "2.0"))
	calendar.AddComponent(made)
	want := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\n" +
		"Summary;LANGUAGE=en:Tea\\, or\\ncoffee\\; \\\\o/\r\n" +
		"DTSTART;TZID=Europe/Berlin:20260304T000000\r\n" +
		"BEGIN:VALARM\r\ntrigger:-PT5M\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	got := ical.NewDocument(calendar).String()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("Tea, or\ncoffee; \\o/", event(t, got).Property("SUMMARY").Text()); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
}

func TestDocumentWritesItsOwnLineEnds(t *testing.T) {
	t.Parallel()
	for _, eol := range []string{"\n", "\r\n"} {
		doc := parse(t, "BEGIN:VCALENDAR"+eol+"NAME:a"+eol+"END:VCALENDAR")
		calendar, err := doc.Calendar()
		if err != nil {
			t.Fatal(err)
		}
		calendar.SetText("NAME", "b")
		calendar.AddComponent(ical.NewComponent("VEVENT"))
		want := "BEGIN:VCALENDAR" + eol + "NAME:b" + eol + "BEGIN:VEVENT" + eol + "END:VEVENT" + eol + "END:VCALENDAR"
		if diff := cmp.Diff(want, doc.String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", eol, diff)
		}
	}
}

// A component whose last line had no end gets one when more follows.
func TestDocumentEndsLinesThatMove(t *testing.T) {
	t.Parallel()
	stray := slices.Collect(parse(t, "BEGIN:VEVENT\nUID:1\nEND:VEVENT").Components())[0]
	calendar := ical.NewComponent("VCALENDAR")
	calendar.AddComponent(stray)
	want := "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\nUID:1\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	if diff := cmp.Diff(want, ical.NewDocument(calendar).String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDocumentCloneIsApart(t *testing.T) {
	t.Parallel()
	text := inEvent("SUMMARY:a", "BEGIN:VALARM", "ACTION:AUDIO", "END:VALARM")
	doc := parse(t, text)
	clone := doc.Clone()
	calendar, err := clone.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	made := calendar.AllComponents("VEVENT")[0]
	made.SetText("SUMMARY", "b")
	made.AllComponents("VALARM")[0].Remove("ACTION")
	if diff := cmp.Diff(text, doc.String()); diff != "" {
		t.Errorf("the original (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(inEvent("SUMMARY:b", "BEGIN:VALARM", "END:VALARM"), clone.String()); diff != "" {
		t.Errorf("the copy (-want +got):\n%s", diff)
	}
}

func TestMendFolds(t *testing.T) {
	t.Parallel()
	text := "BEGIN:VCALENDAR\nNAME:gr\xc3\n \xbcn\nX-A:b\n c\nBEGIN:\xc3\n \xbc\nEND:\xc3\n \xbc\nEND:VCALENDAR\n"
	doc := parse(t, text)
	if diff := cmp.Diff(text, doc.String()); diff != "" {
		t.Errorf("as it came (-want +got):\n%s", diff)
	}
	if !doc.MendFolds() {
		t.Error("no fold was mended, want several")
	}
	want := "BEGIN:VCALENDAR\nNAME:grün\nX-A:b\n c\nBEGIN:ü\nEND:ü\nEND:VCALENDAR\n"
	got := doc.String()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mended (-want +got):\n%s", diff)
	}
	if !utf8.ValidString(got) {
		t.Error("the mended text is not UTF-8")
	}
	if doc.MendFolds() {
		t.Error("there was something left to mend")
	}
}
