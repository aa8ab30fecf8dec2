package oauth_test

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/outbound"
	"caldav-mcp-server/store"
)

// house is an authorization server on a real store, and a host on which clients describe themselves.
type house struct {
	*testing.T
	*oauth.Service
	*housetest.House
	store *store.Store
	host  *httptest.Server
	// addresses are what the host's name stands for, one look after the other; the last one stays.
	addresses []netip.Addr
	limits    oauth.Limits

	mu     sync.Mutex
	served map[string]http.HandlerFunc
	asked  int
}

// name is one for which the host's certificate is good.
const name = "example.com"

func each(t *testing.T, test func(h *house)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, url string) { test(open(t, url, oauth.DefaultLimits())) })
}

func open(t *testing.T, url string, limits oauth.Limits) *house {
	t.Helper()
	h := &house{
		T: t, limits: limits, House: housetest.Open(t, url, housetest.At(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))),
		served: map[string]http.HandlerFunc{}, addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")},
	}
	h.store = h.Store
	h.host = httptest.NewTLSServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.host.Close)
	h.Service = oauth.New(oauth.Config{
		Store: h.Store, Now: h.Now, Limits: limits, Logger: slog.New(slog.DiscardHandler),
		Fetch: h.fetcher("127.0.0.1/32"),
	})
	return h
}

// fetcher asks for descriptions as the program does, with the limits that it has, but in less time.
func (h *house) fetcher(allow string) func(context.Context, string) ([]byte, string, error) {
	roots := x509.NewCertPool()
	roots.AddCert(h.host.Certificate())
	guard := outbound.New(outbound.Config{
		Roots: roots, Allow: []netip.Prefix{netip.MustParsePrefix(allow)}, Lookup: h.lookup,
	})
	return func(ctx context.Context, address string) ([]byte, string, error) {
		d, err := guard.Get(ctx, address, "application/json", outbound.Limits{Time: time.Second, Bytes: 5 << 10})
		return d.Body, d.Header.Get("Cache-Control"), err
	}
}

func (h *house) lookup(context.Context, string) ([]netip.Addr, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.addresses[0]
	if len(h.addresses) > 1 {
		h.addresses = h.addresses[1:]
	}
	return []netip.Addr{one}, nil
}

func (h *house) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked++
	serve := h.served[r.URL.Path]
	h.mu.Unlock()
	if serve == nil {
		http.NotFound(w, r)
		return
	}
	serve(w, r)
}

func (h *house) pass(d time.Duration) { h.Pass(d) }

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// describe puts something at a path of the host, and returns its address.
func (h *house) describe(path string, serve http.HandlerFunc) string {
	h.mu.Lock()
	h.served[path] = serve
	h.mu.Unlock()
	_, port, _ := net.SplitHostPort(h.host.Listener.Addr().String())
	return "https://" + net.JoinHostPort(name, port) + path
}

// says puts a text there; ID in it is its address.
func (h *house) says(path, text string, header ...string) string {
	var address string
	address = h.describe(path, func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		_, _ = w.Write([]byte(strings.ReplaceAll(text, "ID", address)))
	})
	return address
}

func site() oauth.Site {
	return oauth.Site{Issuer: "https://cal.example", Resource: "https://cal.example/mcp"}
}

func here() netip.Addr { return netip.MustParseAddr("192.0.2.1") }

// ask asks for a user, as a client with this id and an otherwise good request.
func (h *house) ask(id, redirect string) (oauth.Request, error) {
	h.Helper()
	return h.Ask(h.Context(), site(), here(), url.Values{
		"client_id": {id}, "redirect_uri": {redirect}, "response_type": {"code"}, "code_challenge_method": {"S256"},
		"code_challenge": {strings.Repeat("a", 43)}, "state": {"x"},
	})
}

// refused wants an error of a code that says something.
func (h *house) refused(what string, err error, code oauth.Code, says string) {
	h.Helper()
	if e := oauth.FaultOf(err); e == nil || e.Code != code || !strings.Contains(e.What, says) {
		h.Errorf("%s: got %v, want %s …%s…", what, err, code, says)
	}
}

func (h *house) client(id string) oauth.Client {
	h.Helper()
	c, err := h.store.Client(h.Context(), auth.ClientID(id))
	h.must(err)
	return c
}
