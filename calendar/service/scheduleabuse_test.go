package service_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// TestImportIntoASharedCalendarTellsNobody: neither who imports into their own calendar nor who writes in another's
// asks people.
func TestImportIntoASharedCalendarTellsNobody(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		ann, eve := g.people["ann"], g.people["eve"]
		g.must(g.give(ann.cal.ID, eve.User.ID, calendar.WriteAccess))
		shared := g.fresh(eve.Caller, ann.cal)
		into := g.NewImporter(eve.Caller, calendar.ImportOptions{Replace: true})
		for _, place := range []string{"LOCATION:here", "LOCATION:there"} {
			results, err := into.Store(g.ctx, shared, []calendar.Import{
				{Name: "meeting.ics", Data: []byte(meetingOf(organizedByAnn, attendees("bob", "zoe"), place))},
			})
			g.must(err)
			g.must(results[0].Err)
			g.want("it is stored", g.line("ann", "LOCATION"), place)
			g.want("bob and zoe hear nothing", g.inbox("bob")+g.letters(), "")
		}
	})
}

// TestImportMakesNoSecondCopy: an event with guests that somebody has is not imported into another one of their
// calendars, where it would answer once more; the rest of the file is.
func TestImportMakesNoSecondCopy(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		bob := g.people["bob"]
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		other := g.calendar(bob.Caller, "other")
		results, err := g.NewImporter(bob.Caller, calendar.ImportOptions{}).Store(g.ctx, other, []calendar.Import{
			{Name: "copy.ics", Data: []byte(meetingOf(organizedByAnn, attendees("bob")))},
			{Name: "alone.ics", Data: []byte(replaceUID(meetingOf(), "UID:alone"))},
		})
		g.must(err)
		g.refused(results[0].Err, calendar.Exists, calendar.RuleUniqueScheduling, "already")
		g.must(results[1].Err)
		_, err = g.Store.ObjectByUID(g.ctx, other.ID, "meeting")
		g.want("a second copy", calendar.ReasonOf(err).String(), "not_found")
		// Into the calendar that has it, it is an import as any other.
		results, err = g.NewImporter(bob.Caller, calendar.ImportOptions{Replace: true}).
			Store(g.ctx, bob.cal, []calendar.Import{
				{Name: "copy.ics", Data: []byte(meetingOf(organizedByAnn, attendees("bob"), "CATEGORIES:x"))},
			})
		g.must(err)
		g.must(results[0].Err)
		g.want("replaced", g.line("bob", "CATEGORIES"), "CATEGORIES:x")
	})
}

// TestAPlantedUIDKeepsNoInvitationAway: an event of another organizer under the same UID keeps neither an invitation of
// a user nor one by mail from being read, and loses nothing.
func TestAPlantedUIDKeepsNoInvitationAway(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		planted := strings.ReplaceAll(meetingOf(organizedByAnn, attendees("bob"), "LOCATION:trap"), "ann@", "mallory@")
		in := calendar.Inbound{
			From: "mallory@example.com", To: []calendar.MailAddress{"bob@example.com"}, Method: calendar.MethodRequest,
			Data: []byte(strings.Replace(planted, "VERSION", "METHOD:REQUEST\r\nVERSION", 1)),
		}
		g.must(g.Receive(g.ctx, in))
		g.want("planted", g.inbox("bob"), "REQUEST")
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve")))
		g.want("the invitation can be read", g.inbox("bob"), "REQUEST REQUEST")
		g.want("what is there stays", g.line("bob", "LOCATION"), "LOCATION:trap")
		g.want("ann sees so", g.line("ann", "ATTENDEE;SCHEDULE-STATUS=1.1"),
			"ATTENDEE;SCHEDULE-STATUS=1.1:mailto:bob@example.com")
		g.want("eve has it", g.answered("eve", "eve"), "NEEDS-ACTION")
		in.From, in.Data = "joe@example.com",
			[]byte(strings.Replace(string(in.Data), "ORGANIZER:mailto:mallory@", "ORGANIZER:mailto:joe@", 1))
		g.must(g.Receive(g.ctx, in))
		g.want("one by mail, too", g.inbox("bob"), "REQUEST REQUEST REQUEST")
		in.Method, in.Data = calendar.MethodCancel,
			[]byte(strings.Replace(string(in.Data), "METHOD:REQUEST", "METHOD:CANCEL", 1))
		g.refused(g.Receive(g.ctx, in), calendar.Forbidden, "", "")
	})
}

