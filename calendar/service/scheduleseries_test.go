package service_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
)

// The third of the five days of the meeting, and the last.
var (
	third = ical.UTC(ical.Civil{Year: 2026, Month: 3, Day: 12, Hour: 10})
	fifth = ical.UTC(ical.Civil{Year: 2026, Month: 3, Day: 14, Hour: 10})
)

// respond answers one day or all of the series for bob, as an assistant does.
func (g *guests) respond(said string, day ical.Time) ledger.Responded {
	g.t.Helper()
	p := g.people["bob"]
	done, err := g.Respond(g.ctx, p.Caller, p.cal, "meeting",
		ledger.Response{Response: schedule.Response{Instance: day, Status: said}})
	g.must(err)
	return done
}

// change changes the meeting for ann, as an assistant does.
func (g *guests) change(target edit.Target, fields edit.Fields) ledger.Edited {
	g.t.Helper()
	ann := g.people["ann"]
	edited, err := g.EditObject(g.ctx, ann.Caller, ann.cal, "meeting",
		ledger.Edit{Change: edit.Change{Target: target, Fields: fields}})
	g.must(err)
	return edited
}

// days says for each component of somebody's copy which day it is of, and what everybody has answered to it.
func (g *guests) days(who string) string {
	g.t.Helper()
	stored, there := g.has(who)
	if !there {
		return "nothing"
	}
	o, err := content.Read(stored.Data, ical.Limits{})
	g.must(err)
	var all []string
	for _, c := range o.Components() {
		day := "all"
		if p := c.Property("RECURRENCE-ID"); p != nil {
			id, err := p.Time()
			g.must(err)
			day = strconv.Itoa(id.Civil.Day)
		}
		for _, out := range edit.DatesOf(c, "EXDATE") {
			day += " but " + strconv.Itoa(out.Civil.Day)
		}
		if content.WordOf(c, "STATUS") == "CANCELLED" {
			day += " off"
		}
		for _, a := range edit.AttendeesOf(c) {
			day += " " + strings.TrimSuffix(a.Address, "@example.com") + "=" + cmp.Or(a.Status, schedule.NeedsAction)
		}
		all = append(all, day)
	}
	return strings.Join(all, ", ")
}

// takeBack undoes somebody's change.
func (g *guests) takeBack(who string, what calendar.Saved) {
	g.t.Helper()
	g.undo(g.people[who].Caller, calendar.ChangeID{Calendar: what.Object.Calendar, Version: what.Object.Version})
}

// books are the lines that count changes, which an undo counts as one more.
var books = []string{"SEQUENCE", "DTSTAMP", "LAST-MODIFIED"}

// copies are the texts of some people, but for their books.
func (g *guests) copies(names ...string) string {
	var all []string
	for _, who := range names {
		o, _ := g.has(who)
		for line := range strings.SplitSeq(string(o.Data), "\r\n") {
			if name, _, _ := strings.Cut(line, ":"); !slices.Contains(books, name) {
				all = append(all, line)
			}
		}
	}
	return strings.Join(all, "\n")
}

func listOf(names ...string) edit.Fields {
	var all []edit.Attendee
	for _, name := range names {
		all = append(all, edit.Attendee{Address: name + "@example.com"})
	}
	return edit.Fields{Attendees: edit.To(all)}
}

// TestGuestsOfAllOfASeries: whoever is added to a series is invited to the days that others have answered by
// themselves, and whoever is removed is told once and has none of them. An undo brings the same texts back.
func TestGuestsOfAllOfASeries(t *testing.T) {
	invited(t, "ann bob eve dan", func(g *guests) {
		g.save("ann", meetingOf("RRULE:FREQ=DAILY;COUNT=5", organizedByAnn, attendees("bob", "eve")))
		g.respond("ACCEPTED", ical.Time{})
		g.respond("DECLINED", third)
		before := g.copies("ann", "bob", "eve")
		came := g.change(edit.Target{}, listOf("bob", "eve", "dan"))
		g.want("ann has", g.days("ann"),
			"all bob=ACCEPTED eve=NEEDS-ACTION dan=NEEDS-ACTION, 12 bob=DECLINED eve=NEEDS-ACTION dan=NEEDS-ACTION")
		g.want("dan has", g.days("dan"), g.days("ann"))
		g.want("bob has", g.days("bob"), g.days("ann"))
		if o, _ := g.has("ann"); strings.Count(strings.ReplaceAll(string(o.Data), "\r\n ", ""),
			"RSVP=TRUE;SCHEDULE-STATUS=1.2:mailto:dan") != 2 {
			t.Errorf("dan is asked in both parts:\n%s", o.Data)
		}
		g.takeBack("ann", came.Saved)
		g.want("taken back", g.copies("ann", "bob", "eve"), before)
		g.want("dan's is called off", g.line("dan", "STATUS"), "STATUS:CANCELLED")

		went := g.change(edit.Target{}, listOf("eve"))
		if len(went.Told) == 0 ||
			slices.ContainsFunc(went.Told, func(o calendar.Told) bool {
				return o.To == "bob@example.com" && o.Method != calendar.MethodCancel
			}) {
			t.Errorf("told of it: %+v", went.Told)
		}
		g.want("ann has", g.days("ann"), "all eve=NEEDS-ACTION, 12 eve=NEEDS-ACTION")
		if all := g.days("bob"); strings.Count(all, " off") != strings.Count(all, ", ")+1 {
			t.Errorf("bob still has %s", all)
		}
		g.takeBack("ann", went.Saved)
		g.want("bob is back with his answers", g.days("ann"),
			"all bob=ACCEPTED eve=NEEDS-ACTION, 12 bob=DECLINED eve=NEEDS-ACTION")
		g.want("bob has", g.days("bob"), g.days("ann"))
	})
}

