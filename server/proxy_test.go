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
		left   http.Header
	}{
		"a stranger is believed nothing": {
			from: "203.0.113.9:1000",
			header: http.Header{
				forwardedFor: {"198.51.100.1"}, forwardedProto: {"https"}, forwardedHost: {"evil.example"},
				forwardedPrefix: {"/evil"}, "Forwarded": {"for=198.51.100.1"},
			},
			client: "203.0.113.9", host: "asked.example", left: http.Header{},
		},
		"a proxy is believed": {
			from: "10.1.2.3:1000",
			header: http.Header{
				forwardedFor: {"198.51.100.1"}, forwardedProto: {"https"}, forwardedHost: {"cal.example"}, forwardedPrefix: {"/cal"},
			},
			client: "198.51.100.1", host: "cal.example",
			left: http.Header{forwardedProto: {"https"}, forwardedHost: {"cal.example"}, forwardedPrefix: {"/cal"}},
		},
		"what the client wrote in front is not": {
			from: "10.1.2.3:1000", header: http.Header{forwardedFor: {"127.0.0.1, 10.9.9.9, 198.51.100.1, 10.4.5.6"}},
			client: "198.51.100.1", host: "asked.example", left: http.Header{},
		},
		"several lines are one list": {
			from: "[::1]:1000", header: http.Header{forwardedFor: {"198.51.100.1", "198.51.100.2", "10.4.5.6"}},
			client: "198.51.100.2", host: "asked.example", left: http.Header{},
		},
		"nothing but proxies": {
			from: "10.1.2.3:1000", header: http.Header{forwardedFor: {"10.7.7.7"}},
			client: "10.7.7.7", host: "asked.example", left: http.Header{},
		},
		"a list that cannot be read ends there": {
			from: "10.1.2.3:1000", header: http.Header{forwardedFor: {"198.51.100.1, unknown, 10.4.5.6"}},
			client: "10.4.5.6", host: "asked.example", left: http.Header{},
		},
		"entries with ports": {
			from: "10.1.2.3:1000", header: http.Header{forwardedFor: {"[2001:db8::1]:99, 10.4.5.6:80"}},
			client: "2001:db8::1", host: "asked.example", left: http.Header{},
		},
		"the nearest proxy's word counts": {
			from: "10.1.2.3:1000", header: http.Header{forwardedProto: {"https, http"}},
			client: "10.1.2.3", host: "asked.example", left: http.Header{forwardedProto: {"http"}},
		},
		"values that cannot be right": {
			from: "10.1.2.3:1000",
			header: http.Header{
				forwardedProto: {"javascript"}, forwardedHost: {"a b"}, forwardedPrefix: {"//evil.example"},
			},
			client: "10.1.2.3", host: "asked.example", left: http.Header{},
		},
		"an IPv4 peer on an IPv6 socket": {
			from: "[::ffff:10.1.2.3]:1000", header: http.Header{forwardedFor: {"198.51.100.1"}},
			client: "198.51.100.1", host: "asked.example", left: http.Header{},
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
			if diff := cmp.Diff(test.left, r.Header); diff != "" {
				t.Errorf("headers left (-want +got):\n%s", diff)
			}
		})
	}
}
