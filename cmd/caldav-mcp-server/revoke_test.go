package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// While bob's client synchronizes a calendar at one server, its owner repeatedly ends and renews the share at another.
// After the response to an unshare, neither server returns anything of the calendar, and the home reports that it is
// gone.
func TestRevokedWhileSyncing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		// it asks as fast as it can
		env := append(on(database), "MCP_CALLS_PER_MINUTE=60000", "SHARES_NEED_ACCEPTANCE=false")
		owner := firstClient(t, serve(t, env))
		call(t, on(database), "a long password\n", "create-user", "bob", "--password-stdin")
		_, token, err := openForTest(t, database).Auth.CreateToken(t.Context(), auth.TokenSpec{
			User: "bob", Name: "assistant", Scopes: calendar.ScopeAll,
		})
		if err != nil {
			t.Fatal(err)
		}
		bob := newClient(t, serve(t, env), "bob", "a long password", string(token))
		owner.must(t, http.StatusCreated, "PUT", personal+"a.ics", event("a", "Zebra"))
		id := calendarNamed(t, owner, "Personal")
		f := &follower{
			t: t, clients: []client{bob, bob.at(owner.running)}, calendar: id, path: "/dav/calendars/bob/" + id + "/",
		}
		var following sync.WaitGroup
		// Not the test's own context: a request that is cut off would tell nothing.
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		following.Go(func() { f.follow(ctx) })
		defer following.Wait()
		defer stop()
		for _, permission := range []string{"read-write", "read", "read-write"} {
			before := f.homeToken()
			f.during(isGiven, func() {
				owner.call(t, "share_calendar", map[string]string{
					"calendar_id": id, "username": "bob", "permission": permission,
				})
			})
			f.homeTells(before, "200 OK")
			before = f.homeToken()
			f.during(isTaken, func() {
				owner.call(t, "unshare_calendar", map[string]string{"calendar_id": id, "username": "bob"})
			})
			f.homeTells(before, "404 Not Found")
		}
	})
}

// A command, in a process of its own, takes away access that the server has just granted several times. The next
// request is refused.
func TestRevokedByCommand(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		run := func(stdin, command string) string { return call(t, on(database), stdin, strings.Fields(command)...) }
		admin := firstClient(t, serve(t, append(on(database), "SHARES_NEED_ACCEPTANCE=false")))
		const home, own, work = "/dav/calendars/bob/", "/dav/calendars/bob/personal/", "/dav/calendars/bob/work/"
		shared := home + calendarNamed(t, admin, "Personal") + "/"
		run("first password\n", "create-user bob --password-stdin")
		run("", "create-calendar --user bob --name Work --address work")
		run("", "share --user admin --calendar Personal --with bob")
		token := func() (phone client, id string) {
			var made struct{ ID, Token string }
			text := run("", "create-token --user bob --name phone --json")
			if err := json.Unmarshal([]byte(text), &made); err != nil || made.Token == "" {
				t.Fatalf("%s: %v", text, err)
			}
			return newClient(t, admin.running, "bob", made.Token, ""), made.ID
		}
		phone, id := token()
		tablet, _ := token()
		bob := newClient(t, admin.running, "bob", "first password", "")
		renewed := newClient(t, admin.running, "bob", "second password", "")
		for _, c := range []struct {
			client         client
			path           string
			stdin, command string
			want           int
		}{
			{phone, own, "", "revoke-token " + id, http.StatusUnauthorized},
			{tablet, home, "", "end-access bob", http.StatusUnauthorized},
			{bob, own, "second password\n", "set-password bob --password-stdin", http.StatusUnauthorized},
			{renewed, shared, "", "unshare --user admin --calendar Personal --with bob", http.StatusNotFound},
			{renewed, work, "", "delete-calendar --user bob Work", http.StatusNotFound},
			{renewed, home, "", "set-user bob --disabled true", http.StatusUnauthorized},
		} {
			for range 3 {
				c.client.must(t, http.StatusMultiStatus, "PROPFIND", c.path, "", "Depth", "0")
			}
			run(c.stdin, c.command)
			c.client.must(t, c.want, "PROPFIND", c.path, "", "Depth", "0")
		}
	})
}

// standing is how things stand while a client asks.
type standing int64

const (
	isChanging standing = iota
	isGiven
	isTaken
)

// follower is a client that goes on asking for a calendar, at each of several servers.
type follower struct {
	t       *testing.T
	clients []client
	// calendar is the calendar's id, path its address in bob's home.
	calendar, path string
	// standing is how things stand; rounds counts how often all was asked.
	standing, rounds atomic.Int64
}

