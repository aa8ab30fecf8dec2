package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
)

// imports wants an import to end in a way.
func (h *house) imports(cal calendar.Calendar, i calendar.Import, want calendar.Imported) {
	h.t.Helper()
	h.importsAs(h.NewImporter(h.alice, calendar.ImportOptions{}), cal, want, i)
}

// importsAs wants each of a batch to end in a way.
func (h *house) importsAs(
	with *ledger.Importer, cal calendar.Calendar, want calendar.Imported, batch ...calendar.Import,
) {
	h.t.Helper()
	results, err := with.Store(h.ctx, cal, batch)
	h.must(err)
	for n, got := range results {
		if got.Err != nil || got.Did != want {
			h.t.Errorf("%d: %s, %v, want %s", n, got.Did, got.Err, want)
		}
	}
}

func TestImportTwiceChangesNothing(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.imports(work, calendar.Import{Data: []byte(event("one", 2, "x"))}, calendar.ImportedNew)
		before := h.token(h.alice, work)
		h.imports(work, calendar.Import{Data: []byte(event("one", 2, "x"))}, calendar.ImportedSame)
		replacing := h.NewImporter(h.alice, calendar.ImportOptions{Replace: true})
		h.importsAs(replacing, work, calendar.ImportedSame, calendar.Import{Data: []byte(event("one", 2, "x"))})
		// Nor does a control character that was taken out before.
		h.importsAs(replacing, work, calendar.ImportedSame, calendar.Import{Data: []byte(event("one", 2, "x\x0b"))})
		h.imports(work, calendar.Import{Data: []byte(event("one", 2, "another"))}, calendar.ImportedKept)
		if h.token(h.alice, work) != before {
			h.t.Error("the calendar has changed")
		}
		h.importsAs(replacing, work, calendar.ImportedReplaced,
			calendar.Import{Data: []byte(event("one", 2, "another")), Name: "ignored.ics"})
		if got := h.changes(h.alice, work, before); got != "one.ics@3" {
			h.t.Errorf("changed: %q", got)
		}
	})
}

// TestImportFindsNames: names come from UIDs, whatever those look like, and give way to what is there.
func TestImportFindsNames(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "one.ics", event("another", 2, "x"))
		for _, uid := range []string{"one", "two@example.com", "a/b", "..", strings.Repeat("x", 900), "ü"} {
			h.imports(work, calendar.Import{Data: []byte(event(uid, 2, uid))}, calendar.ImportedNew)
		}
		h.imports(work, calendar.Import{Data: []byte(event("given", 2, "x")), Name: "given name.ics"},
			calendar.ImportedNew)
		found := map[calendar.ObjectName]bool{}
		for _, o := range h.all(h.Objects(h.ctx, nil, h.alice, work, calendar.ObjectQuery{})) {
			found[o.Name] = true
			if strings.ContainsAny(string(o.Name), "/ü") || len(o.Name) > 250 || o.Name == "...ics" {
				h.t.Errorf("%q is a bad name", o.Name)
			}
		}
		if len(found) != 8 || !found["two@example.com.ics"] || !found["given name.ics"] {
			h.t.Errorf("%v", found)
		}
	})
}

