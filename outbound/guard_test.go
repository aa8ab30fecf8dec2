package outbound_test

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/outbound"
)

// host is a name for which the test servers' certificate is good.
const host = "example.com"

// world is a server at a loopback address, which example.com stands for.
type world struct {
	*httptest.Server
	at netip.Addr
	// lookups counts DNS lookups; a timed-out request may still be in one.
	lookups atomic.Int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{at: netip.MustParseAddr("127.0.0.1")}
	mux := http.NewServeMux()
	mux.HandleFunc("/small", func(rw http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(rw, r.UserAgent()) })
	mux.HandleFunc("/large", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, strings.Repeat("x", 6000))
	})
	mux.HandleFunc("/endless", func(rw http.ResponseWriter, _ *http.Request) {
		for range 100 {
			_, _ = io.WriteString(rw, strings.Repeat("x", 100))
			_ = http.NewResponseController(rw).Flush()
		}
	})
	mux.HandleFunc("/bomb", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(rw)
		for range 100 {
			_, _ = z.Write(make([]byte, 1<<20))
		}
		_ = z.Close()
	})
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/hop", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "/small", http.StatusFound)
	})
	mux.HandleFunc("/out", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	w.Server = httptest.NewTLSServer(mux)
	t.Cleanup(w.Close)
	return w
}

func (w *world) url(path string) string {
	_, port, _ := net.SplitHostPort(w.Listener.Addr().String())
	return "https://" + net.JoinHostPort(host, port) + path
}

// guard has the server's certificate, and may ask these networks.
func (w *world) guard(allow ...string) *outbound.Guard {
	c := outbound.Config{
		Agent: "calendars", Roots: x509.NewCertPool(), Lookup: func(context.Context, string) ([]netip.Addr, error) {
			w.lookups.Add(1)
			return []netip.Addr{w.at}, nil
		},
	}
	c.Roots.AddCert(w.Certificate())
	for _, network := range allow {
		c.Allow = append(c.Allow, netip.MustParsePrefix(network))
	}
	return outbound.New(c)
}

// limits leave time enough for a busy machine.
func limits() outbound.Limits { return outbound.Limits{Time: time.Minute, Bytes: 5000} }

func TestGet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got, err := w.guard("127.0.0.0/8").Get(t.Context(), w.url("/small"), "text/plain", limits())
	if err != nil || string(got.Body) != "calendars" {
		t.Fatalf("got %q, %v", got.Body, err)
	}
	if n := w.lookups.Load(); n != 1 {
		t.Errorf("the name was looked up %d times", n)
	}
}

func TestGetRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	brief := limits()
	brief.Time = 50 * time.Millisecond
	few := limits()
	few.Redirects = 2
	for _, test := range []struct {
		name, address string
		allow         []string
		limits        outbound.Limits
		want          string
	}{
		{"private address", w.url("/small"), nil, limits(), "no public address"},
		{"address for a name", w.URL + "/small", nil, limits(), "is an address"},
		{"plain http", strings.Replace(w.url("/small"), "https", "http", 1), []string{
			"127.0.0.0/8",
		}, limits(), "is not https"},
		{"user", "https://me:secret@example.com/", []string{"127.0.0.0/8"}, limits(), "user name"},
		{"no host", "https:///small", []string{"127.0.0.0/8"}, limits(), "no host"},
		{"no address", "https://exa mple.com/", nil, limits(), "no address"},
		{"told size", w.url("/large"), []string{"127.0.0.0/8"}, limits(), "larger than 5000"},
		{"untold size", w.url("/endless"), []string{"127.0.0.0/8"}, limits(), "larger than 5000"},
		{"bomb", w.url("/bomb"), []string{"127.0.0.0/8"}, limits(), "larger than 5000"},
		{"slow", w.url("/silent"), []string{"127.0.0.0/8"}, brief, "does not answer"},
		{"status", w.url("/nowhere"), []string{"127.0.0.0/8"}, limits(), "answers 404"},
		{"redirect", w.url("/hop"), []string{"127.0.0.0/8"}, limits(), "leads elsewhere"},
		{"redirect to plain http", w.url("/out?to=" + url.QueryEscape("http://example.com/")), []string{
			"127.0.0.0/8",
		}, few, "is not https"},
		{"redirect to a private address", w.url("/out?to=" + url.QueryEscape("https://10.0.0.1/")), []string{
			"127.0.0.0/8",
		}, few, "is an address"},
		{"redirects without end", w.url("/out?to=" + url.QueryEscape(w.url("/hop"))), []string{
			"127.0.0.0/8",
		}, outbound.Limits{Time: time.Second, Bytes: 5000, Redirects: 1}, "leads elsewhere"},
	} {
		_, err := w.guard(test.allow...).Get(t.Context(), test.address, "*/*", test.limits)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: a password is told: %v", test.name, err)
		}
	}
}

