package mcp

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// gate decides which browsers' pages may call. MCP 2025-11-25 "Streamable HTTP", Security
// Warning: a foreign Origin is answered 403, lest any page that the user opens drive a
// server on their machine. By which names that may be asked at all, package server decides.
type gate struct {
	// origins are those allowed, BaseURL's own included.
	origins []string
}

func newGate(baseURL string, allowed []string) gate {
	g := gate{origins: each(allowed, normalOrigin)}
	if u, err := url.Parse(baseURL); err == nil && u.Host != "" {
		g.origins = append(g.origins, normalOrigin(u.Scheme+"://"+u.Host))
	}
	return g
}

// normalOrigin writes an origin as browsers do (RFC 6454 §6.1): lower case, no path, and no
// port where it is the scheme's own.
func normalOrigin(s string) string {
	s = strings.ToLower(strings.TrimRight(strings.TrimSpace(s), "/"))
	for scheme, port := range map[string]string{"http://": ":80", "https://": ":443"} {
		if strings.HasPrefix(s, scheme) {
			s = strings.TrimSuffix(s, port)
		}
	}
	return s
}

// Guard stands before authentication: it refuses foreign origins, and answers
// preflight requests, which browsers send without credentials.
func (h *Handler) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.gate.admit(w, r) {
			return
		}
		if r.Method == http.MethodOptions {
			answerOptions(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit refuses what comes from a foreign page, and marks the answer to an allowed one so
// that the page can read it.
func (g gate) admit(w http.ResponseWriter, r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 || !g.knowsOrigin(origins[0], r.Host) {
		refuse(w, http.StatusForbidden, "pages of this origin may not call: add it to ALLOWED_ORIGINS if they should")
		return false
	}
	if w.Header().Get("Access-Control-Allow-Origin") != "" {
		return true // Guard has been here
	}
	w.Header().Set("Access-Control-Allow-Origin", origins[0])
	// No cookie means anything here; pages that ask with credentials all the same get an answer.
	w.Header().Set("Access-Control-Allow-Credentials", "true")
	w.Header().Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After, X-Request-Id")
	w.Header().Add("Vary", "Origin")
	return true
}

// knowsOrigin allows what is configured, and pages that this server would have served itself
// under a loopback name. The Host header alone proves nothing: a rebound page's origin
// equals it, but is no loopback name.
func (g gate) knowsOrigin(origin, host string) bool {
	if slices.Contains(g.origins, normalOrigin(origin)) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(origin, u.Scheme+"://"+u.Host) && strings.EqualFold(u.Host, host) && isLoopback(u.Host)
}

// answerOptions answers a preflight request (Fetch §3.2.2) of an origin that was admitted.
func answerOptions(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", allowedMethods)
	if r.Header.Get("Origin") != "" {
		w.Header().Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
		w.Header().Set("Access-Control-Allow-Headers",
			"Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID")
		w.Header().Set("Access-Control-Max-Age", "7200")
	}
	w.WriteHeader(http.StatusNoContent)
}

func isLoopback(hostport string) bool {
	host := hostname(hostport)
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// hostname returns the host of "host:port", "host", "[::1]:port" or "[::1]".
func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}
