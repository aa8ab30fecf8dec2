package quickadd_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/quickadd"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

var update = flag.Bool("update", false, "write testdata/cases.txt")

// reader reads in Berlin on Wednesday 2026-02-18 at 10:30.
func reader(t testing.TB, language string) quickadd.Reader {
	t.Helper()
	z, err := zone.Lookup("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return quickadd.Reader{
		Now: time.Date(2026, 2, 18, 9, 30, 0, 0, time.UTC), Zone: z, Language: language, WeekStart: time.Monday,
		Calendars: []string{"Work", "Familie", "My Team", "My"},
	}
}

// written writes an event on one line.
func written(e quickadd.Event) string {
	fields := []string{e.Title}
	if !e.Start.IsZero() {
		fields = append(fields, span(e))
	}
	if e.Repeat != nil {
		fields = append(fields, e.Repeat.String())
	}
	if e.Place != "" {
		fields = append(fields, "at "+e.Place)
	}
	for _, guest := range e.Guests {
		fields = append(fields, "with "+guest)
	}
	if e.Reminder >= 0 {
		fields = append(fields, "remind "+e.Reminder.String())
	}
	if e.Calendar != "" {
		fields = append(fields, "in "+e.Calendar)
	}
	return strings.Join(fields, " | ")
}

func span(e quickadd.Event) string {
	if e.AllDay() {
		first, last := e.Start.Civil, e.End.Civil.AddDays(-1)
		if first == last {
			return day(first)
		}
		return day(first) + " to " + day(last)
	}
	from, to := e.Start.Civil, e.End.Civil
	if from.Date() == to.Date() {
		return fmt.Sprintf("%s %s-%s", day(from), clock(from), clock(to))
	}
	return fmt.Sprintf("%s %s to %s %s", day(from), clock(from), day(to), clock(to))
}

func day(c ical.Civil) string   { return fmt.Sprintf("%04d-%02d-%02d", c.Year, c.Month, c.Day) }
func clock(c ical.Civil) string { return fmt.Sprintf("%02d:%02d", c.Hour, c.Minute) }

// TestCases reads the lines of testdata/cases.txt: a language and a text, and below it the event.
func TestCases(t *testing.T) {
	t.Parallel()
	const file = "testdata/cases.txt"
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	n := map[string]int{}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "    ") {
			continue
		}
		got.WriteString(line + "\n")
		language, text, ok := strings.Cut(line, ": ")
		if !ok {
			continue
		}
		n[language]++
		e := reader(t, language).Read(text)
		check(t, text, e)
		got.WriteString("    " + written(e) + "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(content), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, language := range []string{"en", "de", "es", "fr", "it", "nl", "pl", "pt"} {
		if n[language] < 15 {
			t.Errorf("%s has only %d texts", language, n[language])
		}
	}
}

// check fails unless an event is sound, and all of the text is in the title or in a part.
func check(t *testing.T, text string, e quickadd.Event) {
	t.Helper()
	rest, at := "", 0
	for _, part := range e.Parts {
		if part.From < at || part.To <= part.From || part.To > len(text) || text[part.From:part.To] != part.Text {
			t.Fatalf("%q: the part %+v", text, part)
		}
		rest += text[at:part.From] + " "
		at = part.To
	}
	rest += text[at:]
	if letters(rest) != letters(e.Title) {
		t.Errorf("%q: the title is %q, but %q is in no part", text, e.Title, rest)
	}
	if e.Start.IsZero() != e.End.IsZero() || e.Start.IsZero() && e.Repeat != nil {
		t.Fatalf("%q: %+v", text, e)
	}
	if e.Start.IsZero() {
		return
	}
	if !e.Start.Civil.Valid() || !e.End.Civil.Valid() || !e.End.Civil.After(e.Start.Civil) ||
		e.Start.Form != e.End.Form {
		t.Errorf("%q: from %s to %s", text, e.Start, e.End)
	}
	if r := e.Repeat; r != nil {
		again, err := ical.ParseRecur(r.String())
		if err != nil || again.String() != r.String() {
			t.Errorf("%q: the rule %s: %v", text, r, err)
		}
		if !r.Until.IsZero() && (!r.Until.IsDate() || r.Until.Civil.Before(e.Start.Civil.Date())) {
			t.Errorf("%q: the rule %s ends before %s", text, r, e.Start)
		}
	}
}

// letters returns a text without blanks and the marks that a title drops at its ends.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n\v\f\u0085\u00a0,;.:-–—\"", r) || strings.TrimSpace(string(r)) == "" {
			return -1
		}
		return r
	}, text)
}

