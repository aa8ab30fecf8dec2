package caldav_test

import (
	"strings"

	"caldav-mcp-server/calendar"
)

// relation is how who asks stands to a calendar of alice's.
type relation struct {
	name string
	// as is the login, share the access that was given to it.
	as    string
	share calendar.Access
	// offered tells that the share waits for an answer.
	offered bool
	// inOwners asks at the owner's addresses, others at their own.
	inOwners bool
	// may are the privileges that this gives for the calendar and what is in it; sees tells
	// that it is there at all.
	may  []string
	sees bool
	// finds are operations that work on the calendar without a privilege: those on what is only
	// seen, and those that change no more than how who asks has it.
	finds []string
}

var (
	reading = []string{"d:read", "c:read-free-busy"}
	writing = append([]string{"d:write-content", "d:bind", "d:unbind"}, reading...)
)

// owns tells that who asks has the owner's name, by whatever token.
func (r relation) owns() bool { return strings.HasPrefix(r.as, "alice") }

// holds tells whether who asks has a token that lacks something, of the sort that a word names.
func (r relation) holds(word string) bool { return strings.Contains(r.as, " "+word) }

// shelf is how far an address is everybody's.
type shelf uint8

const (
	everybodys shelf = iota // anyone who has logged in finds it
	persons                 // a user, whom those find who share calendars with them
	privates                // the owner alone finds it
	words                   // likewise, and by no token that is for some of the owner's calendars
	calendars               // as the calendar is shared
)

// shelves are where the addresses stand. Anyone who adds an address adds it here.
func shelves() map[string]shelf {
	return map[string]shelf{
		"/": everybodys, "/.well-known/caldav/": everybodys, "/principals/": everybodys,
		"/dav/": everybodys, "/dav/principals/": everybodys, "/dav/calendars/": everybodys,
		"/dav/principals/{user}/": persons,
		"/dav/calendars/{user}/":  privates,
		"/dav/notifications/":     everybodys, "/dav/notifications/{user}/": words, "/dav/notifications/{user}/{notice}": words,
		"/dav/calendars/{user}/inbox/": words, "/dav/calendars/{user}/inbox/{message}": words, "/dav/calendars/{user}/outbox/": words,
		"/dav/calendars/{user}/{calendar}/": calendars, "/dav/calendars/{user}/{calendar}/{object}": calendars,
	}
}

// relations are those there are. Anyone who adds a way to share adds it here.
func relations() []relation {
	seeing := []string{
		"PROPFIND", "ACL", "free-busy-query", "expand-property", "acl-principal-prop-set",
		"principal-match", "principal-property-search", "principal-search-property-set",
	}
	return []relation{
		{
			name: "owner", as: "alice", inOwners: true, sees: true,
			may: append([]string{"d:write-properties", "d:write-acl", "own"}, writing...),
		},
		{name: "owner's reading token", as: "alice read", inOwners: true, sees: true, may: reading},
		{name: "writer", as: "bob", share: calendar.WriteAccess, sees: true, may: append([]string{"d:write-properties"}, writing...), finds: []string{"DELETE"}},
		{name: "writer's reading token", as: "bob read", share: calendar.WriteAccess, sees: true, may: reading},
		{name: "reader", as: "bob", share: calendar.ReadAccess, sees: true, may: reading, finds: []string{"PROPPATCH", "DELETE"}},
		{
			name: "who sees busy times", as: "bob", share: calendar.FreeBusyAccess,
			finds: append([]string{"DELETE", "GET", "HEAD", "calendar-query", "calendar-multiget", "sync-collection"}, seeing...),
		},
		{name: "who was invited", as: "bob", share: calendar.WriteAccess, offered: true},
		{name: "stranger", as: "bob"},
		{name: "stranger at the owner's address", as: "bob", inOwners: true},
		{name: "writer at the owner's address", as: "bob", share: calendar.WriteAccess, inOwners: true},
		{name: "who sees busy times, at the owner's address", as: "bob", share: calendar.FreeBusyAccess, inOwners: true},
		{name: "writer's bound token at the owner's address", as: "bob bound", share: calendar.WriteAccess, inOwners: true},
		{name: "owner's token for another calendar", as: "alice bound", inOwners: true},
		{name: "writer's token for another calendar", as: "bob bound", share: calendar.WriteAccess},
		{name: "owner's token without a scope", as: "alice none", inOwners: true, sees: true},
		{name: "writer's token without a scope", as: "bob none", share: calendar.WriteAccess, sees: true},
	}
}

