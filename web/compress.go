package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// compressMin is the smallest compressed body: a smaller one fits into one packet anyway.
const compressMin = 1 << 10

// gzips are writers that are not in use: each has about 800 KB of buffers.
var gzips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compressed returns the gzip form of a body.
func compressed(body []byte) []byte {
	var b bytes.Buffer
	w, _ := gzips.Get().(*gzip.Writer)
	defer gzips.Put(w)
	w.Reset(&b)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// takesGzip reports whether the browser accepts gzip (RFC 9110 §12.5.3).
func takesGzip(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept-Encoding") {
		for word := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(word, ";")
			if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
				continue
			}
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}

// ownRequest reports whether one of our pages or the visitor caused the request. BREACH needs many requests that a page
// of another site causes, so their responses are never compressed; see docs/decisions/0104-compressed-pages.md.
func ownRequest(r *http.Request) bool {
	return slices.Contains([]string{"same-origin", "none"}, r.Header.Get("Sec-Fetch-Site"))
}

// writePage sends a page, compressed if that is safe and pays off. The page is never cached, so its URL needs no Vary
// for caches; it is set for intermediaries that ignore no-store.
func writePage(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Add("Vary", "Accept-Encoding, Sec-Fetch-Site")
	if len(body) >= compressMin && ownRequest(r) && takesGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		body = compressed(body)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the visitor may have gone
}
