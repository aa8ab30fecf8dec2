package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
)

// TestMayOfDelegates is the whole matrix of a delegate's actions on the owner's calendar.
func TestMayOfDelegates(t *testing.T) {
	t.Parallel()
	want := map[calendar.Access]string{
		calendar.ReadAccess:  "SeeBusy ReadObjects",
		calendar.WriteAccess: "SeeBusy ReadObjects WriteObjects DeleteObjects CleanInbox TellOthers ReadJournal",
	}
	names := map[calendar.Action]string{
		calendar.SeeBusy: "SeeBusy", calendar.ReadObjects: "ReadObjects", calendar.WriteObjects: "WriteObjects",
		calendar.DeleteObjects: "DeleteObjects", calendar.CreateCalendars: "CreateCalendars",
		calendar.ChangeCalendar: "ChangeCalendar", calendar.DeleteCalendar: "DeleteCalendar",
		calendar.ShareCalendar: "ShareCalendar", calendar.ListShares: "ListShares",
		calendar.ArrangeCalendar: "ArrangeCalendar", calendar.LeaveCalendar: "LeaveCalendar",
		calendar.AnswerInvitation: "AnswerInvitation", calendar.CleanInbox: "CleanInbox",
		calendar.TellOthers: "TellOthers", calendar.ReadJournal: "ReadJournal",
		calendar.AppointDelegates: "AppointDelegates",
	}
	alice, bob := calendar.User{ID: "alice", Name: "alice"}, calendar.User{ID: "bob", Name: "bob"}
	events := calendar.Properties{Kinds: []calendar.Kind{calendar.Event}}
	own := calendar.Calendar{ID: "own", Owner: "alice", Access: calendar.OwnerAccess, Properties: events}
	hidden := map[string]calendar.Calendar{
		"shared with the owner": {ID: "foreign", Owner: "carl", Access: calendar.WriteAccess, Properties: events},
		"a subscription":        {ID: "feed", Owner: "alice", Access: calendar.OwnerAccess},
	}
	for access, list := range want {
		c := calendar.Caller{User: bob, Scopes: calendar.ScopeAll}.As(
			calendar.Delegation{Owner: alice, Delegate: bob, Access: access})
		var may, mayOwn []string
		for a := calendar.SeeBusy; a <= calendar.AppointDelegates; a++ {
			if names[a] == "" {
				t.Fatalf("the action %d is new: add it here", a)
			}
			if c.May(a, own) == nil {
				may = append(may, names[a])
			}
			if c.MayOwn(a) == nil {
				mayOwn = append(mayOwn, names[a])
			}
			for which, cal := range hidden {
				if err := c.May(a, cal); calendar.ReasonOf(err) != calendar.NotFound {
					t.Errorf("%s in a calendar, %s: %v", names[a], which, err)
				}
			}
		}
		if diff := cmp.Diff(list, strings.Join(may, " ")); diff != "" {
			t.Errorf("%s of calendars (-want +got):\n%s", access.Word(), diff)
		}
		if diff := cmp.Diff(list, strings.Join(mayOwn, " ")); diff != "" {
			t.Errorf("%s of the home (-want +got):\n%s", access.Word(), diff)
		}
		if c.MayCreate() == nil || c.MayActFor() == nil {
			t.Errorf("%s creates calendars, or acts for a third person", access.Word())
		}
	}
}

// delegate makes bob alice's delegate with write access, and returns him acting for her.
func (h *house) delegate() calendar.Caller {
	h.t.Helper()
	_, err := h.AddDelegate(h.ctx, h.alice, "bob", calendar.WriteAccess)
	h.must(err)
	h.bob.ForOthers = true
	acting, err := h.ActFor(h.ctx, h.bob, "alice")
	h.must(err)
	return acting
}