// sample is a request for an operation that would do something, if it were granted.
type sample struct {
	header, body string
	// home is the body at a home, where that is another one.
	home string
	// outbox is the body at an outbox, likewise.
	outbox string
	// needs is what it takes, where that is not what the table says.
	needs string
	// fresh asks at an address where nothing is: what is made there is the caller's own.
	fresh bool
	// lists tells that at a home it reads what calendars there are.
	lists bool
}

const dead = `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x:x xmlns:x="urn:x">x</x:x></D:prop></D:set></D:propertyupdate>`

// samples are by operation. OWN stands for a calendar of the caller's own, INVITATION for what bob
// was offered of the calendar.
func samples() map[string]sample {
	const named = ` xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"`
	const shared = ` xmlns:D="DAV:" xmlns:S="http://calendarserver.org/ns/"`
	return map[string]sample{
		"OPTIONS": {}, "GET": {}, "HEAD": {}, "DELETE": {},
		"PUT": {body: event("a", "Changed")},
		"POST text/calendar": {
			body: event("new", "Added"), header: "Content-Type: text/calendar",
			outbox: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nMETHOD:REQUEST\r\nBEGIN:VFREEBUSY\r\nUID:ask\r\nDTSTAMP:20261101T000000Z\r\n" +
				"DTSTART:20261101T000000Z\r\nDTEND:20261201T000000Z\r\nORGANIZER:/dav/principals/USER/\r\nATTENDEE:/dav/principals/USER/\r\nEND:VFREEBUSY\r\nEND:VCALENDAR\r\n",
		},
		"POST text/xml": {
			header: "Content-Type: text/xml", needs: "d:write-acl",
			body: `<S:share` + shared + `><S:set><D:href>/dav/principals/o&amp;d@example.com/</D:href><S:read/></S:set></S:share>`,
			home: `<S:invite-reply` + shared + `><S:invite-accepted/><S:in-reply-to>INVITATION</S:in-reply-to></S:invite-reply>`,
		},
		"PROPFIND":   {header: "Depth: 1", lists: true},
		"PROPPATCH":  {body: dead},
		"COPY":       {header: "Destination: OWNcopy.ics"},
		"MOVE":       {header: "Destination: OWNmoved.ics"},
		"MKCALENDAR": {fresh: true},
		"MKCOL": {fresh: true, body: `<D:mkcol` + named + `><D:set><D:prop><D:resourcetype><D:collection/><C:calendar/></D:resourcetype>
			</D:prop></D:set></D:mkcol>`},
		"ACL":               {body: `<D:acl xmlns:D="DAV:"/>`, needs: "d:read"},
		"calendar-query":    {body: `<C:calendar-query` + named + `><D:prop><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR"/></C:filter></C:calendar-query>`, header: "Depth: 1", lists: true},
		"calendar-multiget": {body: `<C:calendar-multiget` + named + `><D:prop><C:calendar-data/></D:prop><D:href>PATHa.ics</D:href></C:calendar-multiget>`},
		"free-busy-query": {
			body:  `<C:free-busy-query` + named + `><C:time-range start="20261101T000000Z" end="20261201T000000Z"/></C:free-busy-query>`,
			needs: "c:read-free-busy", lists: true,
		},
		"sync-collection":                 {body: `<D:sync-collection` + named + `><D:sync-token/><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>`, lists: true},
		"expand-property":                 {body: `<D:expand-property` + named + `><D:property name="owner"><D:property name="displayname"/></D:property></D:expand-property>`},
		"acl-principal-prop-set":          {body: `<D:acl-principal-prop-set` + named + `><D:prop><D:displayname/></D:prop></D:acl-principal-prop-set>`},
		"principal-match":                 {body: `<D:principal-match` + named + `><D:self/></D:principal-match>`},
		"principal-property-search":       {body: `<D:principal-property-search` + named + `><D:property-search><D:prop><D:displayname/></D:prop><D:match>bob</D:match></D:property-search><D:prop><D:displayname/></D:prop></D:principal-property-search>`},
		"calendarserver-principal-search": {body: `<S:calendarserver-principal-search xmlns:S="http://calendarserver.org/ns/" xmlns:D="DAV:" context="attendee"><S:search-token>bob</S:search-token><D:prop><D:displayname/></D:prop></S:calendarserver-principal-search>`},
		"principal-search-property-set":   {body: `<D:principal-search-property-set` + named + `/>`},
	}
}
