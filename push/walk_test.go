package push_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/watch"
	"caldav-mcp-server/internal/slowtest"
)

// walk does at random what people do, and knows from the outside who must be told of it: anyone who asks for the
// calendar gets another sync token than at the time they were told last, or, of all calendars, another list of such
// tokens.
type walk struct {
	*house
	r       *rand.Rand
	puts    int
	cals    []calendar.Calendar
	owner   map[calendar.CalendarID]calendar.Caller
	readers map[calendar.CalendarID]map[calendar.UserID]bool
	devices []*listener
	hooks   map[string]*hearer
	trail   []string
}

// listener is a registration: seen is what its program knows.
type listener struct {
	path, seen string
	who        calendar.Caller
	cal        calendar.CalendarID
	sub        calendar.PushID
	gone       bool
	token      auth.Token
	revoked    bool
}

// hearer is a webhook: waiting are the UIDs that it must hear of, by calendar.
type hearer struct {
	who     calendar.Caller
	waiting map[calendar.CalendarID][]string
}

func (w *walk) note(format string, args ...any) {
	w.trail = append(w.trail, fmt.Sprintf(format, args...))
}

// sees is what somebody gets who asks; "" where they may not.
func (w *walk) sees(l *listener) string {
	ids := []calendar.CalendarID{l.cal}
	if l.cal == "" {
		ids = nil
		for _, c := range w.cals {
			ids = append(ids, c.ID)
		}
	}
	var all []string
	for _, id := range ids {
		cal, err := w.service.Calendar(w.t.Context(), l.who, id)
		if err == nil && l.who.May(calendar.ReadObjects, cal) == nil {
			all = append(all, cal.SyncToken().String())
		}
	}
	if l.cal == "" {
		return "home " + strings.Join(all, " ")
	}
	return strings.Join(all, " ")
}

func (w *walk) put() {
	cal := w.cals[w.r.IntN(len(w.cals))]
	w.puts++
	uid := fmt.Sprintf("e%d", w.puts)
	_, err := w.service.Put(w.t.Context(), w.owner[cal.ID], cal, calendar.Draft{
		Name: calendar.ObjectName(uid + ".ics"), Data: []byte(
			"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:" + uid +
				"\r\nDTSTAMP:20261120T100000Z\r\nDTSTART:20261124T090000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"),
	})
	w.must(err)
	w.note("put %s into %s", uid, cal.Segment)
	for _, h := range w.hooks {
		if w.readers[cal.ID][h.who.User.ID] {
			h.waiting[cal.ID] = append(h.waiting[cal.ID], uid)
		}
	}
}

func (w *walk) reshare() {
	cal := w.cals[w.r.IntN(len(w.cals))]
	whom := w.bob
	if w.owner[cal.ID].User.ID == w.bob.User.ID {
		whom = w.alice
	}
	access := []calendar.Access{
		calendar.NoAccess, calendar.FreeBusyAccess, calendar.ReadAccess, calendar.WriteAccess,
	}[w.r.IntN(4)]
	_, err := w.service.Reshare(w.t.Context(), w.owner[cal.ID], cal.ID, []calendar.ShareEdit{
		{With: whom.User, Access: access, Settled: true},
	})
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		w.t.Fatal(err)
	}
	w.note("%s is shared with %s: %s", cal.Segment, whom.User.Name, access.Word())
	may := access >= calendar.ReadAccess
	if w.readers[cal.ID][whom.User.ID] = may; !may {
		for _, h := range w.hooks {
			if h.who.User.ID == whom.User.ID {
				delete(h.waiting, cal.ID)
			}
		}
	}
}

// listen registers a program, of the password or of a token of its own.
func (w *walk) listen() {
	who := []calendar.Caller{w.alice, w.bob}[w.r.IntN(2)]
	l := &listener{path: fmt.Sprintf("/%d", len(w.devices)), who: who}
	if w.r.IntN(3) > 0 {
		cal := w.cals[w.r.IntN(len(w.cals))]
		if l.cal = cal.ID; !w.readers[cal.ID][who.User.ID] {
			return
		}
	}
	if w.r.IntN(2) == 0 {
		var err error
		l.token, _, err = w.auth.CreateToken(w.t.Context(), auth.TokenSpec{
			User: who.User.Name, Name: "t", Scopes: calendar.ScopeAll,
		})
		w.must(err)
		l.who.Token = l.token.ID
	}
	l.sub = w.register(l.who, l.path, l.cal).ID
	l.seen = w.sees(l)
	w.devices = append(w.devices, l)
	w.note("%s listens on %s to %q", who.User.Name, l.path, l.cal)
}

