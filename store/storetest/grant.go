package storetest

import (
	"fmt"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
)

func grantTests() []test {
	return []test{
		{"is offered and taken up once", grantTakenUp},
		{"is not taken up when its calendars are gone", grantOfNothing},
		{"prunes offers", offersForgotten},
		{"has tickets that round-trip", ticketsComeBack},
		{"is renewed by the first request", grantRenewed},
		{"has a bounded number of tickets", ticketsBounded},
		{"admits access tickets only", grantLetsIn},
		{"ends when its client can no longer use it", grantPruned},
	}
}

// proposed stores a user's offer to a client.
func (b *bundle) proposed(u calendar.User, c oauth.Client, cals []calendar.CalendarID) oauth.Offer {
	b.Helper()
	o := oauth.Offer{
		ID: auth.SecretID(b.id("offer")), Digest: "digest", Client: c.ID, User: u.ID, Redirect: c.Redirects[0],
		Challenge: "challenge",
		Resource:  "https://cal.example/mcp", Name: "Claude (claude.ai)",
		Scopes: calendar.ScopeRead | calendar.ScopeWrite, Calendars: cals,
		ForOthers:    true,
		GrantExpires: b.now().Add(90 * 24 * time.Hour), Expires: b.now().Add(time.Minute),
	}
	b.must(b.InsertOffer(b.Context(), o, b.now().Add(-time.Hour)))
	return o
}

// granted is the grant for an offer, not stored yet.
func (b *bundle) granted(u calendar.User, o oauth.Offer) auth.Token {
	return auth.Token{
		ID: calendar.TokenID(b.id("grant")), User: u.ID, UserName: u.Name, Name: o.Name, Scopes: o.Scopes,
		Calendars: o.Calendars,
		Created:   b.now(), Expires: o.GrantExpires, Client: o.Client, Resource: o.Resource,
	}
}

// pair is an access ticket and a refresh ticket, not stored yet.
func (b *bundle) pair(grant auth.Token) oauth.Pair {
	ticket := func(use oauth.Use, scopes calendar.Scope, age time.Duration) oauth.Ticket {
		return oauth.Ticket{
			ID: auth.SecretID(b.id(string(use))), Digest: "digest", Grant: grant.ID, Use: use, Scopes: scopes,
			Created: b.now(), Expires: b.now().Add(age),
		}
	}
	return oauth.Pair{
		Access:  ticket(oauth.ForAccess, calendar.ScopeRead, time.Hour),
		Refresh: ticket(oauth.ForRefresh, grant.Scopes, 24*time.Hour),
	}
}

// grant stores a grant with its first tickets.
func (b *bundle) grant(u calendar.User, c oauth.Client, cals []calendar.CalendarID) (auth.Token, oauth.Pair) {
	b.Helper()
	o := b.proposed(u, c, cals)
	grant := b.granted(u, o)
	pair := b.pair(grant)
	b.must(b.TakeUp(b.Context(), o.ID, grant, pair))
	return grant, pair
}

// holds checks a stored ticket and its grant.
func (b *bundle) holds(in Store, want oauth.Ticket, grant auth.Token) {
	b.Helper()
	got, of, err := in.Ticket(b.Context(), want.ID)
	b.must(err)
	same(b, "ticket", got, want)
	same(b, "grant", of, grant)
}

