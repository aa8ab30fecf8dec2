package auth_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

func davDoor() auth.Door {
	return auth.Door{
		Schemes: []auth.Scheme{auth.Basic, auth.Bearer}, Realm: `our "calendars"`,
		ClientAddr: func(*http.Request) netip.Addr { return here() }, Refuse: auth.RefuseText,
	}
}

func mcpDoor() auth.Door {
	return auth.Door{
		Schemes: []auth.Scheme{auth.Bearer}, Realm: "calendars",
		ClientAddr: func(*http.Request) netip.Addr { return here() }, Refuse: auth.RefuseJSON,
	}
}

// answer is what a client sees of a request.
type answer struct {
	Status     int
	Challenges []string
	RetryAfter string
	Body       string
}

// ask sends a request through a door that says who came in.
func (h *house) ask(d auth.Door, authorization ...string) answer {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), http.MethodGet, "/", http.NoBody)
	r.Header["Authorization"] = authorization
	r.Header.Set("User-Agent", "DAVx5/4.4\x00\xff \u202e"+strings.Repeat("x", 200))
	w := httptest.NewRecorder()
	h.Require(d, func(w http.ResponseWriter, _ *http.Request, c calendar.Caller) {
		_, _ = fmt.Fprintf(w, "%s by %s", c.User.Name, c.Agent)
	}).ServeHTTP(w, r)
	return answer{w.Code, w.Header().Values("WWW-Authenticate"), w.Header().Get("Retry-After"), w.Body.String()}
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func TestDoorsLetIn(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		if _, err := h.CreateUser(h.t.Context(), auth.NewUser{Name: "bob", Password: "with:colon:ünd more"}); err !=
			nil {
			h.t.Fatal(err)
		}
		_, token := h.createToken(auth.TokenSpec{User: "alice"})
		agent := "DAVx5/4.4 " + strings.Repeat("x", 90)
		for authorization, want := range map[string]string{
			basic("Alice", rightPassword):                                       "alice by " + agent,
			strings.Replace(basic("alice", rightPassword), "Basic", "bAsIc", 1): "alice by " + agent,
			strings.Replace(basic("alice", rightPassword), " ", "   ", 1):       "alice by " + agent,
			basic("bob", "with:colon:ünd more"):                                 "bob by " + agent,
			basic("alice", token):                                               "alice by Claude on laptop",
			"Bearer " + token:                                                   "alice by Claude on laptop",
			"bearer " + token:                                                   "alice by Claude on laptop",
		} {
			if diff := cmp.Diff(answer{Status: http.StatusOK, Body: want}, h.ask(davDoor(), authorization)); diff !=
				"" {
				h.t.Errorf("%s:\n%s", authorization, diff)
			}
		}
		want := answer{Status: http.StatusOK, Body: "alice by Claude on laptop"}
		if diff := cmp.Diff(want, h.ask(mcpDoor(), "Bearer "+token)); diff != "" {
			h.t.Error(diff)
		}
	})
}

func TestDoorsRefuse(t *testing.T) {
	t.Parallel()
	const basicChallenge = `Basic realm="our \"calendars\"", charset="UTF-8"`
	dav := answer{
		Status: http.StatusUnauthorized, Challenges: []string{basicChallenge, `Bearer realm="our \"calendars\""`},
		Body: "Log in with your user name and password, or with an access token.\n",
	}
	mcp := answer{
		Status: http.StatusUnauthorized, Challenges: []string{`Bearer realm="calendars"`},
		Body: `{"error":"unauthorized"}`,
	}
	badDAV, badMCP := dav, mcp
	badDAV.Challenges = []string{
		basicChallenge, `Bearer realm="our \"calendars\"", error="invalid_token", error_description="The access ` +
			`token is not good, or no longer."`,
	}
	badMCP.Challenges = []string{
		`Bearer realm="calendars", error="invalid_token", error_description="The access token is not good, or no ` +
			`longer."`,
	}
	each(t, func(h *house) {
		h.createUser("alice")
		_, token := h.createToken(auth.TokenSpec{User: "alice"})
		right := basic("alice", rightPassword)
		for _, c := range []struct {
			name          string
			door          auth.Door
			authorization []string
			want          answer
		}{
			{"nothing", davDoor(), nil, dav},
			{"nothing", mcpDoor(), nil, mcp},
			{"an empty header", davDoor(), []string{""}, dav},
			{"a wrong password", davDoor(), []string{basic("alice", wrongPassword)}, dav},
			{"a wrong user", davDoor(), []string{basic("bob", rightPassword)}, dav},
			{"no colon", davDoor(), []string{"Basic " + base64.StdEncoding.EncodeToString([]byte("alice"))}, dav},
			{"no base64", davDoor(), []string{"Basic alice:" + rightPassword}, dav},
			{"no credentials", davDoor(), []string{"Basic"}, dav},
			{"two credentials", davDoor(), []string{right, right}, dav},
			{"another scheme", davDoor(), []string{"Digest username=alice"}, dav},
			{"a wrong token", davDoor(), []string{"Bearer mcp_x"}, badDAV},
			{"a wrong token", mcpDoor(), []string{"Bearer mcp_x"}, badMCP},
			{"no token", mcpDoor(), []string{"Bearer"}, badMCP},
			{"a password where tokens alone are taken", mcpDoor(), []string{right}, mcp},
			{"a token as a password there", mcpDoor(), []string{basic("alice", token)}, mcp},
		} {
			if diff := cmp.Diff(c.want, h.ask(c.door, c.authorization...)); diff != "" {
				h.t.Errorf("%s:\n%s", c.name, diff)
			}
		}
	})
}

