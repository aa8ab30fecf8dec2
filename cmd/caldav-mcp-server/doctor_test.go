package main

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// examine runs the doctor on a URL and returns its failures: "check: detail → remedy".
func examine(t *testing.T, at string, transport http.RoundTripper) string {
	t.Helper()
	p := &console.Console{Now: time.Now, NewID: uuid.NewString}
	x, err := newExamination(p, settings.Config{MCP: settings.Address{Port: "0"}}, doctorOptions{url: at, user: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	x.dav.Password = "correct horse"
	if transport != nil {
		x.dav.Transport, x.bare.Transport = transport, transport
	}
	var wrong []string
	for _, f := range x.examine(t.Context(), checks()) {
		if f.Result == resultFailed && f.Client != assistant {
			wrong = append(wrong, f.Client+", "+f.Check+": "+f.Detail+" → "+f.Mend)
		}
	}
	return strings.Join(wrong, "\n")
}

// forwards makes a proxy forward the client's address.
func forwards(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Forwarded-For", "192.0.2.7")
		next.ServeHTTP(w, r)
	})
}

// proxied puts a proxy in front of a server and returns its address.
func proxied(t *testing.T, behind string, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	to, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(wrap(&httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host, r.Out.Header["X-Forwarded-For"] = r.In.Host, r.In.Header["X-Forwarded-For"]
	}}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// TestDoctorNamesWhatProxiesBreak puts proxies with one fault each in front of a real server (clients F6).
func TestDoctorNamesWhatProxiesBreak(t *testing.T) {
	t.Parallel()
	env := []string{"DATA_DIR=" + t.TempDir()}
	call(t, env, "correct horse\n", "create-user", "ann", "--password-stdin")
	r := serveProgram(t, console.Program, env, "--no-first-user")
	refusing := func(status int, methods string) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(methods, r.Method) {
					w.WriteHeader(status)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
	}
	without := func(header string) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Header.Del(header)
				next.ServeHTTP(w, r)
			})
		}
	}
	below := func(next http.Handler) http.Handler {
		return http.StripPrefix("/cal", next)
	}
	limited := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 10_000 {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	for _, test := range []struct {
		fault string
		wrap  func(http.Handler) http.Handler
		path  string
		// wants are parts of the findings; nil means that there must be none.
		wants []string
	}{
		{"none", func(h http.Handler) http.Handler { return h }, "/", nil},
		{"REPORT is refused", refusing(http.StatusMethodNotAllowed, "REPORT"), "/", []string{"changes are synchronized", "405", "must pass on OPTIONS, PROPFIND, PROPPATCH, REPORT"}},
		{"PROPFIND is unknown", refusing(http.StatusNotImplemented, "PROPFIND"), "/", []string{"it asks for a password", "501"}},
		{"OPTIONS is answered", refusing(http.StatusNoContent, "OPTIONS"), "/", []string{"OPTIONS promises calendars", "204", "the proxy answers OPTIONS itself"}},
		{"If-Match is dropped", without("If-Match"), "/", []string{"a wrong If-Match is refused", "the proxy drops the If-Match header", "stays in the trash and in the journal, by caldav-mcp-server (doctor)"}},
		{"bodies are limited", limited, "/", []string{"a large event gets through: 2 MB are too much → the proxy limits request bodies"}},
		{"Authorization is dropped", without("Authorization"), "/", []string{"it takes the password", "401", "does the proxy pass on the Authorization header"}},
		{"Depth is dropped", without("Depth"), "/", []string{"it takes the password", "the proxy drops the Depth header"}},
		{"the proxy is not trusted", forwards, "/", []string{"it can tell its clients apart: a proxy sends requests from 127.0.0.1, but is not trusted → set TRUSTED_PROXIES=127.0.0.1"}},
		{"the server is away", refusing(http.StatusBadGateway, "OPTIONS PROPFIND REPORT PUT POST"), "/", []string{"the server answers: ", "502", "the proxy does not reach the server"}},
		{"the path is unknown to the server", below, "/cal/", []string{"which is not below /cal/", "set BASE_URL=", "/cal: the server does not know the path"}},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			found := examine(t, proxied(t, r.caldav(""), test.wrap)+test.path, nil)
			if test.wants == nil && found != "" {
				t.Errorf("found\n%s", found)
			}
			for _, want := range test.wants {
				if !strings.Contains(found, want) {
					t.Errorf("there is no %q in\n%s", want, found)
				}
			}
		})
	}
}

// TestDoctorComparesWithWhatTheServerSays: a wrong BASE_URL behind a trusted proxy breaks nothing that a client does; links
// and tokens lead elsewhere.
func TestDoctorComparesWithWhatTheServerSays(t *testing.T) {
	t.Parallel()
	env := []string{"DATA_DIR=" + t.TempDir(), "BASE_URL=https://elsewhere.example.com", "TRUSTED_PROXIES=127.0.0.1"}
	call(t, env, "correct horse\n", "create-user", "ann", "--password-stdin")
	r := serveProgram(t, console.Program, env, "--no-first-user")
	found := examine(t, proxied(t, r.caldav(""), forwards), nil)
	if want := "it knows its own URL: the server calls itself https://elsewhere.example.com → set BASE_URL=http://127.0.0.1:"; !strings.Contains(found, want) {
		t.Errorf("found\n%s", found)
	}
	to, err := url.Parse(r.caldav(""))
	if err != nil {
		t.Fatal(err)
	}
	secure := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }})
	t.Cleanup(secure.Close)
	found = examine(t, secure.URL, secure.Client().Transport)
	if want := "the proxy at 127.0.0.1 does not forward the client's address → let the proxy set X-Forwarded-For"; !strings.Contains(found, want) {
		t.Errorf("found\n%s", found)
	}
}

