package dav

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// compressBytes is the smallest response that is compressed: a smaller one fits into the same packet anyway.
const compressBytes = 2 << 10

// Compressed compresses a response if the client accepts gzip and it pays off. A response with a strong entity tag
// stays as it is, because the tag stands for exactly these bytes (RFC 9110 §8.8.3).
type Compressed struct {
	http.ResponseWriter
	// server is nil when the client takes no gzip.
	server *Server
	gz     *gzip.Writer
	begun  bool
}

// Compress wraps w.
func (s *Server) Compress(w http.ResponseWriter, r *http.Request) *Compressed {
	c := &Compressed{ResponseWriter: w}
	if r.Method != http.MethodHead && takesGzip(r.Header.Values("Accept-Encoding")) {
		c.server = s
	}
	return c
}

// takesGzip reads Accept-Encoding (RFC 9110 §12.5.3).
func takesGzip(lines []string) bool {
	for _, line := range lines {
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

// WriteHeader decides whether to compress: the response headers are complete now.
func (c *Compressed) WriteHeader(status int) {
	c.begun = true
	if h := c.Header(); c.server != nil && worthIt(h) {
		h.Set("Content-Encoding", "gzip")
		h.Add("Vary", "Accept-Encoding")
		h.Del("Content-Length")
		c.gz, _ = c.server.gzips.Get().(*gzip.Writer)
		c.gz.Reset(c.ResponseWriter)
	}
	c.ResponseWriter.WriteHeader(status)
}

// worthIt reports whether compression pays off. A response without a length counts as a long one.
func worthIt(h http.Header) bool {
	length, err := strconv.Atoi(h.Get("Content-Length"))
	long := err != nil || length >= compressBytes
	media := h.Get("Content-Type")
	text := strings.HasPrefix(media, "application/xml") || strings.HasPrefix(media, "text/")
	tag := h.Get("ETag")
	return long && text && (tag == "" || strings.HasPrefix(tag, "W/"))
}

// Write writes a part of the response.
func (c *Compressed) Write(p []byte) (int, error) {
	if !c.begun {
		c.WriteHeader(http.StatusOK)
	}
	if c.gz != nil {
		return c.gz.Write(p)
	}
	return c.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (c *Compressed) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// End finishes the response. It must not be called after a response that broke off.
func (c *Compressed) End() {
	if c.gz == nil {
		return
	}
	// If the client has gone, there is no way to report the error.
	_ = c.gz.Close()
	c.server.gzips.Put(c.gz)
}
