package service_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
)

func TestNewCalendarsHaveWhatTheirMakerLeftOut(t *testing.T) {
	each(t, func(h *house) {
		cal := h.fresh(h.alice, h.calendar(h.alice, ""))
		if string(cal.Segment) != string(cal.ID) || cal.Name != string(cal.ID) || cal.Timezone != "UTC" ||
			cal.Kinds.String() != calendar.AllKinds().String() {
			h.t.Errorf("%+v", cal)
		}
		if cal.Description != nil || cal.Color == nil || cal.Order != nil || cal.Access != calendar.OwnerAccess ||
			cal.Version != 1 {
			h.t.Errorf("%+v", cal)
		}
	})
}

// TestNewCalendarsTakeTheirUsersZone: also when a program takes away the one that was set (clients F4).
func TestNewCalendarsTakeTheirUsersZone(t *testing.T) {
	each(t, func(h *house) {
		h.alice.User.Timezone = "Europe/Berlin"
		cal := h.calendar(h.alice, "")
		if got := h.fresh(h.alice, cal).Timezone; got != "Europe/Berlin" {
			h.t.Errorf("a new calendar has the zone %q", got)
		}
		zone := func(name string) string {
			h.must(h.ChangeCalendar(h.ctx, h.alice, cal.ID, func(p *calendar.Properties) error {
				p.Timezone = name
				return nil
			}))
			return h.fresh(h.alice, cal).Timezone
		}
		if set, unset := zone("Asia/Tokyo"), zone(""); set != "Asia/Tokyo" || unset != "Europe/Berlin" {
			h.t.Errorf("the zone is %q when it was set, %q when it was taken away", set, unset)
		}
	})
}

// TestNewCalendarsHaveColorsOfTheirOwn: those of one user differ as long as there are colours, and what others share
// counts (clients F2).
func TestNewCalendarsHaveColorsOfTheirOwn(t *testing.T) {
	each(t, func(h *house) {
		h.share(h.bob, h.calendar(h.bob, "his"), h.alice, calendar.ReadAccess)
		for i := range 10 {
			h.calendar(h.alice, calendar.Segment(fmt.Sprint("hers-", i)))
		}
		all, err := h.Calendars(h.ctx, h.alice)
		h.must(err)
		used := map[string]string{}
		for _, cal := range all {
			if other, taken := used[*cal.Color]; taken {
				h.t.Errorf("%s and %s are both %s", other, cal.Name, *cal.Color)
			}
			used[*cal.Color] = cal.Name
		}
		if len(all) != 11 {
			h.t.Errorf("there are %d", len(all))
		}
		h.calendar(h.alice, "one too many") // begins anew
	})
}

func TestCalendarsAreRefused(t *testing.T) {
	each(t, func(h *house) {
		h.calendar(h.alice, "work")
		h.calendar(h.bob, "work")
		red := "red"
		for _, c := range []struct {
			new    calendar.NewCalendar
			reason calendar.Reason
			rule   calendar.Rule
			says   string
		}{
			{calendar.NewCalendar{Segment: "work"}, calendar.Exists, calendar.RuleResourceMustBeNil, "address"},
			{
				calendar.NewCalendar{Segment: calendar.Segment(strings.Repeat("x", 256))},
				calendar.Invalid, "",
				"longer than 255",
			},
			{
				calendar.NewCalendar{Properties: calendar.Properties{Name: strings.Repeat("x", 1001)}},
				calendar.Invalid, "", "longer than 1000",
			},
			{
				calendar.NewCalendar{Properties: calendar.Properties{Kinds: calendar.Kinds{"VPOLL"}}},
				calendar.Invalid,
				calendar.RuleSupportedKind, "VPOLL",
			},
			{calendar.NewCalendar{Segment: "inbox"}, calendar.Forbidden, calendar.RuleCalendarsOnlyHere, "scheduling"},
			{calendar.NewCalendar{Properties: calendar.Properties{Color: &red}}, calendar.Invalid, "", "#RRGGBB"},
			{
				calendar.NewCalendar{Properties: calendar.Properties{Timezone: "Mars/Phobos"}},
				calendar.Invalid,
				calendar.RuleValidTimezone, "Mars/Phobos",
			},
		} {
			_, err := h.CreateCalendar(h.ctx, h.alice, c.new)
			h.refused(err, c.reason, c.rule, c.says)
		}
	})
}

