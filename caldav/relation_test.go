package caldav_test

import (
	"strings"

	"caldav-mcp-server/calendar"
)

// relation is a caller's relation to a calendar of alice's.
type relation struct {
	name string
	// as is the login, share the caller's access by a share.
	as    string
	share calendar.Access
	// delegate is the caller's access as a delegate of alice's.
	delegate calendar.Access
	// offered is set if the share has not been accepted yet.
	offered bool
	// inOwners is set if the caller uses the owner's addresses instead of their own.
	inOwners bool
	// may are the resulting privileges for the calendar and its objects. sees is set if the caller sees the calendar
	// at all.
	may  []string
	sees bool
	// finds are operations on the calendar that need no privilege: they only need to see it, or change only the
	// caller's own settings for it.
	finds []string
}

var (
	reading = []string{"d:read", "c:read-free-busy"}
	writing = append([]string{"d:write-content", "d:bind", "d:unbind"}, reading...)
)

// owns reports whether the caller is the owner, by any token.
func (r relation) owns() bool { return strings.HasPrefix(r.as, "alice") }

// holds reports whether the caller has a token with the given kind of limit.
func (r relation) holds(word string) bool { return strings.Contains(r.as, " "+word) }

// acts reports whether the caller uses alice's addresses as a delegate. Tokens may not.
func (r relation) acts() bool { return r.delegate > calendar.NoAccess && r.inOwners && !r.holds("") }

// shelf is a class of addresses by visibility.
type shelf uint8

const (
	everybodys shelf = iota // visible to every authenticated user
	persons                 // a user, visible to those who share calendars with them
	groups                  // visible to the owner and the delegates in it
	privates                // visible to the owner and delegates only
	words                   // like privates, but not by a token limited to some calendars
	calendars               // visible as the calendar is shared
)

// shelves classifies all addresses. A new address must be added here.
func shelves() map[string]shelf {
	return map[string]shelf{
		"/": everybodys, "/.well-known/caldav/": everybodys, "/principals/": everybodys,
		"/dav/": everybodys, "/dav/principals/": everybodys, "/dav/calendars/": everybodys,
		"/dav/principals/{user}/":                     persons,
		"/dav/principals/{user}/calendar-proxy-read/": groups, "/dav/principals/{user}/calendar-proxy-write/": groups,
		"/dav/calendars/{user}/": privates,
		"/dav/notifications/":    everybodys, "/dav/notifications/{user}/": words,
		"/dav/notifications/{user}/{notice}": words,
		"/dav/calendars/{user}/inbox/":       words, "/dav/calendars/{user}/inbox/{message}": words,
		"/dav/calendars/{user}/outbox/":     words,
		"/dav/calendars/{user}/{calendar}/": calendars, "/dav/calendars/{user}/{calendar}/{object}": calendars,
	}
}

// relations lists all relations. A new way to share must be added here.
func relations() []relation {
	seeing := []string{
		"PROPFIND", "free-busy-query", "expand-property", "acl-principal-prop-set",
		"principal-match", "principal-property-search", "principal-search-property-set",
	}
	return []relation{
		{
			name: "owner", as: "alice", inOwners: true, sees: true,
			may: append([]string{"d:write-properties", "d:write-acl", "own"}, writing...),
		},
		{name: "owner's reading token", as: "alice read", inOwners: true, sees: true, may: reading},
		{name: "writer", as: "bob", share: calendar.WriteAccess, sees: true, may: append([]string{"d:write-properties"},
			writing...), finds: []string{"DELETE"}},
		{name: "writer's reading token", as: "bob read", share: calendar.WriteAccess, sees: true, may: reading},
		{name: "reader", as: "bob", share: calendar.ReadAccess, sees: true, may: reading, finds: []string{
			"PROPPATCH", "DELETE",
		}},
		{
			name: "who sees busy times", as: "bob", share: calendar.FreeBusyAccess,
			finds: append([]string{"DELETE", "GET", "HEAD", "calendar-query", "calendar-multiget", "sync-collection"},
				seeing...),
		},
		{name: "who was invited", as: "bob", share: calendar.WriteAccess, offered: true},
		{name: "stranger", as: "bob"},
		{name: "stranger at the owner's address", as: "bob", inOwners: true},
		{name: "writer at the owner's address", as: "bob", share: calendar.WriteAccess, inOwners: true},
		{
			name: "who sees busy times, at the owner's address", as: "bob", share: calendar.FreeBusyAccess,
			inOwners: true,
		},
		{
			name: "writer's bound token at the owner's address", as: "bob bound", share: calendar.WriteAccess,
			inOwners: true,
		},
		{
			name: "writing delegate", as: "bob", delegate: calendar.WriteAccess, inOwners: true, sees: true,
			may: writing,
		},
		{
			name: "reading delegate", as: "bob", delegate: calendar.ReadAccess, inOwners: true, sees: true,
			may: reading,
		},
		{
			name: "reading delegate with a share to write", as: "bob", delegate: calendar.ReadAccess,
			share: calendar.WriteAccess, inOwners: true, sees: true, may: reading,
		},
		{name: "delegate's token", as: "bob write,read,delete", delegate: calendar.WriteAccess, inOwners: true},
		{name: "delegate at their own address", as: "bob", delegate: calendar.WriteAccess},
		{name: "owner's token for another calendar", as: "alice bound", inOwners: true},
		{name: "writer's token for another calendar", as: "bob bound", share: calendar.WriteAccess},
		{name: "owner's token without a scope", as: "alice none", inOwners: true, sees: true},
		{name: "writer's token without a scope", as: "bob none", share: calendar.WriteAccess, sees: true},
	}
}

