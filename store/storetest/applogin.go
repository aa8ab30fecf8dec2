package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// allow is the answer of a user who ticks the box for delegated calendars.
var allow = auth.AppLoginAnswer{Allowed: true, ForOthers: true}

func appLoginTests() []test {
	return []test{
		{"are answered and taken once", appLoginOnce},
		{"end with the user's other access", appLoginEnded},
	}
}

func appLoginOnce(b *bundle) {
	ann, until := b.user("ann"), b.now().Add(time.Minute)
	take := func(id string) error {
		_, err := b.TakeAppLogin(b.Context(), id, b.now())
		return err
	}
	b.refused(take("one"), calendar.NotFound, "")
	b.must(b.AnswerAppLogin(b.Context(), "one", ann.ID, allow, until))
	b.refused(b.AnswerAppLogin(b.Context(), "one", ann.ID, allow, until), calendar.Exists, "")
	gives(b, "permission", auth.AllowedApp{User: ann, ForOthers: true})(b.TakeAppLogin(b.Context(), "one", b.now()))
	b.refused(take("one"), calendar.NotFound, "")
	b.refused(b.AnswerAppLogin(b.Context(), "one", ann.ID, allow, until), calendar.Exists, "")

	b.must(b.AnswerAppLogin(b.Context(), "refused", ann.ID, auth.AppLoginAnswer{}, until))
	b.refused(take("refused"), calendar.NotFound, "")
	b.must(b.AnswerAppLogin(b.Context(), "late", ann.ID, allow, until))
	b.pass(time.Minute)
	b.refused(take("late"), calendar.NotFound, "")
	b.must(b.Tidy(b.Context(), b.now(), b.now()))
	b.must(b.AnswerAppLogin(b.Context(), "late", ann.ID, allow, until))
}

func appLoginEnded(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	b.must(b.AnswerAppLogin(b.Context(), "anns", ann.ID, allow, b.now().Add(time.Minute)))
	b.must(b.AnswerAppLogin(b.Context(), "bobs", bob.ID, allow, b.now().Add(time.Minute)))
	b.must(b.EndAccess(b.Context(), ann.ID, b.now()))
	_, err := b.TakeAppLogin(b.Context(), "anns", b.now())
	b.refused(err, calendar.NotFound, "")
	b.must(b.RevokeAll(b.Context(), b.now()))
	_, err = b.TakeAppLogin(b.Context(), "bobs", b.now())
	b.refused(err, calendar.NotFound, "")
}
