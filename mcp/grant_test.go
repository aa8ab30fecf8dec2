package mcp

import (
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
)

// asTheyAre leaves a caller with their token.
func (h *house) asTheyAre(_ *testing.T, c calendar.Caller) calendar.Caller { return c }

// granted is a caller as package auth makes them of an access token, whose grant is for as much as the caller's token.
func (h *house) granted(t *testing.T, c calendar.Caller) calendar.Caller {
	t.Helper()
	const endpoint auth.Resource = "https://cal.example/mcp"
	ctx, now := t.Context(), h.Now()
	secret, hash, text := auth.AccessForm.New()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(h.Store.PutClient(ctx, oauth.Client{
		ID: "client", Kind: oauth.Added, Name: "Claude", Method: oauth.NoSecret,
		Created: now,
	}))
	must(h.Store.InsertOffer(ctx, oauth.Offer{
		ID: "offer", Client: "client", User: c.User.ID,
		Expires: now.Add(time.Minute),
	}, now))
	grant := auth.Token{
		ID: c.Token, User: c.User.ID, Name: "Claude (claude.ai)", Scopes: c.Scopes, Created: now,
		Client: "client", Resource: endpoint,
	}
	if c.Calendars != nil {
		// A grant for deleted calendars reaches nothing; the store refuses to create it.
		grant.Calendars = []calendar.CalendarID{}
		for _, id := range c.Calendars {
			if _, err := h.Store.Calendar(ctx, c.User.ID, id); err == nil {
				grant.Calendars = append(grant.Calendars, id)
			}
		}
	}
	must(h.Store.TakeUp(ctx, "offer", grant, oauth.Pair{
		Access: oauth.Ticket{
			ID: secret, Digest: hash, Grant: c.Token, Use: oauth.ForAccess, Scopes: calendar.ScopeAll,
			Created: now, Expires: now.Add(time.Hour),
		},
		Refresh: oauth.Ticket{
			ID: "refresh", Grant: c.Token, Use: oauth.ForRefresh, Created: now,
			Expires: now.Add(time.Hour),
		},
	}))
	come, err := auth.New(h.Login()).VerifyAccess(ctx, string(text), endpoint)
	must(err)
	return come
}
