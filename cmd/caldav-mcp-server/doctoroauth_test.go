package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/doctor"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// nameForBoth is a proxy that gives both doors one name, with a fault that changes.
type nameForBoth struct {
	*httptest.Server
	caldav, mcp http.Handler
	// fault may answer a request in place of the server, and reports whether it did.
	fault atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
}

func newNameForBoth(t *testing.T) *nameForBoth {
	t.Helper()
	n := &nameForBoth{}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := n.fault.Load(); fault != nil && (*fault)(w, r) {
			return
		}
		if r.URL.Path == settings.MCPPath {
			n.mcp.ServeHTTP(w, r)
			return
		}
		n.caldav.ServeHTTP(w, r)
	}))
	t.Cleanup(n.Close)
	return n
}

// passedTo passes requests on to a door.
func passedTo(t *testing.T, door string) *httputil.ReverseProxy {
	t.Helper()
	to, err := url.Parse(door)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}
}

// TestDoctorNamesWhatKeepsAssistantsOut gives both doors one name by proxies with one fault each.
func TestDoctorNamesWhatKeepsAssistantsOut(t *testing.T) {
	t.Parallel()
	front := newNameForBoth(t)
	env := []string{"DATA_DIR=" + t.TempDir(), "BASE_URL=" + front.URL}
	call(t, env, "correct horse\n", "create-user", "ann", "--password-stdin")
	running := serveProgram(t, console.Program, env, "--no-first-user")
	front.caldav, front.mcp = passedTo(t, running.caldav("")),
		passedTo(t, strings.TrimSuffix(running.mcp(), settings.MCPPath))
	missing := func(path string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, path) {
				return false
			}
			http.NotFound(w, r)
			return true
		}
	}
	changing := func(path string, change func(*http.Response)) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, path) {
				return false
			}
			proxy := *front.caldav.(*httputil.ReverseProxy)
			if path == settings.MCPPath {
				proxy = *front.mcp.(*httputil.ReverseProxy)
			}
			proxy.ModifyResponse = func(answer *http.Response) error { change(answer); return nil }
			proxy.ServeHTTP(w, r)
			return true
		}
	}
	for _, test := range []struct {
		fault string
		serve func(http.ResponseWriter, *http.Request) bool
		wants []string
	}{
		{"none", func(http.ResponseWriter, *http.Request) bool { return false }, nil},
		{"well-known is elsewhere", missing("/.well-known/oauth"), []string{
			"leads to sign-in: ", "/.well-known/oauth-protected-resource/mcp responds with 404",
			"at the root of the host",
		}},
		{"half of it is", missing("/.well-known/oauth-authorization-server/mcp"), []string{
			"leads to sign-in: ", "oauth-authorization-server/mcp responds with 404",
		}},
		{"OAuth is not passed on", missing("/oauth/"), []string{"it registers: POST", "404"}},
		{"pages are not passed on", missing("/account/"), []string{"people are asked to sign in: GET", "404"}},
		{"cookies are dropped", changing("/account/", func(a *http.Response) { a.Header.Del("Set-Cookie") }), []string{
			"they let it in: the browser has lost its session", "the proxy drops cookies",
		}},
		{"the way back is changed", changing("/account/allow", func(a *http.Response) {
			a.Header.Set("Location", strings.Replace(a.Header.Get("Location"), "?code", "?c", 1))
		}), []string{"they let it in: the answer is", "must not change it"}},
		{"the challenge is another's", changing(settings.MCPPath, func(a *http.Response) {
			a.Header.Set("WWW-Authenticate", strings.ReplaceAll(a.Header.Get("WWW-Authenticate"),
				"protected-resource/mcp", "protected-resource/other"))
		}), []string{"leads to sign-in: ", "responds with 404"}},
	} {
		front.fault.Store(&test.serve)
		found, walked := "", false
		for _, f := range findings(t, doctor.Options{URL: front.URL}) {
			if f.Result == "failed" {
				found += f.Check + ": " + f.Detail + " → " + f.Mend + "\n"
			}
			walked = f.Client == "claude.ai" && f.Result == "ok"
		}
		if test.wants == nil && (found != "" || !walked) {
			t.Errorf("%s: found\n%s", test.fault, found)
		}
		for _, want := range test.wants {
			if !strings.Contains(found, want) {
				t.Errorf("%s: there is no %q in\n%s", test.fault, want, found)
			}
		}
	}
}
