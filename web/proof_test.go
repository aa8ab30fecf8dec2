package web_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web"
)

// postman carries links by hand: the token is the user and the address.
type postman struct {
	mu   sync.Mutex
	sent []string
}

func (p *postman) Send(_ context.Context, u calendar.User, address string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, string(u.ID)+","+address)
	return nil
}

func (p *postman) Open(token string) (calendar.UserID, calendar.MailAddress, error) {
	user, address, ok := strings.Cut(token, ",")
	if !ok {
		return "", "", calendar.Errorf(calendar.NotFound, "", "this link is not valid")
	}
	return calendar.UserID(user), calendar.MailAddress(address), nil
}

// Somebody adds an address, is sent a link there, and opens it, signed in as who added it.
func TestProveAddress(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		post := new(postman)
		h := open(t, database, func(c *web.Config) { c.Proofs = post })
		h.user("ann")
		h.user("bob")
		ann, bob := h.as("ann"), h.as("bob")
		ann.post("settings/addresses", "address", "Ann@Example.org").at("settings?done=proof-sent").shows(http.StatusOK,
			"A mail with a link is on its way", "not verified yet", "Send a link")
		ann.post("settings/addresses/prove", "address", "ann@example.org").shows(http.StatusOK, "on its way")
		ann.post("settings/addresses/prove", "address", "victim@example.org").shows(http.StatusNotFound,
			"does not wait")
		if len(post.sent) != 2 {
			t.Fatalf("sent: %v", post.sent)
		}
		link := "prove/" + post.sent[0]
		h.browser().get(link).shows(http.StatusOK, "Password").hides("ann@example.org</strong>")
		bob.get(link).shows(http.StatusNotFound, "another account")
		bob.post(link).shows(http.StatusNotFound, "another account")
		ann.get(link).shows(http.StatusOK, "ann@example.org", "in the account ann")
		ann.get("settings").shows(http.StatusOK, "not verified yet")
		ann.post(link).at("settings?done=proven").shows(http.StatusOK, "The address is yours").
			hides("Make main address")
		if u, err := h.auth.User(t.Context(), "ann"); err != nil || u.Email != "ann@example.org" {
			t.Errorf("the first address is not the main one: %+v, %v", u, err)
		}
		ann.post("settings/addresses/prove", "address", "ann@example.org").shows(http.StatusNotFound, "does not wait")
		ann.get("prove/x").shows(http.StatusNotFound, "not valid")
		// What was taken away meanwhile is not there to be proven.
		ann.post("settings/addresses", "address", "lee@example.org").shows(http.StatusOK, "on its way")
		ann.post("settings/addresses/remove", "address", "lee@example.org").shows(http.StatusOK)
		ann.post("prove/" + post.sent[2]).shows(http.StatusNotFound)
	})
}
