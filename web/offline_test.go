package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

// The pages can be installed as an app: the manifest and its icons need no session.
func TestManifest(t *testing.T) {
	t.Parallel()
	h := open(t, testdb.SQLite(t))
	got := h.browser().get("app.webmanifest").shows(http.StatusOK)
	var m struct {
		Start string `json:"start_url"`
		Scope string `json:"scope"`
		Icons []struct{ Src, Sizes, Purpose string }
	}
	h.must(json.Unmarshal([]byte(got.body), &m))
	if m.Start != "/calendar/" || m.Scope != "/" || got.header.Get("Content-Type") != "application/manifest+json" {
		t.Errorf("%v\n%s", got.header, got.body)
	}
	sizes := map[string]bool{}
	for _, icon := range m.Icons {
		sizes[icon.Sizes+" "+icon.Purpose] = true
		file := h.browser().get(icon.Src).shows(http.StatusOK)
		if kind := file.header.Get("Content-Type"); !strings.HasPrefix(kind, "image/") {
			t.Errorf("%s: %s", icon.Src, kind)
		}
	}
	if !sizes["192x192 any"] || !sizes["512x512 any"] || !sizes["512x512 maskable"] {
		t.Error(sizes)
	}
}

// The service worker learns by a header to whom a page belongs, and by an attribute how old it is.
func TestPagesForTheServiceWorker(t *testing.T) {
	t.Parallel()
	h := open(t, testdb.SQLite(t))
	h.user("ann")
	nobody := h.browser()
	for _, path := range []string{"sign-in", "offline", "sw.js"} {
		if got := nobody.get(path).shows(http.StatusOK).header.Get("Session-Tag"); got != "" {
			t.Errorf("%s belongs to %q", path, got)
		}
	}
	one, two := h.as("ann"), h.as("ann")
	tag := one.get("/calendar/week/").header.Get("Session-Tag")
	if tag == "" || one.get("settings").header.Get("Session-Tag") != tag ||
		two.get("settings").header.Get("Session-Tag") == tag {
		t.Errorf("the tag is %q", tag)
	}
	page := one.get("/calendar/week/").shows(http.StatusOK)
	const line = `<main id="main" data-offline="You are offline. This is the page as of Fri 1 May 2026, 14:00.`
	if !strings.Contains(page.body, line) ||
		!strings.Contains(page.header.Get("Content-Security-Policy"), "worker-src 'self'; manifest-src 'self'") {
		t.Errorf("%v\n%s", page.header, page.body)
	}
	one.post("sign-out")
	if got := one.get("/calendar/week/").header.Get("Session-Tag"); got != "" {
		t.Errorf("after signing out: %q", got)
	}
}
