package store_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

// TestRightEndsWhileChangeWaits: a change waits for its lock, and another process revokes or narrows its token
// meanwhile: it writes nothing. If the user's credentials changed in another way, it is made.
func TestRightEndsWhileChangeWaits(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h, other := housetest.Open(t, url, housetest.At(time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC))),
			open(t, url, store.Options{})
		service := auth.New(h.Login())
		u, err := service.CreateUser(t.Context(), auth.NewUser{Name: "alice", Password: "correct horse battery"})
		if err != nil {
			t.Fatal(err)
		}
		err = h.Store.Update(t.Context(), func(tx calendar.Tx) error {
			return tx.InsertCalendar(t.Context(), calendar.Calendar{ID: "busy", Owner: u.ID, Segment: "busy"})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			what, change string
			want         int
		}{
			{"revoked", `UPDATE tokens SET revoked = 1`, http.StatusUnauthorized},
			{"narrowed", fmt.Sprintf("UPDATE tokens SET scopes = %d", calendar.ScopeRead), http.StatusUnauthorized},
			{"bound", `UPDATE tokens SET bound = TRUE`, http.StatusServiceUnavailable},
			{"disabled", `UPDATE users SET disabled = TRUE`, http.StatusUnauthorized},
			{"touched", ``, http.StatusOK},
		} {
			_, secret, err := service.CreateToken(t.Context(),
				auth.TokenSpec{User: "alice", Name: "program", Scopes: calendar.ScopeRead | calendar.ScopeWrite})
			if err != nil {
				t.Fatal(err)
			}
			authenticated, changed := make(chan struct{}), make(chan struct{})
			door := service.Require(auth.Door{
				Schemes: []auth.Scheme{auth.Bearer}, Refuse: auth.RefuseText,
				ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
			}, func(w http.ResponseWriter, r *http.Request, _ calendar.Caller) {
				close(authenticated)
				ctx := r.Context()
				change := func() error {
					return h.Store.Update(ctx, func(tx calendar.Tx) error {
						_, err := tx.Advance(ctx, "busy")
						return err
					})
				}
				err := change()
				if err != nil && change() == nil {
					t.Errorf("%s: the second change of the request is made", c.what)
				}
				if errors.Is(err, auth.ErrUnauthorized) {
					w.WriteHeader(http.StatusUnauthorized)
				} else if calendar.ReasonOf(err) == calendar.Unavailable {
					w.WriteHeader(http.StatusServiceUnavailable)
				} else if err != nil {
					t.Errorf("%s: %v", c.what, err)
				}
			})
			answer := httptest.NewRecorder()
			request := func() {
				go func() {
					defer close(changed)
					r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", nil)
					r.Header.Set("Authorization", "Bearer "+string(secret))
					door.ServeHTTP(answer, r)
				}()
				<-authenticated
			}
			if err := store.ChangeWhileLocked(t.Context(), other, "busy", u.ID, request, c.change); err != nil {
				t.Fatal(err)
			}
			<-changed
			if answer.Code != c.want {
				t.Errorf("%s: %d, want %d", c.what, answer.Code, c.want)
			}
			if c.want == http.StatusUnauthorized && answer.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s: no challenge", c.what)
			}
			no := false
			if _, err := service.ChangeUser(t.Context(), "alice", auth.UserEdit{Disabled: &no}); err != nil {
				t.Fatal(err)
			}
		}
		// The holder advanced the calendar five times, and the one change that was allowed once.
		cal, err := h.Store.Calendar(t.Context(), u.ID, "busy")
		if err != nil || cal.Version != 6 {
			t.Errorf("version %d, %v", cal.Version, err)
		}
	})
}
