package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
)

// statusMends are the usual remedies for an unexpected HTTP status.
var statusMends = map[int]string{
	http.StatusBadRequest: "something in front of the server does not understand the request: does the proxy pass " +
		"it on unchanged, with HTTP/1.1?",
	http.StatusUnauthorized: "name and password are refused: are they right (set-password sets a new password), and " +
		"does the proxy pass on the Authorization header?",
	http.StatusForbidden: "something refuses the request: does the proxy allow all methods (OPTIONS, PROPFIND, " +
		"PROPPATCH, REPORT, MKCALENDAR, PUT, DELETE)?",
	http.StatusNotFound: "the path does not reach the server: does the proxy pass on all paths, and does " +
		"BASE_URL have the same path as the URL for apps?",
	http.StatusMethodNotAllowed: "something in front of the server blocks the method: the proxy must pass on " +
		"OPTIONS, PROPFIND, PROPPATCH, REPORT, " +
		"MKCALENDAR, PUT and DELETE",
	http.StatusMisdirectedRequest: "the server does not know the host name in the request: set BASE_URL to the URL " +
		"for apps",
	http.StatusNotImplemented: "something in front of the server does not know the method: the proxy must pass " +
		"on OPTIONS, PROPFIND, REPORT and MKCALENDAR",
	http.StatusTooManyRequests: "there were too many wrong passwords: wait, and set TRUSTED_PROXIES so that the " +
		"server can tell its clients apart",
	http.StatusBadGateway: "the proxy does not reach the server: is it running (caldav-mcp-server health), " +
		"at the address that the proxy uses?",
	http.StatusServiceUnavailable: "the server or its database is not ready: run caldav-mcp-server health on its " +
		"machine",
	http.StatusInsufficientStorage: "the disk of the database is full, or the user's quota is used up: free space, " +
		"or raise the quota (set-user --quota-bytes)",
	http.StatusGatewayTimeout: "the proxy gets no response from the server: run caldav-mcp-server health on its " +
		"machine",
	http.StatusInternalServerError: "the server has an internal error; see its log for the request's id",
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
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

// faults are the known failures, specific ones first.
var faults = []fault{
	{late, "no response in time", "is the server busy, or does a firewall drop the request? --timeout sets a longer " +
		"limit"},
	{
		isA[*net.DNSError], "there is no host of this name",
		"the name does not resolve: is it spelled right, and does it have a DNS record?",
	},
	{
		isA[x509.UnknownAuthorityError], "the certificate is from an authority that this machine does not trust",
		"if the authority is private (or the certificate is self-signed), give it with --ca FILE; phones must trust " +
			"it too. " +
			"A certificate from a public authority, such as Caddy gets automatically, works everywhere",
	},
	{isA[x509.HostnameError], "the certificate is for another name", "get one for the name in the URL"},
	{
		isA[x509.CertificateInvalidError], "the certificate is not valid now",
		"renew it, and check the clocks of both machines",
	},
	{
		isA[tls.RecordHeaderError], "the port speaks no TLS",
		"is it the server's own port (then use http://), or does the proxy lack TLS?",
	},
	{
		isA[*net.OpError], "the connection failed",
		"no program accepts connections there: is the server or its proxy running on that port, and does the " +
			"firewall allow it?",
	},
	{cut, "the connection was closed before the response", "the program there does not speak HTTP, or closes the " +
		"connection: is it the right port? See the proxy's log"},
}

// diagnose explains a failure in plain words, with a remedy.
func diagnose(err error) (what, mend string) {
	if a, ok := errors.AsType[*checkError](err); ok {
		return err.Error(), a.mend
	}
	if s, ok := errors.AsType[*davclient.StatusError](err); ok {
		return err.Error(), cmp.Or(statusMends[s.Status], unknownMend)
	}
	for _, f := range faults {
		if f.is(err) {
			return f.what, f.mend
		}
	}
	return err.Error(), unknownMend
}

// unknownMend is the remedy for failures without one of their own.
const unknownMend = "the logs of the server and of its proxy have more about it: look for requests of " + doctorAgent +
	" at this time"