func grantTakenUp(b *bundle) {
	ann := b.user("ann")
	c := b.client(oauth.Registered)
	work := b.calendar(ann, "work")
	for _, cals := range [][]calendar.CalendarID{nil, {}, {work.ID}} {
		o := b.proposed(ann, c, cals)
		gives(b, "offer", o)(b.Offer(b.Context(), o.ID))
		grant := b.granted(ann, o)
		pair := b.pair(grant)
		b.must(b.TakeUp(b.Context(), o.ID, grant, pair))
		b.stored(grant)
		b.holds(b.Store, pair.Access, grant)
		b.holds(b.another(), pair.Refresh, grant)
		again := b.granted(ann, o)
		b.refused(b.TakeUp(b.Context(), o.ID, again, b.pair(again)), calendar.Stale, "")
		b.refuses(calendar.NotFound, "")(b.TokenByID(b.Context(), again.ID))
		o.Grant = grant.ID
		gives(b, "offer", o)(b.Offer(b.Context(), o.ID))
	}
	c.Used = b.now()
	b.remembered(c)
	b.refuses(calendar.NotFound, "")(b.Offer(b.Context(), "unknown"))
	b.refused(b.TakeUp(b.Context(), "unknown", b.granted(ann, oauth.Offer{Client: c.ID}), oauth.Pair{}),
		calendar.NotFound, "")
}

func grantOfNothing(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	c := b.client(oauth.Registered)
	gone := b.calendar(ann, "gone")
	o := b.proposed(ann, c, []calendar.CalendarID{gone.ID})
	b.update(func(tx calendar.Tx) error { return tx.TrashCalendar(b.Context(), gone.ID) })
	grant := b.granted(ann, o)
	b.refused(b.TakeUp(b.Context(), o.ID, grant, b.pair(grant)), calendar.NotFound, "")
	b.refuses(calendar.NotFound, "")(b.TokenByID(b.Context(), grant.ID))
	his := b.proposed(bob, c, nil)
	b.must(b.DeleteUser(b.Context(), bob.ID))
	b.refuses(calendar.NotFound, "")(b.Offer(b.Context(), his.ID))
}

func offersForgotten(b *bundle) {
	ann := b.user("ann")
	c := b.client(oauth.Registered)
	old := b.proposed(ann, c, nil)
	b.pass(30 * time.Minute)
	late := b.proposed(ann, c, nil)
	b.does(b.Offer(b.Context(), old.ID))
	b.pass(time.Hour)
	b.proposed(ann, c, nil)
	b.refuses(calendar.NotFound, "")(b.Offer(b.Context(), old.ID))
	b.must(b.Prune(b.Context(), start()))
	b.refuses(calendar.NotFound, "")(b.Offer(b.Context(), late.ID))
}

func ticketsComeBack(b *bundle) {
	ann := b.user("ann")
	work := b.calendar(ann, "work")
	grant, pair := b.grant(ann, b.client(oauth.Registered), []calendar.CalendarID{work.ID})
	b.holds(b.Store, pair.Access, grant)
	for _, disabled := range []bool{true, false} {
		b.must(b.ChangeUser(b.Context(), ann.ID, auth.UserEdit{Disabled: &disabled}))
		pair.Access.Disabled = disabled
		b.holds(b.Store, pair.Access, grant)
	}
	b.must(b.DropTicket(b.Context(), pair.Access.ID))
	b.must(b.DropTicket(b.Context(), pair.Access.ID))
	_, _, err := b.Ticket(b.Context(), pair.Access.ID)
	b.refused(err, calendar.NotFound, "")
	b.must(b.RevokeToken(b.Context(), grant.ID, b.now()))
	grant.Revoked = b.now()
	b.holds(b.Store, pair.Refresh, grant)
}