// TestForgedDeputy: somebody of the same domain who says of themselves that they act for another is not followed; one
// whom the stored event names is.
func TestForgedDeputy(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		receive := func(from, by, to string, method calendar.Method, data string) error {
			in := calendar.Inbound{
				From: calendar.MailAddress(from + "@example.com"),
				To:   []calendar.MailAddress{calendar.MailAddress(to + "@example.com")}, Method: method,
			}
			if by != "" {
				in.By = calendar.MailAddress(by + "@example.com")
			}
			in.Data = []byte(strings.Replace(data, "PRODID", "METHOD:"+string(method)+"\r\nPRODID", 1))
			return g.Receive(g.ctx, in)
		}
		boss := func(by, place string) string {
			return meetingOf(`ORGANIZER;SENT-BY="mailto:`+by+`@example.com":mailto:boss@example.com`, attendees("bob"),
				"LOCATION:"+place)
		}
		g.refused(receive("boss", "mallory", "bob", "REQUEST", boss("mallory", "forged")), calendar.Forbidden, "",
			"acts for")
		_, there := g.has("bob")
		g.want("an invitation by a stranger is there", fmt.Sprint(there), "false")
		g.must(receive("boss", "", "bob", "REQUEST", boss("helper", "here")))
		g.refused(receive("boss", "mallory", "bob", "REQUEST", boss("mallory", "forged")), calendar.Forbidden, "",
			"acts for")
		g.refused(receive("boss", "mallory", "bob", "CANCEL", boss("mallory", "forged")), calendar.Forbidden, "",
			"acts for")
		g.want("bob's", g.line("bob", "LOCATION")+g.line("bob", "STATUS"), "LOCATION:here")
		g.must(receive("boss", "helper", "bob", "REQUEST", boss("helper", "there")))
		g.want("the deputy whom the boss named", g.line("bob", "LOCATION"), "LOCATION:there")
	})
}

// TestForgedDeputyAnswers: the same of an answer.
func TestForgedDeputyAnswers(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		line := func(by string) string {
			return `ATTENDEE;PARTSTAT=ACCEPTED;SENT-BY="mailto:` + by + `@example.com":mailto:zoe@example.com`
		}
		receive := func(from, by string, lines ...string) error {
			data := strings.Replace(meetingOf(append(lines, organizedByAnn)...), "PRODID", "METHOD:REPLY\r\nPRODID", 1)
			return g.Receive(g.ctx, calendar.Inbound{
				From: calendar.MailAddress(from), By: calendar.MailAddress(by), Method: "REPLY", Data: []byte(data),
			})
		}
		g.save("ann", meetingOf(organizedByAnn, `ATTENDEE;SENT-BY="mailto:helper@example.com":mailto:zoe@example.com`))
		g.refused(receive("zoe@example.com", "mallory@example.com", line("mallory")), calendar.Forbidden, "",
			"acts for")
		// Anyone who is named in the message as a delegate, too, is not the one who answers.
		g.refused(receive("mallory@example.com", "", line("mallory"),
			`ATTENDEE;DELEGATED-FROM="mailto:zoe@example.com":mailto:mallory@example.com`), calendar.Forbidden, "",
			"is not the")
		g.want("zoe's answer", g.answered("ann", "zoe"), "NEEDS-ACTION")
		g.must(receive("zoe@example.com", "helper@example.com", line("helper")))
		g.want("zoe's answer by her deputy", g.answered("ann", "zoe"), "ACCEPTED")
	})
}

