// Package dav is the part of WebDAV (RFC 4918) that knows neither calendars nor users: it reads requests within their
// limits, evaluates their headers and conditions, and writes responses.
//
// A Server makes an Exchange for each request. The exchange reads the body (body.go, guard.go) and the headers
// (depth.go, destination.go, ifheader.go, precondition.go, prefer.go), and sends the response: a body at once, a
// multistatus as a stream (multistatus.go), or a StatusError. Markup is a buffer for XML. PROPFIND (propfind.go,
// plan.go) and PROPPATCH (proppatch.go) are generic over the type of a resource; the caller's Table has its properties.
package dav
