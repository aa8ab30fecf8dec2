package outbound

import (
	"net"
	"net/netip"
	"slices"
)

// special are the networks of the IANA special-purpose registries (RFC 6890) without public servers, in addition to
// the networks that package netip knows.
var special = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT (RFC 6598)
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, broadcast
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4: an IPv4 address within
	netip.MustParsePrefix("3fff::/20"),       // documentation
}

// unicast is all of the assigned IPv6 space (RFC 4291 §2.4). It excludes NAT64 prefixes, which could lead to any IPv4
// address.
var unicast = netip.MustParsePrefix("2000::/3")

// public reports whether an unmapped address is on the public Internet.
func public(addr netip.Addr) bool {
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Zone() != "" || addr.Is6() && !unicast.Contains(addr) {
		return false
	}
	return !slices.ContainsFunc(special[:], func(network netip.Prefix) bool { return network.Contains(addr) })
}

// among reports whether an address is in one of the networks. Neighbours in the same network trust this machine, and
// with IPv6 they have global addresses.
func among(networks []net.Addr, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(one net.Addr) bool {
		network, ok := one.(*net.IPNet)
		return ok && network.Contains(addr.AsSlice())
	})
}
