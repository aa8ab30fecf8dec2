package davclient

import (
	"net/url"
	"testing"
)

// TestCredentialsGoNowhereElse: a server may send us to another one of its domain over TLS, and
// nowhere else with the password (security L13).
func TestCredentialsGoNowhereElse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		home, to string
		want     bool
	}{
		{"https://caldav.example.com/", "https://caldav.example.com/x", true},
		{"https://caldav.example.com/", "https://CALDAV.example.com:443/x", true},
		{"https://caldav.example.com/", "https://caldav.example.com:8443/x", false},
		{"https://caldav.example.com:8443/", "https://CALDAV.example.com:8443/x", true},
		{"https://caldav.example.com:8443/", "https://caldav.example.com/x", true},
		{"https://example.com/", "https://caldav.example.com:8443/x", false},
		{"http://127.0.0.1:18170/", "http://127.0.0.1:18171/x", false},
		{"https://caldav.icloud.com/", "https://p42-caldav.icloud.com/x", true},
		{"https://caldav.icloud.com/", "https://evilicloud.com/x", false},
		{"https://evil.com/", "https://caldav.icloud.com/x", false},
		{"https://example.com/", "https://caldav.example.com/x", true},
		{"https://caldav.example.com/", "https://p42-caldav.example.com/x", false},
		{"https://example.co.uk/", "https://evil.co.uk/x", false},
		{"http://caldav.example.com/", "https://caldav.example.com/x", true},
		{"http://caldav.example.com/", "http://caldav.example.com/x", true},
		{"https://caldav.example.com/", "http://caldav.example.com/x", false},
		{"https://caldav.example.com/", "https://evil.com/x", false},
		{"https://caldav.example.com/", "https://evilexample.com/x", false},
		{"https://example.com/", "https://evil.com/x", false},
		{"http://example.com/", "http://p42.example.com/x", false},
		{"https://caldav.example.com/", "file:///etc/passwd", false},
	} {
		home, err := url.Parse(test.home)
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(test.to)
		if err != nil {
			t.Fatal(err)
		}
		if got := New(home, "ann", "x").Trusts(to); got != test.want {
			t.Errorf("%s sends to %s: %v, want %v", test.home, test.to, got, test.want)
		}
	}
}
