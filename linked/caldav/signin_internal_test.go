package caldav

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/mirror"
)

// digestServer asks for Digest as RFC 7616 §3 describes it. A nonce is good for some requests.
type digestServer struct {
	algorithm, qop, scheme string
	password               string
	most                   int
	nonce, used            int
	asked                  []string
}

func (s *digestServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.asked = append(s.asked, r.Method+" "+strings.ToLower(r.Header.Get("Authorization")[:6])+" "+string(body))
	stale := s.used >= s.most
	if s.right(r) && !stale {
		s.used++
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.nonce, s.used = s.nonce+1, 0
	said := fmt.Sprintf(`%s realm="Baïkal, \"home\"", nonce="n%d", opaque="o"`, s.scheme, s.nonce)
	if s.qop != "" {
		said += fmt.Sprintf(`, qop="%s"`, s.qop)
	}
	if s.algorithm != "" {
		said += ", algorithm=" + s.algorithm
	}
	if stale && s.nonce > 1 {
		said += ", stale=true"
	}
	w.Header().Set("WWW-Authenticate", said)
	w.WriteHeader(http.StatusUnauthorized)
}

var field = regexp.MustCompile(`(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]*))`)

// right computes the response as RFC 7616 §3.4 does.
func (s *digestServer) right(r *http.Request) bool {
	said := map[string]string{}
	for _, m := range field.FindAllStringSubmatch(r.Header.Get("Authorization"), -1) {
		said[m[1]] = regexp.MustCompile(`\\(.)`).ReplaceAllString(m[2], "$1") + m[3]
	}
	h := func(text string) string {
		sum := md5.New()
		if s.algorithm == "SHA-256" {
			sum = sha256.New()
		}
		_, _ = io.WriteString(sum, text)
		return hex.EncodeToString(sum.Sum(nil))
	}
	a1, a2 := h("alice:"+said["realm"]+":"+s.password), h(r.Method+":"+r.URL.RequestURI())
	want := h(a1 + ":" + said["nonce"] + ":" + a2)
	if s.qop != "" {
		want = h(strings.Join([]string{a1, said["nonce"], said["nc"], said["cnonce"], "auth", a2}, ":"))
		if said["nc"] != fmt.Sprintf("%08x", s.used+1) {
			return false
		}
	}
	return said["username"] == "alice" && said["nonce"] == fmt.Sprintf("n%d", s.nonce) && said["opaque"] == "o" &&
		said["uri"] == r.URL.RequestURI() && said["response"] == want
}

func digestWire(t *testing.T, s *digestServer) (*wire, *url.URL) {
	t.Helper()
	web := httptest.NewTLSServer(s)
	t.Cleanup(web.Close)
	base, err := url.Parse(web.URL + "/dav.php/calendars/a%20b/?x=1")
	if err != nil {
		t.Fatal(err)
	}
	return &wire{client: web.Client(), base: base, signIn: &signIn{"alice", "secret", new(nonces)}}, base
}

func TestDigest(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*digestServer{
		"as Baikal":      {scheme: "Digest", qop: "auth", most: 1 << 20},
		"MD5":            {scheme: "Digest", qop: "auth", algorithm: "MD5", most: 1 << 20},
		"SHA-256":        {scheme: "digest", qop: "auth", algorithm: "SHA-256", most: 1 << 20},
		"without qop":    {scheme: "Digest", most: 1 << 20},
		"a nonce of one": {scheme: "Digest", qop: "auth", most: 1},
		"a nonce of two": {scheme: "Digest", qop: "auth", most: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.password = "secret"
			w, base := digestWire(t, s)
			for i := range 7 {
				r, err := w.do(t.Context(), ask{method: "PUT", at: base, body: fmt.Sprint("body ", i), kind: xmlKind})
				if err != nil || r.status != http.StatusNoContent {
					t.Fatalf("request %d: %d %v", i, r.status, err)
				}
			}
			if s.most > 7 && len(s.asked) != 8 {
				t.Errorf("%d requests, want 8: %q", len(s.asked), s.asked)
			}
			if last := s.asked[len(s.asked)-1]; last != "PUT digest body 6" {
				t.Errorf("the last request is %q", last)
			}
		})
	}
}

func TestDigestIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server *digestServer
		why    string
		asked  int
	}{
		"a wrong password": {
			&digestServer{scheme: "Digest", qop: "auth", most: 1 << 20, password: "other"}, mirror.ErrSignIn.Error(), 2,
		},
		"always stale": {
			&digestServer{scheme: "Digest", qop: "auth", most: 0, password: "secret"}, mirror.ErrSignIn.Error(),
			triesMost,
		},
		"unknown kind": {
			&digestServer{scheme: "Digest", qop: "auth", algorithm: "SHA-1", most: 9}, "choose Basic there", 1,
		},
		"Basic":     {&digestServer{scheme: "Basic", most: 9}, mirror.ErrSignIn.Error(), 1},
		"Negotiate": {&digestServer{scheme: "Negotiate", most: 9}, mirror.ErrSignIn.Error(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, base := digestWire(t, c.server)
			r, err := w.do(t.Context(), ask{method: "PROPFIND", at: base})
			if err == nil {
				err = judge(r)
			}
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%v, want %q", err, c.why)
			}
			if len(c.server.asked) != c.asked {
				t.Errorf("%d requests, want %d: %q", len(c.server.asked), c.asked, c.server.asked)
			}
		})
	}
}

// TestDigestIsKept: the next sync or write begins with the nonce of the last one, and follows a server that changes to
// Basic.
func TestDigestIsKept(t *testing.T) {
	t.Parallel()
	s := &digestServer{scheme: "Digest", qop: "auth", most: 1 << 20, password: "secret"}
	w, base := digestWire(t, s)
	var kept keptNonces
	for range 3 {
		w.signIn = &signIn{"alice", "secret", kept.of(base, "alice")}
		r, err := w.do(t.Context(), ask{method: "PROPFIND", at: base})
		if err != nil || r.status != http.StatusNoContent {
			t.Fatal(r.status, err)
		}
	}
	if len(s.asked) != 4 {
		t.Errorf("%d requests, want 4: %q", len(s.asked), s.asked)
	}
	s.scheme = "Basic"
	s.used = s.most
	if _, err := w.do(t.Context(), ask{method: "PROPFIND", at: base}); err != nil {
		t.Fatal(err)
	}
	if last := s.asked[len(s.asked)-1]; last != "PROPFIND basic  " {
		t.Errorf("the last request is %q", last)
	}
}

// TestWhereItLeads: if nothing is found, the message names the server to which the well-known address leads.
func TestWhereItLeads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ to, why string }{
		"another host": {"https://cloud.example.org/dav", "it leads to cloud.example.org"},
		"nowhere":      {"", "there is no CalDAV server at this address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/.well-known/caldav" && c.to != "" {
					http.Redirect(w, r, c.to, http.StatusMovedPermanently)
					return
				}
				http.NotFound(w, r)
			}))
			t.Cleanup(web.Close)
			base, err := url.Parse(web.URL + "/")
			if err != nil {
				t.Fatal(err)
			}
			a := &account{
				wire: &wire{client: web.Client(), base: base, signIn: &signIn{"alice", "secret", new(nonces)}},
			}
			a.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			_, err = a.Calendars(t.Context())
			if _, refused := errors.AsType[*mirror.Refusal](err); !refused || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%v, want %q", err, c.why)
			}
		})
	}
}

func TestNoRoom(t *testing.T) {
	t.Parallel()
	if err := judge(reply{status: http.StatusInsufficientStorage}); !errors.Is(err, mirror.ErrFull) {
		t.Error(err)
	}
}
