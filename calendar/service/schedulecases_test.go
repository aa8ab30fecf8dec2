package service_test

import (
	"fmt"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
)

// TestWhoActsForWhom: the owner of a calendar acts for themselves, and who may write in it for the owner.
func TestWhoActsForWhom(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		ann, eve := g.people["ann"], g.people["eve"]
		g.must(g.give(ann.cal.ID, eve.User.ID, calendar.WriteAccess))
		shared := g.fresh(eve.Caller, ann.cal)
		_, err := g.Put(g.ctx, eve.Caller, shared,
			calendar.Draft{Name: "meeting.ics", Data: []byte(meetingOf(organizedByAnn, attendees("bob")))})
		g.must(err)
		g.want("the organizer, as bob has it", g.line("bob", "ORGANIZER"),
			"ORGANIZER;SENT-BY=\"mailto:eve@example.com\":mailto:ann@example.com")
		g.must(g.answer("ACCEPTED"))
		g.want("the answer comes to ann", g.answered("ann", "bob"), "ACCEPTED")
		g.want("and not to eve", g.inbox("eve"), "")
	})
}

// TestOnceInAllCalendars: an event with guests is in the calendars of each of them once.
func TestOnceInAllCalendars(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		for _, who := range []string{"ann", "bob"} {
			p := g.people[who]
			other := g.calendar(p.Caller, "other")
			_, err := g.Put(g.ctx, p.Caller, other,
				calendar.Draft{Name: "again.ics", Data: []byte(meetingOf(organizedByAnn, attendees("bob")))})
			g.refused(err, calendar.Exists, calendar.RuleUniqueScheduling, "another calendar already")
			o, _ := g.has(who)
			move := ledger.Transfer{From: p.cal, Name: o.Name, To: other, As: "copied.ics"}
			_, err = g.Copy(g.ctx, p.Caller, move)
			g.refused(err, calendar.Exists, calendar.RuleUniqueScheduling, "another calendar already")
			before := g.inbox("ann") + g.inbox("bob")
			moved, err := g.Move(g.ctx, p.Caller, move)
			g.must(err)
			if moved.Object.ScheduleTag == "" {
				t.Error("what was moved has no schedule tag")
			}
			g.want("nobody hears of a move", g.inbox("ann")+g.inbox("bob"), before)
			undone, err := g.Undo(g.ctx, p.Caller, calendar.ChangeID{Calendar: other.ID, Version: moved.Object.Version})
			if err != nil || len(undone.Steps) != 2 {
				t.Errorf("%v %+v", err, undone)
			}
			g.want("nor of its undo", g.inbox("ann")+g.inbox("bob"), before)
			if back, there := g.has(who); !there || back.ScheduleTag == "" {
				t.Errorf("%s has %+v back", who, back)
			}
		}
		g.must(g.answer("ACCEPTED"))
		g.want("answers find their way", g.answered("ann", "bob"), "ACCEPTED")
		// It stays with who organizes it.
		g.must(g.give(g.people["bob"].cal.ID, g.people["ann"].User.ID, calendar.WriteAccess))
		_, err := g.Move(g.ctx, g.people["ann"].Caller, ledger.Transfer{
			From: g.people["ann"].cal, Name: "meeting.ics", To: g.fresh(g.people["ann"].Caller, g.people["bob"].cal),
			As: "x.ics",
		})
		g.refused(err, calendar.Forbidden, calendar.RuleOrganizerChange, "stays in their calendars")
	})
}

// TestNobodyHearsOfWhatComesFromElsewhere: an import and what is taken out of the trash tell nobody anything.
func TestNobodyHearsOfWhatComesFromElsewhere(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann, bob := g.people["ann"], g.people["bob"]
		i := g.NewImporter(ann.Caller, calendar.ImportOptions{})
		results, err := i.Store(g.ctx, ann.cal,
			[]calendar.Import{{Name: "meeting.ics", Data: []byte(meetingOf(organizedByAnn, attendees("bob", "zoe")))}})
		g.must(err)
		g.must(results[0].Err)
		g.want("bob's inbox", g.inbox("bob"), "")
		// Its next change tells them.
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "zoe"), "LOCATION:here"))
		g.want("bob hears of the next change", g.inbox("bob"), "REQUEST")
		g.want("and so does zoe", g.letters(), "REQUEST zoe@example.com")
		o, _ := g.has("bob")
		g.must(g.DeleteTelling(g.ctx, bob.Caller, bob.cal, o.Name, calendar.Precondition{}, calendar.TellNobody))
		g.want("thrown away without a word", g.answered("ann", "bob"), "NEEDS-ACTION")
		_, err = g.RestoreObject(g.ctx, bob.Caller, bob.cal, "meeting", "")
		g.must(err)
		g.want("taken out of the trash without a word", g.inbox("ann"), "")
		g.must(g.answer("TENTATIVE"))
		g.want("and answered later", g.answered("ann", "bob"), "TENTATIVE")
	})
}

