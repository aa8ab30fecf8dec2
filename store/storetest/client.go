package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
)

func clientTests() []test {
	return []test{
		{"round-trips", clientComesBack},
		{"is replaced except for its history", clientReplaced},
		{"is deleted with its offers, and its grants end", clientGoes},
		{"makes room", clientMakesRoom},
		{"makes room by dropping clients of the busiest site", clientMakesRoomInCrowd},
		{"is kept while a grant is valid", clientKept},
	}
}

// client creates a client of a kind.
func (b *bundle) client(kind oauth.Kind) oauth.Client {
	b.Helper()
	c := oauth.Client{
		ID: auth.ClientID(b.id("client")), Kind: kind, Name: "Claude",
		Redirects: []string{"https://claude.ai/callback"},
		Method:    oauth.NoSecret, Created: b.now(),
	}
	b.must(b.PutClient(b.Context(), c))
	return c
}

// remembered checks that the store has this client.
func (b *bundle) remembered(want oauth.Client) {
	b.Helper()
	gives(b, "client", want)(b.Client(b.Context(), want.ID))
}

// forgot checks that the store does not have this client.
func (b *bundle) forgot(id auth.ClientID) {
	b.Helper()
	b.refuses(calendar.NotFound, "")(b.Client(b.Context(), id))
}

func clientComesBack(b *bundle) {
	want := oauth.Client{
		ID: "https://claude.ai/client.json", Kind: oauth.Described, Name: "Claude “Code”",
		Redirects: []string{"http://localhost/a?b=c", "cursor://x/y"},
		Digest:    "digest", Method: oauth.SecretBasic, Created: b.now(), Used: b.now().Add(time.Minute),
		Fresh: b.now().Add(time.Hour),
	}
	b.must(b.PutClient(b.Context(), want))
	b.remembered(want)
	other := b.client(oauth.Added)
	gives(b, "clients", []oauth.Client{other, want})(b.Clients(b.Context()))
	b.forgot("unknown")
	b.refused(b.DropClient(b.Context(), "unknown", b.now()), calendar.NotFound, "")
}

func clientReplaced(b *bundle) {
	c := b.client(oauth.Described)
	grant, _ := b.grant(b.user("ann"), c, nil)
	created, used := c.Created, grant.Created
	b.pass(time.Hour)
	c.Name, c.Redirects, c.Created, c.Fresh = "Claude 2", []string{"https://claude.com/callback"}, b.now(),
		b.now().Add(time.Minute)
	b.must(b.PutClient(b.Context(), c))
	c.Created, c.Used = created, used
	b.remembered(c)
}

func clientGoes(b *bundle) {
	ann := b.user("ann")
	c, other := b.client(oauth.Registered), b.client(oauth.Registered)
	grant, _ := b.grant(ann, c, nil)
	kept, _ := b.grant(ann, other, nil)
	offer := b.proposed(ann, c, nil)
	token := b.token(ann, nil)
	before := b.generation("ann")
	b.must(b.DropClient(b.Context(), c.ID, b.now()))
	b.forgot(c.ID)
	grant.Revoked = b.now()
	b.stored(grant)
	b.stored(kept)
	b.stored(token)
	b.refuses(calendar.NotFound, "")(b.Offer(b.Context(), offer.ID))
	after := b.generation("ann")
	if after == before {
		b.Error("grants ended, and the generation did not move")
	}
	offer.ID = "late"
	b.refused(b.InsertOffer(b.Context(), offer, b.now()), calendar.NotFound, "")
}

// bounds are limits of two clients, kept for a day unused and a week idle.
func (b *bundle) bounds() oauth.Bounds {
	return oauth.Bounds{Now: b.now(), Unused: 24 * time.Hour, Idle: 7 * 24 * time.Hour, Most: 2, Soon: time.Hour}
}

func clientMakesRoom(b *bundle) {
	first, described, added := b.client(oauth.Registered), b.client(oauth.Described), b.client(oauth.Added)
	b.must(b.Crowd(b.Context(), oauth.Registered, b.bounds()))
	b.pass(time.Minute)
	second := b.client(oauth.Registered)
	b.refused(b.Crowd(b.Context(), oauth.Registered, b.bounds()), calendar.Unavailable, "")
	b.must(b.Crowd(b.Context(), oauth.Described, b.bounds()))
	b.pass(time.Hour)
	b.must(b.Crowd(b.Context(), oauth.Registered, b.bounds()))
	b.forgot(first.ID)
	b.remembered(second)
	b.pass(24 * time.Hour)
	b.must(b.Crowd(b.Context(), oauth.Registered, b.bounds()))
	b.forgot(second.ID)
	b.remembered(described)
	b.remembered(added)
}

// clientMakesRoomInCrowd: a site that holds all places loses one to a newcomer, and no site loses its only one.
func clientMakesRoomInCrowd(b *bundle) {
	from := func(site string) oauth.Client {
		c := oauth.Client{
			ID: auth.ClientID(b.id("client")), Kind: oauth.Registered, Name: "Claude",
			Redirects: []string{"https://claude.ai/callback"},
			Method:    oauth.NoSecret, Created: b.now(), Site: site,
		}
		b.must(b.PutClient(b.Context(), c))
		return c
	}
	bounds := b.bounds()
	first, second := from("192.0.2.1/32"), from("192.0.2.1/32")
	bounds.Site = "192.0.2.1/32"
	b.refused(b.Crowd(b.Context(), oauth.Registered, bounds), calendar.Unavailable, "")
	bounds.Site = "198.51.100.1/32"
	b.must(b.Crowd(b.Context(), oauth.Registered, bounds))
	b.forgot(first.ID)
	b.remembered(second)
	third := from("198.51.100.1/32")
	bounds.Site = "203.0.113.1/32"
	b.refused(b.Crowd(b.Context(), oauth.Registered, bounds), calendar.Unavailable, "")
	b.remembered(second)
	b.remembered(third)
}

func clientKept(b *bundle) {
	c := b.client(oauth.Registered)
	grant, _ := b.grant(b.user("ann"), c, nil)
	b.pass(30 * 24 * time.Hour)
	bounds := b.bounds()
	bounds.Most = 1
	b.must(b.Crowd(b.Context(), oauth.Registered, bounds))
	c.Used = grant.Created
	b.remembered(c)
	b.must(b.RevokeToken(b.Context(), grant.ID, b.now()))
	b.must(b.Crowd(b.Context(), oauth.Registered, bounds))
	b.forgot(c.ID)
}
