package personal_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/personal"
)

func text(lines string) []byte {
	return []byte(strings.ReplaceAll("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n"+lines+"END:VCALENDAR\n", "\n", "\r\n"))
}

const (
	series = "BEGIN:VEVENT\nUID:a\nDTSTART:20260301T090000Z\nRRULE:FREQ=DAILY\nSUMMARY:A\n X long\n" +
		"TRANSP:TRANSPARENT\nBEGIN:VALARM\nACTION:AUDIO\nTRIGGER:-PT5M\nEND:VALARM\nEND:VEVENT\n"
	bare    = "BEGIN:VEVENT\nUID:a\nDTSTART:20260301T090000Z\nRRULE:FREQ=DAILY\nSUMMARY:A\n X long\nEND:VEVENT\n"
	late    = "BEGIN:VEVENT\nUID:a\nRECURRENCE-ID:20260302T090000Z\nDTSTART:20260302T100000Z\nEND:VEVENT\n"
	later   = "BEGIN:VEVENT\nUID:a\nRECURRENCE-ID:20260303T090000Z\nDTSTART:20260303T100000Z\nEND:VEVENT\n"
	mine    = "TRANSP:OPAQUE\nBEGIN:VALARM\nACTION:AUDIO\nTRIGGER:-PT9M\nEND:VALARM\n"
	changed = "BEGIN:VEVENT\nUID:a\nDTSTART:20260301T090000Z\nRRULE:FREQ=DAILY\nSUMMARY:A\n X long\n" + mine +
		"END:VEVENT\n"
)

// TestExchange: what is one's own comes and goes, and every other byte stays where it is.
func TestExchange(t *testing.T) {
	t.Parallel()
	_, part, err := personal.Exchange(text(changed+late), nil)
	if err != nil {
		t.Fatal(err)
	}
	withMine := func(event string) string { return strings.Replace(event, "END:VEVENT", mine+"END:VEVENT", 1) }
	for name, c := range map[string]struct {
		data, part, want string
	}{
		"nothing to take":            {bare + late, "", bare + late},
		"taken":                      {series + late, "", bare + late},
		"of two users":               {series + late, string(part), changed + late},
		"an instance of before":      {series + withMine(late), string(part), changed + late},
		"an instance that is new":    {series + late + later, string(part), changed + late + withMine(later)},
		"an instance without series": {late, string(part), late},
	} {
		got, _, err := personal.Exchange(text(c.data), []byte(c.part))
		if diff := cmp.Diff(string(text(c.want)), string(got)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	got, taken, err := personal.Exchange(text(series+late), nil)
	if err != nil {
		t.Fatal(err)
	}
	if back, _, err := personal.Exchange(got, taken); err != nil ||
		cmp.Diff(string(text(series+late)), string(back)) != "" {
		t.Errorf("there and back: %v %s", err, back)
	}
}

func TestExchangeOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	if _, _, err := personal.Exchange([]byte("BEGIN:VCALENDAR"), nil); err == nil {
		t.Error("no error")
	}
	if _, _, err := personal.Exchange(text(bare), []byte("BEGIN")); err == nil {
		t.Error("no error about the part")
	}
}

func TestSameShared(t *testing.T) {
	t.Parallel()
	stamped := strings.Replace(bare, "SUMMARY", "DTSTAMP:20260101T000000Z\nSUMMARY", 1)
	again := strings.Replace(bare, "SUMMARY", "DTSTAMP:20260102T000000Z\nSUMMARY", 1)
	if !personal.SameShared(text(stamped), text(again)) || personal.SameShared(text(bare), text(late)) {
		t.Error("what is the same is not told from what is not")
	}
}
