package caldav

import (
	"encoding/xml"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// The namespaces that every response declares on its root element.
const (
	caldavNS   = "urn:ietf:params:xml:ns:caldav"
	serverNS   = "http://calendarserver.org/ns/"
	appleNS    = "http://apple.com/ns/ical/"
	owncloudNS = "http://owncloud.org/ns"
)

// vocabulary are the namespaces of responses.
var vocabulary = dav.NewNamespaces([2]string{"d", dav.NS}, [2]string{"c", caldavNS}, [2]string{"cs", serverNS},
	[2]string{"a", appleNS}, [2]string{"oc", owncloudNS})

func caldavName(local string) xml.Name { return xml.Name{Space: caldavNS, Local: local} }
func server(local string) xml.Name     { return xml.Name{Space: serverNS, Local: local} }
func apple(local string) xml.Name      { return xml.Name{Space: appleNS, Local: local} }
func owncloud(local string) xml.Name   { return xml.Name{Space: owncloudNS, Local: local} }

// kindElement writes a component kind as CALDAV:comp (RFC 4791 §9.6.1).
func kindElement(m *dav.Markup, k calendar.Kind) {
	m.Raw(`<c:comp name="`).Attribute(string(k)).Raw(`"/>`)
}

// privilegeElement writes DAV:privilege.
func privilegeElement(m *dav.Markup, tag string) {
	m.Raw("<d:privilege><").Raw(tag).Raw("/></d:privilege>")
}

// addressOf writes a person's address: their mail address if they have one, otherwise the principal.
func addressOf(m *dav.Markup, p calendar.Person) {
	if p.Email != "" {
		m.Element("d:href", "mailto:"+p.Email)
	} else {
		m.Href(principalOf(p.Name))
	}
}

// organizerElement writes the owner (caldav-sharing §6.18), with the same address as DAV:owner.
func organizerElement(m *dav.Markup, p calendar.Person) {
	m.Raw("<cs:organizer>").Href(principalOf(p.Name)).Element("cs:common-name", p.Title).Raw("</cs:organizer>")
}

// hostedHref writes the address of a calendar in its owner's home.
func hostedHref(m *dav.Markup, owner string, segment calendar.Segment) {
	at := place{form: formCalendar, user: userName(owner), calendar: segment}
	m.Element("d:href", bare(m.Path(at)))
}

// hostURL writes the same address as CS:hosturl (caldav-sharing §6.17).
func hostURL(m *dav.Markup, owner string, segment calendar.Segment) {
	m.Raw("<cs:hosturl>")
	hostedHref(m, owner, segment)
	m.Raw("</cs:hosturl>")
}

// accessElement is CS:access (caldav-sharing §6.11).
func accessElement(m *dav.Markup, a calendar.Access) {
	if a >= calendar.WriteAccess {
		m.Raw("<cs:access><cs:read-write/></cs:access>")
	} else {
		m.Raw("<cs:access><cs:read/></cs:access>")
	}
}

// principalHrefs writes the addresses of users.
func principalHrefs(m *dav.Markup, all []calendar.User, err error) error {
	for _, u := range all {
		m.Href(principalOf(u.Name))
	}
	return err
}

// writeOwnPlace writes the address of one of the caller's own collections. Another user's is absent,
// unless the caller is their delegate and it is in their home.
func writeOwnPlace(r *resource, m *dav.Markup, at addressForm) error {
	if r.other != nil {
		access, err := r.x.delegationFrom(r.other.Name)
		if err != nil {
			return err
		}
		if access == calendar.NoAccess || layout[at].kind&inHome == 0 {
			return dav.ErrAbsent
		}
	}
	return m.Href(place{form: at, user: r.at.user}).OK()
}

// calendarType also names the component (RFC 5545 §8.1), so that a client can tell a task from an event in a listing.
const calendarType = "text/calendar; charset=utf-8; component="

func mediaTypeOf(o calendar.Object) string { return calendarType + string(o.Kind) }

// bare is the href of a shared calendar as Apple's server writes it, without the final slash: clients add it.
func bare(href string) string { return strings.TrimSuffix(href, "/") }
