package main

import (
	"crypto/x509"
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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/doctor"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// findings runs the doctor on a server, as the user ann.
func findings(t *testing.T, o doctor.Options) []doctor.Finding {
	t.Helper()
	return findingsAt(t, o, time.Now)
}

// findingsAt runs the doctor on a machine with a clock.
func findingsAt(t *testing.T, o doctor.Options, clock func() time.Time) []doctor.Finding {
	t.Helper()
	o.User = "ann"
	p := &console.Console{Now: clock, NewID: uuid.NewString}
	x, err := doctor.New(p, settings.Config{MCP: settings.Address{Port: "0"}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return x.Run(t.Context(), "correct horse")
}

// failures runs the doctor on a server and returns what fails apps: "client, check: detail → remedy".
func failures(t *testing.T, o doctor.Options) string {
	t.Helper()
	var wrong []string
	for _, f := range findings(t, o) {
		if f.Result == "failed" && f.Mend == "" {
			t.Errorf("%s, %s: %s has no remedy", f.Client, f.Check, f.Detail)
		}
		if f.Result == "failed" && f.Client != "assistant" {
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
	proxy := httptest.NewServer(wrap(&httputil.ReverseProxy{
		ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host, r.Out.Header["X-Forwarded-For"] = r.In.Host, r.In.Header["X-Forwarded-For"]
		},
	}))
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
		{"REPORT is refused", refusing(http.StatusMethodNotAllowed, "REPORT"), "/", []string{
			"changes are synchronized", "405", "must pass on OPTIONS, PROPFIND, PROPPATCH, REPORT",
		}},
		{"PROPFIND is unknown", refusing(http.StatusNotImplemented, "PROPFIND"), "/", []string{
			"it asks for a password", "501",
		}},
		{"OPTIONS is answered", refusing(http.StatusNoContent, "OPTIONS"), "/", []string{
			"OPTIONS promises calendars", "204", "the proxy answers OPTIONS itself",
		}},
		{"If-Match is dropped", without("If-Match"), "/", []string{
			"a wrong If-Match is refused", "the proxy drops the If-Match header",
			"stays in the trash and in the journal, by caldav-mcp-server (doctor)",
		}},
		{"Destination is dropped", without("Destination"), "/", []string{
			"an event can be moved", "the proxy drops the Destination header",
		}},
		{"bodies are limited", limited, "/", []string{
			"a large event gets through: 2 MB are too much → the proxy limits request bodies",
		}},
		{"Authorization is dropped", without("Authorization"), "/", []string{
			"it takes the password", "401", "does the proxy pass on the Authorization header",
		}},
		{"Depth is dropped", without("Depth"), "/", []string{
			"it takes the password", "the proxy drops the Depth header",
		}},
		{"the proxy is not trusted", forwards, "/", []string{
			"it can tell its clients apart: a proxy sends requests from 127.0.0.1, but is not trusted → set " +
				"TRUSTED_PROXIES=127.0.0.1",
		}},
		{"the server is away", refusing(http.StatusBadGateway, "OPTIONS PROPFIND REPORT PUT POST"), "/", []string{
			"the server answers: ", "502", "the proxy does not reach the server",
		}},
		{"the path is unknown to the server", below, "/cal/", []string{
			"which is not below /cal/", "set BASE_URL=", "/cal: the server does not know the path",
		}},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			found := failures(t, doctor.Options{URL: proxied(t, r.caldav(""), test.wrap) + test.path})
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

// TestDoctorComparesWithWhatTheServerSays: a wrong BASE_URL behind a trusted proxy breaks nothing that a client does;
// links and tokens lead elsewhere.
func TestDoctorComparesWithWhatTheServerSays(t *testing.T) {
	t.Parallel()
	env := []string{"DATA_DIR=" + t.TempDir(), "BASE_URL=https://elsewhere.example.com", "TRUSTED_PROXIES=127.0.0.1"}
	call(t, env, "correct horse\n", "create-user", "ann", "--password-stdin")
	r := serveProgram(t, console.Program, env, "--no-first-user")
	found := failures(t, doctor.Options{URL: proxied(t, r.caldav(""), forwards)})
	if want := "it knows its own URL: the server calls itself https://elsewhere.example.com → set " +
		"BASE_URL=http://127.0.0.1:"; !strings.Contains(found, want) {
		t.Errorf("found\n%s", found)
	}
	to, err := url.Parse(r.caldav(""))
	if err != nil {
		t.Fatal(err)
	}
	secure := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host },
	})
	t.Cleanup(secure.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	found = failures(t, doctor.Options{URL: secure.URL, CA: file})
	if want := "the proxy at 127.0.0.1 does not forward the client's address → let the proxy set " +
		"X-Forwarded-For"; !strings.Contains(found, want) {
		t.Errorf("found\n%s", found)
	}
}

// TestDoctorNamesAWrongBaseURL: the server answers where the doctor asks, but sends apps and assistants elsewhere
// (operation F5).
func TestDoctorNamesAWrongBaseURL(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"https://wrong.invalid", "https://127.0.0.1:1"} {
		env := []string{"DATA_DIR=" + t.TempDir(), "BASE_URL=" + base}
		call(t, env, "correct horse\n", "create-user", "ann", "--password-stdin")
		r := serveProgram(t, console.Program, env, "--no-first-user")
		found := failures(t, doctor.Options{URL: r.caldav("")})
		for _, want := range []string{
			"it knows its own URL: the server calls itself " + base + ", but it was not found there",
			"is BASE_URL=" + base + " right?",
		} {
			if !strings.Contains(found, want) {
				t.Errorf("there is no %q in\n%s", want, found)
			}
		}
	}
}

// TestDoctorComparesClocks runs on a machine that is behind, or ahead (operation F6).
func TestDoctorComparesClocks(t *testing.T) {
	t.Parallel()
	env := []string{"DATA_DIR=" + t.TempDir()}
	call(t, env, "correct horse\n", "create-user", "ann", "--password-stdin")
	r := serveProgram(t, console.Program, env, "--no-first-user")
	for _, test := range []struct {
		ahead  time.Duration
		result string
	}{{0, "ok within"}, {-29 * time.Hour, "failed the server's clock is 29h0m"}, {2 * time.Minute, "failed"}} {
		all := findingsAt(t, doctor.Options{URL: r.caldav("")}, func() time.Time { return time.Now().Add(test.ahead) })
		at := slices.IndexFunc(all, func(f doctor.Finding) bool { return f.Check == "its clock is right" })
		if at < 0 || !strings.HasPrefix(all[at].Result+" "+all[at].Detail, test.result) {
			t.Errorf("%s: %+v", test.ahead, all)
		}
	}
}

// TestDoctorWithoutAProxy: with TLS_CERT there is no proxy to blame, and the endpoint has a port of its own (operation
// F4).
func TestDoctorWithoutAProxy(t *testing.T) {
	t.Parallel()
	own := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(own.Close)
	dir := t.TempDir()
	chain, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	secret, err := x509.MarshalPKCS8PrivateKey(own.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		chain: {Type: "CERTIFICATE", Bytes: own.Certificate().Raw}, key: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ports := freePorts(t, 2)
	caldav, mcp := "https://127.0.0.1:"+ports[0], "https://127.0.0.1:"+ports[1]+"/mcp"
	env := []string{
		"DATA_DIR=" + filepath.Join(dir, "data"), "TLS_CERT=" + chain, "TLS_KEY=" + key, "CALDAV_PORT=" + ports[0],
		"MCP_PORT=" + ports[1], "BASE_URL=" + caldav, "MCP_URL=" + mcp,
	}
	call(t, env, "correct horse\n", "create-user", "ann", "--password-stdin")
	serveProgram(t, console.Program, env, "--no-first-user")
	said := call(t, env, "correct horse\n", "doctor", "--user", "ann", "--password-stdin", "--ca", chain, "--json")
	for _, want := range []string{
		"without a proxy, with the server's own certificate", `"` + mcp + `"`,
		filepath.Join(dir, "data", "calendar.db"),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("there is no %q in\n%s", want, said)
		}
	}
}

// TestDoctorSeesAStreamHeldBack: a proxy that waits for the end of an answer holds back what assistants wait for.
func TestDoctorSeesAStreamHeldBack(t *testing.T) {
	t.Parallel()
	env := []string{"DATA_DIR=" + t.TempDir()}
	call(t, env, "correct horse\n", "create-user", "ann", "--password-stdin")
	token := filepath.Join(t.TempDir(), "token")
	made := regexp.MustCompile(`mcp_[\w-]+`).
		FindString(call(t, env, "", "create-token", "--user", "ann", "--name", "x"))
	if err := os.WriteFile(token, []byte(made), 0o600); err != nil {
		t.Fatal(err)
	}
	r := serveProgram(t, console.Program, env, "--no-first-user")
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
		o := doctor.Options{URL: r.caldav(""), MCP: proxied(t, strings.TrimSuffix(r.mcp(), settings.MCPPath), wrap) +
			settings.MCPPath, TokenFile: token}
		if want != "" {
			o.StreamPatience = time.Second
		}
		all := findings(t, o)
		at := slices.IndexFunc(all, func(f doctor.Finding) bool { return f.Check == "a stream is not held back" })
		if at < 0 {
			t.Fatalf("the stream was not tried: %+v", all)
		}
		f := all[at]
		if !strings.Contains(f.Mend, want) || want == "" && f.Result != "ok" {
			t.Errorf("%+v, want %q", f, want)
		}
	}
}

// TestDoctorOutside checks a server as the pages do, without a password: a right one without TLS, one whose proxy lacks
// the well-known URL, and one that is away.
func TestDoctorOutside(t *testing.T) {
	t.Parallel()
	env := []string{"DATA_DIR=" + t.TempDir()}
	r := serveProgram(t, console.Program, env, "--no-first-user")
	unknown := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/.well-known/caldav") {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	for base, want := range map[string]string{
		r.caldav(""): doctor.Answers + " ok, " + doctor.Encrypted + " failed, " + doctor.Apps + " ok, " +
			doctor.Endpoint + " ok, " + doctor.SignIn + " ok",
		proxied(t, r.caldav(""), unknown): doctor.Answers + " ok, " + doctor.Encrypted + " failed, " + doctor.Apps +
			" failed, " + doctor.Endpoint + " ok, " + doctor.SignIn + " ok",
		away.URL: doctor.Answers + " failed",
	} {
		p := &console.Console{Now: time.Now, NewID: uuid.NewString}
		found, err := doctor.Outside(t.Context(), p, settings.Config{}, base, r.mcp())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.Check+" "+f.Result)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %+v, want %s", base, found, want)
		}
	}
}
