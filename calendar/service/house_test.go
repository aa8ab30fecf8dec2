package service_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/storetest"
)

// house is a Service on a real store, with a clock that stands still and ids that count.
type house struct {
	*service.Service
	*housetest.House
	t          *testing.T
	ctx        context.Context
	alice, bob calendar.Caller
	config     service.Config
}

// each runs a test in a fresh house on each engine.
func each(t *testing.T, test func(h *house)) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := &house{
			t: t, ctx: t.Context(),
			House: housetest.Open(t, url, housetest.At(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))),
		}
		h.config = h.Middle()
		h.config.ImageBytes = 1 << 20
		h.Service = service.New(h.config)
		h.alice, h.bob = h.user("alice"), h.user("bob")
		test(h)
	})
}

// asks makes shares offers that wait for an answer.
func (h *house) asks() {
	h.config.NeedAcceptance = true
	h.Service = service.New(h.config)
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) user(name string) calendar.Caller {
	h.t.Helper()
	u := calendar.User{ID: calendar.UserID("user-" + name), Name: name, Created: h.Now()}
	h.Admit(h.t, u)
	return calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "test"}
}

func (h *house) calendar(c calendar.Caller, at calendar.Segment, kinds ...calendar.Kind) calendar.Calendar {
	h.t.Helper()
	cal, err := h.CreateCalendar(h.ctx, c,
		calendar.NewCalendar{Segment: at, Properties: calendar.Properties{Kinds: kinds}})
	h.must(err)
	return cal
}

// spare gives somebody another default calendar, so that those they have may be deleted.
func (h *house) spare(c calendar.Caller) {
	h.t.Helper()
	h.chooses(c, h.calendar(c, "spare"))
}

// chooses makes a calendar somebody's default one.
func (h *house) chooses(c calendar.Caller, cal calendar.Calendar) {
	h.t.Helper()
	h.must(h.PatchScheduling(h.ctx, c, func(s *calendar.Scheduling) error {
		s.Default = cal.ID
		return nil
	}))
}

func (h *house) put(c calendar.Caller, cal calendar.Calendar, name calendar.ObjectName, data string) calendar.Saved {
	h.t.Helper()
	saved, err := h.Put(h.ctx, c, cal, calendar.Draft{Name: name, Data: []byte(data)})
	h.must(err)
	return saved
}

// give shares a calendar, past all rules.
func (h *house) give(id calendar.CalendarID, user calendar.UserID, access calendar.Access) error {
	return storetest.Share(h.ctx, h.Store, id, user, access)
}

// ChangeCalendar is PatchCalendar without properties that are kept.
func (h *house) ChangeCalendar(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, edit func(*calendar.Properties) error,
) error {
	return h.PatchCalendar(ctx, c, id, func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
		return nil, edit(p)
	})
}

// now returns the calendar as it is by now.
func (h *house) fresh(c calendar.Caller, cal calendar.Calendar) calendar.Calendar {
	h.t.Helper()
	cal, err := h.Calendar(h.ctx, c, cal.ID)
	h.must(err)
	return cal
}

// changes lists what changed since a token as "name@version", deleted ones with a minus.
func (h *house) changes(c calendar.Caller, cal calendar.Calendar, since string) string {
	h.t.Helper()
	token, err := calendar.ParseSyncToken(since)
	h.must(err)
	var list []string
	for _, o := range h.all(h.Changes(h.ctx, nil, c, h.fresh(c, cal), token)) {
		line := fmt.Sprintf("%s@%d", o.Name, o.Version)
		if o.Deleted {
			line = "-" + line
		}
		list = append(list, line)
	}
	return strings.Join(list, " ")
}

func (h *house) all(seq iter.Seq2[calendar.Object, error]) []calendar.Object {
	h.t.Helper()
	var list []calendar.Object
	for o, err := range seq {
		h.must(err)
		list = append(list, o)
	}
	return list
}

func (h *house) token(c calendar.Caller, cal calendar.Calendar) string {
	h.t.Helper()
	return h.fresh(c, cal).SyncToken().String()
}

// refused checks why something was refused.
func (h *house) refused(err error, reason calendar.Reason, rule calendar.Rule, says string) {
	h.t.Helper()
	if err == nil || calendar.ReasonOf(err) != reason || calendar.RuleOf(err) != rule ||
		!strings.Contains(err.Error(), says) {
		h.t.Errorf("%v (%s, %q), want %s, %q with %q", err, calendar.ReasonOf(err), calendar.RuleOf(err), reason, rule,
			says)
	}
}

// event returns the text of an event on a day of March 2026.
func event(uid string, day int, summary string) string {
	return fmt.Sprintf("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:%s\r\n"+
		"DTSTAMP:20260301T000000Z\r\nDTSTART:202603%02dT090000Z\r\nDTEND:202603%02dT100000Z\r\nSUMMARY:%s\r\n"+
		"END:VEVENT\r\nEND:VCALENDAR\r\n",
		uid, day, day, summary)
}

// serviceOf makes a service anew, once its settings are others.
func serviceOf(h *house) *service.Service { return service.New(h.config) }
