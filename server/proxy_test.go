package server

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseProxies(t *testing.T) {
	t.Parallel()
	got, err := ParseProxies(" 10.0.0.7, 192.168.0.9/16,,fd00::/8 ,::ffff:1.2.3.4")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"10.0.0.7/32", "192.168.0.0/16", "fd00::/8", "1.2.3.4/32"}
	var words []string
	for _, p := range got {
		words = append(words, p.String())
	}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"proxy", "10.0.0.0/33", "10.0.0", "1.2.3.4;5.6.7.8"} {
		if _, err := ParseProxies(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	proxies, err := ParseProxies("10.0.0.0/8, ::1")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		from   string
		header http.Header
		client string
		host   string
	}{
		"a stranger is believed nothing": {
			from: "203.0.113.9:1000",
			header: http.Header{
				forwardedFor: {"198.51.100.1"}, forwardedHost: {"evil.example"}, "X-Forwarded-Proto": {"https"},
				"X-Forwarded-Prefix": {"/evil"}, "Forwarded": {"for=198.51.100.1"},
			},
			client: "203.0.113.9", host: "asked.example",
		},
		"a proxy is believed": {
			from: "10.1.2.3:1000",
			header: http.Header{
				forwardedFor: {"198.51.100.1"}, forwardedHost: {"cal.example"}, "X-Forwarded-Proto": {"https"},
				"X-Forwarded-Prefix": {"/cal"},
			},
			client: "198.51.100.1", host: "cal.example",
		},
		"what the client wrote in front is not": {
			from: "10.1.2.3:1000", header: http.Header{forwardedFor: {"127.0.0.1, 10.9.9.9, 198.51.100.1, 10.4.5.6"}},
			client: "198.51.100.1", host: "asked.example",
		},
		"several lines are one list": {
			from: "[::1]:1000", header: http.Header{forwardedFor: {"198.51.100.1", "198.51.100.2", "10.4.5.6"}},
			client: "198.51.100.2", host: "asked.example",
		},
		"nothing but proxies": {
			from: "10.1.2.3:1000", header: http.Header{forwardedFor: {"10.7.7.7"}},
			client: "10.7.7.7", host: "asked.example",
		},
		"a list that cannot be read ends there": {
			from: "10.1.2.3:1000", header: http.Header{forwardedFor: {"198.51.100.1, unknown, 10.4.5.6"}},
			client: "10.4.5.6", host: "asked.example",
		},
		"entries with ports": {
			from: "10.1.2.3:1000", header: http.Header{forwardedFor: {"[2001:db8::1]:99, 10.4.5.6:80"}},
			client: "2001:db8::1", host: "asked.example",
		},
		"the nearest proxy's word counts": {
			from: "10.1.2.3:1000", header: http.Header{forwardedHost: {"evil.example, cal.example"}},
			client: "10.1.2.3", host: "cal.example",
		},
		"values that cannot be right": {
			from: "10.1.2.3:1000", header: http.Header{forwardedHost: {"a b"}},
			client: "10.1.2.3", host: "asked.example",
		},
		"an IPv4 peer on an IPv6 socket": {
			from: "[::ffff:10.1.2.3]:1000", header: http.Header{forwardedFor: {"198.51.100.1"}},
			client: "198.51.100.1", host: "asked.example",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &http.Request{RemoteAddr: test.from, Header: test.header, Host: "asked.example"}
			if got := proxies.settle(r); got != netip.MustParseAddr(test.client) {
				t.Errorf("the client is %s, want %s", got, test.client)
			}
			if r.Host != test.host {
				t.Errorf("the host is %s, want %s", r.Host, test.host)
			}
			if len(r.Header) > 0 {
				t.Errorf("left are %v", r.Header)
			}
		})
	}
}