func TestImportRefusesWhatPutRefuses(t *testing.T) {
	each(t, func(h *house) {
		tasks := h.calendar(h.alice, "tasks", calendar.Todo)
		for name, test := range map[string]struct {
			caller calendar.Caller
			data   string
			reason calendar.Reason
			says   string
		}{
			"nonsense":   {h.alice, "nonsense", calendar.Invalid, ""},
			"wrong kind": {h.alice, event("one", 2, "x"), calendar.Forbidden, "takes VTODO"},
			"a stranger": {h.bob, event("one", 2, "x"), calendar.NotFound, ""},
		} {
			cal := tasks
			if test.caller.User.ID != h.alice.User.ID {
				cal.Access = calendar.NoAccess
			}
			results, err := h.NewImporter(test.caller, calendar.ImportOptions{}).
				Store(h.ctx, cal, []calendar.Import{{Data: []byte(test.data)}})
			if err == nil {
				err = results[0].Err
			}
			if err == nil || calendar.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) {
				h.t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// many are events in one batch.
func many(from, to int) []calendar.Import {
	var all []calendar.Import
	for n := from; n < to; n++ {
		all = append(all, calendar.Import{Data: []byte(event(fmt.Sprintf("many-%d", n), 2, "x"))})
	}
	return all
}

// TestImportIsOneUndo: however many transactions an import took, in calendars that were here and in new
// ones, any of its changes takes all of it back, and once more brings it all again (clients F12).
func TestImportIsOneUndo(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "mine.ics", event("mine", 2, "mine"))
		with := h.NewImporter(h.alice, calendar.ImportOptions{Replace: true})
		h.importsAs(with, work, calendar.ImportedNew, many(0, 300)...)
		h.importsAs(with, work, calendar.ImportedReplaced, calendar.Import{Data: []byte(event("mine", 2, "theirs"))})
		h.importsAs(with, work, calendar.ImportedNew, many(300, 510)...)
		color := "#112233"
		old, made, err := with.Calendar(h.ctx,
			calendar.NewCalendar{Segment: "old", Properties: calendar.Properties{Name: "Old", Color: &color}})
		if err != nil || !made {
			t.Fatalf("%v, made: %v", err, made)
		}
		h.importsAs(with, old, calendar.ImportedNew, many(0, 3)...)

		whole, ok := with.Change()
		if !ok {
			t.Fatal("nothing was changed")
		}
		undone, err := h.Undo(h.ctx, h.alice, h.latest(h.alice, work).ID())
		h.must(err)
		if got := h.all(h.Objects(h.ctx, nil, h.alice, h.fresh(h.alice, work), calendar.ObjectQuery{
			WithData: true,
		})); len(got) != 1 || !strings.Contains(string(got[0].Data), "SUMMARY:mine") {
			h.t.Errorf("%d objects are left", len(got))
		}
		if _, err := h.Calendar(h.ctx, h.alice, old.ID); calendar.ReasonOf(err) != calendar.NotFound {
			h.t.Errorf("the new calendar: %v", err)
		}
		if _, err := h.Undo(h.ctx, h.alice, whole); calendar.ReasonOf(err) != calendar.Stale {
			h.t.Errorf("the same once more: %v", err)
		}
		_, err = h.Undo(h.ctx, h.alice, undone.Steps[0].ID())
		h.must(err)
		for _, back := range []struct {
			in   calendar.Calendar
			want int
		}{{work, 511}, {old, 3}} {
			if got := h.all(h.Objects(h.ctx, nil, h.alice, h.fresh(h.alice, back.in),
				calendar.ObjectQuery{})); len(got) != back.want {
				h.t.Errorf("%s has %d objects again, want %d", back.in.Name, len(got), back.want)
			}
		}

		// What was changed since keeps all of it, not only its part.
		h.put(h.alice, work, "many-509.ics", event("many-509", 2, "changed"))
		if _, err := h.Undo(h.ctx, h.alice, whole); calendar.ReasonOf(err) != calendar.Stale {
			h.t.Errorf("after a change: %v", err)
		}
		if got := h.all(h.Objects(h.ctx, nil, h.alice, h.fresh(h.alice, work), calendar.ObjectQuery{})); len(got) !=
			511 {
			h.t.Errorf("after a refusal %d objects are left", len(got))
		}
	})
}

// TestImportPreviewTellsWhatTheImportDoes and changes nothing.
func TestImportPreviewTellsWhatTheImportDoes(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "mine.ics", event("mine", 2, "mine"))
		before := h.token(h.alice, work)
		here := []calendar.Import{
			{Data: []byte(event("mine", 2, "mine"))},
			{Data: []byte(event("mine", 2, "theirs"))},
			{Data: []byte("nonsense")},
		}
		here = append(here, many(0, 1)...)
		here = append(here, many(0, 1)...)
		var told [2]string
		for n, preview := range []bool{true, false} {
			with := h.NewImporter(h.alice, calendar.ImportOptions{Preview: preview})
			fresh, made, err := with.Calendar(h.ctx, calendar.NewCalendar{Segment: "fresh"})
			h.must(err)
			again, remade, err := with.Calendar(h.ctx, calendar.NewCalendar{Segment: "fresh"})
			h.must(err)
			told[n] = fmt.Sprint(made, remade, fresh.ID == again.ID)
			for _, in := range []calendar.Calendar{work, fresh} {
				results, err := with.Store(h.ctx, in, here)
				h.must(err)
				for _, r := range results {
					told[n] += fmt.Sprint(" ", r.Did, r.Err)
				}
			}
			if _, changed := with.Change(); changed == preview || preview && h.token(h.alice, work) != before {
				h.t.Errorf("preview %v: changed %v", preview, changed)
			}
		}
		if told[0] != told[1] {
			h.t.Errorf("the preview says\n%s\nand then\n%s", told[0], told[1])
		}
	})
}