// during makes a change, and lets the follower ask for everything after it.
func (f *follower) during(next standing, change func()) {
	f.t.Helper()
	f.standing.Store(int64(isChanging))
	change()
	f.standing.Store(int64(next))
	from := f.rounds.Load()
	until(f.t, "the client asks for all of it", func() bool { return f.rounds.Load() >= from+2 || f.t.Failed() })
}

// questions are a client's requests about a calendar.
func questions() []struct{ method, name, body string } {
	const named = ` xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"`
	const prop = `<d:prop><d:getetag/><c:calendar-data/></d:prop>`
	return []struct{ method, name, body string }{
		{"GET", "a.ics", ""},
		{"GET", "", ""},
		{"PROPFIND", "", ""},
		{"PROPFIND", "a.ics", ""},
		{"REPORT", "", `<c:calendar-query` + named + `>` + prop +
			`<c:filter><c:comp-filter name="VCALENDAR"/></c:filter></c:calendar-query>`},
		{"REPORT", "", `<d:sync-collection` + named + `><d:sync-token/><d:sync-level>1</d:sync-level>` + prop +
			`</d:sync-collection>`},
		{"REPORT", "", `<c:free-busy-query` + named +
			`><c:time-range start="20260201T000000Z" end="20260401T000000Z"/></c:free-busy-query>`},
	}
}

// follow asks until it is told to stop.
func (f *follower) follow(ctx context.Context) {
	tags := make(map[string]string)
	asking := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		for _, c := range f.clients {
			for _, q := range questions() {
				f.ask(q.method+" "+q.name, func(what string) (answer, error) {
					headers := []string{"Depth", "1"}
					if tag := tags[what]; tag != "" {
						headers = append(headers, "If-None-Match", tag)
					}
					a, err := c.dav(asking, q.method, f.path+q.name, q.body, headers...)
					if tag := a.header.Get("ETag"); tag != "" {
						tags[what] = tag // that of one round is asked with in the next
					}
					return a, err
				})
			}
			f.ask("get_event", func(string) (answer, error) { return f.getEvent(asking, c) })
		}
		f.rounds.Add(1)
	}
}

// ask asks one question, and looks at the answer if things stood the same all the time.
func (f *follower) ask(what string, send func(what string) (answer, error)) {
	before := f.standing.Load()
	a, err := send(what)
	if err != nil {
		f.t.Error(err)
		return
	}
	if f.standing.Load() == before {
		f.check(standing(before), what, a)
	}
}

// getEvent calls the tool as an assistant does. A tool's refusal counts as 404.
func (f *follower) getEvent(ctx context.Context, c client) (answer, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_event","arguments":{"calendar_id":"` +
		f.calendar + `","event_uid":"a"}}}`
	a, err := c.send(ctx, http.MethodPost, c.mcp(), body, "Authorization", "Bearer "+c.tok,
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	if a.status == http.StatusOK && strings.Contains(a.body, "no calendar") {
		a.status = http.StatusNotFound
	}
	return a, err
}

// check checks a response to a request during which the share did not change.
func (f *follower) check(s standing, what string, a answer) {
	served := a.status/100 == 2 || a.status == http.StatusNotModified
	switch {
	case s == isGiven && !served:
		f.t.Errorf("%s of a calendar that is shared: %d %s", what, a.status, a.body)
	case s == isTaken && (a.status != http.StatusNotFound || strings.Contains(a.body, "Zebra")):
		f.t.Errorf("%s of a calendar that is shared no longer: %d %s", what, a.status, a.body)
	}
}

// home requests the changes in the home since a token.
func (f *follower) home(token string) string {
	f.t.Helper()
	return f.clients[0].must(f.t, http.StatusMultiStatus, "REPORT",
		"/dav/calendars/bob/", `<d:sync-collection xmlns:d="DAV:"><d:sync-token>`+token+
			`</d:sync-token><d:sync-level>1</d:sync-level><d:prop><d:resourcetype/></d:prop></d:sync-collection>`).body
}

func (f *follower) homeToken() string {
	f.t.Helper()
	_, rest, _ := strings.Cut(f.home(""), "<d:sync-token>")
	token, _, _ := strings.Cut(rest, "</d:sync-token>")
	return token
}

// homeTells wants one change in the home since a token.
func (f *follower) homeTells(token, status string) {
	f.t.Helper()
	said := f.home(token)
	if strings.Count(said, "<d:response>") != 1 || !strings.Contains(said, f.path) || !strings.Contains(said, status) {
		f.t.Errorf("the home tells %s, want %s of %s alone", said, status, f.path)
	}
}
