package server

import (
	"net/http"
	"strings"
	"testing"
)

func TestOrigins(t *testing.T) {
	t.Parallel()
	s := open(t, func(http.ResponseWriter, *http.Request) {}, func(c *Config) {
		c.Doors[0].CheckOrigin, c.Doors[0].Origins = true, []string{"https://app.example"}
		c.Hosts = []string{"cal.example"}
	})
	tests := map[string]struct {
		origins []string
		host    string
		status  int
	}{
		"a program":                 {nil, "localhost", 200},
		"an allowed page":           {[]string{"https://app.example"}, "localhost", 200},
		"a foreign page":            {[]string{"https://evil.example"}, "localhost", 403},
		"a page of another scheme":  {[]string{"http://app.example"}, "localhost", 403},
		"a sandboxed page":          {[]string{"null"}, "localhost", 403},
		"our own page":              {[]string{"https://cal.example"}, "cal.example", 200},
		"our own page at another":   {[]string{"https://cal.example"}, "localhost", 403},
		"a page of the same socket": {[]string{"http://127.0.0.1:1"}, "127.0.0.1:1", 200},
		"our page with a user":      {[]string{"http://u:p@127.0.0.1:1"}, "127.0.0.1:1", 403},
		"our page with a path":      {[]string{"http://127.0.0.1:1/x"}, "127.0.0.1:1", 403},
		"two origins":               {[]string{"https://app.example", "https://evil.example"}, "localhost", 403},
	}
	for what, test := range tests {
		res := s.ask(t, "GET", "/", func(r *http.Request) { r.Host, r.Header["Origin"] = test.host, test.origins })
		if res.status != test.status {
			t.Errorf("%s: answered %d, want %d", what, res.status, test.status)
		}
		wantCORS := ""
		if what == "an allowed page" {
			wantCORS = "https://app.example"
		}
		if got := res.header.Get("Access-Control-Allow-Origin"); got != wantCORS {
			t.Errorf("%s: Access-Control-Allow-Origin is %q", what, got)
		}
	}
}

// Browsers ask before they send a PROPFIND, without credentials.
func TestPreflight(t *testing.T) {
	t.Parallel()
	s := open(t,
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, func(c *Config) {
			c.Doors[0].CheckOrigin, c.Doors[0].Origins = true, []string{"https://app.example"}
		})
	for origin, want := range map[string]int{"https://app.example": 204, "https://evil.example": 403, "": 401} {
		res := s.ask(t, "OPTIONS", "/dav/", func(r *http.Request) {
			r.Header.Set("Access-Control-Request-Method", "PROPFIND")
			if origin != "" {
				r.Header.Set("Origin", origin)
			}
		})
		if res.status != want {
			t.Errorf("from %q: answered %d, want %d", origin, res.status, want)
		}
		if allows := strings.Contains(res.header.Get("Access-Control-Allow-Methods"), "PROPFIND"); allows !=
			(want == 204) {
			t.Errorf("from %q: the methods are %q", origin, res.header.Get("Access-Control-Allow-Methods"))
		}
	}
}

// Anyone who opened our own page under a name that we were not told is not told of foreign pages.
func TestForeignSaysWhatHelps(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]string{
		"http://nas:5232": "BASE_URL", "https://evil.example": "ALLOWED_ORIGINS", "null": "ALLOWED_ORIGINS",
	} {
		if got := foreign([]string{origin}, "nas:5232"); !strings.Contains(got, want) {
			t.Errorf("%s is told %q", origin, got)
		}
	}
}
