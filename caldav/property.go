package caldav

import (
	"encoding/xml"
	"errors"
	"slices"

	"caldav-mcp-server/calendar"
)

// property is a row of the properties table.
type property struct {
	name  xml.Name
	on    kind
	flags propertyFlags
	// get writes what the element holds, or returns errAbsent.
	get func(*resource, *markup) error
	// set takes the element of a PROPPATCH or of a calendar's making; nil when the property is
	// removed. Without it the property is protected, as all are but those of calendars.
	set func(*calendar.Properties, *element) error
	// arrange takes the element of a PROPPATCH of an inbox, likewise.
	arrange func(*exchange, *calendar.Scheduling, *element) error
	// tag is the name as replies write it.
	tag string
	// scope declares the namespace of a name for which replies have no prefix.
	scope string
	// source is where the property is defined.
	source string
}

type propertyFlags uint8

const (
	// allprop marks what RFC 4918 defines: allprop gives these (§9.1), and no more.
	allprop propertyFlags = 1 << iota
	// inReports marks what is data rather than a property: only reports give it.
	inReports
	// atCreation marks what can be set when a calendar is made, and never again.
	atCreation
	// ofContent marks what tells what is in a calendar. Of a subscription it is kept as it was
	// set: only the apps that follow it know.
	ofContent
	// ofHome marks what a home has as a whole, so that a listing with it asks for all that there is of the home.
	ofHome
)

// errAbsent says that a resource does not have a property that others of its kind have.
var errAbsent = errors.New("property absent")

func dav(local string) xml.Name      { return xml.Name{Space: davNS, Local: local} }
func caldav(local string) xml.Name   { return xml.Name{Space: caldavNS, Local: local} }
func server(local string) xml.Name   { return xml.Name{Space: serverNS, Local: local} }
func apple(local string) xml.Name    { return xml.Name{Space: appleNS, Local: local} }
func owncloud(local string) xml.Name { return xml.Name{Space: owncloudNS, Local: local} }

// properties is what resources have, in the order of allprop.
func properties() []property {
	return slices.Concat(webdavProperties(), accessProperties(), calendarProperties(), schedulingProperties(), appleProperties(), sharingProperties(), pushProperties(), doctorProperties())
}

// row is a property that the server keeps itself.
func row(name xml.Name, on kind, flags propertyFlags, get func(*resource, *markup) error) property {
	return property{name: name, on: on, flags: flags, get: get}
}

// settable is a property of calendars that clients set.
func settable(name xml.Name, flags propertyFlags, get func(*resource, *markup) error, set func(*calendar.Properties, *element) error) property {
	return property{name: name, on: atCalendar, flags: flags, get: get, set: set}
}

// dated is what has dates and bytes.
const dated = atCalendar | atObject

func webdavProperties() []property {
	return slices.Concat(
		under("RFC 4918 §15",
			property{name: dav("resourcetype"), on: everything, flags: allprop | atCreation, get: (*resource).resourceType, set: setResourceType},
			property{name: dav("displayname"), on: atPrincipal | atHome | atCalendar, flags: allprop, get: (*resource).displayName, set: setDisplayName},
			row(dav("getetag"), leaves|atCalendar, allprop, (*resource).etag),
			row(dav("getcontenttype"), leaves, allprop, (*resource).contentType),
			row(dav("getcontentlength"), everything&^atCalendar, allprop, (*resource).contentLength),
			row(dav("getlastmodified"), dated|atNotice|atItem, allprop, (*resource).lastModified),
			row(dav("creationdate"), dated|atNotice|atItem, allprop, (*resource).creationDate),
			row(dav("supportedlock"), everything, allprop, nothing),
			row(dav("lockdiscovery"), everything, allprop, nothing),
		),
	)
}

func accessProperties() []property {
	return slices.Concat(
		under("RFC 3744 §4, §5",
			row(dav("owner"), atPrincipal|atHome|dated|atBox|atNotice|atScheduling, 0, (*resource).owner),
			row(dav("current-user-privilege-set"), everything, 0, (*resource).privileges),
			row(dav("supported-privilege-set"), everything, 0, (*resource).supportedPrivileges),
			row(dav("acl"), everything, 0, (*resource).accessList),
			row(dav("acl-restrictions"), everything, 0, (*resource).accessRestrictions),
			row(dav("inherited-acl-set"), everything, 0, nothing),
			row(dav("principal-URL"), atPrincipal, 0, (*resource).principalURL),
			row(dav("alternate-URI-set"), atPrincipal, 0, nothing),
			row(dav("group-member-set"), atPrincipal, 0, (*resource).members),
			row(dav("group-membership"), atPrincipal, 0, (*resource).membership),
			row(dav("principal-collection-set"), everything, 0, (*resource).principalCollections),
		),
		under("RFC 5397",
			row(dav("current-user-principal"), everything, 0, (*resource).ownPrincipal),
		),
		under("RFC 3253 §3.1",
			row(dav("supported-method-set"), everything, 0, (*resource).supportedMethods),
			row(dav("supported-report-set"), everything, 0, (*resource).supportedReports),
		),
		under("RFC 5842 §3.1",
			row(dav("resource-id"), atPrincipal|atHome|atCalendar, 0, (*resource).resourceID),
		),
		under("RFC 5995 §3.2",
			row(dav("add-member"), atCalendar, 0, (*resource).addMember),
		),
		under("RFC 4331 §3, §4",
			row(dav("quota-available-bytes"), atHome|atCalendar, 0, (*resource).quotaAvailable),
			row(dav("quota-used-bytes"), atHome|atCalendar, 0, (*resource).quotaUsed),
		),
		under("RFC 6578 §4",
			row(dav("sync-token"), atHome|atCalendar|atBox|atInbox, ofHome, (*resource).syncToken),
		),
	)
}

