// Package caldav is the CalDAV server. It translates HTTP, WebDAV and CalDAV requests into calls of calendar/service,
// and the results into responses.
//
// Every list of the RFCs is a table here: methods (method.go), reports (report.go), properties (property.go),
// privileges (privilege.go), preconditions (condition.go) and addresses (path.go). A request is resolved to its
// address, then to its method, which answers it or returns an error. Only refuse.go renders errors.
//
// Package caldav/dav reads and writes HTTP and XML; this package has the resources and their properties.
package caldav
