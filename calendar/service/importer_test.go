package service_test

import (
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// imports wants an import to end in a way.
func (h *house) imports(cal calendar.Calendar, i calendar.Import, want calendar.Imported) {
	h.t.Helper()
	got, err := h.Import(h.ctx, h.alice, cal, i)
	h.must(err)
	if got != want {
		h.t.Errorf("%s, want %s", got, want)
	}
}

func TestImportTwiceChangesNothing(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.imports(work, calendar.Import{Data: []byte(event("one", 2, "x"))}, calendar.ImportedNew)
		before := h.token(h.alice, work)
		h.imports(work, calendar.Import{Data: []byte(event("one", 2, "x"))}, calendar.ImportedSame)
		h.imports(work, calendar.Import{Data: []byte(event("one", 2, "x")), Replace: true}, calendar.ImportedSame)
		// Nor does a control character that was taken out before.
		h.imports(work, calendar.Import{Data: []byte(event("one", 2, "x\x0b")), Replace: true}, calendar.ImportedSame)
		h.imports(work, calendar.Import{Data: []byte(event("one", 2, "another"))}, calendar.ImportedKept)
		if h.token(h.alice, work) != before {
			h.t.Error("the calendar has changed")
		}
		h.imports(work, calendar.Import{Data: []byte(event("one", 2, "another")), Name: "ignored.ics", Replace: true}, calendar.ImportedReplaced)
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
		h.imports(work, calendar.Import{Data: []byte(event("given", 2, "x")), Name: "given name.ics"}, calendar.ImportedNew)
		found := map[calendar.ObjectName]bool{}
		for _, o := range h.all(h.Objects(h.ctx, h.alice, work, calendar.ObjectQuery{})) {
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
			_, err := h.Import(h.ctx, test.caller, cal, calendar.Import{Data: []byte(test.data)})
			if err == nil || calendar.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) {
				h.t.Errorf("%s: %v", name, err)
			}
		}
	})
}