// TestUndoTellsAgain: what is taken back is told, and what guests have answered is not in the way.
func TestUndoTellsAgain(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		ann := g.people["ann"]
		made := g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.must(g.answer("ACCEPTED"))
		moved := g.save("ann",
			strings.Replace(meetingOf(organizedByAnn, attendees("bob", "eve")), "T110000Z", "T120000Z", 1))
		g.want("asked anew", g.answered("bob", "bob"), "NEEDS-ACTION")
		g.must(g.answer("ACCEPTED"))
		undo := func(o calendar.Object) {
			_, err := g.Undo(g.ctx, ann.Caller, calendar.ChangeID{Calendar: ann.cal.ID, Version: o.Version})
			g.must(err)
		}
		undo(moved.Object)
		g.want("bob has the old time", g.line("bob", "DTEND"), "DTEND:20260310T110000Z")
		g.want("eve's is called off", g.line("eve", "STATUS"), "STATUS:CANCELLED")
		g.want("the count goes on", g.line("bob", "SEQUENCE"), "SEQUENCE:2")
		// What was brought about in bob's calendar is not bob's undoing of ann's change.
		o, _ := g.has("bob")
		_, err := g.Undo(g.ctx, g.people["bob"].Caller, calendar.ChangeID{Calendar: o.Calendar, Version: o.Version})
		g.refused(err, calendar.Forbidden, calendar.RuleAttendeeChange, "ann@example.com")
		undo(made.Object)
		g.want("bob's is called off", g.line("bob", "STATUS"), "STATUS:CANCELLED")
	})
}

// TestUndoOfANewName: what an object is called is nobody else's business, so nobody hears that it is called as before.
func TestUndoOfANewName(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "zoe")))
		g.want("zoe is asked", g.letters(), "REQUEST zoe@example.com")
		g.must(g.answer("ACCEPTED"))
		for _, who := range []string{"ann", "bob"} {
			p := g.people[who]
			o, _ := g.has(who)
			sequence, inboxes := g.line("bob", "SEQUENCE"), g.inbox("ann")+"; "+g.inbox("bob")
			_, err := g.Move(g.ctx, p.Caller, ledger.Transfer{From: p.cal, Name: o.Name, To: p.cal, As: "other.ics"})
			g.must(err)
			g.undo(p.Caller, g.latest(p.Caller, p.cal).ID())
			now, _ := g.has(who)
			g.want("the name", string(now.Name), string(o.Name))
			g.want("the text", string(now.Data), string(o.Data))
			g.want("the count", g.line("bob", "SEQUENCE"), sequence)
			g.want("the inboxes", g.inbox("ann")+"; "+g.inbox("bob"), inboxes)
			g.want("the letters", g.letters(), "")
		}
	})
}