// TestDelegateUsesCalendars: a delegate sees the calendars that the owner has, not those that others share with her,
// and the journal names both.
func TestDelegateUsesCalendars(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		carl := h.user("carl")
		h.share(carl, h.calendar(carl, "his"), h.alice, calendar.WriteAccess)
		acting := h.delegate()
		later := h.calendar(h.alice, "later")
		all, err := h.Calendars(h.ctx, acting)
		h.must(err)
		if len(all) != 2 || all[0].ID != later.ID || all[1].ID != work.ID {
			t.Errorf("the delegate sees %v", all)
		}
		home, err := h.HomeChanges(h.ctx, acting, calendar.SyncToken{})
		h.must(err)
		if len(home.List) != 2 || len(home.Calendars) != 2 {
			t.Errorf("the home's changes are %v", home.List)
		}
		_, err = h.Put(h.ctx, acting, work, calendar.Draft{Name: "1.ics", Data: []byte(event("one", 2, "x"))})
		h.must(err)
		// A client's name says nothing about delegates, although it may contain such words.
		forger := h.alice
		forger.Agent = "curl (as delegate of carl)"
		_, err = h.Put(h.ctx, forger, work, calendar.Draft{Name: "2.ics", Data: []byte(event("two", 2, "x"))})
		h.must(err)
		by := map[calendar.ObjectName]string{}
		for line, err := range h.Store.Journal(h.ctx, work.ID, calendar.JournalQuery{}) {
			h.must(err)
			by[line.Object] = line.By()
		}
		if diff := cmp.Diff(map[calendar.ObjectName]string{
			"": "alice", "1.ics": "bob as delegate of alice", "2.ics": "alice",
		}, by); diff != "" {
			t.Errorf("the journal's authors (-want +got):\n%s", diff)
		}
		// The delegate sees neither a subscription of the owner's nor its end.
		feed, err := h.CreateCalendar(h.ctx, h.alice, calendar.NewCalendar{Segment: "feed", Subscription: true})
		h.must(err)
		_, before := h.home(acting, calendar.SyncToken{})
		h.must(h.DeleteCalendar(h.ctx, h.alice, feed.ID))
		_, owners := h.home(h.alice, before)
		if list, now := h.home(acting, before); list != "" || now != before || owners == before {
			t.Errorf("the end of a subscription is seen as %q at %v, before %v", list, now, before)
		}
		// Nothing of it is in the delegate's own home.
		own, err := h.Calendars(h.ctx, h.bob)
		h.must(err)
		if len(own) != 0 {
			t.Errorf("the delegate's home has %v", own)
		}
	})
}

// TestDelegationEnds: a change that began before the end of the delegation, or before it was reduced, is refused.
func TestDelegationEnds(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		put := func(acting calendar.Caller) error {
			_, err := h.Put(h.ctx, acting, work, calendar.Draft{Name: "1.ics", Data: []byte(event("one", 2, "x"))})
			return err
		}
		acting := h.delegate()
		_, err := h.AddDelegate(h.ctx, h.alice, "bob", calendar.ReadAccess)
		h.must(err)
		h.refused(put(acting), calendar.NotFound, "", `no user "alice" has made you their delegate`)
		acting, err = h.ActFor(h.ctx, h.bob, "alice")
		h.must(err)
		h.refused(put(acting), calendar.Forbidden, calendar.RulePrivileges,
			`as a delegate of "alice" you may not write`)
		acting = h.delegate()
		h.must(h.RemoveDelegate(h.ctx, h.alice, "bob"))
		h.refused(put(acting), calendar.NotFound, "", "has made you their delegate")
		_, err = h.ActFor(h.ctx, h.bob, "alice")
		h.refused(err, calendar.NotFound, "", `no user "alice" has made you`)
		_, err = h.ActFor(h.ctx, h.bob, "nobody")
		h.refused(err, calendar.NotFound, "", `no user "nobody" has made you`)
		h.refused(h.RemoveDelegate(h.ctx, h.alice, "bob"), calendar.NotFound, "", `"bob" is not your delegate`)
		acting = h.delegate()
		// The delegate has no mail address, as many users have none.
		h.refused(h.RemoveDelegate(h.ctx, h.alice, " "), calendar.NotFound, "", `"" is not your delegate`)
		h.must(put(acting))
		h.must(h.Resign(h.ctx, h.bob, "Alice"))
		h.refused(put(acting), calendar.NotFound, "", "has made you their delegate")
	})
}

