package outbound

import (
	"context"
	"net"
	"net/netip"
	"testing"
)

// TestNeighbours has names stand for global addresses beside our own, and for other ports: nobody is asked there but
// who was allowed.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		addr, port, allow string
		asked             bool
	}{
		{"2606:4700::2", "443", "", false},
		{"2606:4700:0:1::2", "443", "", true},
		{"93.184.215.9", "443", "", false},
		{"::ffff:93.184.215.9", "443", "", false},
		{"93.184.215.9", "443", "93.184.215.9/32", true},
		{"93.184.216.9", "443", "", true},
		{"93.184.216.9", "8443", "", false},
		{"10.0.0.1", "8443", "10.0.0.0/8", true},
	} {
		c := Config{
			Lookup: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr(test.addr)}, nil
			},
			Own: func() ([]net.Addr, error) {
				return []net.Addr{
					&net.IPNet{IP: net.ParseIP("2606:4700::1"), Mask: net.CIDRMask(64, 128)},
					&net.IPNet{IP: net.IPv4(93, 184, 215, 14), Mask: net.CIDRMask(24, 32)},
				}, nil
			},
		}
		if test.allow != "" {
			c.Allow = []netip.Prefix{netip.MustParsePrefix(test.allow)}
		}
		guard := New(c)
		got, err := guard.addresses(t.Context(), "example.com", test.port, guard.permitted)
		if asked := err == nil && len(got) == 1; asked != test.asked {
			t.Errorf("%s at port %s, allowed %q: %v, %v, want asked: %v", test.addr, test.port, test.allow, got, err,
				test.asked)
		}
	}
}