// TestGuestsOfOneDayStay: somebody who comes to one day alone stays through a change of the list, and the first half of
// a series keeps its guests.
func TestGuestsOfOneDayStay(t *testing.T) {
	invited(t, "ann bob eve dan", func(g *guests) {
		g.save("ann",
			meetingOf("RRULE:FREQ=DAILY;COUNT=5", organizedByAnn,
				"ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob@example.com"))
		g.change(edit.Target{Instance: third, Scope: edit.This},
			edit.Fields{Invite: []edit.Attendee{{Address: "eve@example.com"}}})
		g.change(edit.Target{}, listOf("bob", "dan"))
		g.want("ann has", g.days("ann"),
			"all bob=NEEDS-ACTION dan=NEEDS-ACTION, 12 bob=NEEDS-ACTION eve=NEEDS-ACTION dan=NEEDS-ACTION")
		g.want("eve has", g.days("eve"), "12 bob=NEEDS-ACTION eve=NEEDS-ACTION dan=NEEDS-ACTION")
		before := g.copies("ann", "bob", "eve", "dan")
		split := g.change(edit.Target{Instance: third, Scope: edit.Following}, listOf("bob", "eve"))
		g.want("the first half", g.days("ann"), "all bob=NEEDS-ACTION dan=NEEDS-ACTION")
		if text := string(split.Split.Object.Data); strings.Contains(text, "dan@") || strings.Count(text, "eve@") != 1 {
			t.Errorf("the second half:\n%s", text)
		}
		g.takeBack("ann", split.Saved)
		g.want("taken back", g.copies("ann", "bob", "eve", "dan"), before)
	})
}

// TestAnswerToAllOfASeries: days that a guest has answered by themselves keep that answer, and are named. Days that
// wait for an answer get the one to the series.
func TestAnswerToAllOfASeries(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf("RRULE:FREQ=DAILY;COUNT=5", organizedByAnn, attendees("bob")))
		g.respond("ACCEPTED", ical.Time{})
		g.respond("TENTATIVE", third)
		later := ical.UTC(fifth.Civil.AddSeconds(3600))
		ann := g.people["ann"]
		_, err := g.EditObject(g.ctx, ann.Caller, ann.cal, "meeting", ledger.Edit{
			Change: edit.Change{
				Target: edit.Target{Instance: fifth, Scope: edit.This}, Times: edit.Times{Start: edit.To(later)},
			},
		})
		g.must(err)
		g.want("asked anew for the day that moved", g.days("bob"),
			"all bob=ACCEPTED, 12 bob=TENTATIVE, 14 bob=NEEDS-ACTION")
		before := g.days("bob")
		done := g.respond("DECLINED", ical.Time{})
		g.want("bob has", g.days("bob"), "all bob=DECLINED, 12 bob=TENTATIVE, 14 bob=DECLINED")
		g.want("ann has", g.days("ann"), g.days("bob"))
		if diff := gocmp.Diff([]schedule.KeptAnswer{{Instance: third, Status: "TENTATIVE"}}, done.Kept); diff != "" {
			t.Errorf("the days that stay (-want +got):\n%s", diff)
		}
		g.takeBack("bob", done.Saved)
		g.want("taken back by bob", g.days("bob"), before)
		g.want("and at ann's", g.days("ann"), before)
		if all := g.respond("TENTATIVE", ical.Time{}); all.Kept != nil {
			t.Errorf("no day has another answer: %+v", all.Kept)
		}
		if one := g.respond("ACCEPTED", third); one.Kept != nil {
			t.Errorf("an answer to one day: %+v", one.Kept)
		}
	})
}

// TestNobodyAsksThemselves: guests whom the server is asked to invite are asked for an answer (RFC 5545 §3.2.17), and
// the organizer, who may be among them, is not.
func TestNobodyAsksThemselves(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		fields := listOf("ann", "bob")
		fields.Summary = edit.To("Plans")
		_, err := g.Create(g.ctx, ann.Caller, ann.cal,
			edit.Draft{Kind: content.Event, UID: "meeting", Times: edit.Times{Start: edit.To(third)}, Fields: fields})
		g.must(err)
		const asked = "ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION"
		const own = "ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED"
		g.want("ann", g.line("ann", own), own+":mailto:ann@example.com")
		g.want("bob", g.line("bob", asked+";RSVP"), asked+";RSVP=TRUE:mailto:bob@example.com")
	})
}