// TestDelegatesRefused: who can be a delegate, how many, and which credential may use it.
func TestDelegatesRefused(t *testing.T) {
	each(t, func(h *house) {
		add := func(c calendar.Caller, who string, access calendar.Access) error {
			_, err := h.AddDelegate(h.ctx, c, who, access)
			return err
		}
		h.grouped("staff", h.alice, h.bob)
		h.refused(add(h.alice, "staff", calendar.ReadAccess), calendar.Invalid, "", "only a person")
		h.refused(add(h.alice, "alice", calendar.ReadAccess), calendar.Invalid, "", "your own delegate")
		h.refused(add(h.alice, "nobody", calendar.ReadAccess), calendar.NotFound, "", `no user "nobody"`)
		h.refused(add(h.alice, "bob", calendar.FreeBusyAccess), calendar.Invalid, "", "may read, or read and write")
		token := h.alice
		token.Scopes = calendar.ScopeAll &^ calendar.ScopeShare
		h.refused(add(token, "bob", calendar.ReadAccess), calendar.Forbidden, calendar.RulePrivileges,
			"lacks the scope")
		acting := h.delegate()
		h.user("carl")
		h.refused(add(acting, "carl", calendar.ReadAccess), calendar.Forbidden, calendar.RulePrivileges,
			"may not appoint delegates")
		h.bob.ForOthers = false
		_, err := h.ActFor(h.ctx, h.bob, "alice")
		h.refused(err, calendar.NotFound, "", "has made you their delegate")
		for i := range calendar.MaxDelegates {
			name := "user" + string(rune('a'+i))
			h.user(name)
			if err := add(h.alice, name, calendar.ReadAccess); i == calendar.MaxDelegates-1 {
				h.refused(err, calendar.Invalid, "", "a user can have 20 delegates")
			} else {
				h.must(err)
			}
		}
		_, ended, err := h.SetDelegates(h.ctx, h.alice, calendar.WriteAccess, nil)
		h.must(err)
		if len(ended) != 1 || ended[0].Name != "bob" {
			t.Errorf("this ended the access of %v", ended)
		}
		left, err := h.Delegates(h.ctx, h.alice)
		h.must(err)
		if len(left) != calendar.MaxDelegates-1 || left[0].Delegate.Name != "usera" {
			t.Errorf("after all writers were removed: %v", left)
		}
	})
}

// TestDelegateOfMany: the calendars of everyone who appoints a user are in that user's lists, so they are limited.
func TestDelegateOfMany(t *testing.T) {
	each(t, func(h *house) {
		zoe := h.user("zoe").User
		for i := range calendar.MaxDelegators {
			owner := h.user(fmt.Sprintf("owner%d", i)).User
			h.must(h.Store.Update(h.ctx, func(tx calendar.Tx) error {
				return tx.PutDelegation(h.ctx, calendar.Delegation{
					Owner: owner, Delegate: zoe, Access: calendar.ReadAccess, Created: h.Now(),
				})
			}))
		}
		_, err := h.AddDelegate(h.ctx, h.alice, "zoe", calendar.ReadAccess)
		h.refused(err, calendar.Invalid, "", `"zoe" takes no more delegations`)
		_, _, err = h.SetDelegates(h.ctx, h.alice, calendar.ReadAccess, []calendar.User{zoe})
		h.refused(err, calendar.Invalid, "", `"zoe" takes no more delegations`)
	})
}

// TestDelegateAnswers: a delegate answers an invitation of the owner's, and invites in the owner's name. Both messages
// name the delegate in SENT-BY (RFC 5545 §3.2.18). A delegate who reads can do neither.
func TestDelegateAnswers(t *testing.T) {
	invited(t, "ann bob kim", func(g *guests) {
		bob, kim := g.people["bob"], g.people["kim"]
		act := func(access calendar.Access) calendar.Caller {
			_, err := g.AddDelegate(g.ctx, bob.Caller, "guest-kim", access)
			g.must(err)
			c := kim.Caller
			c.ForOthers = true
			acting, err := g.ActFor(g.ctx, c, "guest-bob")
			g.must(err)
			return acting
		}
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		answer := calendar.Draft{Name: g.name("bob"), Data: []byte(answering(g.text("bob"), "bob", "ACCEPTED"))}
		_, err := g.Put(g.ctx, act(calendar.ReadAccess), bob.cal, answer)
		g.refused(err, calendar.Forbidden, calendar.RulePrivileges, "as a delegate of")
		acting := act(calendar.WriteAccess)
		_, err = g.Put(g.ctx, acting, bob.cal, answer)
		g.must(err)
		g.want("the organizer has", g.answered("ann", "bob"), "ACCEPTED")
		reply := ""
		all, err := g.Messages(g.ctx, g.people["ann"].Caller)
		g.must(err)
		for _, m := range all {
			reply += string(m.Data)
		}
		if !strings.Contains(strings.ReplaceAll(reply, "\r\n ", ""), `SENT-BY="mailto:kim@example.com"`) {
			t.Errorf("the answer does not name the delegate:\n%s", reply)
		}
		_, err = g.Put(g.ctx, acting, bob.cal, calendar.Draft{Name: "two.ics", Data: []byte(replaceUID(
			meetingOf("ORGANIZER:mailto:bob@example.com", attendees("ann")), "UID:two"))})
		g.must(err)
		all, err = g.Messages(g.ctx, g.people["ann"].Caller)
		g.must(err)
		request := strings.ReplaceAll(string(all[len(all)-1].Data), "\r\n ", "")
		if line := lineWith(request, "ORGANIZER"); !strings.Contains(line, `SENT-BY="mailto:kim@example.com"`) {
			t.Errorf("the invitation does not name the delegate: %s", line)
		}
	})
}
