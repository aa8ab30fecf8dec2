package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// told lists what a user was told as "invitation:status", an asterisk where it is a reply.
func (h *house) told(c calendar.Caller) string {
	h.t.Helper()
	all, err := h.Notifications(h.ctx, c)
	h.must(err)
	var words []string
	for _, n := range all {
		word := fmt.Sprintf("%s:%s", n.Title, n.Status)
		if n.Reply {
			word = "*" + word
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// sharing wants what a user was told, and who was offered what of a calendar of alice's.
func (h *house) sharing(what string, cal calendar.Calendar, shares, alices, bobs string) {
	h.t.Helper()
	if got := h.shares(h.alice, cal); got != shares {
		h.t.Errorf("%s: shares %q, want %q", what, got, shares)
	}
	if got := h.told(h.alice); got != alices {
		h.t.Errorf("%s: alice was told %q, want %q", what, got, alices)
	}
	if got := h.told(h.bob); got != bobs {
		h.t.Errorf("%s: bob was told %q, want %q", what, got, bobs)
	}
}

// invitation is the id of what bob was offered of a calendar.
func (h *house) invitation(cal calendar.Calendar, c calendar.Caller) calendar.InvitationID {
	return calendar.Share{Calendar: cal.ID, User: c.User}.Invitation()
}

func (h *house) offer(cal calendar.Calendar, with calendar.Caller, access calendar.Access, title string) {
	h.t.Helper()
	_, err := h.Reshare(h.ctx, h.alice, cal.ID, []calendar.ShareEdit{{With: with.User, Access: access, Title: title}})
	h.must(err)
}

func (h *house) answer(cal calendar.Calendar, r calendar.Reply) {
	h.t.Helper()
	_, err := h.Answer(h.ctx, h.bob, h.invitation(cal, h.bob), r)
	h.must(err)
}

// seen tells whether bob sees a calendar.
func (h *house) seen(cal calendar.Calendar) bool {
	h.t.Helper()
	_, err := h.Calendar(h.ctx, h.bob, cal.ID)
	if err != nil {
		h.refused(err, calendar.NotFound, "", "no calendar")
	}
	return err == nil
}

func TestInvitationIsAnswered(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		work := h.calendar(h.alice, "work")
		h.offer(work, h.bob, calendar.ReadAccess, "Work of Alice")
		h.sharing("asked", work, "bob:read:pending", "", "Work of Alice:pending")
		if h.seen(work) {
			t.Error("he sees it before he was willing to")
		}
		h.offer(work, h.bob, calendar.WriteAccess, "")
		h.sharing("asked for more", work, "bob:write:pending", "", "Work of Alice:pending")
		h.answer(work, calendar.Reply{Accept: true, Name: "Hers"})
		h.sharing("accepted", work, "bob:write", "*Hers:accepted", "")
		if his := h.fresh(h.bob, work); his.Name != "Hers" || his.Access != calendar.WriteAccess || !his.Transparent {
			t.Errorf("his: %+v", his)
		}
		h.answer(work, calendar.Reply{Accept: true})
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.sharing("less, without asking anew", work, "bob:read", "*Hers:accepted", "Work of Alice:accepted")
		h.answer(work, calendar.Reply{})
		h.sharing("declined after all", work, "bob:read:declined", "*:declined", "")
		if h.seen(work) {
			t.Error("he still sees it")
		}
		h.answer(work, calendar.Reply{Accept: true})
		if his := h.fresh(h.bob, work); his.Name != "work (alice)" {
			t.Errorf("his name for it came back: %q", his.Name)
		}
		h.offer(work, h.bob, calendar.NoAccess, "")
		h.sharing("withdrawn", work, "", "*:accepted", "Work of Alice:withdrawn")
		_, err := h.Answer(h.ctx, h.bob, h.invitation(work, h.bob), calendar.Reply{Accept: true})
		h.refused(err, calendar.NotFound, "", "no such invitation")
		h.sharing("answered too late", work, "", "*:accepted", "")
	})
}

func TestInvitationIsAcceptedByItself(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.sharing("shared", work, "bob:read", "", "work:accepted")
		before := h.token(h.alice, work)
		h.offer(work, h.bob, calendar.ReadAccess, "")
		if h.token(h.alice, work) != before {
			t.Error("what changed nothing is a change")
		}
		h.must(h.Leave(h.ctx, h.bob, work.ID))
		h.sharing("left", work, "bob:read:declined", "*:declined", "")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.sharing("shared again", work, "bob:read", "", "work:accepted")
	})
}

