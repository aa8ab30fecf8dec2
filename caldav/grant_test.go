package caldav_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestGrantsHaveNoDoor: alice's grant to an assistant works at the MCP endpoint only. By CalDAV its access token gets
// no access at any address and changes nothing; it does not work as her password either.
func TestGrantsHaveNoDoor(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		m := &matrix{t: t, house: h, relation: relation{as: "alice"}}
		m.prepare()
		before, access := m.state(), h.granted(t)
		h.door = h.auth.Require(auth.Door{
			Schemes: []auth.Scheme{auth.Basic, auth.Bearer}, Refuse: auth.RefuseText,
			ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
		}, h.handler.ServeDAV)
		for _, o := range caldav.Operations() {
			for _, a := range caldav.Addresses() {
				if wellKnown(a) {
					continue // it redirects every caller, see TestNobody
				}
				c := &cell{matrix: m, operation: o, address: a, shelf: shelves()[a.Name], sample: samples()[o.Name]}
				c.sample.header = strings.TrimSpace(c.sample.header + "\nAuthorization: Bearer " + access)
				if got := c.ask(m.at); got.status != http.StatusUnauthorized || strings.Contains(got.body, m.at) {
					t.Errorf("%s %s: %d %s", o.Name, a.Name, got.status, got.body)
				}
			}
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/dav/calendars/alice/", nil)
		r.SetBasicAuth("alice", access)
		if got := h.do(t, r); got.status != http.StatusUnauthorized {
			t.Errorf("as a password: %d %s", got.status, got.body)
		}
		h.door = nil
		if diff := cmp.Diff(before, m.state()); diff != "" {
			t.Errorf("it changed something (-was +is):\n%s", diff)
		}
	})
}

// granted grants an assistant all of alice's rights, and returns its access token.
func (h *house) granted(t *testing.T) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const endpoint auth.Resource = "https://cal.example.com/mcp"
	ctx, now := t.Context(), h.Now()
	id, digest, text := auth.AccessForm.New()
	must(h.Store.PutClient(ctx, oauth.Client{
		ID: "client", Kind: oauth.Added, Name: "Claude", Method: oauth.NoSecret, Created: now,
	}))
	must(h.Store.InsertOffer(ctx,
		oauth.Offer{ID: "offer", Client: "client", User: h.users["alice"].ID, Expires: now.Add(time.Minute)}, now))
	must(h.Store.TakeUp(ctx, "offer", auth.Token{
		ID: "grant", User: h.users["alice"].ID, Name: "Claude (claude.ai)", Scopes: calendar.ScopeAll, Created: now,
		Client: "client", Resource: endpoint,
	}, oauth.Pair{
		Access: oauth.Ticket{
			ID: id, Digest: digest, Grant: "grant", Use: oauth.ForAccess, Scopes: calendar.ScopeAll, Created: now,
			Expires: now.Add(time.Hour),
		},
		Refresh: oauth.Ticket{
			ID: "refresh", Grant: "grant", Use: oauth.ForRefresh, Created: now, Expires: now.Add(time.Hour),
		},
	}))
	if _, err := h.auth.VerifyAccess(ctx, string(text), endpoint); err != nil {
		t.Fatalf("it is not even good where it should be: %v", err)
	}
	return string(text)
}
