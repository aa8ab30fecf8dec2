package service_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// shown is what bob sees of the mails that were not followed.
func (g *guests) shown() string {
	g.t.Helper()
	all, err := g.Unverified(g.ctx, g.people["bob"].Caller)
	g.must(err)
	var lines []string
	for _, u := range all {
		lines = append(lines,
			fmt.Sprintf("%s from %s (%s) of %s, %s, %s: %s", u.Subject(), u.From, u.Standing(), u.Organizer, u.Title,
				u.Start, u.Why))
	}
	return strings.Join(lines, "; ")
}

// TestUnverifiedInvitations: a mail that is not followed leaves a trace for the people to whom it went, and nothing
// else.
func TestUnverifiedInvitations(t *testing.T) {
	const google = "ORGANIZER:mailto:c_1@group.calendar.google.com"
	invitation := meetingOf(google, attendees("bob"))
	refuse := func(g *guests, to string, method calendar.Method, text string) {
		g.t.Helper()
		g.must(g.Refused(g.ctx, mailed(zoesMail, to, method, text), calendar.NotOrganizer, true))
	}
	const trace = "An invitation from zoe@elsewhere.example (verified) of c_1@group.calendar.google.com, Plans, " +
		"20260310T100000Z: organizer"
	nothing := func(g *guests) {
		g.t.Helper()
		if _, there := g.has("bob"); there || g.inbox("bob") != "" || g.letters() != "" {
			g.t.Error("more came of it than a trace")
		}
	}
	for name, test := range map[string]func(g *guests){
		"another organizer": func(g *guests) {
			refuse(g, bobsMail, calendar.MethodRequest, invitation)
			g.want("bob sees", g.shown(), trace)
			nothing(g)
			all, err := g.Unverified(g.ctx, g.people["bob"].Caller)
			g.must(err)
			g.must(g.DismissUnverified(g.ctx, g.people["bob"].Caller, all[0].Name))
			g.want("dismissed", g.shown(), "")
		},
		"part of a mailbox": func(g *guests) {
			refuse(g, "bob+work@example.com", calendar.MethodRequest, invitation)
			g.want("bob sees", g.shown(), trace)
		},
		"a shared mailbox": func(g *guests) {
			in := mailed(zoesMail, "", calendar.MethodRequest, invitation)
			in.To, in.Header = nil, []calendar.MailAddress{"eve@example.com"}
			g.must(g.Refused(g.ctx, in, calendar.NotProven, false))
			g.want("bob sees", g.shown(), "")
			in.Header = nil
			g.must(g.Refused(g.ctx, in, calendar.NotProven, false))
			g.want("bob sees", g.shown(),
				strings.NewReplacer("verified", "not verified", ": organizer", ": proof").Replace(trace))
		},
		"forwarded": func(g *guests) {
			text := meetingOf(fromZoe, "ATTENDEE:mailto:max@elsewhere.example")
			g.refused(g.Receive(g.ctx, mailed(zoesMail, bobsMail, calendar.MethodRequest, text)), calendar.Forbidden,
				"", "does not invite")
			g.want("bob sees", g.shown(),
				strings.NewReplacer("c_1@group.calendar.google.com", zoesMail, ": organizer", ": uninvited").
					Replace(trace))
			nothing(g)
		},
		"to an address that is not known": func(g *guests) {
			text := meetingOf(fromZoe, "ATTENDEE:mailto:bob+work@example.com")
			g.refused(g.Receive(g.ctx, mailed(zoesMail, "bob+work@example.com", calendar.MethodRequest, text)),
				calendar.NotFound, "", "no user of this server")
			g.want("bob sees", g.shown(),
				strings.NewReplacer("c_1@group.calendar.google.com", zoesMail, ": organizer", ": uninvited").
					Replace(trace))
		},
		"a deputy's": func(g *guests) {
			in := mailed(zoesMail, bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob")))
			in.By = "max@elsewhere.example"
			g.refused(g.Receive(g.ctx, in), calendar.Forbidden, "", "acts for")
			g.want("bob sees", g.shown(),
				strings.NewReplacer("from "+zoesMail, "from max@elsewhere.example", "c_1@group.calendar.google.com",
					zoesMail).Replace(trace))
		},
		"what says nothing": func(g *guests) {
			refuse(g, bobsMail, calendar.MethodCancel, invitation)
			refuse(g, bobsMail, calendar.MethodReply, invitation)
			refuse(g, "nobody@example.com", calendar.MethodRequest, meetingOf(google, zoeComes))
			g.want("bob sees", g.shown(), "")
		},
		"of an event that is there": func(g *guests) {
			g.receive(bobsMail, calendar.MethodRequest, meetingOf(fromZoe, attendees("bob")))
			refuse(g, bobsMail, calendar.MethodRequest, invitation)
			g.want("bob sees", g.shown(), strings.Replace(trace, "An invitation", "An update", 1))
			refuse(g, bobsMail, calendar.MethodCancel, invitation)
			g.want("bob sees", g.shown(), strings.Replace(trace, "An invitation", "A cancellation", 1))
			g.want("the event", g.line("bob", "ORGANIZER"), fromZoe)
			g.receive(bobsMail, calendar.MethodRequest,
				newer(meetingOf(fromZoe, attendees("bob"), "LOCATION:here"), "1"))
			g.want("after one that is followed", g.shown(), "")
		},
		"long texts and odd times": func(g *guests) {
			long := strings.NewReplacer("SUMMARY:Plans", "SUMMARY:"+strings.Repeat("é", 5000), "DTSTART:",
				"DTSTART;TZID=Europe/Berlin:", "T100000Z", "T100000").Replace(invitation)
			refuse(g, bobsMail, calendar.MethodRequest, long)
			all, err := g.Unverified(g.ctx, g.people["bob"].Caller)
			g.must(err)
			if len([]rune(all[0].Title)) != 200 || all[0].Start != at(10, 9) {
				g.t.Errorf("bob sees %d characters, on %s", len([]rune(all[0].Title)), all[0].Start)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { invited(t, "ann bob eve", test) })
	}
}
