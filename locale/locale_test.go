package locale_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/locale"
)

func catalogs(t testing.TB) *locale.Catalogs {
	t.Helper()
	all, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func in(t testing.TB, tag string) *locale.Language {
	t.Helper()
	l := catalogs(t).Find(tag)
	if l == nil {
		t.Fatalf("there is no language %s", tag)
	}
	return l
}

func TestMatch(t *testing.T) {
	t.Parallel()
	all := catalogs(t)
	for _, tt := range []struct {
		preferences []string
		want        string
	}{
		{nil, "en"},
		{[]string{"", ""}, "en"},
		{[]string{"de"}, "de"},
		{[]string{"", "de-AT,de;q=0.9,en;q=0.8"}, "de"},
		{[]string{"", "en-GB,de;q=0.5"}, "en"},
		{[]string{"en", "de"}, "en"},
		{[]string{"de", "en-US,en"}, "de"},
		{[]string{"", "ja,de;q=0.3"}, "de"},
		{[]string{"", "ja"}, "en"},
		{[]string{"ja", "de"}, "de"},
		{[]string{";;;q=", "de"}, "de"},
		{[]string{"", "de;q=0.2,en;q=0.7"}, "en"},
	} {
		if got := all.Match(tt.preferences...).Tag(); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.preferences, got, tt.want)
		}
	}
	if first := all.Languages()[0]; first != all.English() || first.Name() != "English" {
		t.Errorf("the first language is %s", first.Name())
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 9, 5, 0, 0, time.UTC)
	type row struct{ Date, Short, ShortYear, MonthYear, DayMonth, Time, Time12, Night string }
	for tag, want := range map[string]row{
		"en": {
			"Monday 23 November 2026", "Mon 23 Nov", "Mon 23 Nov 2026", "November 2026", "23 November",
			"09:05", "9:05 am", "12:05 am",
		},
		"de": {
			"Montag, 23. November 2026", "Mo, 23. Nov.", "Mo, 23. Nov. 2026", "November 2026", "23. November",
			"09:05", "9:05 AM", "12:05 AM",
		},
	} {
		l := in(t, tag)
		got := row{
			l.Date(at), l.ShortDate(at), l.ShortDateYear(at), l.MonthYear(at), l.DayMonth(at),
			l.Time(at, "24"), l.Time(at, "12"), l.Time(at.Add(-9*time.Hour), "12"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tag, diff)
		}
		if l.FirstWeekday() != time.Monday {
			t.Errorf("%s: the week begins on %v", tag, l.FirstWeekday())
		}
	}
	if noon := in(t, "en").Time(at.Add(3*time.Hour), "12"); noon != "12:05 pm" {
		t.Errorf("noon is %q", noon)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	de := in(t, "de")
	got := []string{
		de.Weekday(time.Sunday), de.Weekday(time.Monday), de.ShortWeekday(time.Saturday),
		de.Month(time.January), de.ShortMonth(time.December),
	}
	want := []string{"Sonntag", "Montag", "Sa", "Januar", "Dez."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		d      time.Duration
		en, de string
	}{
		{0, "0 minutes", "0 Minuten"},
		{time.Minute, "1 minute", "1 Minute"},
		{90 * time.Minute, "1 hour 30 minutes", "1 Stunde 30 Minuten"},
		{-10 * time.Minute, "10 minutes", "10 Minuten"},
		{26 * time.Hour, "1 day 2 hours", "1 Tag 2 Stunden"},
		{90 * time.Second, "1 minute 30 seconds", "1 Minute 30 Sekunden"},
	} {
		if got := in(t, "en").Duration(tt.d); got != tt.en {
			t.Errorf("%v: %q, want %q", tt.d, got, tt.en)
		}
		if got := in(t, "de").Duration(tt.d); got != tt.de {
			t.Errorf("%v: %q, want %q", tt.d, got, tt.de)
		}
	}
}

// TestValuesArePlainText: a value is never a template.
func TestValuesArePlainText(t *testing.T) {
	t.Parallel()
	got := in(t, "en").Text("date.month-year", "month", "{{.year}}<b>", "year", 1)
	if want := "{{.year}}<b> 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMistakesFailTests(t *testing.T) {
	t.Parallel()
	panics := func(id string, pairs ...any) (failed bool) {
		defer func() { failed = recover() != nil }()
		in(t, "de").Text(id, pairs...)
		return false
	}
	if !panics("no.such-text") {
		t.Error("a missing text is accepted")
	}
	if !panics("date.month-year", "month", "May") {
		t.Error("a missing value is accepted")
	}
	if panics("date.month-year", "month", "May", "year", 1) {
		t.Error("a complete call fails")
	}
}

func BenchmarkText(b *testing.B) {
	l := in(b, "de")
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			l.Text("layout.skip")
		}
	})
	b.Run("plural", func(b *testing.B) {
		for b.Loop() {
			l.Text("duration.hours", "count", 3)
		}
	})
	b.Run("date", func(b *testing.B) {
		at := time.Date(2026, 11, 23, 9, 5, 0, 0, time.UTC)
		for b.Loop() {
			l.Date(at)
		}
	})
}