func TestDoorsThrottle(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		token := h.unsealed(h.createUser("alice"))
		other := map[bool]string{true: "B", false: "A"}[strings.HasSuffix(token, "A")]
		var last answer
		for i := range 11 {
			last = h.ask(davDoor(), basic("alice", fmt.Sprint("guess number ", i)))
		}
		want := answer{
			Status: http.StatusTooManyRequests, RetryAfter: "6",
			Body: "Too many failed logins. Wait a moment, then try again.\n",
		}
		if diff := cmp.Diff(want, last); diff != "" {
			h.t.Error(diff)
		}
		// Only guesses at a token that has no seal yet are throttled; each is another text.
		for i := range 11 {
			guess := token[:60] + fmt.Sprintf("%07d", i) + other
			last = h.ask(mcpDoor(), "Bearer "+guess)
		}
		want.Body = `{"error":"too_many_requests"}`
		if diff := cmp.Diff(want, last); diff != "" {
			h.t.Error(diff)
		}
	})
}

func TestDoorsSayWhenTheStoreIsAway(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		f := new(flaky)
		h := open(t, url, atNoon(), func(s auth.Store) auth.Store {
			f.Store = s
			return f
		})
		_, err := h.CreateUser(t.Context(), auth.NewUser{Name: "alice", Password: rightPassword})
		if err != nil {
			t.Fatal(err)
		}
		_, token := h.createToken(auth.TokenSpec{User: "alice"})
		f.away.Store(true)
		want := answer{
			Status: http.StatusServiceUnavailable, RetryAfter: "2",
			Body: "The server cannot check your credentials just now. Try again in a moment.\n",
		}
		if diff := cmp.Diff(want, h.ask(davDoor(), basic("alice", rightPassword))); diff != "" {
			t.Error(diff)
		}
		want.Body = `{"error":"unavailable"}`
		if diff := cmp.Diff(want, h.ask(mcpDoor(), "Bearer "+token)); diff != "" {
			t.Error(diff)
		}
	})
}

// A hash that cannot be read is our fault: 500, and nothing of the credential in the log.
func TestDamagedHash(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		alice := h.createUser("alice")
		if err := h.Store.SetPassword(h.t.Context(), alice.ID, "not a hash"); err != nil {
			h.t.Fatal(err)
		}
		got := h.ask(davDoor(), basic("alice", rightPassword))
		want := answer{Status: http.StatusInternalServerError, Body: "The server could not check your credentials.\n"}
		if diff := cmp.Diff(want, got); diff != "" {
			h.t.Error(diff)
		}
		log := h.Log.String()
		if !strings.Contains(log, "a stored hash cannot be read") || strings.Contains(log, rightPassword) {
			h.t.Errorf("the log says %q", log)
		}
	})
}

// TestNoBasicPasswords: a user's password opens no program if that is turned off; app passwords do.
func TestNoBasicPasswords(t *testing.T) {
	each(t, func(h *house) {
		h.createUser("ann")
		_, secret := h.createToken(auth.TokenSpec{User: "ann", Scopes: calendar.ScopeAll})
		config := h.Login()
		config.NoBasicPasswords = true
		closed := auth.New(config)
		_, err := closed.VerifyBasic(t.Context(), "ann", rightPassword, here())
		if !errors.Is(err, auth.ErrUnauthorized) {
			t.Errorf("the password: %v", err)
		}
		if _, err := closed.VerifyBasic(t.Context(), "ann", secret, here()); err != nil {
			t.Errorf("the app password: %v", err)
		}
	})
}
