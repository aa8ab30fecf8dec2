package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestAfter limits the wait that another server can ask for.
const longestAfter = 24 * time.Hour

// RetryAfter returns the wait that a response asks for (RFC 9110 §10.2.3), in seconds or until a date; 0 if it asks for
// none, and at most a day. The Date of the response is the clock of that date, so a server with a wrong clock is
// understood as well.
func RetryAfter(header http.Header) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.Atoi(text); err == nil {
		return min(max(0, time.Duration(min(seconds, int(longestAfter/time.Second)))*time.Second), longestAfter)
	}
	at, err1 := http.ParseTime(text)
	now, err2 := http.ParseTime(header.Get("Date"))
	if err1 != nil || err2 != nil {
		return 0
	}
	return min(max(0, at.Sub(now)), longestAfter)
}
