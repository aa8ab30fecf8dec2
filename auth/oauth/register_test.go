package oauth_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/internal/testdb"
)

// What programs of every day send when they register, and what becomes of it.
func TestRegister(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for what, test := range map[string]struct {
			body, kind, name string
			method           oauth.Method
		}{
			"Claude": {
				`{"client_name":"Claude","redirect_uris":["https://claude.ai/api/mcp/auth_callback"],` +
					`"token_endpoint_auth_method":"none"}`, "web", "Claude", oauth.NoSecret,
			},
			"Claude Code": {
				`{"client_name":"Claude Code","application_type":"native","redirect_uris":["http://localhost:3118/` +
					`callback"]}`, "native", "Claude Code", oauth.NoSecret,
			},
			"OpenCode": {
				`{"client_name":"OpenCode","redirect_uris":["http://127.0.0.1:19876/mcp/oauth/callback"]}`, "native",
				"OpenCode", oauth.NoSecret,
			},
			"VS Code": {
				`{"client_name":"Visual Studio ` +
					`Code","application_type":"native","redirect_uris":["https://vscode.dev/redirect","http://` +
					`127.0.0.1/","http://127.0.0.1:33418/"]}`,
				"native", "Visual Studio Code", oauth.NoSecret,
			},
			"Cursor": {
				`{"client_name":"Cursor","redirect_uris":["cursor://anysphere.cursor-mcp/oauth/callback"]}`, "web",
				"Cursor", oauth.NoSecret,
			},
			"IPv6": {`{"redirect_uris":["http://[::1]:8080/cb"]}`, "native", "::1", oauth.NoSecret},
			"nameless": {
				`{"redirect_uris":["https://App.Example/cb"],"client_name":"\u202e \u0007"}`, "web", "app.example",
				oauth.NoSecret,
			},
			"unseen": {
				`{"redirect_uris":["https://app.example/cb"],` +
					`"client_name":"Cla\u3164\u115f\uffa0\u034f\ufe0f\u17b4\u2800\u200bude \u3164\u3164"}`,
				"web", "Claude", oauth.NoSecret,
			},
			"unseen all": {
				`{"redirect_uris":["https://app.example/cb"],"client_name":"\u3164\u1160"}`, "web", "app.example",
				oauth.NoSecret,
			},
			"dotted": {
				`{"redirect_uris":["com.example.app:/cb"],"client_name":"App"}`, "web", "App", oauth.NoSecret,
			},
			"secret": {
				`{"redirect_uris":["https://n8n.example/cb"],"token_endpoint_auth_method":"client_secret_post"}`, "web",
				"n8n.example", oauth.SecretInForm,
			},
			"own method": {
				`{"redirect_uris":["https://a.example/cb"],"token_endpoint_auth_method":"private_key_jwt"}`, "web",
				"a.example", oauth.NoSecret,
			},
		} {
			r, err := h.Register(t.Context(), here(), []byte(test.body))
			if err != nil || r.Type != test.kind || r.Name != test.name || r.Method != test.method ||
				(r.Secret == "") != (r.Method == oauth.NoSecret) {
				t.Errorf("%s: %+v, %v", what, r, err)
			}
			if got := h.client(string(r.ID)); got.Kind != oauth.Registered || got.Name != test.name {
				t.Errorf("%s is kept as %+v", what, got)
			}
			h.pass(time.Minute)
		}
	})
}

