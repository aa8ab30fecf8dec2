package service_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/internal/slowtest"
)

// mischief makes random changes in some calendars, as an assistant and its user would.
type mischief struct {
	*house
	random *rand.Rand
	bot    calendar.Caller
	cals   []calendar.Calendar
	// mirrors are what clients have that synchronize the calendars.
	mirrors map[calendar.CalendarID]*mirror
	texts   int
}

// mirror is a client's copy of a calendar.
type mirror struct {
	token calendar.SyncToken
	tags  map[calendar.ObjectName]calendar.ETag
}

func newMischief(h *house, seed uint64) *mischief {
	m := &mischief{
		house: h, random: rand.New(rand.NewPCG(seed, 7)), bot: h.assistant(),
		mirrors: map[calendar.CalendarID]*mirror{},
	}
	for i := range 3 {
		cal := h.calendar(h.alice, calendar.Segment(fmt.Sprintf("c%d-%d", seed, i)))
		m.cals = append(m.cals, cal)
		m.mirrors[cal.ID] = &mirror{tags: map[calendar.ObjectName]calendar.ETag{}}
		for j := range 3 {
			h.put(h.alice, cal, calendar.ObjectName(fmt.Sprintf("%d.ics", j)),
				event(fmt.Sprintf("uid-%d", j), 2, "first"))
		}
		m.sync(cal)
	}
	return m
}

// sync brings a client's copy up to date, as CalDAV clients do.
func (m *mischief) sync(cal calendar.Calendar) {
	m.t.Helper()
	now, err := m.Calendar(m.ctx, m.alice, cal.ID)
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
		return // in the trash
	}
	m.must(err)
	client := m.mirrors[cal.ID]
	for _, o := range m.all(m.Changes(m.ctx, nil, m.alice, now, client.token)) {
		if o.Deleted {
			delete(client.tags, o.Name)
		} else {
			client.tags[o.Name] = o.ETag
		}
	}
	client.token = now.SyncToken()
}

// state is all there is: settings and objects of each calendar.
func (m *mischief) state() map[string]any {
	m.t.Helper()
	all := map[string]any{}
	live, err := m.Calendars(m.ctx, m.alice)
	m.must(err)
	for _, cal := range live {
		all[string(cal.ID)] = []any{cal.Segment, cal.Properties, m.content(m.alice, cal)}
	}
	return all
}

// live are the calendars that are not in the trash.
func (m *mischief) live() []calendar.Calendar {
	m.t.Helper()
	return slices.DeleteFunc(slices.Clone(m.cals), func(cal calendar.Calendar) bool {
		_, err := m.Calendar(m.ctx, m.alice, cal.ID)
		return err != nil
	})
}

// change makes one random change. What is refused changes nothing, and is no less random.
func (m *mischief) change() {
	live := m.live()
	if len(live) == 0 {
		return
	}
	cal, other := live[m.random.IntN(len(live))], live[m.random.IntN(len(live))]
	name := calendar.ObjectName(fmt.Sprintf("%d.ics", m.random.IntN(6)))
	as := calendar.ObjectName(fmt.Sprintf("%d.ics", m.random.IntN(6)))
	m.texts++
	text := event(fmt.Sprintf("uid-%d", m.random.IntN(6)), 1+m.random.IntN(28), fmt.Sprint("text ", m.random.IntN(4)))
	switch n := m.random.IntN(20); {
	case n < 8:
		_, _ = m.Put(m.ctx, m.bot, cal, calendar.Draft{Name: name, Data: []byte(text)})
	case n < 11:
		_ = m.Delete(m.ctx, m.bot, cal, name, calendar.Precondition{})
	case n < 14:
		_, _ = m.Move(m.ctx, m.bot, ledger.Transfer{From: cal, Name: name, To: other, As: as})
	case n < 16:
		page, err := m.History(m.ctx, m.bot, calendar.HistoryQuery{Token: m.bot.Token, Limit: 5})
		m.must(err)
		if len(page.Changes) > 0 {
			_, _ = m.Undo(m.ctx, m.bot, page.Changes[m.random.IntN(len(page.Changes))].ID())
		}
	case n < 18:
		m.must(m.ChangeCalendar(m.ctx, m.bot, cal.ID, func(p *calendar.Properties) error {
			p.Name = fmt.Sprint("name ", m.texts)
			return nil
		}))
	case n < 19:
		m.must(m.DeleteCalendar(m.ctx, m.bot, cal.ID))
	default:
		made, err := m.CreateCalendar(m.ctx, m.bot, calendar.NewCalendar{})
		m.must(err)
		m.cals = append(m.cals, made)
		m.mirrors[made.ID] = &mirror{tags: map[calendar.ObjectName]calendar.ETag{}}
	}
	if m.random.IntN(3) == 0 {
		m.sync(cal)
	}
}

