package storetest

import (
	"sync"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func suggestionTests() []test {
	return []test{
		{"it is kept until it ends", suggestionIsKept},
		{"an assistant has a limited number", suggestionsAreLimited},
		{"the limit holds for calls at the same time", suggestionsAreLimitedAtOnce},
		{"it ends with its token", suggestionEndsWithToken},
		{"a home tells whether there are any", suggestionsInHome},
		{"its user is told once", suggestionIsTold},
	}
}

// mostSuggestions are low limits. A suggestion of these tests has about 330 bytes.
var mostSuggestions = calendar.SuggestionLimits{Number: 3, Bytes: 2000}

func (b *bundle) suggestion(maker calendar.Actor, user calendar.User, id calendar.SuggestionID) calendar.Suggestion {
	return calendar.Suggestion{
		ID: id, User: user.ID, Maker: maker, State: calendar.SuggestionOpen, Created: b.now(),
		Expires: b.now().Add(time.Hour),
		Parts: []calendar.SuggestedPart{
			{
				Calendar: "cal", Name: "a.ics", UID: "a", Kind: calendar.Event, Before: []byte("\x00old"),
				After: []byte("new"),
			},
			{Calendar: "cal", Name: "b.ics", UID: "b", Kind: calendar.Todo, Before: []byte("gone"), Comment: "Sorry"},
		},
	}
}

func suggestionIsKept(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	maker := calendar.Actor{Token: b.token(ann, nil).ID, Agent: "Claude"}
	first := b.suggestion(maker, ann, "s1")
	b.must(b.InsertSuggestion(b.Context(), first, mostSuggestions))
	b.pass(time.Minute)
	second := b.suggestion(maker, ann, "s2")
	b.must(b.InsertSuggestion(b.Context(), second, mostSuggestions))
	all, err := b.Suggestions(b.Context(), ann.ID, b.now())
	b.must(err)
	same(b, "all", all, []calendar.Suggestion{first, second})
	got, err := b.Suggestion(b.Context(), ann.ID, "s2", b.now())
	b.must(err)
	same(b, "one", got, second)
	_, err = b.Suggestion(b.Context(), bob.ID, "s2", b.now())
	b.refused(err, calendar.NotFound, "")
	b.refused(b.DeleteSuggestion(b.Context(), bob.ID, "s2"), calendar.NotFound, "")
	b.must(b.DeleteSuggestion(b.Context(), ann.ID, "s2"))
	b.refused(b.DeleteSuggestion(b.Context(), ann.ID, "s2"), calendar.NotFound, "")
	b.update(func(tx calendar.Tx) error { return tx.AcceptSuggestion(b.Context(), ann.ID, "s1") })
	b.refused(b.Update(b.Context(), func(tx calendar.Tx) error {
		return tx.AcceptSuggestion(b.Context(), ann.ID, "s1")
	}), calendar.NotFound, "")
	b.refused(b.DeclineSuggestion(b.Context(), ann.ID, "s1"), calendar.NotFound, "")
	b.refused(b.DeleteSuggestion(b.Context(), ann.ID, "s1"), calendar.NotFound, "")
	first.State, first.Parts = calendar.SuggestionAccepted, []calendar.SuggestedPart{}
	all, err = b.Suggestions(b.Context(), ann.ID, b.now())
	b.must(err)
	same(b, "accepted", all, []calendar.Suggestion{first})
	third := b.suggestion(maker, ann, "s3")
	b.must(b.InsertSuggestion(b.Context(), third, mostSuggestions))
	b.must(b.DeclineSuggestion(b.Context(), ann.ID, "s3"))
	_, err = b.Suggestion(b.Context(), ann.ID, "s3", b.now())
	b.refused(err, calendar.NotFound, "")
	b.pass(time.Hour)
	_, err = b.Suggestion(b.Context(), ann.ID, "s3", b.now())
	b.refused(err, calendar.NotFound, "")
	all, err = b.Suggestions(b.Context(), ann.ID, b.now())
	b.must(err)
	same(b, "after an hour", len(all), 0)
}

func suggestionsAreLimited(b *bundle) {
	ann := b.user("ann")
	maker := calendar.Actor{Token: b.token(ann, nil).ID}
	for _, id := range []calendar.SuggestionID{"s1", "s2", "s3"} {
		b.must(b.InsertSuggestion(b.Context(), b.suggestion(maker, ann, id), mostSuggestions))
	}
	more := b.suggestion(maker, ann, "s4")
	b.refused(b.InsertSuggestion(b.Context(), more, mostSuggestions), calendar.TooLarge, "")
	other := b.suggestion(calendar.Actor{Token: b.token(ann, nil).ID}, ann, "s5")
	b.must(b.InsertSuggestion(b.Context(), other, mostSuggestions))
	other.ID, other.Parts[0].After = "s6", make([]byte, 2000) // the size counts for all assistants together
	b.refused(b.InsertSuggestion(b.Context(), other, mostSuggestions), calendar.TooLarge, "")
	b.pass(time.Hour) // expired ones do not count
	more = b.suggestion(maker, ann, "s7")
	b.must(b.InsertSuggestion(b.Context(), more, mostSuggestions))
}

func suggestionsAreLimitedAtOnce(b *bundle) {
	ann := b.user("ann")
	maker := calendar.Actor{Token: b.token(ann, nil).ID}
	var wait sync.WaitGroup
	for _, id := range []calendar.SuggestionID{"s1", "s2", "s3", "s4", "s5", "s6"} {
		wait.Go(func() {
			_ = b.InsertSuggestion(b.Context(), b.suggestion(maker, ann, id), mostSuggestions) // half are refused
		})
	}
	wait.Wait()
	all, err := b.Suggestions(b.Context(), ann.ID, b.now())
	b.must(err)
	same(b, "number", len(all), 3)
}

func suggestionsInHome(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	suggests := func(want bool, what string) {
		b.Helper()
		home, err := b.Home(b.Context(), ann.ID)
		b.must(err)
		same(b, what, home.Suggests, want)
		ctx, err := b.ReadHome(b.Context(), ann.ID)
		b.must(err)
		home, err = b.Home(ctx, ann.ID)
		b.must(err)
		same(b, what+", prefetched", home.Suggests, want)
		home, err = b.Home(b.Context(), bob.ID)
		b.must(err)
		same(b, what+", of another user", home.Suggests, false)
	}
	token := b.token(ann, nil)
	suggests(false, "without a token that proposes")
	b.must(b.InsertSuggestion(b.Context(), b.suggestion(calendar.Actor{Token: token.ID}, ann, "s1"), mostSuggestions))
	suggests(true, "with a suggestion")
	b.must(b.DeclineSuggestion(b.Context(), ann.ID, "s1"))
	suggests(false, "declined")
	proposer := auth.Token{
		ID: "proposer", User: ann.ID, Name: "Claude", Scopes: calendar.ScopeRead | calendar.ScopePropose,
		Created: b.now(), Expires: b.now().Add(time.Hour),
	}
	b.must(b.InsertToken(b.Context(), proposer, "", ""))
	suggests(true, "with a token that proposes")
	b.pass(time.Hour)
	suggests(false, "after the token expired")
}

func suggestionIsTold(b *bundle) {
	ann := b.user("ann")
	s := b.reminded(ann)
	maker := calendar.Actor{Token: b.token(ann, nil).ID}
	b.must(b.InsertSuggestion(b.Context(), b.suggestion(maker, ann, "s1"), mostSuggestions))
	lags, err := b.ReportLags(b.Context(), 10)
	b.must(err)
	same(b, "before", lags, []calendar.ReminderSettings{s})
	for range 2 { // the second process finds it told
		l := b.letter(ann, "ann@example.com", calendar.UID(b.id("alert")))
		l.Due = b.now()
		b.must(b.Report(b.Context(), s, calendar.Reported{Suggestions: []calendar.SuggestionID{"s1"}},
			calendar.Alerts{Letters: []calendar.Letter{l}, Most: outboxMost()}))
	}
	same(b, "letters", len(b.take(b.Store)), 1)
	lags, err = b.ReportLags(b.Context(), 10)
	b.must(err)
	same(b, "after", lags, nil)
	all, err := b.Suggestions(b.Context(), ann.ID, b.now())
	b.must(err)
	same(b, "told", all[0].Told, true)
}

func suggestionEndsWithToken(b *bundle) {
	ann := b.user("ann")
	token := b.token(ann, nil)
	s := b.suggestion(calendar.Actor{Token: token.ID}, ann, "s1")
	b.must(b.InsertSuggestion(b.Context(), s, mostSuggestions))
	b.must(b.RevokeToken(b.Context(), token.ID, b.now()))
	_, err := b.Suggestion(b.Context(), ann.ID, "s1", b.now())
	b.refused(err, calendar.NotFound, "")
	s.ID = "s2"
	b.refused(b.InsertSuggestion(b.Context(), s, mostSuggestions), calendar.NotFound, "")
}