// TestPlain: http reaches only the allowed networks, and only if the limits permit it.
func TestPlain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain := httptest.NewServer(w.Config.Handler)
	t.Cleanup(plain.Close)
	address := strings.Replace(plain.URL, "127.0.0.1", host, 1) + "/small"
	l := limits()
	l.Plain = true
	for _, test := range []struct {
		what, address, allow, want string
	}{
		{"allowed", address, "127.0.0.0/8", ""},
		{"an allowed address", plain.URL + "/small", "127.0.0.0/8", ""},
		{"another network is allowed", address, "10.0.0.0/8", "http works only"},
		{"none is allowed", address, "", "is not https"},
		{"a user name", "http://me:secret@example.com/", "127.0.0.0/8", "user name"},
	} {
		var allow []string
		if test.allow != "" {
			allow = []string{test.allow}
		}
		guard := w.guard(allow...)
		if err := guard.Check(t.Context(), test.address, l); err == nil != (test.want == "") ||
			err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Check returned %v", test.what, err)
		}
		got, err := guard.Get(t.Context(), test.address, "*/*", l)
		if err == nil != (test.want == "") || err == nil && string(got.Body) != "calendars" {
			t.Errorf("%s: got %q, %v", test.what, got.Body, err)
		}
	}
	guard := w.guard("127.0.0.0/8")
	w.at = netip.MustParseAddr("93.184.215.14")
	if _, err := guard.Get(t.Context(), "http://example.com/", "*/*", l); !strings.Contains(logged(err), "no public") {
		t.Errorf("http to a public address: %v", err)
	}
}

// TestCheck refuses what no lookup can permit, without one.
func TestCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for address, want := range map[string]string{
		"https://10.0.0.1/x": "is an address", "https://93.184.215.14/": "is an address",
		"http://example.com/":  "not https",
		"https://example.com/": "", "https://192.168.1.1/": "",
	} {
		err := w.guard("192.168.0.0/16").Check(t.Context(), address, limits())
		if err == nil != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if w.lookups.Load() != 0 {
		t.Error("a name was looked up")
	}
}

// TestRebinding has a name stand for a good address at first and for another one later: what was checked
// is what is dialled, and who connects anew is checked again.
func TestRebinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	guard := w.guard("127.0.0.1/32")
	if _, err := guard.Get(t.Context(), w.url("/small"), "*/*", limits()); err != nil {
		t.Fatal(err)
	}
	w.at = netip.MustParseAddr("127.0.0.2")
	w.CloseClientConnections()
	_, err := guard.Get(t.Context(), w.url("/small"), "*/*", limits())
	if !strings.Contains(logged(err), "no public address") || w.lookups.Load() != 2 {
		t.Errorf("the second address was asked: %v, after %d lookups", err, w.lookups.Load())
	}
}

func TestRedirectsAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := limits()
	l.Redirects = 1
	if got, err := w.guard("127.0.0.0/8").Get(t.Context(), w.url("/hop"), "*/*", l); err != nil ||
		string(got.Body) != "calendars" {
		t.Errorf("got %q, %v", got.Body, err)
	}
}

// TestPublic asks for names that stand for addresses of every kind: none of them is dialled.
func TestPublic(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{
		"0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.0.0.8", "192.0.2.1",
		"192.168.1.1",
		"198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1",
		"2001:db8::1", "2002:7f00:1::",
		"3fff::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
	} {
		guard := outbound.New(outbound.Config{Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(addr)}, nil
		}})
		_, err := guard.Get(t.Context(), "https://example.com/", "*/*", limits())
		if !strings.Contains(logged(err), "no public address") {
			t.Errorf("%s: got %v", addr, err)
		}
	}
}

// TestPublicIsAsked has the dialler fail at once rather than reach anybody: that it was tried is enough.
func TestPublicIsAsked(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8"} {
		ctx, cancel := context.WithCancel(t.Context())
		guard := outbound.New(outbound.Config{Lookup: func(context.Context, string) ([]netip.Addr, error) {
			cancel()
			return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr(addr)}, nil
		}})
		_, err := guard.Get(ctx, "https://example.com/", "*/*", limits())
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want that it was dialled", addr, err)
		}
	}
}

// logged is what the administrator reads of a refusal.
func logged(err error) string {
	e, ok := errors.AsType[*outbound.RefusedError](err)
	if !ok {
		return ""
	}
	return e.LogValue().String()
}

// TestFailuresLookAlike has a name stand for what may not be asked, for nothing, for a closed port, and for a server
// with another certificate: anyone who named it learns of none of that, and the log does.
func TestFailuresLookAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closed := newWorld(t)
	closed.Close()
	local := []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	guard := func(found []netip.Addr, err error) *outbound.Guard {
		return outbound.New(outbound.Config{Allow: []netip.Prefix{
			netip.MustParsePrefix("127.0.0.0/8"),
		}, Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return found, err
		}})
	}
	texts := map[string]bool{}
	for want, get := range map[string]func() error{
		"no public address": func() error {
			_, err := guard([]netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil).Get(t.Context(), w.url("/small"), "*/*",
				limits())
			return err
		},
		"no such name": func() error {
			_, err := guard(nil, errors.New("no such name")).Get(t.Context(), w.url("/small"), "*/*", limits())
			return err
		},
		"refused": func() error {
			_, err := guard(local, nil).Get(t.Context(), closed.url("/small"), "*/*", limits())
			return err
		},
		"certificate": func() error {
			_, err := guard(local, nil).Get(t.Context(), w.url("/small"), "*/*", limits())
			return err
		},
	} {
		err := get()
		if err == nil {
			t.Fatalf("%s: fetched", want)
		}
		texts[err.Error()] = true
		if !strings.Contains(logged(err), want) {
			t.Errorf("%s: the log says %q", want, logged(err))
		}
	}
	if len(texts) != 1 {
		t.Errorf("told apart: %v", texts)
	}
}
