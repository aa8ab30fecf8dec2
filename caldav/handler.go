package caldav

import (
	"context"
	"encoding/xml"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar/service"
)

// Limits bound the cost of one request before its content is known.
type Limits struct {
	dav.Limits
	// Filters limits the filters of a query: each one is tested on every object.
	Filters int
}

// DefaultLimits returns limits that leave every known client ample room.
func DefaultLimits() Limits { return Limits{Limits: dav.DefaultLimits(), Filters: 256} }

// Config has the parts and settings of a Handler.
type Config struct {
	Service *service.Service
	// BaseURL is the public address of the service. Nil, or a URL without a path, means the root of a host. A
	// Destination header may name its host.
	BaseURL *url.URL
	Limits  Limits
	Logger  *slog.Logger
	// Way describes how a request arrived, to diagnose proxies; it may be nil.
	Way func(*http.Request) string
	// Trouble returns the server's present trouble in words, or ""; it may be nil.
	Trouble func(context.Context) string
	// Did receives the action of a request and the other users that it concerns, as far as its method and address do
	// not show them; it may be nil.
	Did func(ctx context.Context, what, whom string)
	// Reports receives the kind of each report; it may be nil.
	Reports func(ctx context.Context, kind string)
	// LinkPage answers a browser that opens a public link, whose secret it gets; nil gives browsers the file.
	LinkPage func(w http.ResponseWriter, r *http.Request, secret string)
	// Push notifies apps on devices of changes; nil turns push off.
	Push *Push
	// Now is the clock.
	Now func() time.Time
}

// Handler is the CalDAV server. It holds tables and pooled memory, and no state of a request.
type Handler struct {
	Config
	addresses
	// host is the public host name, "" if unknown. published is the base URL as configured.
	host, published string
	// classes are the values of the DAV header.
	classes []string

	webdav     *dav.Server
	methods    []method
	reports    []report
	nodes      [len(layout)]node
	properties []property
	// byName indexes the properties by name, ofLinks the properties of public links.
	byName, ofLinks map[xml.Name]*property
	// timezones caches rendered VTIMEZONEs by zone name. The number of known zones limits it.
	timezones sync.Map
}

// rowsByName completes the rows and indexes them by name.
func rowsByName(rows []property) map[xml.Name]*property {
	byName := make(map[xml.Name]*property, len(rows))
	for i := range rows {
		p := &rows[i]
		if p.tag = vocabulary.Tag(p.name); p.tag == "" {
			p.tag, p.scope = p.name.Local, ` xmlns="`+p.name.Space+`"`
		}
		byName[p.name] = p
	}
	return byName
}