// TestScopeInvite: a token without the scope tells nobody anything: what others would hear of it is refused, or made
// with nobody told, as the call says.
func TestScopeInvite(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann, bob := g.people["ann"], g.people["bob"]
		bot, bobs := ann.Caller, bob.Caller
		bot.Token, bot.Scopes = "t", calendar.ScopeUsual
		bobs.Token, bobs.Scopes = "u", calendar.ScopeUsual
		put := func(data string, tell calendar.Telling) error {
			_, err := g.Put(g.ctx, bot, ann.cal, calendar.Draft{Name: "meeting.ics", Data: []byte(data), Telling: tell})
			return err
		}
		g.refused(put(meetingOf(organizedByAnn, attendees("bob")), calendar.TellAll), calendar.Forbidden,
			calendar.RulePrivileges, "invite others")
		g.must(put(meetingOf(organizedByAnn, attendees("ann")), calendar.TellAll))
		g.must(put(meetingOf(organizedByAnn, attendees("ann", "bob")), calendar.TellNobody))
		g.want("nobody is told", g.inbox("bob")+g.letters(), "")
		g.want("that is left to somebody else", g.line("ann", "ATTENDEE;SCHEDULE-AGENT=NONE"),
			"ATTENDEE;SCHEDULE-AGENT=NONE:mailto:bob@example.com")
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		g.want("until somebody may tell", g.inbox("bob"), "REQUEST")
		moved := strings.Replace(meetingOf(organizedByAnn, attendees("bob")), "T110000Z", "T120000Z", 1)
		g.refused(put(moved, calendar.TellAll), calendar.Forbidden, calendar.RulePrivileges, "lacks the scope")
		g.refused(put(moved, calendar.TellNobody), calendar.Forbidden, calendar.RulePrivileges,
			"turns notifications off")
		g.refused(g.Delete(g.ctx, bot, ann.cal, "meeting.ics", calendar.Precondition{}), calendar.Forbidden,
			calendar.RulePrivileges, "lacks the scope")
		g.must(put(meetingOf(organizedByAnn, attendees("bob"), "COLOR:red"), calendar.TellAll))
		o, _ := g.has("bob")
		_, err := g.Put(g.ctx, bobs, bob.cal,
			calendar.Draft{Name: o.Name, Data: []byte(answering(string(o.Data), "bob", "ACCEPTED"))})
		g.refused(err, calendar.Forbidden, calendar.RulePrivileges, "lacks the scope")
		g.must(g.DeleteTelling(g.ctx, bobs, bob.cal, o.Name, calendar.Precondition{}, calendar.TellNobody))
	})
}

// TestManyGuests: a colour is nobody's business, however many are invited, and there is an end to how many they are.
func TestManyGuests(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		many := func(n int) string {
			var names []string
			for i := range n {
				names = append(names, fmt.Sprintf("guest%03d", i))
			}
			return attendees(names...)
		}
		birthday := strings.NewReplacer("DTSTART:20260310T100000Z\r\n", "DTSTART;VALUE=DATE:20260310\r\n",
			"DTEND:20260310T110000Z\r\n", "").
			Replace(meetingOf(organizedByAnn, many(150), "RRULE:FREQ=YEARLY"))
		g.save("ann", birthday)
		if n := strings.Count(g.letters()+g.letters(), "REQUEST"); n != 150 {
			t.Errorf("%d are told", n)
		}
		g.save("ann", strings.Replace(birthday, "RRULE", "COLOR:red\r\nRRULE", 1))
		g.want("of a colour", g.letters(), "")
		p := g.people["ann"]
		_, err := g.Put(g.ctx, p.Caller, p.cal, calendar.Draft{
			Name: "crowd.ics",
			Data: []byte(strings.Replace(meetingOf(organizedByAnn, many(1001)), "UID:meeting", "UID:crowd", 1)),
		})
		g.refused(err, calendar.TooLarge, calendar.RuleMaxAttendees, "1001")
	})
}

// TestNobodyOutsideIsToldWithoutMail: where no mail is sent, the organizer sees it.
func TestNobodyOutsideIsToldWithoutMail(t *testing.T) {
	invited(t, "ann", func(g *guests) {
		g.config.Mailed = false
		g.Service = serviceOf(g.house)
		g.save("ann", meetingOf(organizedByAnn, attendees("zoe"), "ATTENDEE:urn:uuid:1"))
		g.want("no service", g.line("ann", "ATTENDEE;SCHEDULE-STATUS=5.2"),
			"ATTENDEE;SCHEDULE-STATUS=5.2:mailto:zoe@example.com")
		g.want("nobody", g.line("ann", "ATTENDEE;SCHEDULE-STATUS=3.7"), "ATTENDEE;SCHEDULE-STATUS=3.7:urn:uuid:1")
		g.want("letters", g.letters(), "")
	})
}