// TestImportPreviewRefusesWhatTheImportRefuses: an event with guests that is in another calendar, be it one that the
// same import would make, and what the account has no room for.
func TestImportPreviewRefusesWhatTheImportRefuses(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		meeting := meetingOf(organizedByAnn, attendees("ann", "bob"))
		g.save("ann", meeting)
		g.within(calendar.Quota{Objects: 6})
		other := replaceUID(meeting, "UID:other")
		batches := [][]string{
			{meeting, other, event("a", 2, "a")},
			{other, event("b", 2, "b")},
			{event("c", 2, "c"), event("d", 2, "d"), event("e", 2, "e")},
		}
		var told [2]string
		for n, preview := range []bool{true, false} {
			with := g.NewImporter(ann.Caller, calendar.ImportOptions{Preview: preview})
			for b, texts := range batches {
				cal, _, err := with.Calendar(g.ctx,
					calendar.NewCalendar{Segment: calendar.Segment(fmt.Sprint("new-", b))})
				g.must(err)
				var batch []calendar.Import
				for _, text := range texts {
					batch = append(batch, calendar.Import{Data: []byte(text)})
				}
				results, err := with.Store(g.ctx, cal, batch)
				told[n] += fmt.Sprint("\n", err)
				for _, r := range results {
					told[n] += fmt.Sprint(" ", r.Did, r.Err)
				}
			}
		}
		if told[0] != told[1] {
			g.t.Errorf("the preview says%s\nand then%s", told[0], told[1])
		}
		if n := strings.Count(told[1], "in another calendar already"); n != 2 ||
			!strings.Contains(told[1], "the account may have 6") {
			g.t.Errorf("the import says%s", told[1])
		}
	})
}

// TestImportDressesWhatNobodyHasUsed: a calendar that was never used becomes what the other one is; one in use does
// not.
func TestImportDressesWhatNobodyHasUsed(t *testing.T) {
	each(t, func(h *house) {
		color, order := "#112233", int64(7)
		theirs := calendar.Properties{
			Name: "Theirs", Color: &color, Order: &order, Timezone: "Europe/Berlin",
			Kinds: calendar.Kinds{calendar.Event, calendar.Todo},
		}
		unused, used := h.calendar(h.alice, "unused", calendar.Event), h.calendar(h.alice, "used")
		h.put(h.alice, used, "a.ics", event("a", 2, "x"))
		with := h.NewImporter(h.alice, calendar.ImportOptions{})
		for _, test := range []struct {
			in   calendar.Calendar
			want string
		}{{unused, "Theirs"}, {used, used.Name}} {
			got, made, err := with.Calendar(h.ctx, calendar.NewCalendar{Segment: test.in.Segment, Properties: theirs})
			if err != nil || made || got.ID != test.in.ID || h.fresh(h.alice, test.in).Name != test.want {
				h.t.Errorf("%s: %+v, made %v, %v", test.in.Name, got, made, err)
			}
		}
		now := h.fresh(h.alice, unused).Properties
		if diff := cmp.Diff(theirs, now); diff != "" {
			h.t.Errorf("(-wanted +is):\n%s", diff)
		}
		change, _ := with.Change()
		_, err := h.Undo(h.ctx, h.alice, change)
		h.must(err)
		if diff := cmp.Diff(unused.Properties, h.fresh(h.alice, unused).Properties); diff != "" {
			h.t.Errorf("after the undo (-was +is):\n%s", diff)
		}
	})
}
