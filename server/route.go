package server

import "strings"

// otherRoute stands for every path that no pattern matches, lest a stranger's requests for
// random paths fill the metrics.
const otherRoute = "other"

// routes are the patterns of a door. Logs and metrics name the pattern and never the path: a path
// has the names of people and their calendars in it.
type routes []route

type route struct {
	pattern  string
	segments []string
}

func newRoutes(patterns []string) routes {
	all := make(routes, len(patterns))
	for i, p := range patterns {
		all[i] = route{p, split(p)}
	}
	return all
}

// of returns the first pattern that a path matches; a slash at the end makes no difference.
func (rs routes) of(path string) string {
	segments := split(path)
	for _, r := range rs {
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

// methods are those that HTTP, WebDAV and CalDAV define; metrics call any other "OTHER".
const methods = " GET HEAD POST PUT PATCH DELETE OPTIONS PROPFIND PROPPATCH REPORT MKCALENDAR MKCOL COPY MOVE LOCK UNLOCK ACL "

func knownMethod(method string) string {
	if method != "" && !strings.Contains(method, " ") && strings.Contains(methods, " "+method+" ") {
		return method
	}
	return "OTHER"
}
