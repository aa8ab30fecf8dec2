package service_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
)

// share gives a calendar to somebody.
func (h *house) share(c calendar.Caller, cal calendar.Calendar, with calendar.Caller, access calendar.Access) {
	h.t.Helper()
	_, err := h.Share(h.ctx, c, cal.ID, with.User.Name, access)
	h.must(err)
}

// shares lists who was offered what of a calendar as "name:level", with the status unless it is
// accepted.
func (h *house) shares(c calendar.Caller, cal calendar.Calendar) string {
	h.t.Helper()
	all, err := h.Shares(h.ctx, c, cal.ID)
	h.must(err)
	words := []string{}
	for _, s := range all {
		word := s.User.Name + ":" + map[calendar.Access]string{
			calendar.FreeBusyAccess: "busy", calendar.ReadAccess: "read", calendar.WriteAccess: "write",
		}[s.Access]
		if s.Status != calendar.ShareAccepted {
			word += ":" + string(s.Status)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestShare(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		eve := h.user("eve")
		before := h.token(h.alice, work)
		h.share(h.alice, work, eve, calendar.FreeBusyAccess)
		h.share(h.alice, work, h.bob, calendar.ReadAccess)
		h.share(h.alice, work, h.bob, calendar.WriteAccess)
		if got := h.shares(h.alice, work); got != "bob:write eve:busy" {
			h.t.Errorf("shares: %s", got)
		}
		if got := h.token(h.alice, work); got == before {
			h.t.Error("the owner's other programs do not hear of it")
		}
		if got := h.fresh(h.bob, work); got.Access != calendar.WriteAccess || got.Shared {
			h.t.Errorf("his: %+v", got)
		}
		shared, err := h.SharedCalendars(h.ctx, h.bob)
		h.must(err)
		if len(shared) != 1 || shared[0].ID != work.ID {
			h.t.Errorf("shared with him: %+v", shared)
		}
		h.must(h.Unshare(h.ctx, h.alice, work.ID, "Bob"))
		h.must(h.Unshare(h.ctx, eve, work.ID, "eve"))
		if got := h.shares(h.alice, work); got != "eve:busy:declined" {
			h.t.Errorf("shares after the last: %s", got)
		}
		h.must(h.Unshare(h.ctx, h.alice, work.ID, "eve"))
		if got := h.shares(h.alice, work); got != "" {
			h.t.Errorf("shares after what is left is withdrawn: %s", got)
		}
		_, err = h.Calendar(h.ctx, h.bob, work.ID)
		h.refused(err, calendar.NotFound, "", "no calendar")
	})
}

func TestShareIsRefused(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.user("eve")
		unshared := h.calendar(h.alice, "unshared")
		h.share(h.alice, work, h.bob, calendar.WriteAccess)
		reading := h.alice
		reading.Scopes = calendar.ScopeRead | calendar.ScopeWrite | calendar.ScopeDelete
		kept := h.bob
		kept.Scopes = calendar.ScopeRead | calendar.ScopeWrite
		for _, c := range []struct {
			name   string
			do     func() error
			reason calendar.Reason
			rule   calendar.Rule
			says   string
		}{
			{"by a sharee", func() error {
				_, err := h.Share(h.ctx, h.bob, work.ID, "eve", calendar.ReadAccess)
				return err
			}, calendar.Forbidden, calendar.RulePrivileges, "may not share"},
			{"by a stranger", func() error {
				_, err := h.Share(h.ctx, h.bob, unshared.ID, "eve", calendar.ReadAccess)
				return err
			}, calendar.NotFound, "", "no calendar"},
			{"by a token without the scope", func() error {
				_, err := h.Share(h.ctx, reading, work.ID, "eve", calendar.ReadAccess)
				return err
			}, calendar.Forbidden, calendar.RulePrivileges, "scope"},
			{"with nobody", func() error {
				_, err := h.Share(h.ctx, h.alice, work.ID, "nobody", calendar.ReadAccess)
				return err
			}, calendar.NotFound, "", `no user "nobody"`},
			{"with its owner", func() error {
				_, err := h.Share(h.ctx, h.alice, work.ID, "alice", calendar.ReadAccess)
				return err
			}, calendar.Invalid, "", "already yours"},
			{"for nothing", func() error {
				_, err := h.Share(h.ctx, h.alice, work.ID, "bob", calendar.NoAccess)
				return err
			}, calendar.Invalid, "", "free and busy"},
			{"as owner", func() error {
				_, err := h.Share(h.ctx, h.alice, work.ID, "bob", calendar.OwnerAccess)
				return err
			}, calendar.Invalid, "", "free and busy"},
			{
				"taken from who has none", func() error { return h.Unshare(h.ctx, h.alice, work.ID, "eve") },
				calendar.NotFound, "", "not shared with",
			},
			{
				"taken from nobody", func() error { return h.Unshare(h.ctx, h.alice, work.ID, "nobody") },
				calendar.NotFound, "", "not shared with",
			},
			{
				"taken from another sharee", func() error { return h.Unshare(h.ctx, h.bob, work.ID, "eve") },
				calendar.Forbidden, calendar.RulePrivileges, "may not share",
			},
			{
				"left by its owner", func() error { return h.Leave(h.ctx, h.alice, work.ID) },
				calendar.Invalid, "", "deleted, not left",
			},
			{
				"left by a token that deletes nothing", func() error { return h.Leave(h.ctx, kept, work.ID) },
				calendar.Forbidden, calendar.RulePrivileges, "scope",
			},
			{
				"listed for a sharee", func() error { _, err := h.Shares(h.ctx, h.bob, work.ID); return err },
				calendar.Forbidden, calendar.RulePrivileges, "may not see who",
			},
		} {
			h.t.Log(c.name)
			h.refused(c.do(), c.reason, c.rule, c.says)
		}
		if got := h.shares(h.alice, work); got != "bob:write" {
			h.t.Errorf("shares after all that: %s", got)
		}
	})
}