// TestParts: the parts say what was read as what.
func TestParts(t *testing.T) {
	t.Parallel()
	text := "Lunch with ana@example.com every Friday 13:00 for 45 minutes until 3 May at Lido #work, " +
		"remind me 1 hour before"
	var got []string
	for _, part := range reader(t, "en").Read(text).Parts {
		got = append(got, string(part.Kind)+": "+part.Text)
	}
	want := []string{
		"guest: with ana@example.com", "repeat: every Friday", "time: 13:00", "duration: for 45 minutes",
		"until: until 3 May", "place: at Lido", "calendar: #work", "reminder: remind me 1 hour before",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPassedWeekday: a weekday whose time has passed today is the one of the next week.
func TestPassedWeekday(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ language, text, want string }{
		{"en", "Lunch Friday 13:00", "Lunch | 2026-02-27 13:00-14:00"},
		{"en", "Lunch on Friday 13:00-14:30", "Lunch | 2026-02-27 13:00-14:30"},
		{"en", "Trip Friday 13:00 to Saturday 12:00", "Trip | 2026-02-27 13:00 to 2026-02-28 12:00"},
		{"en", "Lunch Friday 17:00", "Lunch | 2026-02-20 17:00-18:00"},
		{"en", "Lunch today 13:00", "Lunch | 2026-02-20 13:00-14:00"},
		{"en", "Lunch this Friday 13:00", "Lunch | 2026-02-20 13:00-14:00"},
		{"en", "Holiday Friday", "Holiday | 2026-02-20"},
		{"de", "Essen Freitag 13 Uhr", "Essen | 2026-02-27 13:00-14:00"},
		{"de", "Essen am Freitag um 17 Uhr", "Essen | 2026-02-20 17:00-18:00"},
	} {
		r := reader(t, one.language)
		r.Now = time.Date(2026, 2, 20, 14, 0, 0, 0, time.UTC) // Friday, 15:00 in Berlin
		if got := written(r.Read(one.text)); got != one.want {
			t.Errorf("%q: %s, want %s", one.text, got, one.want)
		}
	}
}

// TestClockChanges: hours are exact, and times on the clock are not moved.
func TestClockChanges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Night 28 March 23:00 for 8 hours":         "Night | 2026-03-28 23:00 to 2026-03-29 08:00",
		"Night 28 March 23:00-07:00":               "Night | 2026-03-28 23:00 to 2026-03-29 07:00",
		"Night 24 October 23:00 for 8 hours":       "Night | 2026-10-24 23:00 to 2026-10-25 06:00",
		"Night 24 October 23:00 for 1 day 8 hours": "Night | 2026-10-24 23:00 to 2026-10-26 07:00",
	} {
		if got := written(reader(t, "en").Read(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	r := reader(t, "en")
	r.Zone = zone.UTC()
	if e := r.Read("Call tomorrow 10:00"); e.Start != ical.UTC(ical.Civil{Year: 2026, Month: 2, Day: 19, Hour: 10}) {
		t.Errorf("in UTC: %v", e.Start)
	}
	r.Length = 25 * time.Minute
	if e := r.Read("Call tomorrow 10:00"); e.End.Civil.Minute != 25 {
		t.Errorf("with a length: %v", e.End)
	}
}

func FuzzRead(f *testing.F) {
	content, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		f.Fatal(err)
	}
	languages := []string{"en", "de-AT", "es", "fr", "it", "nl", "pl", "pt-BR"}
	for line := range strings.Lines(string(content)) {
		language, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || len(language) != 2 {
			continue
		}
		for i, tag := range languages {
			if tag[:2] == language {
				f.Add(text, uint8(i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		r := reader(t, languages[int(which)%len(languages)])
		text = strings.ToValidUTF8(text, "?")
		e := r.Read(text)
		check(t, text, e)
		if diff := cmp.Diff(e, r.Read(text)); diff != "" {
			t.Errorf("%q is read in two ways:\n%s", text, diff)
		}
	})
}

// BenchmarkRead reads a usual text, and texts that take long.
func BenchmarkRead(b *testing.B) {
	for name, text := range map[string]string{
		"usual":    "Lunch with Ana every Friday 13:00-14:30 until 3 May at Lido #work",
		"days":     strings.Repeat("first monday of ", 60),
		"in":       strings.Repeat("in 3 ", 200),
		"weekdays": strings.Repeat("Monday ", 140),
		"ranges":   strings.Repeat("from Monday to ", 66),
		"until":    "every day " + strings.Repeat("until first ", 80),
		"the":      strings.Repeat("on the 1st ", 90),
	} {
		b.Run(name, func(b *testing.B) {
			r := reader(b, "en")
			for b.Loop() {
				r.Read(text)
			}
		})
	}
}
