package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestAfter limits the wait that another server can ask for.
const longestAfter = 24 * time.Hour

// RetryAfter returns the wait that a response asks for (RFC 9110 §10.2.3), in seconds or as a date; 0 if it asks for
// none, and at most a day.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.Atoi(text); err == nil {
		return min(max(0, time.Duration(min(seconds, int(longestAfter/time.Second)))*time.Second), longestAfter)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(now)), longestAfter)
	}
	return 0
}