func TestShareesArrangeForThemselves(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.share(h.alice, work, h.bob, calendar.ReadAccess)
		_, home := h.home(h.bob, calendar.SyncToken{})
		_, hers0 := h.home(h.alice, calendar.SyncToken{})
		version := h.token(h.alice, work)
		h.must(h.PatchCalendar(h.ctx, h.bob, work.ID, func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
			p.Name, p.Color, p.Order = "Alice at work", new("#123456"), new(int64(3))
			return []calendar.DeadProperty{{Name: calendar.PropertyName{Local: "alarm"}, Value: "<alarm/>"}}, nil
		}))
		his, hers := h.fresh(h.bob, work), h.fresh(h.alice, work)
		if his.Name != "Alice at work" || *his.Color != "#123456" || *his.Order != 3 {
			h.t.Errorf("his: %+v", his)
		}
		if diff := cmp.Diff(work.Properties, hers.Properties); diff != "" {
			h.t.Errorf("hers changed with it (-was +is):\n%s", diff)
		}
		if changed, _ := h.home(h.bob, home); changed != string(work.ID) {
			h.t.Errorf("his other programs hear of %q", changed)
		}
		// What is his alone is nothing that anybody else's programs would have to look at.
		if changed, _ := h.home(h.alice, hers0); changed != "" || h.token(h.alice, work) != version {
			h.t.Errorf("hers hear of %q, of a calendar at %s after %s", changed, h.token(h.alice, work), version)
		}
		for _, c := range []struct {
			who  calendar.Caller
			cal  calendar.Calendar
			want int
		}{{h.bob, his, 1}, {h.alice, hers, 0}} {
			kept, err := h.DeadProperties(h.ctx, c.who, calendar.Holder{Place: calendar.AtCalendar, Calendar: c.cal})
			h.must(err)
			if len(kept) != c.want {
				h.t.Errorf("kept for %s: %v", c.who.User.Name, kept)
			}
		}
		// Without a name of his own he has hers again, whatever she makes of it.
		h.must(h.ChangeCalendar(h.ctx, h.bob, work.ID, func(p *calendar.Properties) error { p.Name = ""; return nil }))
		h.must(h.ChangeCalendar(h.ctx, h.alice, work.ID, func(p *calendar.Properties) error {
			p.Name, p.Color = "Office", new("#AABBCC")
			return nil
		}))
		if his := h.fresh(h.bob, work); his.Name != "Office (alice)" || *his.Color != "#123456" {
			h.t.Errorf("his, later: %+v", his)
		}
	})
}

