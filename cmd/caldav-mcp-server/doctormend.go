package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
)

// statusMends are the usual remedies for an unexpected HTTP status.
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

// fault is a connection failure, which Go describes only in technical words.
type fault struct {
	is func(error) bool
	// The failure in plain words, and its remedy.
	what, mend string
}

// isA reports whether an error is or wraps an error of type T.
func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// late reports whether a deadline has passed.
func late(err error) bool {
	var slow net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout()
}

// cut reports whether the other side closed the connection.
func cut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// faults are the known failures, specific ones first.
var faults = []fault{
	{late, "no answer came in time", "is the server busy, or does a firewall swallow what is asked? --timeout gives it longer"},
	{
		isA[*net.DNSError], "there is no host of this name",
		"the name leads nowhere: is it written right, and is there a DNS record for it?",
	},
	{
		isA[x509.UnknownAuthorityError], "the certificate is of no authority that this machine knows",
		"if the authority is your own (or the certificate signs itself), --ca FILE tells the doctor of it, and phones have to be told as well; " +
			"a public authority's certificate, as Caddy gets by itself, is taken everywhere",
	},
	{isA[x509.HostnameError], "the certificate is for another name", "get one for the name in the URL"},
	{isA[x509.CertificateInvalidError], "the certificate is not valid now", "renew it, and see that the clocks are right"},
	{
		isA[tls.RecordHeaderError], "the port speaks no TLS",
		"is it the server's own (then say http://), or is the proxy's TLS missing?",
	},
	{
		isA[*net.OpError], "nobody answers there",
		"nobody listens there: does the server or its proxy run, on that port, and does a firewall let it through?",
	},
	{cut, "the connection was closed before the answer", "something there does not speak HTTP, or breaks off: is it the right port, and what does the proxy's log say?"},
}

// diagnose explains a failure in plain words, with a remedy.
func diagnose(err error) (what, mend string) {
	if a, ok := errors.AsType[*checkError](err); ok {
		return err.Error(), a.mend
	}
	if s, ok := errors.AsType[*statusError](err); ok {
		return err.Error(), statusMends[s.Status]
	}
	for _, f := range faults {
		if f.is(err) {
			return f.what, f.mend
		}
	}
	return err.Error(), ""
}
