package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// handler wraps a door's handler in the middleware, the outermost first.
func (s *Server) handler(d Door) http.Handler {
	h := bounded(&d, d.Handler)
	if d.CheckOrigin {
		h = s.ownOrigin(&d, h)
	}
	h = s.health(h)
	h = s.ownHost(h)
	h = s.watch(h)
	h = s.patience(h)
	return s.record(&d, newRoutes(d.Base, append([]string{aliveRoute, readyRoute}, d.Routes...)), h)
}

// bounded refuses bodies over the door's limit.
func bounded(d *Door, next http.Handler) http.Handler {
	limit := d.MaxBody
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.OwnLimits != nil && d.OwnLimits(r) {
			next.ServeHTTP(w, r)
			return
		}
		if r.ContentLength > limit {
			w.Header().Set("Connection", "close")
			http.Error(w, "the request's body is too large", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		next.ServeHTTP(w, r)
	})
}

// ownHost refuses DNS rebinding: a web page whose host name points at this machine, so that the browser sends us its
// requests. A server that listens only on this machine accepts the machine's own names, the configured name, and
// trusted proxies.
func (s *Server) ownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if onLoopback(r) && !s.known(hostname(r.Host)) && !s.config.Proxies.trust(peer(r)) {
			http.Error(w, "this server is not known by the name it was asked under; BASE_URL tells it its name",
				http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func onLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback()
}

func (s *Server) known(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true // an IP address cannot be rebound
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || slices.Contains(s.config.Hosts, host)
}

// hostname returns a Host header without its port, in lower case; empty if it is not host[:port] (RFC 9110 §7.2).
func hostname(host string) string {
	u, err := url.Parse("http://" + host)
	if err != nil || u.Host != host {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}