// TestSharesTellWhoseTheyAre: by what others call the owner, until who has the share gives it a name. What the owner
// calls it for themselves is one, too (clients F2).
func TestSharesTellWhoseTheyAre(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.share(h.alice, work, h.bob, calendar.FreeBusyAccess)
		name := func(set string) string {
			h.must(h.ChangeCalendar(h.ctx, h.bob, work.ID, func(p *calendar.Properties) error {
				p.Name = set
				return nil
			}))
			return h.fresh(h.bob, work).Name
		}
		if busy, own := h.fresh(h.bob, work).Name, h.fresh(h.alice, work).
			Name; busy != "work (alice)" || own != "work" {
			h.t.Errorf("it is %q to him, %q to her", busy, own)
		}
		h.share(h.alice, work, h.bob, calendar.ReadAccess)
		for set, want := range map[string]string{
			"": "work (alice)", "work (alice)": "work (alice)", "work": "work", "Hers": "Hers",
		} {
			if got := name(set); got != want {
				h.t.Errorf("named %q it is %q, want %q", set, got, want)
			}
		}
		name("work (alice)")
		h.must(h.ChangeCalendar(h.ctx, h.alice, work.ID, func(p *calendar.Properties) error {
			p.Name = "Office"
			return nil
		}))
		if got := h.fresh(h.bob, work).Name; got != "Office (alice)" {
			h.t.Errorf("renamed it is %q to him", got)
		}
	})
}

// Who has the busy times alone cannot set anything. What they had set before must not go on then, and
// is there again when they have more (security L4).
func TestArrangementsRest(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.share(h.alice, work, h.bob, calendar.ReadAccess)
		h.must(h.ChangeCalendar(h.ctx, h.bob, work.ID, func(p *calendar.Properties) error {
			p.Name, p.Color, p.Hidden, p.Transparent = "his", new("#123456"), true, false
			return nil
		}))
		his := h.fresh(h.bob, work).Properties
		plain := work.ForSharees()
		plain.Transparent = true
		for _, step := range []struct {
			access calendar.Access
			want   calendar.Properties
		}{
			{calendar.FreeBusyAccess, plain},
			{calendar.WriteAccess, his},
			{calendar.FreeBusyAccess, plain},
			{calendar.ReadAccess, his},
		} {
			h.share(h.alice, work, h.bob, step.access)
			if diff := cmp.Diff(step.want, h.fresh(h.bob, work).Properties); diff != "" {
				t.Errorf("with access %d (-want +got):\n%s", step.access, diff)
			}
		}
	})
}

func TestShareesChangeNothingElse(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.share(h.alice, work, h.bob, calendar.WriteAccess)
		was := h.fresh(h.alice, work)
		err := h.ChangeCalendar(h.ctx, h.bob, work.ID, func(p *calendar.Properties) error {
			p.Name, p.Timezone = "x", "Asia/Tokyo"
			return nil
		})
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "the rest is its owner's")
		err = h.ChangeCalendar(h.ctx, h.bob, work.ID, func(p *calendar.Properties) error {
			p.Color = new("red")
			return nil
		})
		h.refused(err, calendar.Invalid, "", "no colour")
		reading := h.bob
		reading.Scopes = calendar.ScopeRead
		err = h.ChangeCalendar(h.ctx, reading, work.ID, func(p *calendar.Properties) error { p.Name = "x"; return nil })
		h.refused(err, calendar.Forbidden, calendar.RulePrivileges, "scope")
		h.refused(h.DeleteCalendar(h.ctx, h.bob, work.ID), calendar.Forbidden, calendar.RulePrivileges,
			"delete the calendar")
		h.refused(h.MoveCalendar(h.ctx, h.bob, work.ID, "mine"), calendar.Forbidden, calendar.RulePrivileges,
			"change the calendar")
		if diff := cmp.Diff(was, h.fresh(h.alice, work)); diff != "" {
			h.t.Errorf("something changed (-was +is):\n%s", diff)
		}
	})
}
