package quickadd_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/internal/slowtest"
)

// The oracle composes a text from parts with known meanings, and computes the event with the standard library alone.

// phrase is a text and its meaning.
type phrase[T any] struct {
	text    string
	meaning T
}

// tongue has the words of a language.
type tongue struct {
	titles, weekdays, months []string
	places, reminders        []phrase[string]
	joins                    [3]string // from, to, at
	day                      func(rng *rand.Rand, d time.Time, now time.Time) string
	clock                    func(rng *rand.Rand, hour, minute int) string
	repeats                  func(d time.Weekday) []phrase[string]
	times, until, length     string
	// ordinal is the mark after the number of a day.
	ordinal string
}

func tongues() map[string]tongue {
	en := tongue{
		titles: []string{
			"Lunch with Ana", "Team meeting", "Call Bob", "Buy bread and milk", "Physics class", "Q&A", "Plan B review",
			"Check version 2", "Day of the dead", "Pick up Ben",
		},
		weekdays: strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday"),
		months: strings.Fields("January February March April May June July August September October November " +
			"December"),
		places:    []phrase[string]{{"at Lido", "Lido"}, {"@ Room 5", "Room 5"}, {"at Main Street 5", "Main Street 5"}},
		reminders: []phrase[string]{{"remind me 10 minutes before", "10m0s"}, {"reminder 1 day before", "24h0m0s"}},
		joins:     [3]string{"from ", " to ", "at "},
		times:     "%d times", until: "until %s", length: "for %d minutes",
	}
	en.day = func(rng *rand.Rand, d, now time.Time) string {
		month := en.months[d.Month()-1]
		forms := []string{
			d.Format("2006-01-02"), fmt.Sprintf("%d %s %d", d.Day(), month, d.Year()),
			fmt.Sprintf("on %s %d, %d", month, d.Day(), d.Year()),
			fmt.Sprintf("%s, %d %s %d", d.Weekday(), d.Day(), month, d.Year()),
		}
		ahead := int(d.Sub(now.Truncate(24*time.Hour)).Hours() / 24)
		switch {
		case ahead == 0:
			forms = append(forms, "today")
		case ahead == 1:
			forms = append(forms, "tomorrow")
		case ahead < 7:
			forms = append(forms, d.Weekday().String(), "on "+d.Weekday().String(), d.Weekday().String()[:3]+",")
		}
		if ahead > 1 {
			forms = append(forms, fmt.Sprintf("in %d days", ahead))
		}
		if ahead < 365 {
			forms = append(forms, fmt.Sprintf("%d %s", d.Day(), month), fmt.Sprintf("on %s %dth", month, d.Day()))
		}
		return forms[rng.IntN(len(forms))]
	}
	en.clock = func(rng *rand.Rand, hour, minute int) string {
		half, h := "am", (hour+11)%12+1
		if hour >= 12 {
			half = "pm"
		}
		forms := []string{fmt.Sprintf("%02d:%02d", hour, minute), fmt.Sprintf("%d:%02d %s", h, minute, half)}
		if minute == 0 {
			forms = append(forms, fmt.Sprintf("%d%s", h, half))
		}
		return forms[rng.IntN(len(forms))]
	}
	en.repeats = func(d time.Weekday) []phrase[string] {
		by := strings.ToUpper(d.String()[:2])
		return []phrase[string]{
			{"every day", "FREQ=DAILY"},
			{"every 3 days", "FREQ=DAILY;INTERVAL=3"},
			{"every week", "FREQ=WEEKLY"},
			{"monthly", "FREQ=MONTHLY"},
			{"every year", "FREQ=YEARLY"},
			{"every other week", "FREQ=WEEKLY;INTERVAL=2"},
			{"every " + d.String(), "FREQ=WEEKLY;BYDAY=" + by},
			{d.String() + "s", "FREQ=WEEKLY;BYDAY=" + by},
			{"every two weeks on " + d.String(), "FREQ=WEEKLY;INTERVAL=2;BYDAY=" + by},
		}
	}
	all := map[string]tongue{"en": en, "de": deutsch()}
	for name, s := range sketches {
		all[name] = s.tongue()
	}
	return all
}

