package outbound

import (
	"net"
	"net/netip"
	"slices"
)

// special are the networks of the IANA special-purpose registries (RFC 6890) in which there is no
// server that a stranger may have us ask, beyond those that package netip knows.
var special = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carriers' own (RFC 6598)
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

// unicast is all of IPv6 that is given out (RFC 4291 §2.4). What is outside, such as NAT64's
// translations of IPv4, is asked by nobody's name.
var unicast = netip.MustParsePrefix("2000::/3")

// public tells whether an address, which is not mapped, is one of the Internet.
func public(addr netip.Addr) bool {
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Zone() != "" || addr.Is6() && !unicast.Contains(addr) {
		return false
	}
	return !slices.ContainsFunc(special[:], func(network netip.Prefix) bool { return network.Contains(addr) })
}

// among tells whether an address is in one of these networks. The neighbours of a machine trust it, and in IPv6 their
// addresses are global ones.
func among(networks []net.Addr, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(one net.Addr) bool {
		network, ok := one.(*net.IPNet)
		return ok && network.Contains(addr.AsSlice())
	})
}
