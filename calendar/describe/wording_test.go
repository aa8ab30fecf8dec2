package describe_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/locale"
)

// everyChange has a change for each text. What users wrote in it is digits and capitals, for no language has such
// words.
func everyChange() (all []calendar.Change) {
	for _, kind := range calendar.AllKinds() {
		all = append(all, calendar.Change{Object: "1", Kind: kind, Did: calendar.Created, Summary: "QX1"})
	}
	for _, did := range []calendar.ChangeKind{
		calendar.Modified, calendar.Deleted, calendar.Accepted, calendar.Declined,
	} {
		all = append(all, calendar.Change{Object: "1", Kind: calendar.Event, Did: did})
	}
	return slices.Concat(all, changedObjects(), changedCalendars(), changedShares())
}

func changedObjects() (all []calendar.Change) {
	modified := func(before, after []byte) {
		all = append(all,
			calendar.Change{
				Object: "1", Kind: calendar.Event, Did: calendar.Modified, Summary: "QX1", Before: before, After: after,
			},
			calendar.Change{
				Object: "1", Kind: calendar.Event, Did: calendar.Modified, Summary: "QX1", Before: after, After: before,
			})
	}
	rich := func(n string) []byte {
		return object(ten + strings.ReplaceAll("SUMMARY:QX0\nLOCATION:QX0\nSTATUS:CONFIRMED\nPERCENT-COMPLETE:10\n"+
			"DESCRIPTION:QX0\nCATEGORIES:QX0\nURL:QX0\nPRIORITY:3\nCOLOR:QX0\nATTACH:QX0\nORGANIZER:QX0\n"+
			"BEGIN:VALARM\nACTION:QX0\nTRIGGER:-PT5M\nEND:VALARM", "QX0", "QX"+n))
	}
	modified(rich("1"), object(ten+"RRULE:FREQ=DAILY\nEXDATE:20261104T090000Z"))
	modified(rich("1"), rich("2"))
	modified(object(ten+"SEQUENCE:1"), object(ten+"SEQUENCE:2"))
	modified(object(ten+"SUMMARY:QX1"), object(ten+"SUMMARY:QX2"))
	for _, status := range []string{
		"TENTATIVE", "CONFIRMED", "CANCELLED", "NEEDS-ACTION", "IN-PROCESS", "COMPLETED", "DRAFT", "FINAL",
	} {
		modified(object(ten), object(ten+"STATUS:"+status))
	}
	for _, values := range [][2]string{
		{"CLASS:PUBLIC", "CLASS:PRIVATE"},
		{"CLASS:CONFIDENTIAL", "PRIORITY:1"},
		{"TRANSP:OPAQUE", "TRANSP:TRANSPARENT"},
		{"PRIORITY:5", "PRIORITY:9"},
		{"ATTENDEE:QX1", "ATTENDEE:QX2"},
	} {
		modified(object(ten+values[0]), object(ten+values[1]))
	}
	for _, answer := range []string{"ACCEPTED", "DECLINED", "TENTATIVE", "DELEGATED"} {
		modified(object(ten+"ATTENDEE:QX1"), object(ten+"ATTENDEE;PARTSTAT="+answer+":QX1"))
	}
	modified(object(ten), object("UID:a\nDTSTART;TZID=Europe/Berlin:20261103T100000\nDTEND:20261103T200000Z"))
	modified(object(ten), object("UID:a\nDTSTART;TZID=Europe/Berlin:20261103T110000\nDTEND:20261103T110000Z"))
	modified(object(ten), object("UID:a\nDTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270104"))
	modified(object(ten), object("UID:a"))
	modified(object(ten), object(ten+"DESCRIPTION:QX1"))
	series := daily + another + "DTSTART:20261104T100000Z\nDURATION:PT1H\nSUMMARY:Lunch\nEND:VEVENT"
	modified(object(daily), object(series))
	modified(object(daily), object(strings.ReplaceAll(series, "20261104T090000Z", "QX1")))
	task := func(lines string) []byte { return object("BEGIN:VTODO\nUID:a\n" + lines + "END:VTODO") }
	modified(task("DUE;VALUE=DATE:20261103\n"), task("DUE;VALUE=DATE:20261104\n"))
	modified(task("DUE;VALUE=DATE:20261103\n"), task(""))
	modified(task("DTSTART;VALUE=DATE:20261103\n"), task("DTSTART;VALUE=DATE:20261104\n"))
	modified(task("DTSTART;VALUE=DATE:20261103\n"), task(""))
	return all
}

