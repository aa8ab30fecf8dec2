package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func attemptTests() []test {
	return []test{
		{"is made once", attemptOnce},
		{"is separate per user, token and name", attemptsApart},
		{"may be retried after a refusal", attemptRefused},
		{"is taken over when abandoned", attemptAbandoned},
		{"expires", attemptForgotten},
		{"can be read", attemptLookedAt},
	}
}

const (
	lease  = time.Minute
	kept24 = 24 * time.Hour
)

// attempt begins an attempt now.
func (b *bundle) attempt(
	in Store, user calendar.User, token calendar.TokenID, name, digest string,
) (calendar.Attempt, bool) {
	b.Helper()
	a, mine, err := in.Begin(b.Context(), calendar.Attempt{
		User: user.ID, Token: token, Name: name, Digest: digest, UID: calendar.UID(b.id("uid")), At: b.now(),
	}, b.now().Add(-lease), b.now().Add(-kept24))
	b.must(err)
	return a, mine
}

func attemptOnce(b *bundle) {
	ann := b.user("ann")
	first, mine := b.attempt(b, ann, "t", "key", "digest")
	if !mine || first.Answer != nil {
		b.Fatalf("a new attempt is not its caller's: %+v", first)
	}
	again, mine := b.attempt(b.another(), ann, "t", "key", "digest")
	if mine {
		b.Error("an attempt that goes on is given away")
	}
	same(b, "the attempt that goes on", again, first)
	first.Answer = []byte(`{"a":"☀"}`)
	b.must(b.Settle(b.Context(), first))
	for _, digest := range []string{"digest", "another"} {
		b.pass(2 * lease)
		again, mine = b.attempt(b.another(), ann, "t", "key", digest)
		if mine {
			b.Error("an attempt that was answered is made again")
		}
		same(b, "the answered attempt", again, first)
	}
}

func attemptsApart(b *bundle) {
	ann, ben := b.user("ann"), b.user("ben")
	for _, a := range []struct {
		user  calendar.User
		token calendar.TokenID
		name  string
	}{{ann, "t", "key"}, {ann, "t", "Key"}, {ann, "T", "key"}, {ann, "", "key"}, {ben, "t", "key"}} {
		if _, mine := b.attempt(b, a.user, a.token, a.name, "digest"); !mine {
			b.Errorf("%s %s %s is taken for another", a.user.Name, a.token, a.name)
		}
	}
}

func attemptRefused(b *bundle) {
	ann := b.user("ann")
	first, _ := b.attempt(b, ann, "t", "key", "digest")
	b.must(b.Settle(b.Context(), first))
	if _, mine := b.attempt(b, ann, "t", "key", "another"); !mine {
		b.Error("a refused attempt keeps its name")
	}
}

func attemptAbandoned(b *bundle) {
	ann := b.user("ann")
	first, _ := b.attempt(b, ann, "t", "key", "digest")
	b.pass(2 * lease)
	if _, mine := b.attempt(b, ann, "t", "key", "another"); mine {
		b.Error("another call takes it over")
	}
	again, mine := b.attempt(b.another(), ann, "t", "key", "digest")
	if !mine || again.UID != first.UID || !again.At.Equal(b.now()) {
		b.Errorf("taken over: %t, %+v", mine, again)
	}
	if _, mine := b.attempt(b, ann, "t", "key", "digest"); mine {
		b.Error("it is taken over twice")
	}
}

func attemptForgotten(b *bundle) {
	ann := b.user("ann")
	first, _ := b.attempt(b, ann, "t", "key", "digest")
	first.Answer = []byte("answer")
	b.must(b.Settle(b.Context(), first))
	b.pass(kept24 + time.Second)
	again, mine := b.attempt(b, ann, "t", "key", "another")
	if !mine || again.UID == first.UID || again.Answer != nil {
		b.Errorf("after a day: %t, %+v", mine, again)
	}
}

// attemptLookedAt: reading an attempt neither creates it nor takes it over.
func attemptLookedAt(b *bundle) {
	ann := b.user("ann")
	look := func(name string) (calendar.Attempt, error) {
		return b.another().Attempt(b.Context(), ann.ID, "t", name)
	}
	_, err := look("key")
	b.refused(err, calendar.NotFound, "")
	first, mine := b.attempt(b, ann, "t", "key", "digest")
	if !mine {
		b.Error("to look at it made it")
	}
	_, err = look("Key")
	b.refused(err, calendar.NotFound, "")
	b.pass(2 * lease)
	is, err := look("key")
	b.must(err)
	same(b, "the attempt that goes on", is, first)
	if _, mine = b.attempt(b, ann, "t", "key", "digest"); !mine {
		b.Error("to look at it took it over")
	}
	first.Answer = []byte("answer")
	b.must(b.Settle(b.Context(), first))
	is, err = look("key")
	b.must(err)
	same(b, "the answer", string(is.Answer), "answer")
}
