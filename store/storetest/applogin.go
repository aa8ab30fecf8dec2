package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

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
	b.must(b.AnswerAppLogin(b.Context(), "one", ann.ID, true, until))
	b.refused(b.AnswerAppLogin(b.Context(), "one", ann.ID, true, until), calendar.Exists, "")
	gives(b, "user", ann)(b.TakeAppLogin(b.Context(), "one", b.now()))
	b.refused(take("one"), calendar.NotFound, "")
	b.refused(b.AnswerAppLogin(b.Context(), "one", ann.ID, true, until), calendar.Exists, "")

	b.must(b.AnswerAppLogin(b.Context(), "refused", ann.ID, false, until))
	b.refused(take("refused"), calendar.NotFound, "")
	b.must(b.AnswerAppLogin(b.Context(), "late", ann.ID, true, until))
	b.pass(time.Minute)
	b.refused(take("late"), calendar.NotFound, "")
	b.must(b.Tidy(b.Context(), b.now(), b.now()))
	b.must(b.AnswerAppLogin(b.Context(), "late", ann.ID, true, until))
}

func appLoginEnded(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	b.must(b.AnswerAppLogin(b.Context(), "anns", ann.ID, true, b.now().Add(time.Minute)))
	b.must(b.AnswerAppLogin(b.Context(), "bobs", bob.ID, true, b.now().Add(time.Minute)))
	b.must(b.EndAccess(b.Context(), ann.ID, b.now()))
	_, err := b.TakeAppLogin(b.Context(), "anns", b.now())
	b.refused(err, calendar.NotFound, "")
	b.must(b.RevokeAll(b.Context(), b.now()))
	_, err = b.TakeAppLogin(b.Context(), "bobs", b.now())
	b.refused(err, calendar.NotFound, "")
}
