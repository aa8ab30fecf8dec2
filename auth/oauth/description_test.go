package oauth_test

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
)

const good = `{"client_id":"ID","client_name":"Claude \u202e  ` +
	`Code","redirect_uris":["http://localhost/callback","https://claude.ai/cb"],"token_endpoint_auth_method":"none"}`

// A client that describes itself is asked once in a while, and known by its host.
func TestDescription(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		id := h.says("/client.json", good, "Cache-Control", "public, max-age=600")
		r, err := h.ask(id, "http://localhost:3118/callback")
		h.must(err)
		want := oauth.Client{
			ID: auth.ClientID(id), Kind: oauth.Described, Name: "Claude Code",
			Redirects: []string{"http://localhost/callback", "https://claude.ai/cb"},
			Method:    oauth.NoSecret, Created: h.Now(), Fresh: h.Now().Add(10 * time.Minute), Site: "192.0.2.1/32",
		}
		if diff := cmp.Diff(want, h.client(id)); diff != "" || !r.Local() || r.Client.Host(r.Redirect) != name {
			t.Errorf("host %s, local %v (-want +got):\n%s", r.Client.Host(r.Redirect), r.Local(), diff)
		}
		_, err = h.ask(id, "https://claude.ai/cb")
		h.must(err)
		if h.asked != 1 {
			t.Errorf("asked %d times", h.asked)
		}
		h.pass(10 * time.Minute)
		h.says("/client.json", strings.Replace(good, "https://claude.ai/cb", "https://claude.com/cb", 1))
		_, err = h.ask(id, "https://claude.ai/cb")
		h.refused("redirect that is gone", err, oauth.InvalidRedirect, "not one of the addresses")
		if c := h.client(id); h.asked != 2 || !c.Created.Equal(want.Created) {
			t.Errorf("asked %d times; made %v", h.asked, c.Created)
		}
	})
}

// What a host says of how long a description holds is believed within bounds.
func TestFreshness(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for header, want := range map[string]time.Duration{
			"": 10 * time.Minute, "max-age=1": 5 * time.Minute, "max-age=86400": time.Hour, "no-store": 5 * time.Minute,
			"max-age=x":                    10 * time.Minute,
			"max-age=99999999999999999999": 10 * time.Minute, `private, MAX-AGE="1200"`: 20 * time.Minute,
		} {
			id := h.says("/"+strings.Trim(strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
					return r
				}
				return -1
			}, header)+"c", " "), good, "Cache-Control", header)
			_, err := h.ask(id, "https://claude.ai/cb")
			h.must(err)
			if got := h.client(id).Fresh.Sub(h.Now()); got != want {
				t.Errorf("%q holds for %v, want %v", header, got, want)
			}
		}
	})
}

func TestDescriptionRefused(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for what, test := range map[string]struct{ id, says string }{
			"lies": {
				h.says("/lies", strings.Replace(good, "ID", "https://claude.ai/client.json", 1)),
				"its client_id is another one",
			},
			"slash": {h.says("/slash", strings.Replace(good, "ID", "ID/", 1)), "its client_id is another one"},
			"large": {
				h.says("/large", strings.Replace(good, `"token`, `"x":"`+strings.Repeat("x", 6000)+`","token`, 1)),
				"larger than 5120 bytes",
			},
			"text": {h.says("/text", "hello"), "no JSON object"},
			"list": {h.says("/list", "[]"), "no JSON object"},
			"secret": {
				h.says("/secret", strings.Replace(good, `"none"`, `"client_secret_basic"`, 1)),
				"token_endpoint_auth_method none",
			},
			"signed": {
				h.says("/signed", strings.Replace(good, `"none"`, `"private_key_jwt"`, 1)),
				"token_endpoint_auth_method none",
			},
			"no redirect": {h.says("/bare", `{"client_id":"ID","client_name":"x"}`), "redirect_uris"},
			"own scheme": {
				h.says("/scheme", `{"client_id":"ID","redirect_uris":["cursor://x/y"]}`), "are not allowed",
			},
			"missing": {h.describe("/missing", http.NotFound), "answers 404"},
			"redirects": {h.describe("/moved", func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/good", http.StatusFound)
			}), "leads elsewhere"},
			"slow": {h.describe("/slow", func(_ http.ResponseWriter, r *http.Request) {
				<-r.Context().Done()
			}), "could not be fetched"},
			"address":        {h.host.URL + "/x/client.json", "could not be fetched"},
			"plain":          {"http://example.com/client.json", "there is no client"},
			"no path":        {"https://example.com/", "an address with a path"},
			"query":          {"https://example.com/c?x=1", "without user, query and fragment"},
			"user":           {"https://me@example.com/c", "without user, query and fragment"},
			"dots":           {"https://example.com/a/../c", "no dots"},
			"longer than is": {"https://example.com/" + strings.Repeat("x", 2000), "an https address"},
		} {
			_, err := h.ask(test.id, "https://claude.ai/cb")
			h.refused(what, err, oauth.InvalidClient, test.says)
			h.pass(time.Minute)
			if _, err := h.store.Client(t.Context(), auth.ClientID(test.id)); err == nil {
				t.Errorf("%s: it is kept", what)
			}
		}
	})
}

// A description is fetched from where its name stands for when it is checked, and from nowhere else.
func TestDescriptionOfTheInside(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		id := h.says("/client.json", good)
		h.addresses = []netip.Addr{netip.MustParseAddr("10.0.0.1")}
		_, err := h.ask(id, "https://claude.ai/cb")
		h.refused("private", err, oauth.InvalidClient, "no public address")
		// The first look finds what is allowed, and every later one what is not: there is no later one.
		h.addresses = []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}
		_, err = h.ask(id, "https://claude.ai/cb")
		h.must(err)
		h.host.CloseClientConnections()
		h.pass(time.Hour)
		_, err = h.ask(id, "https://claude.ai/cb")
		h.refused("rebound", err, oauth.InvalidClient, "no public address")
		if h.asked != 1 {
			t.Errorf("%d requests came through", h.asked)
		}
	})
}

func TestDescriptionsAreCounted(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for range h.limits.Descriptions.Burst {
			_, err := h.ask("https://example.com:1/c", "https://claude.ai/cb")
			h.refused("nobody there", err, oauth.InvalidClient, "")
		}
		_, err := h.ask("https://example.com:1/c", "https://claude.ai/cb")
		h.refused("too often", err, oauth.Later, "too many requests")
		none := oauth.New(oauth.Config{
			Store: h.store, Now: h.Now, Limits: h.limits, Logger: slog.New(slog.DiscardHandler),
		})
		h.Service = none
		_, err = h.ask("https://example.com/c", "https://claude.ai/cb")
		h.refused("no network", err, oauth.InvalidClient, "fetches no descriptions")
	})
}