// Busy times are asked about as well, though no program can show that. What follows on them is an
// invitation again.
func TestBusyTimesAreAskedAbout(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		work := h.calendar(h.alice, "work")
		h.offer(work, h.bob, calendar.FreeBusyAccess, "")
		h.sharing("busy times", work, "bob:busy:pending", "", "")
		h.answer(work, calendar.Reply{Accept: true})
		h.sharing("accepted", work, "bob:busy", "*:accepted", "")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.sharing("more", work, "bob:read:pending", "", "work:pending")
		h.answer(work, calendar.Reply{Accept: true})
		h.offer(work, h.bob, calendar.FreeBusyAccess, "")
		h.sharing("less", work, "bob:busy", "*:accepted", "")
	})
}

// An offer of more leaves what one has until it is accepted, and for good when it is declined. To
// give the calendar up is another matter.
func TestOffersOfMoreTakeNothing(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		work := h.calendar(h.alice, "work")
		has := func(what string, want calendar.Access) {
			t.Helper()
			if got := h.fresh(h.bob, work).Access; got != want {
				t.Errorf("%s: he has %d, want %d", what, got, want)
			}
		}
		h.offer(work, h.bob, calendar.FreeBusyAccess, "")
		h.answer(work, calendar.Reply{Accept: true})
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.offer(work, h.bob, calendar.WriteAccess, "")
		has("offered more, and yet more", calendar.FreeBusyAccess)
		h.answer(work, calendar.Reply{})
		h.sharing("declined", work, "bob:busy", "*:declined", "")
		has("declined", calendar.FreeBusyAccess)
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.sharing("offered once more", work, "bob:read:pending", "", "work:pending")
		h.offer(work, h.bob, calendar.FreeBusyAccess, "")
		h.sharing("taken back", work, "bob:busy", "", "")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.answer(work, calendar.Reply{Accept: true})
		has("accepted", calendar.ReadAccess)
		h.offer(work, h.bob, calendar.FreeBusyAccess, "")
		has("less, at once", calendar.FreeBusyAccess)
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.must(h.Leave(h.ctx, h.bob, work.ID))
		h.sharing("left", work, "bob:read:declined", "*:declined", "")
		if h.seen(work) {
			t.Error("he has what he gave up")
		}
		h.offer(work, h.bob, calendar.FreeBusyAccess, "")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.offer(work, h.bob, calendar.NoAccess, "")
		h.sharing("withdrawn", work, "", "", "")
		if h.seen(work) {
			t.Error("he has what was withdrawn")
		}
	})
}

// Programs dismiss what they have shown. Anyone who asks once more is heard, unless it is there to be seen.
func TestInvitationIsRepeated(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		work := h.calendar(h.alice, "work")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		first, err := h.Notifications(h.ctx, h.bob)
		h.must(err)
		h.offer(work, h.bob, calendar.ReadAccess, "")
		again, err := h.Notifications(h.ctx, h.bob)
		h.must(err)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("told twice (-first +again):\n%s", diff)
		}
		h.must(h.Dismiss(h.ctx, h.bob, first[0].Name, calendar.Precondition{}))
		version := h.fresh(h.alice, work).Version
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.sharing("asked once more", work, "bob:read:pending", "", "work:pending")
		if now := h.fresh(h.alice, work).Version; now != version {
			t.Errorf("the calendar moved on from %d to %d", version, now)
		}
		h.answer(work, calendar.Reply{Accept: true})
		h.must(h.Dismiss(h.ctx, h.alice, calendar.NoticeName(h.invitation(work, h.bob)+"-reply.xml"),
			calendar.Precondition{}))
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.sharing("accepted already", work, "bob:read", "", "")
	})
}