func deutsch() tongue {
	de := tongue{
		titles: []string{
			"Mittagessen mit Ana", "Jour fixe", "Anruf Ben", "Brot und Milch kaufen", "Physik", "Plan B prüfen",
			"Version 2 testen", "Tag der Arbeit", "Oma abholen",
		},
		weekdays: strings.Fields("Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag"),
		months: strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November " +
			"Dezember"),
		places: []phrase[string]{{"@ Lido", "Lido"}, {"@ Hauptstraße 5", "Hauptstraße 5"}},
		reminders: []phrase[string]{
			{"erinnere mich 10 Minuten vorher", "10m0s"}, {"Erinnerung 1 Tag vorher", "24h0m0s"},
		},
		joins: [3]string{"von ", " bis ", "um "},
		times: "%d mal", until: "bis %s", length: "für %d Minuten",
	}
	de.day = func(rng *rand.Rand, d, now time.Time) string {
		month := de.months[d.Month()-1]
		forms := []string{
			d.Format("2006-01-02"), fmt.Sprintf("%d. %s %d", d.Day(), month, d.Year()), d.Format("2.1.2006"),
			fmt.Sprintf("am %s, den %d. %s %d", de.weekdays[d.Weekday()], d.Day(), month, d.Year()),
			d.Format("02.01.06"),
		}
		ahead := int(d.Sub(now.Truncate(24*time.Hour)).Hours() / 24)
		switch {
		case ahead == 0:
			forms = append(forms, "heute")
		case ahead == 1:
			forms = append(forms, "morgen")
		case ahead == 2:
			forms = append(forms, "übermorgen")
		case ahead < 7:
			name := de.weekdays[d.Weekday()]
			forms = append(forms, name, "am "+name, name[:2]+".,")
		}
		if ahead > 1 {
			forms = append(forms, fmt.Sprintf("in %d Tagen", ahead))
		}
		if ahead < 365 {
			forms = append(forms, fmt.Sprintf("%d. %s", d.Day(), month), d.Format("am 2.1."))
		}
		return forms[rng.IntN(len(forms))]
	}
	de.clock = func(rng *rand.Rand, hour, minute int) string {
		forms := []string{fmt.Sprintf("%02d:%02d", hour, minute), fmt.Sprintf("%d.%02d Uhr", hour, minute)}
		if minute == 0 {
			forms = append(forms, fmt.Sprintf("%d Uhr", hour))
		}
		return forms[rng.IntN(len(forms))]
	}
	de.repeats = func(d time.Weekday) []phrase[string] {
		by, name := strings.ToUpper(d.String()[:2]), de.weekdays[d]
		return []phrase[string]{
			{"jeden Tag", "FREQ=DAILY"},
			{"alle drei Tage", "FREQ=DAILY;INTERVAL=3"},
			{"wöchentlich", "FREQ=WEEKLY"},
			{"jeden Monat", "FREQ=MONTHLY"},
			{"jährlich", "FREQ=YEARLY"},
			{"alle 2 Wochen", "FREQ=WEEKLY;INTERVAL=2"},
			{"jeden " + name, "FREQ=WEEKLY;BYDAY=" + by},
			{strings.ToLower(name) + "s", "FREQ=WEEKLY;BYDAY=" + by},
			{"jeden zweiten " + name, "FREQ=WEEKLY;INTERVAL=2;BYDAY=" + by},
		}
	}
	return de
}

// TestComposed composes texts from random parts, and wants exactly these parts back.
func TestComposed(t *testing.T) {
	t.Parallel()
	all := tongues()
	languages := slices.Sorted(maps.Keys(all))
	rng := rand.New(rand.NewPCG(20260218, 1))
	for range slowtest.Rounds(t, slowtest.Random, 1500, 200000) {
		language := languages[rng.IntN(len(languages))]
		now := time.Date(2026, 2, 18, 10, 30, 0, 0, time.UTC).AddDate(0, 0, rng.IntN(700))
		text, want := compose(rng, all[language], now)
		r := reader(t, language)
		r.Now, r.Zone = now, zone.UTC()
		e := r.Read(text)
		check(t, text, e)
		// A weekly event on the weekday of its start needs no BYDAY.
		by := ";BYDAY=" + strings.ToUpper(e.Start.Civil.Weekday().String()[:2])
		want = strings.ReplaceAll(want, by, "")
		if got := strings.ReplaceAll(written(e), by, ""); got != want {
			t.Fatalf("%s on %s: %q\n got %s\nwant %s", language, now.Format("Mon 2006-01-02"), text, got, want)
		}
	}
}

