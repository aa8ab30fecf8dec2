package caldav_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// TestPresumedAndRevoked: what another server has taken away counts for the very next PUT here, of which nothing is kept.
func TestPresumedAndRevoked(t *testing.T) {
	t.Parallel()
	yes := true
	for what, takes := range map[string]func(t *testing.T, p *process, token auth.Token) error{
		"the user is disabled": func(t *testing.T, p *process, _ auth.Token) error {
			_, err := p.auth.ChangeUser(t.Context(), "alice", auth.UserEdit{Disabled: &yes})
			return err
		},
		"the token is revoked": func(t *testing.T, p *process, token auth.Token) error {
			return p.auth.RevokeToken(t.Context(), token.ID)
		},
		"the token is narrowed": func(t *testing.T, p *process, token auth.Token) error {
			return p.auth.NarrowToken(t.Context(), token.ID, calendar.ScopeRead, nil)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, func(t *testing.T, url string) {
				c := housetest.At(now)
				here, there := newProcess(t, url, c), newProcess(t, url, c)
				here.user(t, "alice")
				token, secret, err := there.auth.CreateToken(t.Context(), auth.TokenSpec{User: "alice", Name: "program", Scopes: calendar.ScopeRead | calendar.ScopeWrite})
				if err != nil {
					t.Fatal(err)
				}
				put := func(n int) int {
					name := fmt.Sprint("n", n)
					return here.send(t, http.MethodPut, "/dav/calendars/alice/work/"+name+".ics", event(name, "x"), "Authorization", "Bearer "+string(secret), "If-None-Match", "*").status
				}
				for n := range 3 {
					if got := put(n); got != http.StatusCreated {
						t.Fatalf("before: %d", got)
					}
				}
				kept, begun := here.watched.settled()
				if err := takes(t, there, token); err != nil {
					t.Fatal(err)
				}
				if got := put(3); got != http.StatusUnauthorized && got != http.StatusForbidden {
					t.Errorf("afterwards: %d", got)
				}
				if k, b := here.watched.settled(); k != kept || !strings.HasPrefix(url, "sqlite:") && (kept == 0 || b == begun) {
					t.Errorf("%d of %d were presumed before, %d of %d then", kept, begun, k, b)
				}
			})
		})
	}
}