// TestMailArrives: what comes by mail does what its sender may do, and nothing else.
func TestMailArrives(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		invitation := strings.Replace(meetingOf("ORGANIZER:mailto:zoe@example.com", attendees("bob")), "PRODID",
			"METHOD:REQUEST\r\nPRODID", 1)
		receive := func(from string, method calendar.Method, data string) error {
			return g.Receive(g.ctx, calendar.Inbound{
				From: calendar.MailAddress(from + "@example.com"), To: []calendar.MailAddress{"bob@example.com"},
				Method: method, Data: []byte(data),
			})
		}
		g.refused(receive("mallory", "REQUEST", invitation), calendar.Forbidden, "", "mallory")
		g.refused(receive("zoe", "CANCEL", invitation), calendar.Invalid, calendar.RuleValidData, "came as")
		g.refused(receive("zoe", "REQUEST", strings.ReplaceAll(invitation, "bob@", "kim@")), calendar.Forbidden, "",
			"does not invite")
		g.refused(receive("zoe", "REQUEST", "BEGIN:VCALENDAR"), calendar.Invalid, calendar.RuleValidData, "")
		_, there := g.has("bob")
		g.want("what was refused", fmt.Sprint(there, g.inbox("bob")), "false")
		g.must(receive("zoe", "REQUEST", invitation))
		g.must(receive("zoe", "REQUEST", invitation))
		g.want("the same twice is one", g.inbox("bob"), "REQUEST")
		g.want("the organizer", g.line("bob", "ORGANIZER"), "ORGANIZER:mailto:zoe@example.com")
		g.must(g.answer("ACCEPTED"))
		g.want("the answer is mailed", g.letters(), "REPLY zoe@example.com")
		g.refused(receive("mallory", "CANCEL",
			strings.ReplaceAll(strings.Replace(invitation, "REQUEST", "CANCEL", 1), "zoe@", "mallory@")),
			calendar.Forbidden, "", "not the organizer")
		g.must(receive("zoe", "CANCEL",
			strings.Replace(strings.Replace(invitation, "REQUEST", "CANCEL", 1), "SUMMARY", "SEQUENCE:1\r\nSUMMARY",
				1)))
		g.want("called off", g.line("bob", "STATUS"), "STATUS:CANCELLED")
	})
}

// TestAnswersArriveByMail: those of who was asked are noted, those of others are held, and what came of mail is noted
// without a word to programs.
func TestAnswersArriveByMail(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		saved := g.save("ann", meetingOf(organizedByAnn, attendees("bob", "zoe")))
		reply := func(who string) error {
			text := strings.Replace(meetingOf(organizedByAnn, "ATTENDEE;PARTSTAT=ACCEPTED:mailto:"+who+"@example.com"),
				"PRODID", "METHOD:REPLY\r\nPRODID", 1)
			return g.Receive(g.ctx,
				calendar.Inbound{From: calendar.MailAddress(who + "@example.com"), Method: "REPLY", Data: []byte(text)})
		}
		g.must(g.Delivered(g.ctx,
			calendar.Letter{User: g.people["ann"].User.ID, To: "zoe@example.com", UID: "meeting", Status: "5.1"}))
		g.want("what came of the mail", g.line("ann", "ATTENDEE;SCHEDULE-STATUS=5.1"),
			"ATTENDEE;SCHEDULE-STATUS=5.1:mailto:zoe@example.com")
		g.must(reply("zoe"))
		g.want("zoe's answer", g.answered("ann", "zoe"), "ACCEPTED")
		g.want("bob sees it", g.answered("bob", "zoe"), "ACCEPTED")
		g.must(reply("mallory"))
		g.want("who was not asked does not come", g.answered("ann", "mallory"), "")
		g.want("but is heard of", g.inbox("ann"), "REPLY REPLY")
		if o, _ := g.has("ann"); o.ScheduleTag != saved.Object.ScheduleTag {
			t.Error("the schedule tag moved with an answer")
		}
		g.want("no answer is answered", g.letters(), "REQUEST zoe@example.com")
		g.must(g.Delivered(g.ctx,
			calendar.Letter{User: g.people["ann"].User.ID, To: "zoe@example.com", UID: "gone", Status: "5.1"}))
	})
}

