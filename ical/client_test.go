package ical_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

// clientFiles are texts in the shapes that clients write.
func clientFiles(t testing.TB) map[string]string {
	t.Helper()
	names, err := filepath.Glob("testdata/clients/*.ics")
	if err != nil || len(names) == 0 {
		t.Fatalf("no files of clients: %v", err)
	}
	files := map[string]string{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(name), ".ics")] = string(data)
	}
	return files
}

// described finds the first component with a SUMMARY; every file has one.
func described(t *testing.T, doc *ical.Document) *ical.Component {
	t.Helper()
	calendar, err := doc.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	for c := range calendar.Components() {
		if c.Property("SUMMARY") != nil {
			return c
		}
	}
	t.Fatal("nothing has a SUMMARY")
	return nil
}

func TestClientFilesComeBackOctetForOctet(t *testing.T) {
	t.Parallel()
	for name, text := range clientFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := parse(t, text)
			if diff := cmp.Diff(text, doc.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(text, doc.Clone().String()); diff != "" {
				t.Errorf("the copy (-want +got):\n%s", diff)
			}
		})
	}
}

// logicalLines cuts a text behind its line ends and joins the folded ones,
// octets and all.
func logicalLines(text string) []string {
	var list []string
	for _, line := range strings.SplitAfter(text, "\n") {
		if n := len(list); n > 0 && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")) {
			list[n-1] += line
			continue
		}
		list = append(list, line)
	}
	return list
}

func TestClientFilesPatchedChangeOneLogicalLine(t *testing.T) {
	t.Parallel()
	const long = "Moved – to a room, that is; the one upstairs\nand with a longer name than one line holds"
	for name, text := range clientFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := parse(t, text)
			described(t, doc).SetText("SUMMARY", long)
			before, after := logicalLines(text), logicalLines(doc.String())
			if len(before) != len(after) {
				t.Fatalf("%d logical lines became %d", len(before), len(after))
			}
			var changed []string
			for i := range before {
				if before[i] != after[i] {
					changed = append(changed, before[i][:len("SUMMARY")])
				}
			}
			if diff := cmp.Diff([]string{"SUMMARY"}, changed); diff != "" {
				t.Errorf("changed lines (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(long, described(t, parse(t, doc.String())).Property("SUMMARY").Text()); diff != "" {
				t.Errorf("read again (-want +got):\n%s", diff)
			}
		})
	}
}

// What the shapes are here for: the odd thing in each is read right.
func TestClientFilesAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file, property string
		read           func(p *ical.Property) any
		want           any
	}{
		{"apple-event", "X-APPLE-STRUCTURED-LOCATION", paramOf("X-TITLE"), "Praxis am Park, 2. Stock"},
		{"apple-event", "LOCATION", textOf, "Praxis am Park\nLindenallee 4, 04109 Leipzig"},
		{"apple-default-alarm", "SUMMARY", textOf, "Geburtstag von Zoë 🎂🎈 und ihrer Zwillingsschwester Anaïs – " +
			"Blumen nicht vergessen"},
		{"apple-reminder", "SUMMARY", textOf, "Buy stamps; the ones with birds"},
		{"google-series", "ATTENDEE", paramOf("cn"), "Morgan Lee"},
		{"google-series", "EXDATE", timeOf, ical.Zoned(civil(2026, 1, 19, 9, 30, 0), "America/New_York")},
		{"google-all-day", "DTSTART", timeOf, ical.Date(ical.CivilDate(2026, 3, 20))},
		{"google-all-day", "DESCRIPTION", textOf, "祝日のため、事務所は終日お休みです。お急ぎの方は、翌営業日の朝九時以降に代表番号までお電話ください。"},
		{"google-invitation", "ATTACH", paramOf("FILENAME"), `Agenda "Q2"`},
		{"google-invitation", "ATTENDEE", paramOf("CN"), "HQ-3-Juniper (8) [Video, Phone]"},
		{"outlook-meeting", "DTSTART", timeOf, ical.Zoned(civil(2026, 2, 17, 14, 0, 0), "W. Europe Standard Time")},
		{"outlook-customized-zone", "ATTENDEE", paramOf("CN"), "Борис Иванов из отдела снабжения и логистики"},
		{"outlook-customized-zone", "DESCRIPTION", textOf, "Коллеги, просьба подготовить отчёты заранее. Встреча " +
			"пройдёт в переговорной на третьем этаже, рядом с лифтом.\n"},
		{"outlook-display-name-zone", "DTEND", timeOf, ical.Zoned(civil(2026, 3, 2, 10, 0, 0),
			"(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna")},
		{"thunderbird-event", "CATEGORIES", func(p *ical.Property) any { return p.TextList() }, []string{
			"Musique", "Loisirs, divers",
		}},
		{"thunderbird-task", "SUMMARY", textOf, `Pay the "big" invoice: no. 42`},
		{"thunderbird-export", "SUMMARY", textOf, "Lunch, with Bob"},
		{"thunderbird-export", "DTSTART", timeOf, ical.Floating(civil(2026, 3, 10, 12, 0, 0))},
		{"davx5-exception", "EXDATE", func(p *ical.Property) any { times, _ := p.Times(); return len(times) }, 2},
		{"davx5-tasksorg", "DUE", timeOf, ical.Zoned(civil(2026, 4, 2, 18, 0, 0), "Europe/Madrid")},
		{"evolution-event", "DTSTART", timeOf, ical.Zoned(civil(2026, 2, 3, 8, 30, 0),
			"/freeassociation.sourceforge.net/Europe/Prague")},
		{"evolution-task", "ESTIMATED-DURATION", func(p *ical.Property) any {
			d, _ := p.Duration()
			return d
		}, ical.Duration{Seconds: 9000}},
		{"evolution-memo", "DESCRIPTION", textOf, "host: guest\npassword: not; here"},
		{"modern-extensions", "ATTENDEE", func(p *ical.Property) any {
			v, _ := p.Param("MEMBER")
			return v
		}, "mailto:strings@example.org,mailto:winds@example.org"},
		{"modern-extensions", "CONFERENCE", paramOf("LABEL"), "Stream, live"},
	} {
		t.Run(tt.file+" "+tt.property, func(t *testing.T) {
			t.Parallel()
			p := described(t, parse(t, clientFiles(t)[tt.file])).Property(tt.property)
			if p == nil {
				t.Fatal("there is no such property")
			}
			if diff := cmp.Diff(tt.want, tt.read(p)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func textOf(p *ical.Property) any { return p.Text() }

func timeOf(p *ical.Property) any { at, _ := p.Time(); return at }

func paramOf(name string) func(p *ical.Property) any {
	return func(p *ical.Property) any { value, _ := p.Param(name); return value }
}

func TestClientFilesCoverTheClients(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for name := range clientFiles(t) {
		client, _, _ := strings.Cut(name, "-")
		count[client]++
	}
	for _, client := range []string{"apple", "google", "outlook", "thunderbird", "davx5", "evolution"} {
		if count[client] < 3 {
			t.Errorf("%d files of %s, want three at least", count[client], client)
		}
	}
}
