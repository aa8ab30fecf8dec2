package doctor

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
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
	x, err := New(p, settings.Config{MCP: settings.Address{Port: "0"}}, Options{URL: at, User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
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

func TestDoctorNamesWhatIsWrongWithTLS(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // that handshakes fail is what is tested
	secure.StartTLS()
	t.Cleanup(secure.Close)
	trusting := &http.Transport{
		TLSClientConfig: &tls.Config{
			RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12,
		},
	}
	for _, test := range []struct {
		name, at, want string
		transport      http.RoundTripper
	}{
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), "the port speaks no TLS", nil},
		{"its own authority", secure.URL, "from an authority that this machine does not trust", nil},
		{"another name", strings.Replace(secure.URL, "127.0.0.1", "localhost",
			1), "the certificate is for another name", trusting},
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
		"https://localhost:8443/":                  "https://localhost:8443/mcp https://localhost:6233/mcp",
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
		for _, at := range mcpPlaces(rootOf(u), settings.Config{MCP: settings.Address{Port: "6233"}}) {
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
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	for _, at := range []string{silent.URL, "https://127.0.0.1:1", "https://nowhere.invalid"} {
		p := &console.Console{Now: time.Now, NewID: uuid.NewString}
		x, err := New(p, settings.Config{MCP: settings.Address{Port: "0"}}, Options{URL: at, User: "ann"})
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
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	p := &console.Console{Now: time.Now, NewID: uuid.NewString}
	x, err := New(p, settings.Config{MCP: settings.Address{Port: "0"}}, Options{URL: secure.URL, User: "ann", CA: file})
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
