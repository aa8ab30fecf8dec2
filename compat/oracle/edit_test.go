package oracle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/internal/slowtest"
)

// TestEditsAgreeWithTheOracle changes random series with the tools, in all scopes, and compares what there is
// then with what the oracle makes of the instances that there were. What is refused changes nothing.
func TestEditsAgreeWithTheOracle(t *testing.T) {
	t.Parallel()
	g, n := newGenerator(seed(t)+1, present()), slowtest.Rounds(t, slowtest.Random, fewEdits, manyEdits)
	d := open(t)
	refused := 0
	for at := range n {
		s := g.series()
		if len(s.rules)+len(s.dates) == 0 || len(s.made(g.horizon)) < 2 {
			continue
		}
		e := g.edit(&s)
		c := comparison{doors: d, generator: g, name: fmt.Sprintf("e%d", at)}
		c.id = string(d.calendar(c.name).ID)
		c.put(s)
		if !e.run(&c, s) {
			refused++
		}
		d.ask("DELETE", c.name+"/", "")
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d were refused", refused, n)
	if refused > n/2 {
		t.Errorf("%d of %d edits are refused", refused, n)
	}
}

// edit is what a tool is asked for.
type edit struct {
	tool, scope string
	at          instance
	by          time.Duration // how far it is moved, on the wall clock
	title       string
}

func (g *generator) edit(s *series) edit {
	e := edit{
		tool:  []string{"patch_event", "update_event", "move_event", "delete_event"}[g.IntN(4)],
		scope: []string{"this", "following", "all"}[g.IntN(3)],
	}
	// How far others are moved or written over that have a description of their own is a matter of taste (decision
	// 0013).
	if e.scope != "this" && e.tool != "patch_event" && e.tool != "delete_event" {
		s.overrides = nil
	}
	list := s.instances(g.horizon)
	e.at = list[g.IntN(len(list))]
	if e.tool == "delete_event" {
		return e
	}
	if e.tool != "move_event" {
		e.title = fmt.Sprintf("New %d", g.n)
		return e
	}
	e.by = time.Duration(g.IntN(17)-8) * 15 * time.Minute
	if s.place.days || g.odds(4) {
		e.by = time.Duration(g.IntN(5)-2) * 24 * time.Hour
	}
	for len(s.place.all(s.place.shows(e.at.start).Add(e.by))) != 1 {
		e.by += 24 * time.Hour // no clock shows that, or twice: nobody can ask for it
	}
	return e
}

// run makes the edit, compares, and tells whether it was taken.
func (e edit) run(c *comparison, s series) bool {
	c.t.Helper()
	from, until := c.opening.AddDate(0, -1, 0), c.horizon.AddDate(0, 1, 0)
	before := nameless(c.listEvents(from, until))
	refused := c.use(e.tool, e.args(c.id, s), &map[string]any{})
	after := nameless(c.listEvents(from, until))
	want := before
	if refused == "" {
		want = e.expected(s, c.found[s.uid], from, until)
		after = s.calm(after)
	}
	if diff := cmp.Diff(want, after); diff != "" {
		c.t.Errorf("%s of %s, scope %s, by %v, title %q (refused: %q) (-oracle +server): %s\n%s\n%s",
			e.tool, e.at.id.Format(stamp), e.scope, e.by, e.title, refused, diff, s.text(),
			c.ask("GET", c.name+"/"+s.uid+".ics", "").Body)
	}
	return refused == ""
}

// nameless puts all under one UID: what follows is an object of its own.
func nameless(lines []string) []string {
	for i, line := range lines {
		_, rest, _ := strings.Cut(line, " ")
		lines[i] = "event " + rest
	}
	slices.Sort(lines)
	return lines
}

func (e edit) args(id string, s series) map[string]any {
	args := map[string]any{
		"calendar_id": id, "event_uid": s.uid, "scope": e.scope,
		"recurrence_id": s.place.spell(e.at.id, "20060102", "20060102T150405", stamp),
	}
	tell := func(at time.Time) string {
		return s.place.spell(at, time.DateOnly, "2006-01-02T15:04:05", time.RFC3339)
	}
	switch e.tool {
	case "delete_event":
	case "move_event":
		args["new_start"] = tell(s.place.at(s.place.shows(e.at.start).Add(e.by)))
	case "update_event":
		args["title"], args["start"], args["end"] = e.title, tell(e.at.start), tell(e.at.end)
		if s.place.days { // the last day, as it is listed
			args["end"] = tell(e.at.end.Add(-time.Hour))
		}
	default:
		args["title"] = e.title
	}
	return args
}

// spell writes an instant in the form of the series.
func (p place) spell(at time.Time, day, floating, instant string) string {
	switch {
	case p.days:
		return p.shows(at).Format(day)
	case p.floating:
		return p.shows(at).Format(floating)
	}
	return at.UTC().Format(instant)
}

// expected are the instances afterwards.
func (e edit) expected(s series, list []instance, from, until time.Time) []string {
	var lines []string
	for _, i := range list {
		aimed := i.id.Equal(e.at.id)
		if aimed || e.scope == "all" || e.scope == "following" && i.id.After(e.at.id) {
			if e.tool == "delete_event" {
				continue
			}
			// What has a title of its own keeps it, unless that was pointed at.
			if e.title != "" && (aimed || i.title == s.title || i.title == e.at.title) {
				i.title = e.title
			}
			if e.by != 0 {
				i = e.moved(s, i)
			}
		}
		if i.overlaps(from, until) {
			lines = append(lines, shown("event", i.title, i.start, i.end))
		}
	}
	slices.Sort(lines)
	return s.calm(lines)
}

// moved keeps the length: an RDATE's own, or the series'.
func (e edit) moved(s series, i instance) instance {
	own := i.end.Sub(i.start)
	usual := i.end.Equal(s.length.end(s.place, i.start))
	i.start = s.place.at(s.place.shows(i.start).Add(e.by))
	if i.end = i.start.Add(own); usual {
		i.end = s.length.end(s.place, i.start)
	}
	return i
}

// calm leaves out what is near a change of the clocks: where a moment is moved out of a gap or into one, the
// rule's wall clock decides, of which an instance no longer tells.
func (s series) calm(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		for _, text := range strings.Fields(line)[1:3] {
			at, _ := time.Parse(stamp, text)
			_, a := at.Add(-2 * nearby).In(s.place.loc).Zone()
			_, b := at.Add(2 * nearby).In(s.place.loc).Zone()
			if a != b {
				return true
			}
		}
		return false
	})
}
