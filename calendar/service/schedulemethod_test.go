package service_test

import (
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
)

// mailed is a message of somebody elsewhere to a user.
func mailed(from, to string, method calendar.Method, text string) calendar.Inbound {
	return calendar.Inbound{
		From: calendar.MailAddress(from), To: []calendar.MailAddress{calendar.MailAddress(to)}, Method: method,
		Data: []byte(strings.Replace(text, "VERSION", "METHOD:"+string(method)+"\r\nVERSION", 1)),
	}
}

// TestAddByMail: an instance that an organizer elsewhere adds leaves the series that the user has.
func TestAddByMail(t *testing.T) {
	invited(t, "bob", func(g *guests) {
		meeting := meetingOf("ORGANIZER:mailto:zoe@elsewhere.example", attendees("bob"))
		add := strings.NewReplacer("20260310", "20260312", "SUMMARY", "SEQUENCE:1\r\nSUMMARY").Replace(meeting)
		g.refused(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "bob@example.com", calendar.MethodAdd, add)),
			calendar.NotFound, "", "does not have")
		series := strings.Replace(meeting, "SUMMARY", "RRULE:FREQ=WEEKLY;COUNT=3\r\nSUMMARY", 1)
		g.must(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "bob@example.com", calendar.MethodRequest, series)))
		g.must(g.Receive(g.ctx, mailed("zoe@elsewhere.example", "bob@example.com", calendar.MethodAdd, add)))
		g.want("the series", g.line("bob", "RRULE"), "RRULE:FREQ=WEEKLY;COUNT=3")
		g.want("the date", g.line("bob", "RDATE"), "RDATE:20260312T100000Z")
	})
}

// TestRefreshByMail: a guest elsewhere who asks is told anew, and nobody else is.
func TestRefreshByMail(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		meeting := meetingOf(organizedByAnn, attendees("bob"), "ATTENDEE:mailto:zoe@elsewhere.example")
		g.save("ann", meeting)
		before := g.letters()
		ask := mailed("zoe@elsewhere.example", "ann@example.com", calendar.MethodRefresh,
			meetingOf(organizedByAnn, "ATTENDEE:mailto:zoe@elsewhere.example"))
		g.must(g.Receive(g.ctx, ask))
		if after := g.letters(); !strings.HasPrefix(after, before) ||
			!strings.Contains(after, "REQUEST zoe@elsewhere.example") {
			t.Errorf("the letters were %q, and are %q", before, after)
		}
		g.refused(g.Receive(g.ctx, ask), calendar.Forbidden, "", "less than an hour ago")
		g.Pass(time.Hour)
		g.must(g.Receive(g.ctx, ask))
		stranger := mailed("eve@elsewhere.example", "ann@example.com", calendar.MethodRefresh,
			meetingOf(organizedByAnn, "ATTENDEE:mailto:eve@elsewhere.example"))
		g.refused(g.Receive(g.ctx, stranger), calendar.Forbidden, "", "not an external attendee")
	})
}

// TestDeletedInvitationStaysDeleted: a mail that arrives twice does not bring an event back that its attendee deleted.
// A newer one does.
func TestDeletedInvitationStaysDeleted(t *testing.T) {
	invited(t, "bob", func(g *guests) {
		bob := g.people["bob"]
		meeting := meetingOf("ORGANIZER:mailto:zoe@elsewhere.example", attendees("bob"))
		arrive := func(text string) error {
			return g.Receive(g.ctx, mailed("zoe@elsewhere.example", "bob@example.com", calendar.MethodRequest, text))
		}
		g.must(arrive(meeting))
		g.must(g.Delete(g.ctx, bob.Caller, bob.cal, g.name("bob"), calendar.Precondition{}))
		g.refused(arrive(meeting), calendar.Stale, "", "a newer version is known")
		if _, there := g.has("bob"); there {
			t.Error("the same mail again: the event is back")
		}
		g.must(arrive(strings.Replace(meeting, "SUMMARY", "SEQUENCE:1\r\nSUMMARY", 1)))
		if _, there := g.has("bob"); !there {
			t.Error("a newer mail: the event is not there")
		}
	})
}
