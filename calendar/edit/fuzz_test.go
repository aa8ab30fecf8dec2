package edit_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/ical"
)

// FuzzEdit edits whatever can be read: it ends in a refusal, or in objects that can be read
// again, of which the first is still the same one.
func FuzzEdit(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "ical", "testdata", "clients", "*.ics"))
	if err != nil || len(files) == 0 {
		f.Fatal("no files of clients", err)
	}
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "20260311T133000Z", "20260312T143000Z", uint8(i))
	}
	f.Add([]byte(night("FREQ=DAILY;COUNT=6")), "20260329T033000", "2026-03-30", uint8(9))
	scopes := []edit.Scope{edit.This, edit.Following, edit.All, ""}
	f.Fuzz(func(t *testing.T, data []byte, id, start string, choice uint8) {
		o, err := content.Read(data, ical.DefaultLimits())
		if err != nil {
			return
		}
		target := edit.Target{Scope: scopes[choice%4]}
		if target.Instance, err = ical.ParseTime(id, ""); err != nil || choice&4 != 0 {
			target.Instance = ical.Time{}
		}
		c := edit.Change{Target: target, Times: edit.Times{AsGiven: choice&8 != 0}}
		if at, err := ical.ParseTime(start, ""); err == nil {
			c.Times.Start = edit.To(at)
		}
		if choice&16 != 0 {
			c.Fields = edit.Fields{
				Summary: edit.To(id), Attendees: edit.Clear[[]edit.Attendee](),
				Alarms: edit.To([]edit.Alarm{{Minutes: 5}}),
			}
		}
		e := editor()
		e.Budget = recur.Budget{Steps: 20_000, Instances: 2000}
		var result edit.Result
		if choice&32 != 0 {
			result, err = e.Cancel(t.Context(), o, target)
		} else {
			result, err = e.Change(t.Context(), o, c)
		}
		checkFuzzed(t, o.UID, result, err)
	})
}

func checkFuzzed(t *testing.T, uid string, result edit.Result, err error) {
	t.Helper()
	if err != nil {
		if _, refused := errors.AsType[*edit.Error](err); !refused {
			t.Errorf("an error that is no refusal: %v", err)
		}
		return
	}
	for i, doc := range []*ical.Document{result.Document, result.Split} {
		if doc == nil {
			continue
		}
		again, err := content.Read(doc.Bytes(), ical.Limits{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if want := []string{uid, "second"}[i]; again.UID != want {
			t.Errorf("the UID %q, want %q", again.UID, want)
		}
		if !slices.Equal(again.Document.Bytes(), doc.Bytes()) {
			t.Errorf("what was written is read as something else:\n%s", doc)
		}
	}
}
