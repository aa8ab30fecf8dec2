package dav

import (
	"net/http"
	"net/url"
	"strings"
)

// Destination reads the header of COPY and MOVE (RFC 4918 §10.3).
func (x *Exchange) Destination() (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(x.R.Header.Get("Destination")))
	if err != nil || u.Opaque != "" || u.Host == "" && u.Path == "" {
		return nil, Refuse(http.StatusBadRequest, "this method takes a Destination: a path or a URL")
	}
	return u, nil
}

// IsHere reports whether a URL points to this server: it names no host, or the host of the request, or the given one.
// Ports are not compared, since proxies often do not forward them.
func (x *Exchange) IsHere(u *url.URL, host string) bool {
	came := url.URL{Host: x.R.Host}
	return u.Host == "" || strings.EqualFold(u.Hostname(), came.Hostname()) || strings.EqualFold(u.Hostname(), host)
}

// Overwrite reads the header of COPY and MOVE (RFC 4918 §10.6).
func (x *Exchange) Overwrite() (bool, error) {
	switch v := strings.TrimSpace(x.R.Header.Get("Overwrite")); strings.ToUpper(v) {
	case "", "T":
		return true, nil
	case "F":
		return false, nil
	default:
		return false, Refuse(http.StatusBadRequest, "Overwrite must be T or F")
	}
}
