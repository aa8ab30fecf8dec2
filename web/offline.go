package web

import (
	"encoding/json"
	"net/http"
)

const (
	// workerPath is the path of the service worker. It is fixed, since browsers look there for new versions.
	workerPath   = "sw.js"
	manifestPath = "app.webmanifest"
	// sessionTag is the header that names the session of a page. The service worker deletes its stored pages when the
	// session differs.
	sessionTag = "Session-Tag"
)

// offlinePages let browsers install the pages as an app, and show visited pages without a connection.
type offlinePages struct{ *pageRequest }

func (h *Handler) offlinePages() []page {
	return []page{
		get(workerPath, anybody, offlinePages.worker),
		get(manifestPath, anybody, offlinePages.manifest),
		get("offline", anybody, showing("offline", func(offlinePages) (struct{}, error) { return struct{}{}, nil })),
	}
}

// worker is the service worker. It may serve the whole site, because events have pages outside of ours.
func (p offlinePages) worker() error {
	p.w.Header().Set("Service-Worker-Allowed", p.base+"/")
	return p.file("text/javascript; charset=utf-8", p.assets.contents[p.assets.names[workerPath]])
}

// manifest describes the app that browsers install (https://www.w3.org/TR/appmanifest/).
func (p offlinePages) manifest() error {
	f := frame{Root: p.href(""), assets: p.assets}
	type icon struct {
		Src     string `json:"src"`
		Sizes   string `json:"sizes"`
		Type    string `json:"type"`
		Purpose string `json:"purpose"`
	}
	data, err := json.Marshal(map[string]any{
		"name": p.lang.Text("layout.brand"), "short_name": p.lang.Text("layout.brand"), "lang": p.lang.Tag(),
		"id": p.base + calendarRoot, "start_url": p.base + calendarRoot, "scope": p.base + "/",
		"display": "standalone", "theme_color": "#0b57a4", "background_color": "#ffffff",
		"icons": []icon{
			{f.Asset("icon-192.png"), "192x192", "image/png", "any"},
			{f.Asset("icon-512.png"), "512x512", "image/png", "any"},
			{f.Asset("icon-maskable.png"), "512x512", "image/png", "maskable"},
			{f.Asset("icon.svg"), "any", "image/svg+xml", "any"},
		},
	})
	if err != nil {
		return err
	}
	p.w.Header().Add("Vary", "Accept-Language")
	return p.file("application/manifest+json", data)
}

// file answers with a file that browsers fetch again each time.
func (p offlinePages) file(kind string, data []byte) error {
	p.w.Header().Set("Content-Type", kind)
	p.w.Header().Set("Cache-Control", "no-cache")
	p.w.WriteHeader(http.StatusOK)
	_, _ = p.w.Write(data) // the browser may have gone
	return nil
}
