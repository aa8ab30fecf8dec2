package outbound_test

import (
	"net/http"
	"testing"
	"time"

	"caldav-mcp-server/outbound"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-5": 0, "0": 0, "90": 90 * time.Second, " 7 ": 7 * time.Second,
		"9223372036854775807": 24 * time.Hour, "99999999999999999999999": 0,
		"Sun, 29 Nov 2026 12:02:00 GMT":  2 * time.Minute,
		"Sunday, 29-Nov-26 12:00:30 GMT": 30 * time.Second,
		"Sun, 29 Nov 2026 11:00:00 GMT":  0,
		"Fri, 29 Nov 2126 12:00:00 GMT":  24 * time.Hour,
	} {
		header := http.Header{"Retry-After": {text}, "Date": {"Sun, 29 Nov 2026 12:00:00 GMT"}}
		if got := outbound.RetryAfter(header); got != want {
			t.Errorf("%q means %v, not %v", text, got, want)
		}
	}
	if got := outbound.RetryAfter(http.Header{"Retry-After": {"Sun, 29 Nov 2026 12:02:00 GMT"}}); got != 0 {
		t.Errorf("a date without the server's clock means %v", got)
	}
}
