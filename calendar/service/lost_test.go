package service_test

import (
	"database/sql"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/service"
)

// A standby that was behind takes over: the last changes are gone, and others get their numbers. Who
// holds the calendar in memory shows none of what is lost, and who comes with a token from before is told.
func TestLostChangesAreNotTold(t *testing.T) {
	eachWithProcesses(t, 1<<20, func(p *processes) {
		one, other := p.two[0], p.two[1]
		for n := range 6 {
			p.put(one, n)
		}
		for range 20 {
			p.compare(one)
		}
		before := p.at(one)
		p.lose("event-4.ics", "event-5.ics")
		p.put(other, 10)
		p.put(other, 11)
		now := p.at(one)
		if now.Version != before.Version || now.Epoch == before.Epoch {
			t.Errorf("version %d of epoch %s after %d of %s", now.Version, now.Epoch, before.Version, before.Epoch)
		}
		p.seen = nil
		if p.compare(one) {
			t.Error("what is in memory is not what there is")
		}
		for _, err := range one.Changes(t.Context(), nil, p.alice, now, before.SyncToken()) {
			if calendar.RuleOf(err) != calendar.RuleSyncToken {
				t.Errorf("a token of what is lost is taken: %v", err)
			}
			return
		}
		t.Error("a token of what is lost is taken")
	})
}

// lose takes the last changes back behind everybody's back, as a database does that has never had them.
func (p *processes) lose(names ...string) {
	p.t.Helper()
	run := func(text string, args ...any) {
		p.t.Helper()
		p.must(behind(p.t, p.url, text, args...))
	}
	for _, name := range names {
		run(`DELETE FROM objects WHERE name = $1`, name)
		run(`DELETE FROM journal WHERE object = $1`, name)
		run(`UPDATE calendars SET version = version - 1`)
	}
	if !strings.HasPrefix(p.url, "sqlite:") {
		run(`UPDATE meta SET timeline = '0000000F'`) // of the server that is gone
		return
	}
	p.must(p.store.NewEpoch(p.t.Context())) // as restore does
}

// behind does something to a database behind everybody's back.
func behind(t *testing.T, url, text string, args ...any) error {
	t.Helper()
	driver, where := "pgx", url
	if path, found := strings.CutPrefix(url, "sqlite:"); found {
		driver, where = "sqlite", path
	}
	db, err := sql.Open(driver, where)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), text, args...)
	return err
}

// An event whose text the database has lost is shown to nobody as an empty one: who took it for that would lose theirs,
// too. It can be put anew by whoever has it, and deleted.
func TestLostTextIsNoEvent(t *testing.T) {
	each(t, func(h *house) {
		cal := h.calendar(h.alice, "work")
		small, large := event("small", 1, "Dinner"), event("large", 1, strings.Repeat("x", calendar.LargeObject))
		h.put(h.alice, cal, "small.ics", small)
		h.put(h.alice, cal, "large.ics", large)
		h.must(behind(t, h.URL, `UPDATE objects SET data = $1`, []byte{}))
		h.Service = service.New(h.config) // which has nothing in memory
		fails := func(what string, err error) {
			t.Helper()
			if err == nil || calendar.ReasonOf(err) != calendar.Internal ||
				!strings.Contains(service.ForLog(err), "has no text") {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, name := range []calendar.ObjectName{"small", "large"} {
			_, err := h.Object(t.Context(), nil, h.alice, cal, name+".ics")
			fails("read by name", err)
			_, err = h.ObjectByUID(t.Context(), nil, h.alice, cal, calendar.UID(name))
			fails("read by UID", err)
			var listed error
			for _, err := range h.Objects(t.Context(), nil, h.alice, cal,
				calendar.ObjectQuery{Names: []calendar.ObjectName{name + ".ics"}, WithData: true}) {
				listed = err
			}
			fails("listed", listed)
			_, err = h.EditObject(t.Context(), h.alice, cal, calendar.UID(name), ledger.Edit{})
			fails("edited", err)
			_, err = h.Move(t.Context(), h.alice,
				ledger.Transfer{From: cal, Name: name + ".ics", To: cal, As: "moved.ics"})
			fails("moved", err)
		}
		found, err := h.SearchEvents(t.Context(), h.alice, query.EventSearch{Text: "dinner", Limit: 9})
		if err != nil || len(found.Occurrences) != 0 {
			t.Errorf("a search finds %v, %v", found, err)
		}
		h.put(h.alice, cal, "other.ics", event("other", 2, "Dinner of others"))
		if found, err = h.SearchEvents(t.Context(), h.alice, query.EventSearch{Text: "dinner", Limit: 9}); err != nil ||
			len(found.Occurrences) != 1 {
			t.Errorf("a search finds %d of the others, %v", len(found.Occurrences), err)
		}
		h.must(h.Delete(t.Context(), h.alice, cal, "other.ics", calendar.Precondition{}))
		h.put(h.alice, cal, "small.ics", small)
		if o, err := h.Object(t.Context(), nil, h.alice, cal, "small.ics"); err != nil || string(o.Data) != small {
			t.Errorf("put anew it is %q, %v", o.Data, err)
		}
		h.must(h.Delete(t.Context(), h.alice, cal, "large.ics", calendar.Precondition{}))
		if left := h.all(h.Objects(t.Context(), nil, h.alice, cal, calendar.ObjectQuery{WithData: true})); len(left) !=
			1 {
			t.Errorf("%d are left", len(left))
		}
	})
}