func TestInvitationIsRefused(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		work := h.calendar(h.alice, "work")
		eve := h.user("eve")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		reading, bound := h.bob, h.bob
		reading.Scopes = calendar.ScopeRead
		bound.Calendars = []calendar.CalendarID{"another"}
		id := h.invitation(work, h.bob)
		long := strings.Repeat("x", 1001)
		for _, c := range []struct {
			name   string
			do     func() error
			reason calendar.Reason
			rule   calendar.Rule
			says   string
		}{
			{"answered by another", func() error {
				_, err := h.Answer(h.ctx, eve, id, calendar.Reply{Accept: true})
				return err
			}, calendar.NotFound, "", "no such invitation"},
			{"answered by its owner", func() error {
				_, err := h.Answer(h.ctx, h.alice, id, calendar.Reply{Accept: true})
				return err
			}, calendar.NotFound, "", "no such invitation"},
			{"answered by a token that only reads", func() error {
				_, err := h.Answer(h.ctx, reading, id, calendar.Reply{Accept: true})
				return err
			}, calendar.Forbidden, calendar.RulePrivileges, "scope"},
			{"answered by a token for another calendar", func() error {
				_, err := h.Answer(h.ctx, bound, id, calendar.Reply{Accept: true})
				return err
			}, calendar.Forbidden, calendar.RulePrivileges, "limited to certain calendars"},
			{"answered with a name that is too long", func() error {
				_, err := h.Answer(h.ctx, h.bob, id, calendar.Reply{Accept: true, Name: long})
				return err
			}, calendar.Invalid, "", "longer than 1000"},
			{"declined with a name that is too long", func() error {
				_, err := h.Answer(h.ctx, h.bob, id, calendar.Reply{Name: long})
				return err
			}, calendar.Invalid, "", "longer than 1000"},
			{"offered with a name that is too long", func() error {
				_, err := h.Reshare(h.ctx, h.alice, work.ID,
					[]calendar.ShareEdit{{With: eve.User, Access: calendar.ReadAccess, Title: long}})
				return err
			}, calendar.Invalid, "", "longer than 1000"},
			{"all or nothing", func() error {
				_, err := h.Reshare(h.ctx, h.alice, work.ID, []calendar.ShareEdit{
					{With: eve.User, Access: calendar.ReadAccess},
					{With: calendar.User{ID: "nobody"}, Access: calendar.ReadAccess},
				})
				return err
			}, calendar.NotFound, "", ""},
			{"told to a token for another calendar", func() error {
				_, err := h.Notifications(h.ctx, bound)
				return err
			}, calendar.Forbidden, calendar.RulePrivileges, "limited to certain calendars"},
			{"dismissed by a token that only reads", func() error {
				return h.Dismiss(h.ctx, reading, calendar.NoticeName(id)+".xml", calendar.Precondition{})
			}, calendar.Forbidden, calendar.RulePrivileges, "scope"},
			{"dismissed, though it is another by now", func() error {
				return h.Dismiss(h.ctx, h.bob, calendar.NoticeName(id)+".xml",
					calendar.Precondition{Match: []calendar.ETag{`"x"`}})
			}, calendar.Stale, "", ""},
			{"dismissed by another", func() error {
				return h.Dismiss(h.ctx, eve, calendar.NoticeName(id)+".xml", calendar.Precondition{})
			}, calendar.NotFound, "", "no notification"},
		} {
			h.t.Log(c.name)
			h.refused(c.do(), c.reason, c.rule, c.says)
		}
		h.sharing("after all that", work, "bob:read:pending", "", "work:pending")
	})
}

// A calendar that goes to the trash takes its invitations with it, and brings them back.
func TestInvitationsFollowTheirCalendar(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		eve := h.user("eve")
		work := h.calendar(h.alice, "work")
		h.offer(work, h.bob, calendar.ReadAccess, "")
		h.offer(work, eve, calendar.ReadAccess, "")
		h.answer(work, calendar.Reply{Accept: true})
		h.spare(h.alice)
		h.must(h.DeleteCalendar(h.ctx, h.alice, work.ID))
		if got := h.told(h.bob) + "," + h.told(eve); got != "work:withdrawn," {
			t.Errorf("told of the end: %q", got)
		}
		offers, err := h.Offers(h.ctx, eve)
		h.must(err)
		if len(offers) != 0 {
			t.Errorf("offers of what is gone: %v", offers)
		}
		_, err = h.RestoreCalendar(h.ctx, h.alice, work.ID, "")
		h.must(err)
		if got := h.told(h.bob) + "," + h.told(eve); got != "work:accepted,work:pending" {
			t.Errorf("told of the return: %q", got)
		}
		_, err = h.Answer(h.ctx, eve, h.invitation(work, eve), calendar.Reply{Accept: true})
		h.must(err)
	})
}

