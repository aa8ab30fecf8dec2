package server

import "testing"

func TestRoutes(t *testing.T) {
	t.Parallel()
	rs := newRoutes("/cal", []string{"/", "/dav", "/dav/calendars/{user}", "/dav/calendars/{user}/{calendar}", "/mcp"})
	for path, want := range map[string]string{
		"/":                           "/",
		"":                            "/",
		"/dav/":                       "/dav",
		"/mcp":                        "/mcp",
		"/dav/calendars/ann":          "/dav/calendars/{user}",
		"/dav/calendars/ann/":         "/dav/calendars/{user}",
		"/dav/calendars/ann/work/":    "/dav/calendars/{user}/{calendar}",
		"/dav/calendars/ann/work/a/b": "other",
		"/dav/ann":                    "other",
		"/dav/calendars/a%2Fb":        "/dav/calendars/{user}",
		"/cal/dav/calendars/ann/":     "/dav/calendars/{user}",
		"/cal":                        "/",
		"/cal/":                       "/",
		"/calendars":                  "other",
		"/wp-login.php":               "other",
	} {
		if got := rs.of(path); got != want {
			t.Errorf("%q is counted as %q, want %q", path, got, want)
		}
	}
}

func TestKnownMethod(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{
		"GET": "GET", "MKCALENDAR": "MKCALENDAR", "ACL": "ACL",
		"": "OTHER", "GET HEAD": "OTHER", "get": "OTHER", "BREW": "OTHER", "AC": "OTHER",
	} {
		if got := knownMethod(method); got != want {
			t.Errorf("%q is counted as %q, want %q", method, got, want)
		}
	}
}