func changedCalendars() (all []calendar.Change) {
	order, text, none := int64(1), "QX1", ""
	full := calendar.Calendar{Segment: "QX1", Properties: calendar.Properties{
		Name: "QX1", Description: &text, Color: &text, Order: &order, Timezone: "QX1",
		Kinds: calendar.Kinds{calendar.Event}, Transparent: true, Hidden: true,
	}}
	plain := calendar.Calendar{Segment: "QX2", Properties: calendar.Properties{
		Name: "QX2", Description: &none, Kinds: calendar.Kinds{calendar.Event, calendar.Todo},
	}}
	tasks, zoned := plain, plain
	tasks.Kinds, zoned.TimezoneData = calendar.Kinds{calendar.Todo}, &text
	was := calendar.SettingsOf(plain, nil).Encode()
	for _, now := range []calendar.Calendar{full, tasks, zoned} {
		after := calendar.SettingsOf(now, []calendar.DeadProperty{{Value: "1"}}).Encode()
		all = append(all,
			calendar.Change{Did: calendar.Modified, Before: was, After: after},
			calendar.Change{Did: calendar.Modified, Before: after, After: was})
	}
	return all
}

func changedShares() (all []calendar.Change) {
	for given := calendar.NoAccess; given <= calendar.OwnerAccess; given++ {
		all = append(all, calendar.Change{Whom: "b", WhomName: "QX2", Did: calendar.Created, Given: given})
	}
	return append(all,
		calendar.Change{Whom: "b", Did: calendar.Deleted},
		calendar.Change{Whom: "b", Did: calendar.Declined},
		calendar.Change{
			Whom: "b", Did: calendar.Modified, Given: calendar.WriteAccess,
			Before: calendar.Terms{Access: calendar.ReadAccess}.Encode(),
		})
}

// everyConflict has a change that cannot be taken back for each reason.
func everyConflict() []calendar.UndoConflict {
	c := calendar.Change{
		Object: "1", Kind: calendar.Event, Did: calendar.Created, Summary: "QX1",
		At: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC),
	}
	later := c
	later.Agent, later.At = "QX2", c.At.Add(time.Hour)
	return []calendar.UndoConflict{
		{Change: c, By: &later},
		{Change: c, By: &later, Differs: []string{"SUMMARY", "DTSTART"}},
		{Change: c, By: &c},
		{Change: c, Answer: true},
		{Change: c, Forgotten: true},
		{Change: c, LinesGone: true},
		{Change: c},
	}
}

// sentencesIn returns everything that is said of every change in a language.
func sentencesIn(t *testing.T, tag string) string {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	w := describe.For(locale.Match(tag), "", berlin, func(text string) string { return text })
	var all []string
	for _, c := range everyChange() {
		c.At, c.In.Name = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), "QX9"
		all = append(all, w.Change(c))
		all = append(all, w.Details(c)...)
	}
	for _, left := range everyConflict() {
		left.In.Name = "QX9"
		all = append(all, w.Left(left))
	}
	all = append(all, w.AllLeft(everyConflict()), w.By(calendar.Change{UserName: "QX1", For: "1"}))
	for name := range strings.FieldsSeq("DTSTART RRULE ATTENDEE VEVENT X-QX VALARM ATTACH ORGANIZER DESCRIPTION") {
		all = append(all, w.Properties([]string{name}))
	}
	return strings.Join(all, "\n")
}

