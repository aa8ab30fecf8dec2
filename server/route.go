package server

import "strings"

// otherRoute stands for every unmatched path, so that requests for random paths cannot fill the metrics.
const otherRoute = "other"

// routes are the patterns of a door. Logs and metrics have the pattern and never the path: a path contains the names of
// users and calendars.
type routes struct {
	base string
	rows []route
}

type route struct {
	pattern  string
	segments []string
}

func newRoutes(base string, patterns []string) routes {
	all := routes{base, make([]route, len(patterns))}
	for i, p := range patterns {
		all.rows[i] = route{p, split(p)}
	}
	return all
}

// of returns the first pattern that matches a path, with or without the base in front; a trailing slash makes no
// difference. The path is still escaped: %2F is no slash.
func (rs routes) of(path string) string {
	if rest := strings.TrimPrefix(path, rs.base); rest == "" || rest[0] == '/' {
		path = rest
	}
	segments := split(path)
	for _, r := range rs.rows {
		if r.matches(segments) {
			return r.pattern
		}
	}
	return otherRoute
}

func (r route) matches(segments []string) bool {
	if len(segments) != len(r.segments) {
		return false
	}
	for i, want := range r.segments {
		if !strings.HasPrefix(want, "{") && want != segments[i] {
			return false
		}
	}
	return true
}

func split(path string) []string {
	trimmed := strings.Trim(path, "/")
	if trimmed == "" {
		return nil
	}
	return strings.Split(trimmed, "/")
}

// methods are the methods of HTTP, WebDAV and CalDAV; metrics call any other "OTHER".
const methods = " GET HEAD POST PUT PATCH DELETE OPTIONS PROPFIND PROPPATCH REPORT MKCALENDAR MKCOL COPY MOVE LOCK " +
	"UNLOCK ACL "

func knownMethod(method string) string {
	if method != "" && !strings.Contains(method, " ") && strings.Contains(methods, " "+method+" ") {
		return method
	}
	return "OTHER"
}
