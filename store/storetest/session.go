package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func sessionTests() []test {
	return []test{
		{"round-trips", sessionComesBack},
		{"updates its last use and proof", sessionMovesOn},
		{"is ended by its user", sessionEnds},
		{"tells with the tokens when users were last seen", sessionLastSeen},
		{"ends with its user, and after a restore", sessionEndsWith},
	}
}

func (b *bundle) session(u calendar.User) auth.Session {
	b.Helper()
	s := auth.Session{
		ID: auth.SessionID(b.id("session")), User: u, Way: auth.ByPassword, Agent: "Firefox", Created: b.now(),
		Seen: b.now(), Proven: b.now(),
	}
	b.must(b.InsertSession(b.Context(), s, "hash of "+auth.SecretHash(s.ID)))
	return s
}

// sessions returns the IDs of a user's sessions.
func (b *bundle) sessions(u calendar.User) []auth.SessionID {
	b.Helper()
	all, err := b.Sessions(b.Context(), u.ID)
	b.must(err)
	var ids []auth.SessionID
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	return ids
}

func sessionComesBack(b *bundle) {
	ann := b.user("ann")
	want := b.session(ann)
	got, hash, err := b.another().SessionByID(b.Context(), want.ID)
	b.must(err)
	same(b, "session", got, want)
	same(b, "hash", hash, "hash of "+auth.SecretHash(want.ID))
	_, _, err = b.SessionByID(b.Context(), "none")
	b.refused(err, calendar.NotFound, "")
	want.User.ID = "nobody"
	b.refused(b.InsertSession(b.Context(), want, "hash"), calendar.NotFound, "")
}

func sessionMovesOn(b *bundle) {
	ann := b.user("ann")
	first, second := b.session(ann), b.session(ann)
	later := b.now().Add(time.Hour)
	b.must(b.TouchSession(b.Context(), first.ID, later))
	b.must(b.TouchSession(b.Context(), first.ID, b.now()))
	b.must(b.TouchSession(b.Context(), "gone", later))
	b.must(b.ProveSession(b.Context(), second.ID, later))
	b.refused(b.ProveSession(b.Context(), "gone", later), calendar.NotFound, "")
	first.Seen, second.Proven = later, later
	gives(b, "sessions", []auth.Session{first, second})(b.Sessions(b.Context(), ann.ID))
}

func sessionEnds(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	one, two, three, his := b.session(ann), b.session(ann), b.session(ann), b.session(bob)
	b.refused(b.EndSession(b.Context(), bob.ID, one.ID), calendar.NotFound, "")
	b.must(b.EndSession(b.Context(), ann.ID, one.ID))
	b.refused(b.EndSession(b.Context(), ann.ID, one.ID), calendar.NotFound, "")
	same(b, "hers", b.sessions(ann), []auth.SessionID{two.ID, three.ID})
	b.must(b.EndSessions(b.Context(), ann.ID, three.ID))
	same(b, "hers", b.sessions(ann), []auth.SessionID{three.ID})
	b.must(b.EndSessions(b.Context(), ann.ID, ""))
	same(b, "hers", b.sessions(ann), nil)
	same(b, "his", b.sessions(bob), []auth.SessionID{his.ID})
}

func sessionEndsWith(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	hers, his := b.session(ann), b.session(bob)
	b.must(b.DeleteUser(b.Context(), ann.ID))
	_, _, err := b.SessionByID(b.Context(), hers.ID)
	b.refused(err, calendar.NotFound, "")
	b.must(b.RevokeAll(b.Context(), b.now()))
	_, _, err = b.SessionByID(b.Context(), his.ID)
	b.refused(err, calendar.NotFound, "")
}

func sessionLastSeen(b *bundle) {
	ann, bob, cat := b.user("ann"), b.user("bob"), b.user("cat")
	b.session(ann)
	unused, used := b.token(ann, nil), b.token(bob, nil)
	b.pass(time.Hour)
	b.must(b.TouchToken(b.Context(), used.ID, b.now()))
	all, err := b.LastSeen(b.Context())
	b.must(err)
	same(b, "seen", all, map[calendar.UserID]time.Time{ann.ID: b.now().Add(-time.Hour), bob.ID: b.now()})
	b.pass(time.Hour)
	b.must(b.TouchToken(b.Context(), unused.ID, b.now()))
	all, err = b.LastSeen(b.Context())
	b.must(err)
	same(b, "seen", all, map[calendar.UserID]time.Time{ann.ID: b.now(), bob.ID: b.now().Add(-time.Hour)})
	if _, has := all[cat.ID]; has {
		b.Error("cat was never seen")
	}
}
