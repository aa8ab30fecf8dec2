package caldav_test

import (
	"fmt"
	"net/http"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// TestPutWithinQuota: a quota that another server lowered applies to the next PUT here.
func TestPutWithinQuota(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		c := housetest.At(now)
		here, there := newProcess(t, url, c), newProcess(t, url, c)
		who := here.user(t, "alice")
		put := func(n int) int {
			name := fmt.Sprint("n", n)
			return here.send(t, http.MethodPut, "/dav/calendars/alice/work/"+name+".ics", event(name, "x"),
				"Authorization", who, "If-None-Match", "*").status
		}
		for n := range 3 {
			if got := put(n); got != http.StatusCreated {
				t.Fatalf("within the quota: %d", got)
			}
		}
		most := int64(3)
		if _, err := there.auth.ChangeUser(t.Context(), "alice", auth.UserEdit{QuotaObjects: &most}); err != nil {
			t.Fatal(err)
		}
		if got := here.send(t, "PROPFIND", "/dav/calendars/alice/", "", "Authorization", who, "Depth", "0").
			status; got != http.StatusMultiStatus {
			t.Fatalf("the home: %d", got)
		}
		if got := put(3); got != http.StatusInsufficientStorage {
			t.Errorf("beyond the quota: %d", got)
		}
	})
}

// user makes a user with a calendar, and returns what they show to get in.
func (p *process) user(t *testing.T, name string) string {
	t.Helper()
	const password = "correct horse battery"
	u, err := p.auth.CreateUser(t.Context(), auth.NewUser{Name: name, Password: password})
	if err == nil {
		_, err = p.service.CreateCalendar(t.Context(), calendar.Caller{User: u, Scopes: calendar.ScopeAll},
			calendar.NewCalendar{Segment: "work"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return basic(name, password)
}

// TestPutAfterRevocation: a right that another server revoked is gone for the next PUT here.
func TestPutAfterRevocation(t *testing.T) {
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
			return p.auth.NarrowToken(t.Context(), token.ID, calendar.ScopeRead, nil, calendar.Rights{})
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, func(t *testing.T, url string) {
				c := housetest.At(now)
				here, there := newProcess(t, url, c), newProcess(t, url, c)
				here.user(t, "alice")
				token, secret, err := there.auth.CreateToken(t.Context(), auth.TokenSpec{
					User: "alice", Name: "program", Scopes: calendar.ScopeRead | calendar.ScopeWrite,
				})
				if err != nil {
					t.Fatal(err)
				}
				put := func(n int) int {
					name := fmt.Sprint("n", n)
					return here.send(t, http.MethodPut, "/dav/calendars/alice/work/"+name+".ics", event(name, "x"),
						"Authorization", "Bearer "+string(secret), "If-None-Match", "*").status
				}
				for n := range 3 {
					if got := put(n); got != http.StatusCreated {
						t.Fatalf("before: %d", got)
					}
				}
				if err := takes(t, there, token); err != nil {
					t.Fatal(err)
				}
				if got := put(3); got != http.StatusUnauthorized && got != http.StatusForbidden {
					t.Errorf("afterwards: %d", got)
				}
			})
		})
	}
}