// textsOf returns the texts of a language whose ids begin with a prefix.
func textsOf(t *testing.T, tag, prefix string) map[string]string {
	t.Helper()
	content, err := os.ReadFile("../../locale/" + tag + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var texts map[string]any
	if err := json.Unmarshal(content, &texts); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for id, text := range texts {
		if one, single := text.(string); single && strings.HasPrefix(id, prefix) {
			found[id] = one
		}
	}
	return found
}

var (
	parameter  = regexp.MustCompile(`\{\{\.\w+\}\}`)
	letterRuns = regexp.MustCompile(`\p{L}{3,}`)
)

// TestEveryTextIsSaid: the changes of this test need each text, so that the next test sees all of them.
func TestEveryTextIsSaid(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"en", "de"} {
		said := sentencesIn(t, tag)
		for id, text := range textsOf(t, tag, "did.") {
			var parts []string
			for _, part := range parameter.Split(text, -1) {
				parts = append(parts, regexp.QuoteMeta(part))
			}
			if !regexp.MustCompile("(?m)" + strings.Join(parts, ".+")).MatchString(said) {
				t.Errorf("%s: no change is described with %q (%s)", tag, text, id)
			}
		}
	}
}

// sameWords are words that a language shares with English, of three letters or more.
var sameWords = map[string]string{
	"de": "status name link", "fr": "notes description public dates journal position invitation", "es": "color",
	"it": "link", "nl": "status link begin details data hand was", "pl": "link", "pt": "link data out",
}

// TestLanguages: no English is left in other languages, and no value is missing. A missing text panics.
func TestLanguages(t *testing.T) {
	t.Parallel()
	all, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	english := map[string]bool{}
	for _, text := range textsOf(t, "en", "did.") {
		for _, word := range letterRuns.FindAllString(parameter.ReplaceAllString(text, ""), -1) {
			english[word] = true
		}
	}
	for _, l := range all.Languages() {
		said := sentencesIn(t, l.Tag())
		if strings.Contains(said, "{{") || strings.Contains(said, "did.") {
			t.Errorf("%s: a text is not filled in:\n%s", l.Tag(), said)
		}
		if l.Tag() == "en" {
			continue
		}
		left := map[string]bool{}
		for _, word := range letterRuns.FindAllString(said, -1) {
			if english[word] && !slices.Contains(strings.Fields(sameWords[l.Tag()]), strings.ToLower(word)) {
				left[word] = true
			}
		}
		if len(left) > 0 {
			t.Errorf("%s: English words are left: %q", l.Tag(), slices.Sorted(maps.Keys(left)))
		}
	}
}

// TestReaders: quotation marks, clock, dates and values are those of the reader.
func TestReaders(t *testing.T) {
	t.Parallel()
	c := calendar.Change{
		Object: "a.ics", Did: calendar.Modified, Kind: calendar.Event, Summary: "Essen",
		At: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), Before: object(ten),
		After: object("UID:a\nDTSTART;TZID=Europe/Berlin:20261103T130000\nDTEND;TZID=Europe/Berlin:20261103T140000\n" +
			"SUMMARY:Essen\nSTATUS:TENTATIVE"),
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ tag, clock, want string }{
		{
			"en", "12", "changed the event “Essen”: moved from Tue 3 Nov 10:00 am to 1:00 pm; title set to “Essen”; " +
				"status set to “tentative”",
		},
		{
			"de", "", "Termin „Essen“ geändert: verschoben von Di, 3. Nov. 10:00 auf 13:00; " +
				"Titel auf „Essen“ gesetzt; Status auf „vorläufig“ gesetzt",
		},
		{
			"fr", "", "modification de l’événement « Essen » – horaire : mar. 3 nov. 10:00 → 13:00 ; " +
				"titre : « Essen » ; état : « provisoire »",
		},
		{
			"pl", "24", "zmieniono wydarzenie „Essen” – przeniesiono z wt., 3 lis 10:00 na 13:00; tytuł: „Essen”; " +
				"stan: „wstępne”",
		},
	} {
		w := describe.For(locale.Match(tt.tag), tt.clock, berlin, func(text string) string { return text })
		if got := w.Change(c); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
