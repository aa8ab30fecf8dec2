package storetest

import (
	"slices"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func tokenTests() []test {
	return []test{
		{"round-trips", tokenComesBack},
		{"is unknown", tokenUnknown},
		{"is sealed once", tokenIsSealed},
		{"is bound to calendars", tokenBound},
		{"stays bound when its calendars are gone", tokenStaysBound},
		{"keeps its tools", tokenKeepsTools},
		{"is refused for a missing user or calendar", tokenRefused},
		{"is revoked once", tokenRevoked},
		{"can be narrowed but never widened", tokenNarrowed},
		{"stores its latest use", tokenUsed},
		{"are listed by user, time and id", tokensAreListed},
	}
}

func (b *bundle) token(u calendar.User, cals []calendar.CalendarID) auth.Token {
	b.Helper()
	t := auth.Token{
		ID: calendar.TokenID(b.id("token")), User: u.ID, UserName: u.Name, Name: "laptop",
		Scopes: calendar.ScopeRead | calendar.ScopeShare, Calendars: cals, Created: b.now(),
	}
	b.must(b.InsertToken(b.Context(), t, "hash of "+auth.Hash(t.ID), "seal of "+auth.Seal(t.ID)))
	return t
}

// stored checks a stored token.
func (b *bundle) stored(want auth.Token) {
	b.Helper()
	got, err := b.TokenByID(b.Context(), want.ID)
	b.must(err)
	same(b, "token", got.Token, want)
}

func tokenComesBack(b *bundle) {
	ann := b.user("ann")
	want := auth.Token{
		ID: "token", User: ann.ID, UserName: "ann", Name: "Claude on “laptop”",
		Scopes: calendar.ScopeAll, Created: b.now(),
		Expires: b.now().Add(time.Hour), LastUsed: b.now().Add(time.Minute), Revoked: b.now().Add(time.Second),
	}
	b.must(b.InsertToken(b.Context(), want, "hash", ""))
	gives(b, "credential", auth.Credential{User: ann, Hash: "hash", Token: want})(b.TokenByID(b.Context(), "token"))
	b.stored(b.token(ann, nil))
}

// tokenIsSealed: a token is sealed once; an existing seal is kept.
func tokenIsSealed(b *bundle) {
	t := auth.Token{
		ID: "token", User: b.user("ann").ID, UserName: "ann", Name: "laptop",
		Scopes: calendar.ScopeRead, Created: b.now(),
	}
	b.must(b.InsertToken(b.Context(), t, "hash", ""))
	before := b.generation("ann")
	for _, seal := range []auth.Seal{"", "first", "second"} {
		b.must(b.SealToken(b.Context(), t.ID, seal))
	}
	b.must(b.SealToken(b.Context(), "unknown", "seal"))
	got, err := b.TokenByID(b.Context(), t.ID)
	b.must(err)
	same(b, "seal", got.Seal, "first")
	same(b, "generation", b.generation("ann"), before)
}

func tokenUnknown(b *bundle) {
	b.token(b.user("ann"), nil)
	b.refuses(calendar.NotFound, "")(b.TokenByID(b.Context(), "unknown"))
	b.refused(b.RevokeToken(b.Context(), "unknown", b.now()), calendar.NotFound, "")
	b.must(b.TouchToken(b.Context(), "unknown", b.now()))
}

func tokenBound(b *bundle) {
	ann := b.user("ann")
	work, home := b.calendar(ann, "work"), b.calendar(ann, "home")
	b.stored(b.token(ann, []calendar.CalendarID{work.ID, home.ID}))
	b.stored(b.token(ann, []calendar.CalendarID{}))
}

// tokenStaysBound: a token for one calendar must never become one for all.
func tokenStaysBound(b *bundle) {
	ann := b.user("ann")
	work := b.calendar(ann, "work")
	t := b.token(ann, []calendar.CalendarID{work.ID})
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), work.ID) })
	before := b.generation("ann")
	b.pass(time.Hour)
	b.must(b.Prune(b.Context(), b.now()))
	t.Calendars = []calendar.CalendarID{}
	b.stored(t)
	after := b.generation("ann")
	if after == before {
		b.Error("the token's calendars changed, but not the generation")
	}
}

// tokenKeepsTools: an empty list of tools differs from nil, which means all tools.
func tokenKeepsTools(b *bundle) {
	ann := b.user("ann")
	for _, tools := range [][]calendar.ToolName{{"get_event", "list_events"}, {"get_event"}, {}, nil} {
		t := auth.Token{
			ID: calendar.TokenID(b.id("token")), User: ann.ID, UserName: ann.Name, Name: "laptop",
			Scopes: calendar.ScopeRead, Tools: tools, Created: b.now(),
		}
		b.must(b.InsertToken(b.Context(), t, "hash", ""))
		b.stored(t)
	}
}

