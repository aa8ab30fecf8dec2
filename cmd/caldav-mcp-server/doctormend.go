package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
)

// statusMends are what usually helps when a server answers so to something that it should take.
var statusMends = map[int]string{
	http.StatusBadRequest:   "something in front of the server does not understand the request: does the proxy pass it on by HTTP/1.1 and whole?",
	http.StatusUnauthorized: "name and password are not taken: are they right (set-password gives new ones), and does the proxy pass the Authorization header on?",
	http.StatusForbidden:    "something refuses the request: does the proxy let all methods through (OPTIONS, PROPFIND, PROPPATCH, REPORT, MKCALENDAR, PUT, DELETE)?",
	http.StatusNotFound:     "the path does not reach the server: does the proxy pass all paths on, and has BASE_URL the same path as the URL that apps are given?",
	http.StatusMethodNotAllowed: "something in front of the server does not let the method through: the proxy must pass OPTIONS, PROPFIND, PROPPATCH, REPORT, " +
		"MKCALENDAR, PUT and DELETE on",
	http.StatusMisdirectedRequest:  "the server does not know the name it was asked by: set BASE_URL to the URL that apps are given",
	http.StatusNotImplemented:      "something in front of the server does not know the method: the proxy must pass OPTIONS, PROPFIND, REPORT and MKCALENDAR on",
	http.StatusTooManyRequests:     "there were too many wrong passwords: wait, and set TRUSTED_PROXIES so that the server can tell its clients apart",
	http.StatusBadGateway:          "the proxy does not reach the server: does it run (caldav-mcp-server health), and where the proxy looks for it?",
	http.StatusServiceUnavailable:  "the server or what it stands on is not ready: caldav-mcp-server health on its machine says more",
	http.StatusGatewayTimeout:      "the proxy waits in vain for the server: caldav-mcp-server health on its machine says more",
	http.StatusInternalServerError: "the server has a fault; its log has more under the request's id",
}

// mendOf says what to do about a failure.
func mendOf(err error) string {
	if a, ok := errors.AsType[*ailment](err); ok {
		return a.mend
	}
	if s, ok := errors.AsType[*statusError](err); ok {
		return statusMends[s.Status]
	}
	var (
		unknown   x509.UnknownAuthorityError
		wrongName x509.HostnameError
		expired   x509.CertificateInvalidError
		plain     tls.RecordHeaderError
		dns       *net.DNSError
		dial      *net.OpError
	)
	switch {
	case errors.As(err, &dns):
		return "the name leads nowhere: is it written right, and is there a DNS record for it?"
	case errors.As(err, &unknown):
		return "the certificate is of no authority that this machine knows; phones refuse it too: get one of a public authority, as Caddy does by itself"
	case errors.As(err, &wrongName):
		return "the certificate is for another name: get one for the name in the URL"
	case errors.As(err, &expired):
		return "the certificate is not valid now: renew it, and see that the clocks are right"
	case errors.As(err, &plain):
		return "the port speaks no TLS: is it the server's own (use http://), or is the proxy's TLS missing?"
	case errors.As(err, &dial):
		return "nobody listens there: does the server or its proxy run, on that port, and does a firewall let it through?"
	}
	return ""
}