// TestScheduleTagsMove: with what is of consequence to who edits the event, and with nothing else.
func TestScheduleTagsMove(t *testing.T) {
	invited(t, "ann bob eve", func(g *guests) {
		tag := func(who string) calendar.ScheduleTag {
			o, _ := g.has(who)
			return o.ScheduleTag
		}
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve")))
		first, bobs, eves := tag("ann"), tag("bob"), tag("eve")
		g.must(g.answer("ACCEPTED"))
		if tag("ann") != first || tag("eve") != eves || tag("bob") == bobs {
			t.Errorf("with bob's answer: %s to %s, %s to %s, %s to %s", first, tag("ann"), eves, tag("eve"), bobs,
				tag("bob"))
		}
		bobs = tag("bob")
		o, _ := g.has("bob")
		g.save("bob", strings.Replace(string(o.Data), "END:VEVENT", "CATEGORIES:mine\r\nEND:VEVENT", 1))
		if tag("bob") == bobs || tag("ann") != first {
			t.Error("what bob notes moves bob's tag, and nobody else's")
		}
		bobs = tag("bob")
		stale := calendar.Precondition{ScheduleMatch: eves}
		p := g.people["eve"]
		before, _ := g.has("eve")
		g.save("ann", meetingOf(organizedByAnn, attendees("bob", "eve"), "LOCATION:here"))
		if tag("ann") == first || tag("bob") == bobs || tag("eve") == eves {
			t.Error("a tag stayed with another place")
		}
		_, err := g.Put(g.ctx, p.Caller, p.cal, calendar.Draft{Name: before.Name, Data: before.Data, When: stale})
		g.refused(err, calendar.Stale, "", "schedule tag")
	})
}

// TestThrownAwayAndAskedAgain: anyone who throws an invitation away declines it, and is asked again when the time
// changes.
func TestThrownAwayAndAskedAgain(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		o, _ := g.has("bob")
		g.must(g.Delete(g.ctx, g.people["bob"].Caller, g.people["bob"].cal, o.Name, calendar.Precondition{}))
		g.want("declined", g.answered("ann", "bob"), "DECLINED")
		g.save("ann", meetingOf(organizedByAnn, attendees("bob"), "LOCATION:here"))
		if _, there := g.has("bob"); there {
			t.Error("another place brings it back")
		}
		g.save("ann", strings.Replace(meetingOf(organizedByAnn, attendees("bob")), "T110000Z", "T120000Z", 1))
		g.want("another time does", g.answered("bob", "bob"), "NEEDS-ACTION")
	})
}

// TestEditsTell: an edit of an assistant's tells guests as a PUT does, or nobody, as it says.
func TestEditsTell(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		ann := g.people["ann"]
		g.save("ann", meetingOf(organizedByAnn, attendees("bob")))
		rename := func(c calendar.Caller, title string, tell calendar.Telling) error {
			_, err := g.EditObject(g.ctx, c, ann.cal, "meeting",
				ledger.Edit{Change: edit.Change{Fields: edit.Fields{Summary: edit.To(title)}}, Telling: tell})
			return err
		}
		g.must(rename(ann.Caller, "Ideas", calendar.TellAll))
		g.want("bob hears", g.line("bob", "SUMMARY"), "SUMMARY:Ideas")
		g.refused(rename(ann.Caller, "Fun", calendar.TellNobody), calendar.Forbidden, calendar.RulePrivileges,
			"turns notifications off")
		bot := ann.Caller
		bot.Scopes = calendar.ScopeUsual
		g.refused(rename(bot, "Fun", calendar.TellAll), calendar.Forbidden, calendar.RulePrivileges, "lacks the scope")
		g.want("bob's is as it was", g.line("bob", "SUMMARY"), "SUMMARY:Ideas")
	})
}

// TestPrincipalsOfOtherServers: a principal's path is one of this server, and so is its address at BASE_URL; somebody
// of that name on another server is somebody else.
func TestPrincipalsOfOtherServers(t *testing.T) {
	invited(t, "ann bob", func(g *guests) {
		g.config.Home = "https://calendar.example.com/"
		g.Service = serviceOf(g.house)
		for i, c := range []struct {
			address string
			arrives bool
		}{
			{"/dav/principals/guest-bob/", true},
			{"https://calendar.example.com/dav/principals/guest-bob/", true},
			{"https://elsewhere.example/dav/principals/guest-bob/", false},
		} {
			uid := fmt.Sprintf("UID:by-principal-%d", i)
			ann := g.people["ann"]
			_, err := g.Put(g.ctx, ann.Caller, ann.cal, calendar.Draft{
				Name: calendar.ObjectName(uid + ".ics"),
				Data: []byte(replaceUID(meetingOf(organizedByAnn, "ATTENDEE:"+c.address), uid)),
			})
			g.must(err)
			_, err = g.Store.ObjectByUID(g.ctx, g.people["bob"].cal.ID, calendar.UID(strings.TrimPrefix(uid, "UID:")))
			if (err == nil) != c.arrives {
				t.Errorf("%s: %v", c.address, err)
			}
		}
	})
}