func calendarProperties() []property {
	return slices.Concat(
		under("RFC 4791 §5.2, §6.2",
			row(caldav("calendar-home-set"), atPrincipal, 0, (*resource).home),
			settable(caldav("calendar-description"), 0, (*resource).description, setDescription),
			settable(caldav("calendar-timezone"), 0, (*resource).timezone, setTimezone),
			settable(caldav("supported-calendar-component-set"), atCreation|ofContent, (*resource).kinds, setKinds),
			row(caldav("supported-calendar-data"), atCalendar, 0, (*resource).mediaTypes),
			row(caldav("max-resource-size"), atCalendar, 0, (*resource).maxSize),
			row(caldav("max-instances"), atCalendar, 0, (*resource).maxInstances),
			row(caldav("max-attendees-per-instance"), atCalendar, 0, (*resource).maxAttendees),
			row(caldav("min-date-time"), atCalendar, 0, (*resource).minTime),
			row(caldav("max-date-time"), atCalendar, 0, (*resource).maxTime),
			row(caldav("supported-collation-set"), atHome|dated|atInbox, 0, (*resource).collations),
			row(caldav("calendar-data"), atObject|atItem, inReports, (*resource).data),
		),
		under("RFC 7809 §5.2",
			settable(caldav("calendar-timezone-id"), 0, (*resource).timezoneID, setTimezoneID),
		),
	)
}

func appleProperties() []property {
	return slices.Concat(
		under("Apple's extensions",
			row(caldav("supported-calendar-component-sets"), atHome, 0, (*resource).kindSets),
			row(server("getctag"), atHome|atCalendar|atBox|atInbox, ofHome, (*resource).syncToken),
			row(server("email-address-set"), atPrincipal, 0, (*resource).emailAddresses),
			settable(apple("calendar-color"), 0, (*resource).color, setColor),
			settable(apple("calendar-order"), 0, (*resource).order, setOrder),
		),
	)
}

func sharingProperties() []property {
	return slices.Concat(
		under("caldav-sharing §4, §5.2",
			row(server("notification-URL"), atPrincipal, 0, (*resource).notificationURL),
			row(server("notificationtype"), atNotice, 0, (*resource).noticeType),
			row(server("invite"), atCalendar, 0, (*resource).invitees),
			row(server("allowed-sharing-modes"), atCalendar, 0, (*resource).sharingModes),
			row(server("shared-url"), atCalendar, 0, (*resource).sharedURL),
		),
		under("ownCloud",
			settable(owncloud("calendar-enabled"), 0, (*resource).enabled, setEnabled),
		),
	)
}

// doctorNS is the namespace of properties in which the server helps to find a fault.
const doctorNS = "urn:caldav-mcp-server"

// doctorProperties tell users how the server is reached, as it sees it: the doctor compares.
func doctorProperties() []property {
	own := func(local string) xml.Name { return xml.Name{Space: doctorNS, Local: local} }
	return under("This server",
		row(own("base-url"), atPrincipal, 0, (*resource).publishedURL),
		row(own("way"), atPrincipal, 0, (*resource).wayHere),
	)
}

// under says where rows come from.
func under(source string, rows ...property) []property {
	for i := range rows {
		rows[i].source = source
	}
	return rows
}

// write writes the property's element, or leaves no trace and returns errAbsent.
func (p *property) write(r *resource, m *markup, nameOnly bool) error {
	if p.on&r.at.kind() == 0 {
		return errAbsent
	}
	start := len(m.buf)
	m.raw("<").raw(p.tag).raw(p.scope).raw(">")
	inside := len(m.buf)
	if err := p.get(r, m); err != nil {
		m.buf = m.buf[:start]
		return err
	}
	if p.set != nil && !nameOnly && r.at.kind() == atCalendar {
		if err := p.dress(r, m, start, inside); !errors.Is(err, errAbsent) {
			return err
		}
	}
	if nameOnly || len(m.buf) == inside {
		m.buf = m.buf[:start]
		return m.raw("<").raw(p.tag).raw(p.scope).raw("/>").ok()
	}
	return m.raw("</").raw(p.tag).raw(">").ok()
}