// sample is a request for an operation that has an effect if it is permitted.
type sample struct {
	header, body string
	// home is the body for a home, if it differs.
	home string
	// outbox is the body for an outbox, if it differs.
	outbox string
	// needs is the needed privilege, if it differs from the table's.
	needs string
	// fresh uses an address without a resource. The caller owns the created resource.
	fresh bool
	// lists is set if the operation lists the calendars of a home.
	lists bool
}

const dead = `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x:x ` +
	`xmlns:x="urn:x">x</x:x></D:prop></D:set></D:propertyupdate>`

// samples maps operations to requests. OWN stands for a calendar of the caller's own, INVITATION for bob's invitation
// to the calendar.
func samples() map[string]sample {
	const named = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"`
	const shared = ` xmlns:D="DAV:" xmlns:S="http://calendarserver.org/ns/"`
	return map[string]sample{
		"OPTIONS": {}, "GET": {}, "HEAD": {}, "DELETE": {},
		"PUT": {body: event("a", "Changed")},
		"POST text/calendar": {
			body: event("new", "Added"), header: "Content-Type: text/calendar",
			outbox: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nMETHOD:REQUEST\r\nBEGIN:VFREEBUSY\r\n" +
				"UID:ask\r\nDTSTAMP:20261101T000000Z\r\n" +
				"DTSTART:20261101T000000Z\r\nDTEND:20261201T000000Z\r\nORGANIZER:/dav/principals/USER/\r\n" +
				"ATTENDEE:/dav/principals/USER/\r\nEND:VFREEBUSY\r\nEND:VCALENDAR\r\n",
		},
		"POST text/xml": {
			header: "Content-Type: text/xml", needs: "d:write-acl",
			body: `<S:share` + shared +
				`><S:set><D:href>/dav/principals/o&amp;d@example.com/</D:href><S:read/></S:set></S:share>`,
			home: `<S:invite-reply` + shared +
				`><S:invite-accepted/><S:in-reply-to>INVITATION</S:in-reply-to></S:invite-reply>`,
		},
		"PROPFIND":   {header: "Depth: 1", lists: true},
		"PROPPATCH":  {body: dead},
		"COPY":       {header: "Destination: OWNcopy.ics"},
		"MOVE":       {header: "Destination: OWNmoved.ics"},
		"MKCALENDAR": {fresh: true},
		"MKCOL": {fresh: true, body: `<D:mkcol` + named +
			`><D:set><D:prop><D:resourcetype><D:collection/><C:calendar/></D:resourcetype>
			</D:prop></D:set></D:mkcol>`},
		"ACL": {body: `<D:acl xmlns:D="DAV:"/>`},
		"calendar-query": {
			body: `<C:calendar-query` + named + `><D:prop><C:calendar-data/></D:prop><C:filter><C:comp-filter ` +
				`name="VCALENDAR"/></C:filter></C:calendar-query>`, header: "Depth: 1", lists: true,
		},
		"calendar-multiget": {
			body: `<C:calendar-multiget` + named +
				`><D:prop><C:calendar-data/></D:prop><D:href>PATHa.ics</D:href></C:calendar-multiget>`,
		},
		"free-busy-query": {
			body: `<C:free-busy-query` + named +
				`><C:time-range start="20261101T000000Z" end="20261201T000000Z"/></C:free-busy-query>`,
			needs: "c:read-free-busy", lists: true,
		},
		"sync-collection": {
			body: `<D:sync-collection` + named + `><D:sync-token/><D:sync-level>1</D:sync-level><D:prop><D:getetag/` +
				`></D:prop></D:sync-collection>`, lists: true,
		},
		"expand-property": {
			body: `<D:expand-property` + named +
				`><D:property name="owner"><D:property name="displayname"/></D:property></D:expand-property>`,
		},
		"acl-principal-prop-set": {
			body: `<D:acl-principal-prop-set` + named + `><D:prop><D:displayname/></D:prop></D:acl-principal-prop-set>`,
		},
		"principal-match": {body: `<D:principal-match` + named + `><D:self/></D:principal-match>`},
		"principal-property-search": {
			body: `<D:principal-property-search` + named + `><D:property-search><D:prop><D:displayname/></` +
				`D:prop><D:match>bob</D:match></D:property-search><D:prop><D:displayname/></D:prop></` +
				`D:principal-property-search>`,
		},
		"calendarserver-principal-search": {
			body: `<S:calendarserver-principal-search xmlns:S="http://calendarserver.org/ns/" xmlns:D="DAV:" ` +
				`context="attendee"><S:search-token>bob</S:search-token><D:prop><D:displayname/></D:prop></` +
				`S:calendarserver-principal-search>`,
		},
		"principal-search-property-set": {body: `<D:principal-search-property-set` + named + `/>`},
	}
}
