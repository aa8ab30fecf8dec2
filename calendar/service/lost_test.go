package service_test

import (
	"database/sql"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
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
