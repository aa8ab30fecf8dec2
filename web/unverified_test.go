package web_test

import (
	"net/http"
	"regexp"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// TestMailThatWasNotFollowed: the home page of its addressee shows it, until they dismiss it; nobody else can.
func TestMailThatWasNotFollowed(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for _, name := range []string{"ann", "bob"} {
			u, mail := h.user(name), name+"@example.com"
			h.must(h.store.ChangeUser(t.Context(), u.ID, auth.UserEdit{Email: &mail}))
		}
		text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:talk\r\n" +
			"DTSTAMP:20260501T120000Z\r\nDTSTART:20260503T080000Z\r\n" +
			"SUMMARY:A <b>talk</b>\r\nORGANIZER:mailto:zoe@example.net\r\nATTENDEE:mailto:max@example.net\r\n" +
			"END:VEVENT\r\nEND:VCALENDAR\r\n"
		h.must(h.calendars.Refused(t.Context(), calendar.Inbound{
			From: "zoe@example.net", To: []calendar.MailAddress{"ann@example.com"}, Method: calendar.MethodRequest,
			Data: []byte(text),
		}, calendar.NotInvited, true))
		ann, bob := h.as("ann"), h.as("bob")
		page := ann.get("")
		page.shows(http.StatusOK, "An invitation from zoe@example.net (verified)", "A <b>talk</b>", "Sun 3 May 10:00",
			"It names no mail address of this account")
		path := regexp.MustCompile(`unverified/[^"]+`).FindString(page.body)
		bob.get("").hides("zoe@example.net")
		bob.post(path).at("?done=mail-dismissed")
		ann.get("").shows(http.StatusOK, "zoe@example.net")
		ann.post(path).at("?done=mail-dismissed").shows(http.StatusOK, "Dismissed").hides("zoe@example.net")
	})
}