// compose returns a text and the written event.
func compose(rng *rand.Rand, l tongue, now time.Time) (text, want string) {
	title := l.titles[rng.IntN(len(l.titles))]
	fields, parts := []string{title}, []string{}
	day := now.Truncate(24*time.Hour).AddDate(0, 0, rng.IntN(500))
	if rng.IntN(2) == 0 {
		day = now.Truncate(24*time.Hour).AddDate(0, 0, rng.IntN(8))
	}
	moment, span, tail := l.moment(rng, day, now)
	fields = append(fields, span)
	rule := ""
	if rng.IntN(3) == 0 {
		options := l.repeats(day.Weekday())
		chosen := options[rng.IntN(len(options))]
		rule = chosen.meaning
		frequency, rest, _ := strings.Cut(rule, ";")
		if rest != "" {
			rest = ";" + rest
		}
		repeat := chosen.text
		switch rng.IntN(3) {
		case 0:
			n := 2 + rng.IntN(30)
			rule = fmt.Sprintf("%s;COUNT=%d%s", frequency, n, rest)
			tail = append(tail, fmt.Sprintf(l.times, n))
		case 1:
			last := day.AddDate(0, 0, 30+rng.IntN(300))
			rule = fmt.Sprintf("%s;UNTIL=%s%s", frequency, last.Format("20060102"), rest)
			date := fmt.Sprintf("%d%s %s %d", last.Day(), l.ordinal, l.months[last.Month()-1], last.Year())
			tail = append(tail, fmt.Sprintf(l.until, date))
		}
		moment = repeat + " " + moment
		fields = append(fields, rule)
	}
	parts = append(parts, moment)
	parts = append(parts, tail...)
	var guests []string
	place, reminder, calendar := "", "", ""
	if rng.IntN(3) == 0 {
		p := l.places[rng.IntN(len(l.places))]
		parts, place = append(parts, p.text), "at "+p.meaning
	}
	if rng.IntN(3) == 0 {
		parts, guests = append(parts, "ben@example.com"), append(guests, "with ben@example.com")
	}
	if rng.IntN(3) == 0 {
		p := l.reminders[rng.IntN(len(l.reminders))]
		parts, reminder = append(parts, p.text), "remind "+p.meaning
	}
	if rng.IntN(3) == 0 {
		parts, calendar = append(parts, "#work"), "in Work"
	}
	rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	fields = append(fields, place)
	fields = append(fields, guests...)
	fields = append(fields, reminder, calendar)
	var written []string
	for _, f := range fields {
		if f != "" {
			written = append(written, f)
		}
	}
	return title + " " + strings.Join(parts, " "), strings.Join(written, " | ")
}

// moment returns a phrase for a day with or without times, its meaning, and a phrase that may stand elsewhere.
func (l tongue) moment(rng *rand.Rand, day, now time.Time) (text, span string, tail []string) {
	date := l.day(rng, day, now)
	start := day.Add(time.Duration(rng.IntN(24*4)) * 15 * time.Minute)
	length := time.Duration(1+rng.IntN(20)) * 15 * time.Minute
	from := l.clock(rng, start.Hour(), start.Minute())
	end := start.Add(length)
	switch rng.IntN(5) {
	case 0:
		return date, day.Format("2006-01-02"), nil
	case 1:
		end = start.Add(time.Hour)
		text = date + " " + from
	case 2:
		end = start.Add(time.Hour)
		text = l.joins[2] + from + " " + date
	case 3:
		to := l.clock(rng, end.Hour(), end.Minute())
		text = date + " " + l.joins[0] + from + l.joins[1] + to
	case 4:
		text = date + " " + from
		tail = []string{fmt.Sprintf(l.length, int(length.Minutes()))}
	}
	if start.Format("0102") == end.Format("0102") {
		return text, start.Format("2006-01-02 15:04") + end.Format("-15:04"), tail
	}
	return text, start.Format("2006-01-02 15:04") + end.Format(" to 2006-01-02 15:04"), tail
}
