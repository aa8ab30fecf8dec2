package auth_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
)

// endpoint is what grants are for here.
const endpoint auth.Resource = "https://cal.example/mcp"

// grant lets a client in, and returns the grant and an access token for some of its scopes.
func (h *house) grant(u calendar.User, id calendar.TokenID, cals []calendar.CalendarID,
	scopes calendar.Scope,
) (auth.Token, string) {
	h.t.Helper()
	ctx, now := h.t.Context(), h.Now()
	must := func(err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
	}
	must(h.Store.PutClient(ctx, oauth.Client{
		ID: "client", Kind: oauth.Added, Name: "Claude", Method: oauth.NoSecret, Created: now,
	}))
	offer := oauth.Offer{
		ID: auth.SecretID("offer of " + id), Client: "client", User: u.ID, Resource: endpoint,
		Expires: now.Add(time.Minute),
	}
	must(h.Store.InsertOffer(ctx, offer, now))
	g := auth.Token{
		ID: id, User: u.ID, UserName: u.Name, Name: "Claude (claude.ai)",
		Scopes: calendar.ScopeRead | calendar.ScopeWrite, Calendars: cals, Created: now,
		Expires: now.Add(30 * 24 * time.Hour), Client: "client", Resource: endpoint,
	}
	secret, digest, text := auth.AccessForm.New()
	must(h.Store.TakeUp(ctx, offer.ID, g, oauth.Pair{
		Access: oauth.Ticket{
			ID: secret, Digest: digest, Grant: id, Use: oauth.ForAccess, Scopes: scopes, Created: now,
			Expires: now.Add(time.Hour),
		},
		Refresh: oauth.Ticket{
			ID: auth.SecretID("refresh of " + id), Grant: id, Use: oauth.ForRefresh, Created: now,
			Expires: now.Add(2 * time.Hour),
		},
	}))
	return g, string(text)
}

// shown shows an access token to the endpoint.
func (h *house) shown(text string) (calendar.Caller, error) {
	return h.VerifyAccess(h.t.Context(), text, endpoint)
}

// Anyone who comes with an access token is the grant's caller, and less where the token is for less.
func TestAccess(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.createUser("ann")
		h.createCalendar(ann.ID, "work")
		g, text := h.grant(ann, "grant", []calendar.CalendarID{"work"}, calendar.ScopeRead|calendar.ScopeDelete)
		got, err := h.shown(text)
		if err != nil {
			t.Fatal(err)
		}
		want := calendar.Caller{
			User: got.User, Scopes: calendar.ScopeRead, Token: g.ID, Calendars: g.Calendars,
			Expires: h.Now().Add(time.Hour), Delegated: true, Agent: g.Name,
		}
		if diff := cmp.Diff(want, got); diff != "" || got.User.ID != ann.ID {
			t.Errorf("for %s (-want +got):\n%s", got.User.Name, diff)
		}
		if took := h.hashes(func() { _, _ = h.shown(text) }); took != 0 {
			t.Errorf("it took %d hashes", took)
		}
		h.Pass(time.Hour)
		if err := h.StillGood(t.Context(), got); !errors.Is(err, auth.ErrUnauthorized) {
			t.Errorf("a stream would go on: %v", err)
		}
	})
}

// Whatever ends a grant, or its token, ends it in every process with the next request.
func TestAccessEnds(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(h *house, u calendar.User, g auth.Token) error{
		"revoked": func(h *house, _ calendar.User, g auth.Token) error {
			return h.RevokeToken(h.t.Context(), g.ID)
		},
		"all revoked": func(h *house, _ calendar.User, _ auth.Token) error { return h.RevokeAll(h.t.Context()) },
		"expired": func(h *house, _ calendar.User, _ auth.Token) error {
			h.Pass(time.Hour)
			return nil
		},
		"user gone": func(h *house, u calendar.User, _ auth.Token) error { return h.DeleteUser(h.t.Context(), u.Name) },
		"client gone": func(h *house, _ calendar.User, _ auth.Token) error {
			return h.Store.DropClient(h.t.Context(), "client", h.Now())
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			each(t, func(h *house) {
				ann := h.createUser("ann")
				g, text := h.grant(ann, "grant", nil, calendar.ScopeAll)
				other := h.neighbour()
				if _, err := other.shown(text); err != nil {
					t.Fatal(err)
				}
				if err := end(h, ann, g); err != nil {
					t.Fatal(err)
				}
				if _, err := other.shown(text); !errors.Is(err, auth.ErrUnauthorized) {
					t.Errorf("another process lets it in: %v", err)
				}
			})
		})
	}
}