// delegating writes delegates of bob's into a copy of bob's.
func delegating(text string, names ...string) string {
	lines := []string{"ATTENDEE;PARTSTAT=DELEGATED:mailto:bob@example.com"}
	for _, n := range names {
		lines = append(lines, `ATTENDEE;DELEGATED-FROM="mailto:bob@example.com":mailto:`+n+"@example.com")
	}
	text = strings.ReplaceAll(text, "\r\n ", "")
	return strings.Replace(text, lineOf(text, "ATTENDEE"), strings.Join(lines, "\r\n"), 1)
}

// TestOneDelegate: anyone who is invited sends one in their place, and not a crowd, by a program and by mail.
func TestOneDelegate(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		bob, o := g.people["bob"], calendar.Object{}
		put := func(names ...string) error {
			o, _ = g.has("bob")
			_, err := g.Put(g.ctx, bob.Caller, bob.cal,
				calendar.Draft{Name: o.Name, Data: []byte(delegating(string(o.Data), names...))})
			return err
		}
		g.refused(put("kim", "lou"), calendar.Forbidden, calendar.RuleAttendeeChange, "one delegate")
		_, err := g.Put(g.ctx, bob.Caller, bob.cal,
			calendar.Draft{Name: o.Name, Data: []byte(answering(string(o.Data), "bob", "FOOBAR"))})
		g.refused(err, calendar.Forbidden, calendar.RuleAttendeeChange, "no answer")
		byMail := func(names ...string) error {
			text := delegating(meetingOf(organizedByAnn, attendees("bob")), names...)
			text = strings.Replace(text, "PRODID", "METHOD:REPLY\r\nPRODID", 1)
			return g.Receive(g.ctx, calendar.Inbound{From: "bob@example.com", Method: "REPLY", Data: []byte(text)})
		}
		g.refused(byMail("kim", "lou"), calendar.Forbidden, "", "one delegate")
		g.want("nobody is brought in", g.answered("ann", "kim")+g.answered("ann", "lou"), "")
		g.must(put("kim"))
		g.want("one is", g.answered("ann", "kim"), "NEEDS-ACTION")
		g.refused(byMail("lou"), calendar.Forbidden, "", "one delegate")
	})
}

// TestUnknownAnswerIsNone: what is no answer of the standard's is not copied to the organizer.
func TestUnknownAnswerIsNone(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("zoe")))
		text := strings.Replace(answering(meetingOf(organizedByAnn, attendees("zoe")), "zoe", "FOOBAR"), "PRODID",
			"METHOD:REPLY\r\nPRODID", 1)
		g.must(g.Receive(g.ctx, calendar.Inbound{From: "zoe@example.com", Method: "REPLY", Data: []byte(text)}))
		g.want("zoe's answer", g.answered("ann", "zoe"), "NEEDS-ACTION")
	})
}

// TestAGuestTakesOutOfTheTrashWhatTheOrganizerKnows: to throw an invitation away declines it, and so says what comes
// back.
func TestAGuestTakesOutOfTheTrashWhatTheOrganizerKnows(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		bob := g.people["bob"]
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.must(g.answer("ACCEPTED"))
		g.must(g.DeleteTelling(g.ctx, bob.Caller, bob.cal, g.name("bob"), calendar.Precondition{}, calendar.TellAll))
		g.want("declined", g.answered("ann", "bob"), "DECLINED")
		_, err := g.RestoreObject(g.ctx, bob.Caller, bob.cal, "meeting", "")
		g.must(err)
		g.want("back as declined", g.answered("bob", "bob"), "DECLINED")
		g.must(g.answer("ACCEPTED"))
		g.want("and accepted again", g.answered("ann", "bob"), "ACCEPTED")
	})
}