func TestNotificationsSynchronize(t *testing.T) {
	each(t, func(h *house) {
		eve := h.user("eve")
		var token calendar.SyncToken
		changed := func() string {
			t.Helper()
			changes, err := h.NotificationChanges(h.ctx, h.bob, token)
			h.must(err)
			if token, err = calendar.ParseSyncToken(changes.Now.String()); err != nil {
				t.Fatal(err)
			}
			words := []string{}
			for _, n := range changes.Items {
				word := n.Title
				if n.Gone {
					word = "gone"
				}
				words = append(words, word)
			}
			return strings.Join(words, " ")
		}
		steps := []struct {
			do   func()
			want string
		}{
			{func() {}, ""},
			{func() { h.offer(h.calendar(h.alice, "a"), h.bob, calendar.ReadAccess, "one") }, "one"},
			{func() { h.offer(h.calendar(h.alice, "b"), eve, calendar.ReadAccess, "eve's") }, ""},
			{func() { h.offer(h.calendar(h.alice, "c"), h.bob, calendar.ReadAccess, "two") }, "two"},
			{func() {
				all, err := h.Notifications(h.ctx, h.bob)
				h.must(err)
				h.must(h.Dismiss(h.ctx, h.bob, all[0].Name, calendar.Precondition{Match: []calendar.ETag{all[0].ETag}}))
				h.must(h.Dismiss(h.ctx, h.bob, all[0].Name, calendar.Precondition{Match: []calendar.ETag{all[0].ETag}}))
			}, "gone"},
			{func() {}, ""},
		}
		for i, step := range steps {
			step.do()
			if got := changed(); got != step.want {
				t.Errorf("step %d: %q, want %q", i, got, step.want)
			}
		}
		home, err := h.HomeChanges(h.ctx, h.bob, calendar.SyncToken{})
		h.must(err)
		_, err = h.NotificationChanges(h.ctx, h.bob, home.Now)
		h.refused(err, calendar.Forbidden, calendar.RuleSyncToken, "another calendar")
	})
}

func TestSharedWithAnAddress(t *testing.T) {
	each(t, func(h *house) {
		for _, name := range []string{"ann", "one", "two"} {
			u := calendar.User{
				ID: calendar.UserID(name), Name: name, Email: strings.TrimLeft(name, "onetw") + "@example.com",
				Created: h.Now(),
			}
			h.must(h.Store.InsertUser(h.ctx, u, ""))
		}
		work := h.calendar(h.alice, "work")
		share, err := h.Share(h.ctx, h.alice, work.ID, " ANN@example.com ", calendar.ReadAccess)
		h.must(err)
		if share.User.Name != "ann" {
			t.Errorf("shared with %s", share.User.Name)
		}
		for _, nobody := range []string{"", "@", "nn@example.com", "ann@example", "@example.com"} {
			_, err := h.Share(h.ctx, h.alice, work.ID, nobody, calendar.ReadAccess)
			h.refused(err, calendar.NotFound, "", "no user")
		}
	})
}

func TestHiddenCalendarsAreLeftOut(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.share(h.alice, work, h.bob, calendar.WriteAccess)
		h.put(h.alice, work, "a.ics", event("a", 5, "meeting"))
		hide := func(c calendar.Caller, hidden bool) {
			h.must(h.ChangeCalendar(h.ctx, c, work.ID, func(p *calendar.Properties) error {
				p.Hidden = hidden
				return nil
			}))
		}
		found := func(c calendar.Caller, named ...calendar.Calendar) int {
			t.Helper()
			a, err := h.Agenda(h.ctx, c,
				query.AgendaQuery{Calendars: named, From: h.Now(), Until: h.Now().AddDate(0, 1, 0), Limit: 10})
			h.must(err)
			return len(a.Occurrences)
		}
		hide(h.bob, true)
		if his, hers := found(h.bob), found(h.alice); his != 0 || hers != 1 {
			t.Errorf("he hides it: he finds %d, she %d", his, hers)
		}
		if named := found(h.bob, h.fresh(h.bob, work)); named != 1 {
			t.Errorf("named, it has %d", named)
		}
		hide(h.bob, false)
		hide(h.alice, true)
		if his, hers := found(h.bob), found(h.alice); his != 1 || hers != 0 {
			t.Errorf("she hides it: he finds %d, she %d", his, hers)
		}
	})
}