// What a grant is narrowed to counts with the next request in every process, and so it does for a token.
func TestNarrowed(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.createUser("ann")
		h.createCalendar(ann.ID, "work")
		g, text := h.grant(ann, "grant", nil, calendar.ScopeAll)
		token, secret := h.createToken(auth.TokenSpec{User: "ann", Scopes: calendar.ScopeAll})
		other := h.neighbour()
		come := func() []calendar.Caller {
			t.Helper()
			granted, err := other.shown(text)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := other.VerifyBearer(t.Context(), secret, here())
			if err != nil {
				t.Fatal(err)
			}
			return []calendar.Caller{granted, plain}
		}
		come()
		for _, id := range []calendar.TokenID{g.ID, token.ID} {
			if err := h.NarrowToken(t.Context(), id, calendar.ScopeRead|calendar.ScopeShare,
				[]calendar.CalendarID{"work"}, calendar.Rights{Of: map[calendar.CalendarID]calendar.Right{
					"work": calendar.RightRead,
				}}); err != nil {
				t.Fatal(err)
			}
			for _, nothing := range []error{
				h.NarrowToken(t.Context(), id, calendar.ScopeDelete, nil, calendar.Rights{}),
				h.NarrowToken(t.Context(), id, calendar.ScopeRead, []calendar.CalendarID{}, calendar.Rights{}),
			} {
				if calendar.ReasonOf(nothing) != calendar.Invalid {
					t.Errorf("%s is left nothing: %v", id, nothing)
				}
			}
		}
		for i, want := range []calendar.Scope{calendar.ScopeRead, calendar.ScopeRead | calendar.ScopeShare} {
			if c := come()[i]; c.Scopes != want || len(c.Calendars) != 1 ||
				c.Rights.In("work") != calendar.RightRead {
				t.Errorf("%s may %v in %v", c.Token, c.Scopes, c.Calendars)
			}
		}
	})
}

// An access token is good where it was meant to be, and nothing else is good there in its place.
func TestAccessElsewhere(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.createUser("ann")
		g, text := h.grant(ann, "grant", nil, calendar.ScopeAll)
		_, other := h.grant(ann, "other", nil, calendar.ScopeAll)
		id, _, _ := auth.AccessForm.Parse(text)
		for what, wrong := range map[string]string{
			"another's secret": text[:len("mcpa_")+21] + other[len("mcpa_")+21:], "a token's form": "mcp_" +
				text[len("mcpa_"):], "its id": string(id), "the grant's": string(g.ID), "nothing": "",
		} {
			if _, err := h.shown(wrong); !errors.Is(err, auth.ErrUnauthorized) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := h.VerifyBasic(t.Context(), "ann", text, here()); !errors.Is(err, auth.ErrUnauthorized) {
			t.Errorf("as a password: %v", err)
		}
		ask := func(protected auth.Protected, in bool) int {
			d := auth.Door{
				Schemes: []auth.Scheme{auth.Basic, auth.Bearer}, Refuse: auth.RefuseText,
				ClientAddr: func(*http.Request) netip.Addr { return here() },
				Protected:  func(*http.Request) (auth.Protected, bool) { return protected, in },
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.Header.Set("Authorization", "Bearer "+text)
			w := httptest.NewRecorder()
			h.Require(d, func(http.ResponseWriter, *http.Request, calendar.Caller) {}).ServeHTTP(w, r)
			return w.Code
		}
		for _, test := range []struct {
			protected auth.Protected
			in        bool
			want      int
		}{
			{auth.Protected{Resource: endpoint}, true, http.StatusOK},
			{auth.Protected{Resource: "https://other.example/mcp"}, true, http.StatusUnauthorized},
			{auth.Protected{}, false, http.StatusUnauthorized},
			{auth.Protected{Resource: endpoint}, false, http.StatusUnauthorized},
		} {
			if got := ask(test.protected, test.in); got != test.want {
				t.Errorf("at %+v, %v: %d, want %d", test.protected, test.in, got, test.want)
			}
		}
	})
}
