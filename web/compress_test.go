package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"testing"
)

// TestCompressedPages reads pages and static files as browsers with and without gzip do. A page that another site's
// page opened is not compressed: its length must not depend on how well a guess matches a secret in it (BREACH).
func TestCompressedPages(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		style := regexp.MustCompile(`/account/static/style-[0-9a-f]+\.css`).FindString(b.get("").body)
		for _, c := range []struct {
			path, site, accept string
			compressed         bool
		}{
			{"", "none", "gzip, deflate, br", true},
			{"settings", "same-origin", "br, gzip;q=0.5", true},
			{"settings", "same-origin", "gzip;q=0", false},
			{"settings", "same-origin", "br", false},
			{"settings", "cross-site", "gzip", false},
			{"settings", "same-site", "gzip", false},
			{"settings", "", "gzip", false},
			{style, "cross-site", "gzip", true},
			{style, "same-origin", "identity", false},
		} {
			r, err := http.NewRequestWithContext(h.Context(), http.MethodGet, b.address(c.path), nil)
			h.must(err)
			r.Header.Set("Accept-Encoding", c.accept)
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			h.exchanges(b, r, c.compressed)
		}
	})
}

// exchanges wants a response in the given form, whose content is that of the uncompressed one.
func (h *house) exchanges(b *browser, r *http.Request, compressed bool) {
	h.Helper()
	res, err := b.client.Do(r)
	h.must(err)
	defer res.Body.Close()
	var body io.Reader = res.Body
	if got := res.Header.Get("Content-Encoding"); compressed != (got == "gzip") {
		h.Errorf("%s of %q, gzip by %q: Content-Encoding %q", r.URL, r.Header.Get("Sec-Fetch-Site"),
			r.Header.Get("Accept-Encoding"), got)
	} else if compressed {
		body, err = gzip.NewReader(res.Body)
		h.must(err)
	}
	got, err := io.ReadAll(body)
	h.must(err)
	if whole := b.get(r.URL.Path).body; string(got) != whole {
		h.Errorf("%s: %d bytes, want the %d of the uncompressed page", r.URL, len(got), len(whole))
	}
}
