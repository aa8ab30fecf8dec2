package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of trusted reverse proxies. Only they may name the client that they forward for.
type Proxies []netip.Prefix

// ParseProxies parses a comma-separated list of addresses and networks (10.0.0.0/8).
func ParseProxies(list string) (Proxies, error) {
	var all Proxies
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		p, err := parseNetwork(word)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func parseNetwork(word string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(word); err == nil {
		return p.Masked(), nil
	}
	addr, err := netip.ParseAddr(word)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is neither an address (10.0.0.1) nor a network (10.0.0.0/8)", word)
	}
	addr = addr.Unmap()
	return netip.PrefixFrom(addr, addr.BitLen()), nil
}

func (ps Proxies) trust(addr netip.Addr) bool {
	return slices.ContainsFunc(ps, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// The proxy headers that are evaluated. After settle, the request contains verified values.
const (
	forwardedFor  = "X-Forwarded-For"
	forwardedHost = "X-Forwarded-Host"
)

// forwarding are all the headers that proxies send. The public scheme and path come from BASE_URL instead, and the
// other headers are removed, so that no door can trust them by mistake.
var forwarding = [...]string{forwardedFor, forwardedHost, "X-Forwarded-Proto", "X-Forwarded-Prefix", "Forwarded"}

// Way is how a request arrived, for diagnosing faults between client and server.
type Way string

// The possible ways.
const (
	// WayDirect: no header indicates a proxy.
	WayDirect Way = "direct"
	// WayTLS: as WayDirect, and the server itself decrypted the connection, so that there is no proxy.
	WayTLS Way = "tls"
	// WayBelieved: a trusted proxy named its client.
	WayBelieved Way = "believed"
	// WayUnsaid: from a trusted proxy's address, but no header names the client.
	WayUnsaid Way = "unsaid"
	// WayUnbelieved: an untrusted sender named another client.
	WayUnbelieved Way = "unbelieved"
)

// way classifies a request. It must run before settle replaces the headers.
func (ps Proxies) way(r *http.Request) Way {
	said := false
	for _, name := range forwarding {
		said = said || len(r.Header.Values(name)) > 0
	}
	switch trusted := ps.trust(peer(r)); {
	case trusted && len(r.Header.Values(forwardedFor)) > 0:
		return WayBelieved
	case trusted:
		return WayUnsaid
	case said:
		return WayUnbelieved
	case r.TLS != nil:
		return WayTLS
	}
	return WayDirect
}

// settle returns the client's address, and sets the request's host to the one that the client requested.
func (ps Proxies) settle(r *http.Request) netip.Addr {
	from := peer(r)
	if host := last(r.Header.Values(forwardedHost)); ps.trust(from) && validHost(host) {
		r.Host = host
	}
	list := r.Header.Values(forwardedFor)
	for _, name := range forwarding {
		r.Header.Del(name)
	}
	return ps.client(from, list)
}

// client walks the list of forwarders from our end. The first untrusted address is the client; entries to its left are
// unverified.
func (ps Proxies) client(from netip.Addr, lines []string) netip.Addr {
	words := strings.Split(strings.Join(lines, ","), ",")
	for i := len(words) - 1; i >= 0 && ps.trust(from); i-- {
		addr, ok := forwarder(strings.TrimSpace(words[i]))
		if !ok {
			return from
		}
		from = addr
	}
	return from
}

// forwarder parses one entry: an address, which some proxies write with a port.
func forwarder(word string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(strings.Trim(word, "[]")); err == nil {
		return addr.Unmap().WithZone(""), true
	}
	if ap, err := netip.ParseAddrPort(word); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	return netip.Addr{}, false
}

// peer returns the address of the other end of the connection.
func peer(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// last returns the value that the nearest proxy added.
func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	line := lines[len(lines)-1]
	return strings.TrimSpace(line[strings.LastIndexByte(line, ',')+1:])
}

func validHost(host string) bool {
	return host != "" && len(host) <= 255 && !strings.ContainsFunc(host, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune(`/\@?#"<>`, c)
	})
}
