// Package caldav is the CalDAV server. It translates HTTP, WebDAV and CalDAV requests into calls of calendar/service,
// and the results into responses.
//
// Every list of the RFCs is a table here: methods, reports, properties and kinds of resources (table.go), privileges
// (acl.go), preconditions (refuse.go) and addresses (path.go). A request is resolved to its address, then to its
// method (serve.go), whose function answers it or returns an error. Only refuse.go renders errors.
//
// A request looks up resources as its caller sees them (request.go, resource.go); functions write their properties.
// Below this package, caldav/dav reads and writes HTTP and XML, and knows neither calendars nor users; caldav/calxml
// reads filters.
package caldav