// TestDoctorSeesAStreamHeldBack: a proxy that waits for the end of an answer holds back what assistants wait for.
func TestDoctorSeesAStreamHeldBack(t *testing.T) {
	t.Parallel()
	r := serveProgram(t, console.Program, []string{"DATA_DIR=" + t.TempDir()})
	token := regexp.MustCompile(`mcp_[\w-]+`).FindString(r.stdout.String())
	held := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			whole := httptest.NewRecorder()
			next.ServeHTTP(whole, r)
			w.WriteHeader(whole.Code)
			_, _ = w.Write(whole.Body.Bytes())
		})
	}
	for want, wrap := range map[string]func(http.Handler) http.Handler{
		"":                                     func(next http.Handler) http.Handler { return next },
		"the proxy buffers responses from the": held,
	} {
		p := &console.Console{Now: time.Now, NewID: uuid.NewString}
		x, err := newExamination(p, settings.Config{}, doctorOptions{url: r.caldav(""), user: "ann", mcp: proxied(t, strings.TrimSuffix(r.mcp(), mcpPath), wrap) + mcpPath})
		if err != nil {
			t.Fatal(err)
		}
		x.mcp, x.token = x.mcpPlaces[0], token
		if want != "" {
			x.streamPatience = time.Second
		}
		_, err = x.mcpStream(t.Context())
		mend := ""
		if err != nil {
			_, mend = diagnose(err)
		}
		if !strings.Contains(mend, want) || want == "" && err != nil {
			t.Errorf("%v → %s, want %q", err, mend, want)
		}
	}
}

func TestDoctorNamesWhatIsWrongWithTLS(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // that handshakes fail is what is tested
	secure.StartTLS()
	t.Cleanup(secure.Close)
	trusting := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}}
	for _, test := range []struct {
		name, at, want string
		transport      http.RoundTripper
	}{
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), "the port speaks no TLS", nil},
		{"its own authority", secure.URL, "from an authority that this machine does not trust", nil},
		{"another name", strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), "the certificate is for another name", trusting},
		{"TLS asked without", strings.Replace(secure.URL, "https:", "http:", 1), "use https: " + secure.URL, nil},
		{"nobody", "https://127.0.0.1:1", "no program accepts connections there", nil},
		{"no name", "https://nowhere.invalid", "the name does not resolve", nil},
	} {
		if found := examine(t, test.at, test.transport); !strings.Contains(found, test.want) {
			t.Errorf("%s: there is no %q in\n%s", test.name, test.want, found)
		}
	}
}

// TestMCPPlaces: the endpoint for assistants is looked for where it is without a proxy, too (clients F6).
func TestMCPPlaces(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://cal.example.com/":                 "https://cal.example.com/mcp",
		"https://cal.example.com/cal/":             "https://cal.example.com/cal/mcp",
		"https://cal.example.com/cal/dav/x/y/":     "https://cal.example.com/cal/mcp",
		"https://cal.example.com/dav":              "https://cal.example.com/mcp",
		"https://localhost:8443/":                  "https://localhost:8443/mcp",
		"http://192.0.2.1/":                        "http://192.0.2.1/mcp",
		"http://192.0.2.1:5232/":                   "http://192.0.2.1:5232/mcp http://192.0.2.1:6233/mcp",
		"http://127.0.0.1:5232/":                   "http://127.0.0.1:5232/mcp http://127.0.0.1:6233/mcp",
		"http://localhost:8080/dav/calendars/ann/": "http://localhost:8080/mcp http://localhost:6233/mcp",
		"http://[::1]:5232/":                       "http://[::1]:5232/mcp http://[::1]:6233/mcp",
	} {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range mcpPlaces(rootOf(u), "6233") {
			got = append(got, at.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

// TestDoctorSaysACauseOnce lets nothing through a wall, and reads no word of a programmer's.
func TestDoctorSaysACauseOnce(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	for _, at := range []string{silent.URL, "https://127.0.0.1:1", "https://nowhere.invalid"} {
		p := &console.Console{Now: time.Now, NewID: uuid.NewString}
		x, err := newExamination(p, settings.Config{MCP: settings.Address{Port: "0"}}, doctorOptions{url: at, user: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		found := x.examine(ctx, checks())
		cancel()
		if len(found) != 1 || found[0].Mend == "" {
			t.Errorf("%s: found %+v", at, found)
		}
		for _, word := range []string{"context", "dial", "deadline", "lookup"} {
			if strings.Contains(found[0].Detail, word) {
				t.Errorf("%s: %q says %q", at, found[0].Detail, word)
			}
		}
	}
}

// TestDoctorTrustsAnAuthorityOfOnesOwn names the file of its certificate.
func TestDoctorTrustsAnAuthorityOfOnesOwn(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &console.Console{Now: time.Now, NewID: uuid.NewString}
	x, err := newExamination(p, settings.Config{MCP: settings.Address{Port: "0"}}, doctorOptions{url: secure.URL, user: "ann", ca: file})
	if err != nil {
		t.Fatal(err)
	}
	if detail, err := x.reach(t.Context()); err != nil || detail != "with TLS" {
		t.Errorf("%q, %v", detail, err)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ contentType, body, want string }{
		{"application/json", `{"a":1}`, `{"a":1}`},
		{"text/event-stream; charset=utf-8", ": hello\n\nevent: message\ndata: {\"a\":1}\n\n", `{"a":1}`},
		{"text/event-stream", "data:\n\n", ""},
	} {
		if got := strings.TrimSpace(string(message(test.contentType, []byte(test.body)))); got != test.want {
			t.Errorf("%q: %q, want %q", test.body, got, test.want)
		}
	}
}