// What is shared takes the owner's time, and the sharee's once they say so.
func TestSharedCalendarTakesTimeWhenAskedTo(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.share(h.alice, work, h.bob, calendar.ReadAccess)
		h.put(h.alice, work, "a.ics", event("a", 9, "a"))
		if got := h.busy(h.bob, 9); got != "" {
			t.Errorf("unasked: %q", got)
		}
		h.must(h.ChangeCalendar(h.ctx, h.bob, work.ID, func(p *calendar.Properties) error {
			p.Transparent = false
			return nil
		}))
		h.must(h.ChangeCalendar(h.ctx, h.alice, work.ID, func(p *calendar.Properties) error {
			p.Transparent = true
			return nil
		}))
		if his, hers := h.busy(h.bob, 9), h.busy(h.alice, 9); his != "09:00-10:00 BUSY" || hers != "" {
			t.Errorf("his %q, hers %q", his, hers)
		}
	})
}

// TestNobodyIsOfferedCalendarsInBulk: what one user may put before another has a bound, asked or not (security M7).
func TestNobodyIsOfferedCalendarsInBulk(t *testing.T) {
	each(t, func(h *house) {
		share := func(i int, with calendar.Caller) error {
			cal := h.calendar(h.alice, calendar.Segment(fmt.Sprint("c", i, with.User.Name)))
			_, err := h.Share(h.ctx, h.alice, cal.ID, with.User.Name, calendar.ReadAccess)
			return err
		}
		for i := range 100 {
			if i > 0 && i%20 == 0 {
				h.Pass(25 * time.Hour) // for the limit of new shares in a day
			}
			h.must(share(i, h.bob))
		}
		h.Pass(25 * time.Hour)
		h.refused(share(100, h.bob), calendar.TooLarge, "", "you share 100 calendars with \"bob\"")
		first, err := h.CalendarAt(h.ctx, h.alice, "c0bob")
		h.must(err)
		// To change what is given is no more than there was.
		h.share(h.alice, first, h.bob, calendar.WriteAccess)
		h.must(h.Unshare(h.ctx, h.alice, first.ID, "bob"))
		h.must(share(101, h.bob))
		h.asks()
		eve := h.user("eve")
		for i := range 20 {
			h.must(share(i, eve))
		}
		h.refused(share(20, eve), calendar.TooLarge, "", "has too many offers to answer")
		if all, err := h.CalendarsInHome(h.ctx, eve); err != nil || len(all) != 0 {
			h.t.Errorf("what was not accepted is there: %d, %v", len(all), err)
		}
		offers, err := h.Offers(h.ctx, eve)
		h.must(err)
		_, err = h.Answer(h.ctx, eve, offers[0].Invitation(), calendar.Reply{Accept: true})
		h.must(err)
		h.Pass(25 * time.Hour)
		h.must(share(21, eve))
	})
}

// TestAdministratorSettlesShares: what an administrator shares waits for no answer, nor does what waited.
func TestAdministratorSettlesShares(t *testing.T) {
	each(t, func(h *house) {
		h.asks()
		work := h.calendar(h.alice, "work")
		h.share(h.alice, work, h.bob, calendar.ReadAccess)
		if got := h.shares(h.alice, work); got != "bob:read:pending" {
			h.t.Fatalf("offered: %s", got)
		}
		_, err := h.Settle(h.ctx, h.alice, work.ID, "bob", calendar.ReadAccess)
		h.must(err)
		if got := h.shares(h.alice, work); got != "bob:read" || !h.seen(work) {
			h.t.Errorf("settled: %s", got)
		}
	})
}
