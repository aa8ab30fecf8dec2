package outbound

import (
	"io"
	"net/http"

	"caldav-mcp-server/trace"
)

// bounded is a transport that limits the size of responses.
type bounded struct {
	guard  *Guard
	limits Limits
}

// RoundTrip implements [http.RoundTripper]. It also sees each redirect, and checks its address again.
func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := b.guard.check(r.URL, b.limits); err != nil {
		return nil, err
	}
	if r.Header.Get("User-Agent") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", b.guard.agent)
	}
	_, span := trace.Start(r.Context(), r.Method, trace.Client)
	span.Text("caldav_mcp.whom", b.guard.whom)
	transport := b.guard.transport
	if r.URL.Scheme == "http" {
		transport = b.guard.plain
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		span.End(true)
		return nil, err
	}
	span.Number("http.response.status_code", int64(answer.StatusCode))
	span.End(answer.StatusCode >= http.StatusBadRequest)
	most := b.limits.Bytes
	if answer.ContentLength > most {
		_ = answer.Body.Close()
		return nil, errTooLarge(most)
	}
	answer.Body = &body{answer.Body, most, most}
	return answer, nil
}

func errTooLarge(limit int64) error { return refused("the answer is larger than %d bytes", limit) }

// body is a response body that fails beyond its limit. A compressed body is decompressed as it is read, so a
// decompression bomb is stopped at the limit.
type body struct {
	io.ReadCloser
	limit, left int64
}

func (b *body) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge(b.limit)
	}
	return n, err
}