// converge tells whether clients that were away for a while end with what is there.
func (m *mischief) converge() {
	m.t.Helper()
	for _, cal := range m.live() {
		m.sync(cal)
		want := map[calendar.ObjectName]calendar.ETag{}
		for name, text := range m.content(m.alice, cal) {
			want[name] = calendar.ETagOf([]byte(text))
		}
		if diff := cmp.Diff(want, m.mirrors[cal.ID].tags); diff != "" {
			m.t.Errorf("the client of %s (-want +got):\n%s", cal.ID, diff)
		}
	}
}

// TestRandomChangesAreAllUndone: whatever an assistant does, taking it back leaves every byte as
// it was, in one step or one by one, and clients that synchronize see just that.
func TestRandomChangesAreAllUndone(t *testing.T) {
	each(t, func(h *house) {
		for seed := range uint64(slowtest.Rounds(h.t, slowtest.Random, 4, 16)) {
			m := newMischief(h, seed)
			before := m.state()
			h.Pass(time.Minute)
			start := h.Now()
			for range 25 {
				m.change()
			}
			after := m.state()
			done, err := h.UndoSince(h.ctx, h.alice, calendar.UndoSince{Token: m.bot.Token, At: start})
			h.must(err)
			if diff := cmp.Diff(before, m.state()); diff != "" {
				h.t.Fatalf("seed %d: after the undo (-want +got):\n%s", seed, diff)
			}
			m.converge()
			if len(done.Steps) > 0 {
				h.undo(h.alice, done.Steps[0].ID())
				if diff := cmp.Diff(after, m.state()); diff != "" {
					h.t.Fatalf("seed %d: after undoing the undo (-want +got):\n%s", seed, diff)
				}
				m.converge()
				h.undo(h.alice, m.lastOf(start))
			}
			h.Pass(time.Minute)
		}
	})
}

// lastOf is the latest change since a time, of any calendar.
func (m *mischief) lastOf(since time.Time) calendar.ChangeID {
	m.t.Helper()
	page, err := m.History(m.ctx, m.alice, calendar.HistoryQuery{Since: since, Limit: 200})
	m.must(err)
	for _, c := range page.Changes {
		if c.Token == "" && len(c.Undoes) > 0 && c.UndoneBy == 0 {
			return c.ID()
		}
	}
	m.t.Fatal("no undo in the journal")
	return calendar.ChangeID{}
}

func TestRandomChangesAreUndoneOneByOne(t *testing.T) {
	each(t, func(h *house) {
		for seed := range uint64(slowtest.Rounds(h.t, slowtest.Random, 2, 8)) {
			m := newMischief(h, seed)
			before := m.state()
			h.Pass(time.Minute)
			start := h.Now()
			for range 20 {
				m.change()
				h.Pass(time.Second)
			}
			page, err := h.History(h.ctx, h.alice, calendar.HistoryQuery{Since: start, Limit: 1000})
			h.must(err)
			undone := map[calendar.ChangeID]bool{}
			for _, c := range page.Changes {
				if undone[c.Unit] {
					continue
				}
				undone[c.Unit] = true
				if _, err := h.Undo(h.ctx, h.alice, c.ID()); err != nil && calendar.ReasonOf(err) != calendar.Stale {
					h.t.Fatalf("seed %d: %+v: %v", seed, c, err)
				}
			}
			if diff := cmp.Diff(before, m.state()); diff != "" {
				h.t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
			}
			m.converge()
			h.Pass(time.Minute)
		}
	})
}