func grantRenewed(b *bundle) {
	c := b.client(oauth.Registered)
	grant, first := b.grant(b.user("ann"), c, nil)
	b.pass(time.Minute)
	at := b.now()
	second := b.pair(grant)
	b.must(b.Renew(b.Context(), first.Refresh, at, second))
	// Another process read the ticket before the renewal.
	other, third := b.another(), b.pair(grant)
	b.refused(other.Renew(b.Context(), first.Refresh, at, third), calendar.Stale, "")
	_, _, err := b.Ticket(b.Context(), third.Access.ID)
	b.refused(err, calendar.NotFound, "")
	used := first.Refresh
	used.Used = at
	b.holds(other, used, grant)
	b.pass(time.Second)
	b.must(other.Renew(b.Context(), used, b.now(), third))
	b.holds(b.Store, used, grant)
	b.holds(b.Store, second.Refresh, grant)
	b.holds(b.Store, third.Access, grant)
	// The first ticket is renewed twice. When one of the results is renewed in turn, the other becomes its rival.
	rivals := [...]oauth.Pair{b.pair(grant), b.pair(grant)}
	for i := range rivals {
		rivals[i].Refresh.Parent = first.Refresh.ID
		b.must(b.Renew(b.Context(), used, b.now(), rivals[i]))
		b.holds(b.Store, rivals[i].Refresh, grant)
	}
	b.must(b.Renew(b.Context(), rivals[0].Refresh, b.now(), b.pair(grant)))
	rivals[0].Refresh.Used, rivals[1].Refresh.Rival = b.now(), true
	b.holds(other, rivals[0].Refresh, grant)
	b.holds(other, rivals[1].Refresh, grant)
	unknown := used
	unknown.ID = "unknown"
	b.refused(b.Renew(b.Context(), unknown, at, b.pair(grant)), calendar.NotFound, "")
	c.Used = b.now()
	b.remembered(c)
}

func ticketsBounded(b *bundle) {
	grant, pair := b.grant(b.user("ann"), b.client(oauth.Registered), nil)
	first := pair
	for range oauth.Tickets {
		b.pass(time.Second)
		next := b.pair(grant)
		b.must(b.Renew(b.Context(), pair.Refresh, b.now(), next))
		pair = next
	}
	for _, k := range []oauth.Ticket{first.Access, first.Refresh} {
		_, _, err := b.Ticket(b.Context(), k.ID)
		b.refused(err, calendar.NotFound, "")
	}
	b.holds(b.Store, pair.Refresh, grant)
	b.pass(2 * time.Hour)
	next := b.pair(grant)
	b.must(b.Renew(b.Context(), pair.Refresh, b.now(), next))
	_, _, err := b.Ticket(b.Context(), pair.Access.ID)
	b.refused(err, calendar.NotFound, "")
}

func grantLetsIn(b *bundle) {
	ann := b.user("ann")
	work := b.calendar(ann, "work")
	grant, pair := b.grant(ann, b.client(oauth.Registered), []calendar.CalendarID{work.ID})
	want := auth.Access{
		Credential: auth.Credential{User: ann, Token: grant}, Digest: "digest", Scopes: calendar.ScopeRead,
		Expires: pair.Access.Expires,
	}
	access := func(in Store) auth.Access {
		got, err := in.AccessByID(b.Context(), pair.Access.ID)
		b.must(err)
		generation, err := in.CredentialGeneration(b.Context(), auth.Subject{Name: "ann"})
		b.must(err)
		same(b, "its generation", got.Generation, generation)
		got.Generation = 0
		return got
	}
	same(b, "access", access(b), want)
	b.refuses(calendar.NotFound, "")(b.AccessByID(b.Context(), pair.Refresh.ID))
	other := b.another()
	b.must(b.RevokeToken(b.Context(), grant.ID, b.now()))
	want.Token.Revoked = b.now()
	same(b, fmt.Sprint("access of ", grant.ID), access(other), want)
}

func grantPruned(b *bundle) {
	ann := b.user("ann")
	c := b.client(oauth.Registered)
	left, pair := b.grant(ann, c, nil)
	b.must(b.Renew(b.Context(), pair.Refresh, b.now(), b.pair(left)))
	b.pass(12 * time.Hour)
	lively, late := b.grant(ann, c, nil)
	token := b.token(ann, nil)
	b.must(b.Prune(b.Context(), start()))
	b.stored(left)
	b.pass(12 * time.Hour)
	b.must(b.Prune(b.Context(), start()))
	left.Revoked = b.now()
	b.stored(left)
	b.stored(lively)
	b.stored(token)
	b.holds(b.Store, late.Refresh, lively)
	_, _, err := b.Ticket(b.Context(), pair.Refresh.ID)
	b.refused(err, calendar.NotFound, "")
}
