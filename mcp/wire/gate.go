package wire

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// gate decides which web origins may call. MCP 2025-11-25 "Streamable HTTP", Security Warning: a foreign Origin gets
// 403. Otherwise any page that the user opens could drive a server on their machine. Package server checks the Host
// header.
type gate struct {
	// origins are the allowed origins, including BaseURL's.
	origins []string
}

func newGate(baseURL string, allowed []string) gate {
	var g gate
	for _, origin := range allowed {
		g.origins = append(g.origins, normalOrigin(origin))
	}
	if u, err := url.Parse(baseURL); err == nil && u.Host != "" {
		g.origins = append(g.origins, normalOrigin(u.Scheme+"://"+u.Host))
	}
	return g
}

// normalOrigin normalizes an origin as browsers do (RFC 6454 §6.1): lower case, no path, no default port.
func normalOrigin(s string) string {
	s = strings.ToLower(strings.TrimRight(strings.TrimSpace(s), "/"))
	for scheme, port := range map[string]string{"http://": ":80", "https://": ":443"} {
		if strings.HasPrefix(s, scheme) {
			s = strings.TrimSuffix(s, port)
		}
	}
	return s
}

// Guard runs before authentication. It refuses foreign origins and answers preflight requests, which browsers send
// without credentials.
func (e *Endpoint) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.gate.admit(w, r) {
			return
		}
		if r.Method == http.MethodOptions {
			answerOptions(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit refuses requests from a foreign page. For an allowed origin it sets the headers that let the page read the
// response.
func (g gate) admit(w http.ResponseWriter, r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 || !g.knowsOrigin(origins[0], r.Host) {
		refuse(w, http.StatusForbidden, "this origin is not allowed: add it to ALLOWED_ORIGINS if it should be")
		return false
	}
	if w.Header().Get("Access-Control-Allow-Origin") != "" {
		return true // guard has already run
	}
	w.Header().Set("Access-Control-Allow-Origin", origins[0])
	// We use no cookies, but pages that send requests with credentials get a response too.
	w.Header().Set("Access-Control-Allow-Credentials", "true")
	w.Header().Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After, X-Request-Id")
	w.Header().Add("Vary", "Origin")
	return true
}

// knowsOrigin allows configured origins, and pages that this server serves under a loopback name. A matching Host
// header alone proves nothing: the origin of a page that uses DNS rebinding matches it too, but is no loopback name.
func (g gate) knowsOrigin(origin, host string) bool {
	if slices.Contains(g.origins, normalOrigin(origin)) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(origin, u.Scheme+"://"+u.Host) && strings.EqualFold(u.Host, host) &&
		isLoopback(u.Host)
}

// answerOptions answers a preflight request (Fetch §3.2.2) from an admitted origin.
func answerOptions(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", allowedMethods)
	if r.Header.Get("Origin") != "" {
		w.Header().Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
		w.Header().Set("Access-Control-Allow-Headers",
			"Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, "+
				"Last-Event-ID")
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

// Serve serves the requests of an authenticated caller to /mcp.
func (e *Endpoint) Serve(w http.ResponseWriter, r *http.Request, caller Peer) {
	if !e.gate.admit(w, r) {
		return
	}
	// Responses are private to one caller.
	w.Header().Set("Cache-Control", "no-store")
	for _, m := range methods {
		if m.name == r.Method {
			m.serve(e, w, r, caller)
			return
		}
	}
	w.Header().Set("Allow", allowedMethods)
	refuse(w, http.StatusMethodNotAllowed, r.Method+" is not supported here: this address accepts "+allowedMethods)
}

// methods are the HTTP methods of the endpoint.
var methods = [...]struct {
	name  string
	serve func(*Endpoint, http.ResponseWriter, *http.Request, Peer)
}{
	{http.MethodPost, (*Endpoint).post},
	{http.MethodGet, (*Endpoint).listen},
	{http.MethodDelete, (*Endpoint).endSession},
}

const allowedMethods = "POST, GET, DELETE, OPTIONS"
