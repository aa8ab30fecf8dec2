package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the networks of the reverse proxies in front of us. Only what comes from there can
// say for whom it asks.
type Proxies []netip.Prefix

// ParseProxies reads a comma list of addresses and networks (10.0.0.0/8).
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
	for _, p := range ps {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// The headers with which a proxy tells what it was asked. After settle they are true or absent,
// so that no door has to ask who sent them.
const (
	forwardedFor    = "X-Forwarded-For"
	forwardedProto  = "X-Forwarded-Proto"
	forwardedHost   = "X-Forwarded-Host"
	forwardedPrefix = "X-Forwarded-Prefix"
)

// believable says which values of a forwarding header can be right at all.
var believable = map[string]func(string) bool{
	forwardedProto:  func(v string) bool { return v == "http" || v == "https" },
	forwardedHost:   validHost,
	forwardedPrefix: validPrefix,
}

// settle returns the client's address and removes every forwarding header that is not to be
// believed. The host that the client asked for becomes the request's host.
func (ps Proxies) settle(r *http.Request) netip.Addr {
	from := peer(r)
	trusted := ps.trust(from)
	for name, valid := range believable {
		value := last(r.Header.Values(name))
		if !trusted || !valid(value) {
			r.Header.Del(name)
			continue
		}
		r.Header.Set(name, value)
	}
	// RFC 7239 is not read; no door may be tempted to.
	r.Header.Del("Forwarded")
	if host := r.Header.Get(forwardedHost); host != "" {
		r.Host = host
	}
	list := r.Header.Values(forwardedFor)
	r.Header.Del(forwardedFor) // the record has what is true of it
	return ps.client(from, list)
}

// client walks the list of forwarders from our end: the first one that we do not trust is the
// client, whatever it wrote in front of itself.
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

// forwarder reads one entry: an address, which some proxies write with a port.
func forwarder(word string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(strings.Trim(word, "[]")); err == nil {
		return addr.Unmap().WithZone(""), true
	}
	if ap, err := netip.ParseAddrPort(word); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	return netip.Addr{}, false
}

// peer is the address of the other end of the connection.
func peer(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// last is the value that the nearest proxy added.
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

func validPrefix(prefix string) bool {
	return strings.HasPrefix(prefix, "/") && !strings.Contains(prefix, "//") && !strings.Contains(prefix, "..") &&
		!strings.ContainsFunc(prefix, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`\?#"<>`, c) })
}