func tokenRefused(b *bundle) {
	ann := b.user("ann")
	gone := b.calendar(ann, "gone")
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), gone.ID) })
	for name, t := range map[string]auth.Token{
		"user":     {ID: "1", User: "nobody", Created: b.now()},
		"calendar": {ID: "2", User: ann.ID, Created: b.now(), Calendars: []calendar.CalendarID{"nowhere"}},
		"trash":    {ID: "3", User: ann.ID, Created: b.now(), Calendars: []calendar.CalendarID{gone.ID}},
	} {
		b.refused(b.InsertToken(b.Context(), t, "hash", ""), calendar.NotFound, "")
		if _, err := b.TokenByID(b.Context(), t.ID); calendar.ReasonOf(err) != calendar.NotFound {
			b.Errorf("%s: the token is there: %v", name, err)
		}
	}
	t := b.token(ann, nil)
	b.refused(b.InsertToken(b.Context(), t, "hash", ""), calendar.Exists, "")
}

func tokenRevoked(b *bundle) {
	t := b.token(b.user("ann"), nil)
	b.must(b.RevokeToken(b.Context(), t.ID, b.now()))
	t.Revoked = b.now()
	b.must(b.RevokeToken(b.Context(), t.ID, b.now().Add(time.Hour)))
	b.stored(t)
}

func tokenNarrowed(b *bundle) {
	ann := b.user("ann")
	work, home := b.calendar(ann, "work"), b.calendar(ann, "home")
	t, other := b.token(ann, nil), b.token(ann, nil) // with the scopes read and share
	before := b.generation(ann.Name)
	b.must(b.NarrowToken(b.Context(), t.ID, calendar.ScopeRead|calendar.ScopeWrite, nil, calendar.Rights{}))
	t.Scopes = calendar.ScopeRead
	b.stored(t)
	if b.generation(ann.Name) == before {
		b.Error("the token's scopes changed, but not the generation")
	}
	for _, step := range []struct{ keep, left []calendar.CalendarID }{
		{[]calendar.CalendarID{home.ID, work.ID}, []calendar.CalendarID{home.ID, work.ID}},
		{[]calendar.CalendarID{work.ID}, []calendar.CalendarID{work.ID}},
		{[]calendar.CalendarID{home.ID, work.ID}, []calendar.CalendarID{work.ID}},
		{[]calendar.CalendarID{home.ID}, []calendar.CalendarID{}},
	} {
		b.must(b.NarrowToken(b.Context(), t.ID, calendar.ScopeAll, step.keep, calendar.Rights{}))
		t.Calendars = slices.Sorted(slices.Values(step.left))
		if t.Calendars == nil {
			t.Calendars = []calendar.CalendarID{}
		}
		b.stored(t)
	}
	b.stored(other)
	b.refused(b.NarrowToken(b.Context(), "unknown", calendar.ScopeAll, nil, calendar.Rights{}), calendar.NotFound, "")
	b.refused(b.NarrowToken(b.Context(), other.ID, calendar.ScopeAll, []calendar.CalendarID{"nowhere"},
		calendar.Rights{}),
		calendar.NotFound, "")
	b.stored(other)
}

func tokenUsed(b *bundle) {
	t := b.token(b.user("ann"), nil)
	before := b.generation("ann")
	t.LastUsed = b.now().Add(time.Minute)
	b.must(b.TouchToken(b.Context(), t.ID, t.LastUsed))
	// A slower process reports an earlier use.
	b.must(b.TouchToken(b.Context(), t.ID, b.now()))
	b.stored(t)
	same(b, "generation", b.generation("ann"), before)
}

func tokensAreListed(b *bundle) {
	bob, ann := b.user("bob"), b.user("ann")
	bobs := b.token(bob, nil)
	b.pass(time.Minute)
	late := b.token(ann, nil)
	b.pass(-time.Hour)
	early, tied := b.token(ann, nil), b.token(ann, []calendar.CalendarID{})
	b.must(b.RevokeToken(b.Context(), tied.ID, b.now()))
	tied.Revoked = b.now()
	gives(b, "all tokens", []auth.Token{early, tied, late, bobs})(b.Tokens(b.Context(), ""))
	gives(b, "his tokens", []auth.Token{bobs})(b.Tokens(b.Context(), bob.ID))
	b.givesNone("nobody's tokens")(b.Tokens(b.Context(), "nobody"))
}