// end takes a registration, or its token, away.
func (w *walk) end() {
	if len(w.devices) == 0 {
		return
	}
	l := w.devices[w.r.IntN(len(w.devices))]
	switch {
	case l.gone || l.revoked:
	case l.token.ID != "" && w.r.IntN(2) == 0:
		w.must(w.auth.RevokeToken(w.t.Context(), l.token.ID))
		l.revoked = true
		w.note("the token of %s ends", l.path)
	default:
		w.must(w.service.UnregisterPush(w.t.Context(), l.who, l.sub))
		l.gone = true
		w.note("%s ends", l.path)
	}
}

// tell lets the courier work, and compares who is told with who must be.
func (w *walk) tell() {
	w.Pass(time.Minute)
	var want []string
	for _, l := range w.devices {
		now := w.sees(l)
		switch {
		case l.gone:
		case l.cal != "" && now == "", l.revoked:
			// It is told nothing, and what was taken away does not come back by itself.
			l.gone = l.gone || now != l.seen
		case now != l.seen:
			want, l.seen = append(want, l.path), now
		}
	}
	for range 4 {
		w.round()
	}
	var got []string
	for _, m := range w.house.devices.Got() {
		got = append(got, m.Path)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.t.Fatalf("told %v, want %v, after\n%s", got, want, strings.Join(w.trail, "\n"))
	}
	w.note("told %v", got)
	w.compareHooks()
}

func (w *walk) compareHooks() {
	heard := map[string][]string{}
	for _, m := range w.house.hooks.heard() {
		var body struct {
			Data struct {
				Changes []struct{ UID string }
			}
		}
		w.must(json.Unmarshal([]byte(m.body), &body))
		for name, h := range w.hooks {
			secret := name
			if !verify(secret, m) {
				continue
			}
			for _, c := range body.Data.Changes {
				if c.UID != "" {
					heard[string(h.who.User.ID)] = append(heard[string(h.who.User.ID)], c.UID)
				}
			}
		}
	}
	for _, h := range w.hooks {
		var want []string
		for _, uids := range h.waiting {
			want = append(want, uids...)
		}
		got := heard[string(h.who.User.ID)]
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			w.t.Fatalf("%s heard %v, want %v, after\n%s", h.who.User.Name, got, want, strings.Join(w.trail, "\n"))
		}
		h.waiting = map[calendar.CalendarID][]string{}
	}
}

// TestWalk: after any sequence of changes, shares and registrations each watcher is told, if and only if it must be.
func TestWalk(t *testing.T) {
	seeds := slowtest.Rounds(t, slowtest.Random, 2, 40)
	each(t, func(h *house) {
		for seed := range seeds {
			w := &walk{
				house: h, r: rand.New(rand.NewPCG(uint64(seed), 7)), owner: map[calendar.CalendarID]calendar.Caller{},
				readers: map[calendar.CalendarID]map[calendar.UserID]bool{}, hooks: map[string]*hearer{},
			}
			for i, who := range []calendar.Caller{h.alice, h.alice, h.bob} {
				cal, err := h.service.CreateCalendar(t.Context(), who, calendar.NewCalendar{
					Segment: calendar.Segment(fmt.Sprintf("s%dc%d", seed, i)),
				})
				h.must(err)
				w.cals = append(w.cals, cal)
				w.owner[cal.ID], w.readers[cal.ID] = who, map[calendar.UserID]bool{who.User.ID: true}
			}
			for _, who := range []calendar.Caller{h.alice, h.bob} {
				_, secret := h.webhook(who, watch.WebhookSpec{})
				w.hooks[secret] = &hearer{who, map[calendar.CalendarID][]string{}}
			}
			for range 80 {
				steps := []func(){w.put, w.put, w.put, w.reshare, w.reshare, w.listen, w.listen, w.end, w.tell, w.tell}
				steps[w.r.IntN(len(steps))]()
			}
			w.tell()
			w.clear()
		}
	})
}

// clear ends all that a walk began.
func (w *walk) clear() {
	for _, l := range w.devices {
		if !l.gone {
			_ = w.service.UnregisterPush(w.t.Context(), l.who, l.sub)
		}
	}
	for _, who := range []calendar.Caller{w.alice, w.bob} {
		all, err := w.service.Webhooks(w.t.Context(), who)
		w.must(err)
		for _, one := range all {
			w.must(w.service.RemoveWebhook(w.t.Context(), who, one.ID))
		}
	}
	w.house.devices.Got()
}
