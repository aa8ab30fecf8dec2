// Package caldav is the DAV door: it translates HTTP, WebDAV and CalDAV into calls of
// the middle, and what comes of them back.
//
// Everything that the RFCs list is listed here as a table: methods (method.go), reports
// (report.go), properties (property.go), privileges (privilege.go), preconditions
// (condition.go) and addresses (path.go). A request finds its address, then its method,
// which returns an error or has answered; only refuse.go renders errors.
package caldav
