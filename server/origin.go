package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The headers that pages of an allowed origin may send and read (Fetch §3.2).
const (
	corsMethods = "GET, HEAD, OPTIONS, PUT, DELETE, PROPFIND, PROPPATCH, REPORT, MKCALENDAR, MKCOL, COPY, MOVE, POST"
	corsRequest = "Authorization, Content-Type, Depth, Destination, If-Match, If-None-Match, Overwrite, Prefer"
	corsAnswer  = "DAV, ETag, Last-Modified, Location, Retry-After, WWW-Authenticate, X-Request-Id"
)

// ownOrigin refuses cross-origin requests: browsers remember Basic credentials and would send them with another site's
// requests. Programs send no Origin.
func (s *Server) ownOrigin(d *Door, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.AnyOrigin != nil && d.AnyOrigin(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		origins := r.Header.Values("Origin")
		allowed := len(origins) == 1 && slices.Contains(d.Origins, origins[0])
		if len(origins) > 0 && !allowed && !s.servedFromHere(origins, r.Host) {
			http.Error(w, foreign(origins, r.Host), http.StatusForbidden)
			return
		}
		if allowed {
			w.Header().Set("Access-Control-Allow-Origin", origins[0])
			w.Header().Set("Access-Control-Expose-Headers", corsAnswer)
			w.Header().Add("Vary", "Origin")
		}
		// A preflight has no credentials, so no inner handler could answer it.
		if allowed && r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			w.Header().Set("Access-Control-Allow-Methods", corsMethods)
			w.Header().Set("Access-Control-Allow-Headers", corsRequest)
			w.Header().Set("Access-Control-Max-Age", "7200")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// servedFromHere reports whether the origin is one of our pages. An origin equal to the requested host does not prove
// that: after DNS rebinding they are equal, too.
func (s *Server) servedFromHere(origins []string, host string) bool {
	return ofHost(origins, host) && s.known(hostname(host))
}

// ofHost reports whether the origin is scheme://host[:port] and nothing more (RFC 6454 §6.1), of that host.
func ofHost(origins []string, host string) bool {
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && u.Host != "" && strings.EqualFold(u.Host, host) &&
		strings.EqualFold(origins[0], u.Scheme+"://"+u.Host)
}

// foreign explains the refusal. Its reader may be a user of our own pages.
func foreign(origins []string, host string) string {
	if ofHost(origins, host) {
		return "this server does not know the name in the address of this page; set BASE_URL to it, or open the " +
			"pages by IP address"
	}
	return "this origin is not allowed; ALLOWED_ORIGINS lists the allowed ones"
}