func TestRegisterRefused(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for body, code := range map[string]oauth.Code{
			`no`:                     oauth.InvalidMetadata,
			`{}`:                     oauth.InvalidRedirect,
			`{"redirect_uris":[]}`:   oauth.InvalidRedirect,
			`{"redirect_uris":"x"}`:  oauth.InvalidMetadata,
			`{"redirect_uris":[""]}`: oauth.InvalidRedirect,
			`{"redirect_uris":["https://1","https://2","https://3","https://4","https://5","https://6","https://7",` +
				`"https://8","https://9","https://10","https://11"]}`: oauth.InvalidRedirect,
			`{"redirect_uris":["http://claude.ai/cb"]}`:                                       oauth.InvalidRedirect,
			`{"redirect_uris":["http://localhost.evil.com/cb"]}`:                              oauth.InvalidRedirect,
			`{"redirect_uris":["http://127.0.0.1.nip.io/cb"]}`:                                oauth.InvalidRedirect,
			`{"redirect_uris":["http://localhost@evil.com/cb"]}`:                              oauth.InvalidRedirect,
			`{"redirect_uris":["https://claude.ai/cb#x"]}`:                                    oauth.InvalidRedirect,
			`{"redirect_uris":["https://claude.ai/cb#"]}`:                                     oauth.InvalidRedirect,
			`{"redirect_uris":["https://u:p@claude.ai/cb"]}`:                                  oauth.InvalidRedirect,
			`{"redirect_uris":["https:///cb"]}`:                                               oauth.InvalidRedirect,
			`{"redirect_uris":["https://a.example;sandbox/cb"]}`:                              oauth.InvalidRedirect,
			`{"redirect_uris":["https://a.example,b.example/cb"]}`:                            oauth.InvalidRedirect,
			`{"redirect_uris":["https://exämple.com/cb"]}`:                                    oauth.InvalidRedirect,
			`{"redirect_uris":["/cb"]}`:                                                       oauth.InvalidRedirect,
			`{"redirect_uris":["https://a.example/c d"]}`:                                     oauth.InvalidRedirect,
			`{"redirect_uris":["javascript:alert(1)"]}`:                                       oauth.InvalidRedirect,
			`{"redirect_uris":["JavaScript:alert(1)"]}`:                                       oauth.InvalidRedirect,
			`{"redirect_uris":["data:text/html,x"]}`:                                          oauth.InvalidRedirect,
			`{"redirect_uris":["microsoft-edge:https://a.example/"]}`:                         oauth.InvalidRedirect,
			`{"redirect_uris":["search-ms:query=x"]}`:                                         oauth.InvalidRedirect,
			`{"redirect_uris":["ms-msdt:/id"]}`:                                               oauth.InvalidRedirect,
			`{"redirect_uris":["file:///etc/passwd"]}`:                                        oauth.InvalidRedirect,
			`{"redirect_uris":["http://localhost/cb"],"application_type":"web"}`:              oauth.InvalidRedirect,
			`{"redirect_uris":["https://a.example/cb"],"application_type":"tv"}`:              oauth.InvalidMetadata,
			`{"redirect_uris":["https://a.example/cb"],"grant_types":["client_credentials"]}`: oauth.InvalidMetadata,
			`{"redirect_uris":["https://a.example/cb"],"response_types":["token"]}`:           oauth.InvalidMetadata,
		} {
			_, err := h.Register(t.Context(), here(), []byte(body))
			h.refused(body, err, code, "")
			h.pass(time.Minute)
		}
		if all, err := h.Clients(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("kept %v, %v", all, err)
		}
	})
}

// Clients that register and never come back make room for others, the oldest first, but not at once.
func TestCrowd(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		limits := oauth.DefaultLimits()
		limits.Most = 2
		h := open(t, url, limits)
		register := func() (oauth.Registration, error) {
			return h.Register(t.Context(), here(), []byte(`{"redirect_uris":["https://a.example/cb"]}`))
		}
		first, err := register()
		h.must(err)
		h.pass(time.Minute)
		_, err = register()
		h.must(err)
		_, err = register()
		h.refused("a third at once", err, oauth.Later, "too many clients")
		h.pass(limits.Soon)
		_, err = register()
		h.must(err)
		_, err = h.ask(string(first.ID), "https://a.example/cb")
		h.refused("the first", err, oauth.InvalidClient, "register again")
		added, err := h.AddClient(t.Context(), oauth.NewClient{
			Name: "n8n", Redirects: []string{"https://a.example/cb"}, Secret: true,
		})
		h.must(err)
		h.pass(365 * 24 * time.Hour)
		_, err = register()
		h.must(err)
		if all, err := h.Clients(t.Context()); err != nil || len(all) != 2 || added.Secret == "" {
			t.Errorf("left are %v, %v", all, err)
		}
	})
}

// A hundred addresses that take all places do not keep others out, and lose their own places to them.
func TestFloodOfRegistrations(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		limits := oauth.DefaultLimits()
		limits.Most = 200
		h := open(t, url, limits)
		register := func(from string) (oauth.Registration, error) {
			return h.Register(t.Context(), netip.MustParseAddr(from),
				[]byte(`{"redirect_uris":["https://a.example/cb"]}`))
		}
		flood := func() (refused int) {
			for i := range 300 {
				if _, err := register(fmt.Sprintf("198.51.100.%d", i%100)); err != nil {
					refused++
				}
			}
			return refused
		}
		if refused := flood(); refused != 100 {
			t.Fatalf("of 300 registrations from 100 addresses for 200 places %d are refused", refused)
		}
		claude, err := register("192.0.2.1")
		h.must(err)
		flood()
		_, err = register("2001:db8::1")
		h.must(err)
		h.client(string(claude.ID))
	})
}