// TestSubscription: it is in the home, and no calendar that anybody could put something in.
func TestSubscription(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		feed, err := h.CreateCalendar(h.ctx, h.alice, calendar.NewCalendar{
			Segment: "feed", Properties: calendar.Properties{Name: "Holidays", Kinds: calendar.Kinds{calendar.Event}},
			Subscription: true,
		})
		h.must(err)
		h.must(h.ChangeCalendar(h.ctx, h.alice, feed.ID, func(p *calendar.Properties) error {
			p.Name = "Feasts"
			return nil
		}))
		if got := h.fresh(h.alice, feed); !got.Subscribed() || got.Name != "Feasts" ||
			h.fresh(h.alice, work).Subscribed() {
			h.t.Errorf("%+v", got)
		}
		names := func(all []calendar.Calendar, err error) string {
			h.must(err)
			var list []string
			for _, cal := range all {
				list = append(list, cal.Name)
			}
			return strings.Join(list, " ")
		}
		if got := names(h.Calendars(h.ctx, h.alice)); got != "work" {
			h.t.Errorf("calendars: %s", got)
		}
		if got := names(h.CalendarsInHome(h.ctx, h.alice)); got != "Feasts work" {
			h.t.Errorf("in the home: %s", got)
		}
		feed = h.fresh(h.alice, feed)
		_, err = h.Put(h.ctx, h.alice, feed, calendar.Draft{Name: "1.ics", Data: []byte(event("one", 2, "x"))})
		h.refused(err, calendar.Forbidden, calendar.RuleSupportedKind, "a calendar elsewhere")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		_, err = h.Move(h.ctx, h.alice, ledger.Transfer{From: work, Name: "1.ics", To: feed, As: "1.ics"})
		h.refused(err, calendar.Forbidden, calendar.RuleSupportedKind, "a calendar elsewhere")
		_, err = h.Share(h.ctx, h.alice, feed.ID, "bob", calendar.ReadAccess)
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "the address that it follows")
		h.must(h.DeleteCalendar(h.ctx, h.alice, feed.ID))
		back, err := h.RestoreCalendar(h.ctx, h.alice, feed.ID, "")
		h.must(err)
		if !back.Subscribed() || !h.fresh(h.alice, feed).Subscribed() {
			h.t.Errorf("restored as %+v", back)
		}
	})
}

func TestChangeCalendar(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		empty := ""
		h.must(h.ChangeCalendar(h.ctx, h.alice, work.ID, func(p *calendar.Properties) error {
			p.Name, p.Description = "Büro", &empty
			return nil
		}))
		got := h.fresh(h.alice, work)
		if got.Name != "Büro" || got.Description == nil || *got.Description != "" {
			h.t.Errorf("%+v", got)
		}
		no := errors.New("no")
		err := h.ChangeCalendar(h.ctx, h.alice, work.ID, func(p *calendar.Properties) error {
			p.Name = "lost"
			return no
		})
		if after := h.fresh(h.alice, work); !errors.Is(err, no) || after.Name != "Büro" ||
			after.Version != got.Version {
			h.t.Errorf("%v left %+v", err, after)
		}
	})
}

func TestADeletedCalendarFreesItsAddress(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		h.spare(h.alice)
		h.must(h.DeleteCalendar(h.ctx, h.alice, work.ID))
		_, err := h.CalendarAt(h.ctx, h.alice, "work")
		h.refused(err, calendar.NotFound, "", "work")
		_, err = h.Put(h.ctx, h.alice, work, calendar.Draft{Name: "2.ics", Data: []byte(event("two", 2, "x"))})
		h.refused(err, calendar.NotFound, "", "")
		if again := h.calendar(h.alice, "work"); again.ID == work.ID {
			h.t.Error("the new calendar is the old one")
		}
	})
}

// TestReindexKeepsWhatClientsSee: everything derived is made anew, no version moves.
func TestReindexKeepsWhatClientsSee(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		h.put(h.alice, work, "2.ics", event("two", 2, "y"))
		h.must(h.Delete(h.ctx, h.alice, work, "2.ics", calendar.Precondition{}))
		before := h.token(h.alice, work)
		n, err := h.Reindex(h.ctx, calendar.Walk{})
		h.must(err)
		if n != 2 || h.token(h.alice, work) != before {
			h.t.Errorf("went through %d objects, token %s became %s", n, before, h.token(h.alice, work))
		}
	})
}
