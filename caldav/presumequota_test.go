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

// TestPresumedWithinQuota: what a user may have, another server has lowered. It counts for the next PUT here, also where something else was
// asked here meanwhile, so that the credentials are known as they are since.
func TestPresumedWithinQuota(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		c := housetest.At(now)
		here, there := newProcess(t, url, c), newProcess(t, url, c)
		who := here.user(t, "alice")
		put := func(n int) int {
			name := fmt.Sprint("n", n)
			return here.send(t, http.MethodPut, "/dav/calendars/alice/work/"+name+".ics", event(name, "x"), "Authorization", who, "If-None-Match", "*").status
		}
		for n := range 3 {
			if got := put(n); got != http.StatusCreated {
				t.Fatalf("within the quota: %d", got)
			}
		}
		if kept, _ := here.watched.settled(); kept == 0 && !strings.HasPrefix(url, "sqlite:") {
			t.Fatal("no credentials were presumed")
		}
		most := int64(3)
		if _, err := there.auth.ChangeUser(t.Context(), "alice", auth.UserEdit{QuotaObjects: &most}); err != nil {
			t.Fatal(err)
		}
		if got := here.send(t, "PROPFIND", "/dav/calendars/alice/", "", "Authorization", who, "Depth", "0").status; got != http.StatusMultiStatus {
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
		_, err = p.service.CreateCalendar(t.Context(), calendar.Caller{User: u, Scopes: calendar.ScopeAll}, calendar.NewCalendar{Segment: "work"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return basic(name, password)
}
